// The accounts a connector made or found, as a page: what people and groups are at the application, what failed with the request and the
// answer, and the forms that settle a conflict.
import type { FastifyReply } from 'fastify';
import type { Typed } from '../../first-party/app-form.ts';
import { csrfField, type Notice, table } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { badge, emptyState, shownTime } from '../console-page.ts';
import { consoleResource } from '../console-resources.ts';
import { finish, frameOf, itemsOf, manage, refusalText, showMissing, showPage, type Visit } from '../console-visit.ts';
import { mayChange } from '../frame/allowed.ts';
import { consolePath } from '../frame/navigation.ts';
import { pagesOf } from '../list-controls.ts';
import { linkTo } from '../people/people-picker.ts';
import { pathOf, tabBar } from '../resource-pages.ts';
import { linkWords } from './connector-status.ts';

type Json = Readonly<Record<string, unknown>>;
type Params = Readonly<Record<string, string>>;

const pageSize = 25;
const settled = ['conflict', 'failed', 'ignored'];
const linksOf = ({ id = '' }: Params): string => `${pathOf(consoleResource('/connectors'), id)}/links`;

const reasons: Readonly<Record<string, string>> = {
  several_match: 'several accounts match',
  linked_to_another: 'the account belongs to somebody else',
  status_409: 'the application says that there is one',
  no_user_name: 'no rule says a userName',
  no_match_value: 'nothing to find the account by',
};

/** The links in the state that the query names. */
export async function connectorLinksPage(visit: Visit, params: Params, notice?: Notice): Promise<FastifyReply> {
  const resource = consoleResource('/connectors');
  const connector = await manage(visit, 'GET', pathOf(resource, params['id'] ?? ''));
  if (connector.status !== 200) return showMissing(visit, resource.singular, connector);
  const query = new URLSearchParams({ limit: String(pageSize) });
  for (const name of ['state', 'cursor']) if ((visit.query.get(name) ?? '') !== '') query.set(name, visit.query.get(name)!);
  const list = await manage(visit, 'GET', `${linksOf(params)}?${query}`);
  if (list.status !== 200) return showMissing(visit, resource.titleOf(connector.body), list);
  const links = itemsOf(list);
  const maySettle = mayChange(visit, resource.path) && links.some(({ state }) => settled.includes(text(state)));
  const heads = ['Who', 'State', 'At the application', ...(maySettle ? ['Settle'] : [])];
  const rows: (readonly (Html | string)[])[] = [];
  for (const link of links) rows.push(await rowOf(visit, params, link, maySettle));
  const next = list.body['next_cursor'];
  return showPage(
    visit,
    resource.titleOf(connector.body),
    html`${tabBar(visit, resource, params['id'] ?? '', '/links')}${stateFilter(visit, params)}
${links.length === 0 ? emptyState('No accounts', 'This page lists people who are provisioned, with the result.') : table('Accounts', heads, rows)}
${pagesOf(visit, linksOf(params), { previous: visit.query.has('cursor') ? {} : undefined, next: next === undefined ? undefined : { cursor: next } }, ['state'])}`,
    notice,
  );
}

function stateFilter(visit: Visit, params: Params): Html {
  const chosen = visit.query.get('state') ?? '';
  const options = [['', 'Any state'] as const, ...Object.entries(linkWords).map(([state, [label]]) => [state, label] as const)];
  return html`<form class="bar" method="get" action="${consolePath(visit.request.tenant, linksOf(params))}"><label for="state">State</label><select id="state" name="state">${options.map(
    ([state, label]) => html`<option value="${state}"${state === chosen && html` selected`}>${label}</option>`,
  )}</select><button class="quiet" id="filter">Show</button></form>`;
}

async function rowOf(visit: Visit, params: Params, link: Json, maySettle: boolean): Promise<readonly (Html | string)[]> {
  const kind = link['kind'] === 'group' ? 'group' : 'user';
  const who = await linkTo(visit, kind, text(link['id']));
  return [
    html`<span>${who}${kind === 'group' && html` <span class="muted">group</span>`}</span>`,
    stateOf(link),
    atTarget(link),
    ...(maySettle ? [settled.includes(text(link['state'])) ? settleForm(visit, params, link) : ''] : []),
  ];
}

function stateOf(link: Json): Html {
  const [label, kind] = linkWords[text(link['state'])] ?? [text(link['state']), 'plain'];
  const reason = text(link['reason']);
  const next = link['state'] === 'failed' && link['next_attempt_at'] !== null;
  return html`<span>${badge(label, kind)}${link['waits_for_approval'] === true && html` ${badge('waits for approval', 'bad')}`}${reason !== '' && html`<br>${reasons[reason] ?? reason.replace(/^status_/, 'answered ')}`}${next && html`<br><span class="muted">Next ${shownTime(link['next_attempt_at'])}</span>`}</span>`;
}

/** The id there, and what was asked and answered when it went wrong. */
function atTarget({ remote_id: id, request, answer }: Json): Html | string {
  const said = [text(request), text(answer)].filter((one) => one !== '').join('\n\n');
  return html`<div>${id !== null && html`<code>${text(id)}</code>`}${said !== '' && html`<details><summary>Request and answer</summary><pre>${said}</pre></details>`}</div>`;
}

function settleForm(visit: Visit, params: Params, link: Json): Html {
  const id = text(link['id']);
  const state = visit.query.get('state') ?? '';
  const action = `${linksOf(params)}/${encodeURIComponent(id)}/resolve${state === '' ? '' : `?${new URLSearchParams({ state })}`}`;
  return html`<details><summary>Settle</summary><form method="post" action="${consolePath(visit.request.tenant, action)}">${csrfField(frameOf(visit))}<div class="field"><label for="remote-${id}">Id of the account there</label><input type="text" id="remote-${id}" name="remote_id" autocomplete="off" spellcheck="false"></div><div class="bar"><button class="small" name="action" value="adopt">Adopt it</button><button class="small quiet" name="action" value="create">Make one</button>${link['state'] !== 'ignored' && html`<button class="small quiet" name="action" value="ignore">Leave out</button>`}</div></form></details>`;
}

const told: Readonly<Record<string, string>> = {
  adopt: 'The account is adopted.',
  create: 'An account is made, whatever is there.',
  ignore: 'Left out.',
};

/** Settles one link. */
export async function resolveLinkOf(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const action = typed.get('action') ?? '';
  const remoteId = (typed.get('remote_id') ?? '').trim();
  const body = { action, ...(action === 'adopt' && remoteId !== '' && { remote_id: remoteId }) };
  const answer = await manage(visit, 'POST', `${linksOf(params)}/${encodeURIComponent(params['link'] ?? '')}/resolve`, body);
  if (answer.status !== 200) return connectorLinksPage(visit, params, { kind: 'bad', text: refusalText(answer) });
  return finish(visit, linksOf(params), told[action] ?? '');
}
