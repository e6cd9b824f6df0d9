// The accounts a connector made or found, on their page: what people and groups are at the application, what failed with the request and the
// answer, and what settles a conflict.
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { shownTime } from '../console-page.ts';
import type { Visit } from '../console-visit.ts';
import { linkTo } from '../people/people-picker.ts';
import { type LinksPage, stateOf } from '../provisioning/links-page.ts';
import { linkWords } from './connector-status.ts';

type Json = Readonly<Record<string, unknown>>;

const reasons: Readonly<Record<string, string>> = {
  several_match: 'several accounts match',
  linked_to_another: 'the account belongs to somebody else',
  status_409: 'the application says that there is one',
  no_user_name: 'no rule says a userName',
  no_match_value: 'nothing to find the account by',
};

export const connectorLinks: LinksPage = {
  path: '/connectors',
  words: linkWords,
  settled: ['conflict', 'failed', 'ignored'],
  caption: 'Accounts',
  heads: ['Who', 'State', 'At the application'],
  nothing: ['No accounts', 'This page lists people who are provisioned, with the result.'],
  cells,
  settling,
  toApi: (typed) => {
    const remoteId = (typed.get('remote_id') ?? '').trim();
    return typed.get('action') === 'adopt' && remoteId !== '' ? { remote_id: remoteId } : {};
  },
  told: {
    adopt: 'The account is adopted.',
    create: 'An account is made, whatever is there.',
    ignore: 'Left out.',
  },
};

async function cells(visit: Visit, link: Json): Promise<readonly (Html | string)[]> {
  const kind = link['kind'] === 'group' ? 'group' : 'user';
  const who = await linkTo(visit, kind, text(link['id']));
  return [
    html`<span>${who}${kind === 'group' && html` <span class="muted">group</span>`}</span>`,
    stateOf(linkWords, link, reasonOf(link)),
    atTarget(link),
  ];
}

function reasonOf(link: Json): Html | string {
  const reason = text(link['reason']);
  const said = reasons[reason] ?? reason.replace(/^status_/, 'answered ');
  if (link['state'] !== 'failed' || link['next_attempt_at'] === null) return said;
  return html`${said}${said !== '' && html`<br>`}<span class="muted">Next ${shownTime(link['next_attempt_at'])}</span>`;
}

/** The id there, and what was asked and answered when it went wrong. */
function atTarget({ remote_id: id, request, answer }: Json): Html | string {
  const said = [text(request), text(answer)].filter((one) => one !== '').join('\n\n');
  return html`<div>${id !== null && html`<code>${text(id)}</code>`}${said !== '' && html`<details><summary>Request and answer</summary><pre>${said}</pre></details>`}</div>`;
}

function settling(_visit: Visit, _own: string, link: Json): Html {
  const id = text(link['id']);
  return html`<div class="field"><label for="remote-${id}">Id of the account there</label><input type="text" id="remote-${id}" name="remote_id" autocomplete="off" spellcheck="false"></div><div class="bar"><button class="small" name="action" value="adopt">Adopt it</button><button class="small quiet" name="action" value="create">Make one</button>${link['state'] !== 'ignored' && html`<button class="small quiet" name="action" value="ignore">Leave out</button>`}</div>`;
}
