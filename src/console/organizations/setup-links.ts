// Links for a customer's IT, who have no account: made here and shown once, listed with what became of each, taken back.
import type { FastifyReply } from 'fastify';
import type { Typed } from '../../first-party/app-form.ts';
import { csrfField, type Notice, table } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { askPage, isSure } from '../confirm-page.ts';
import { badge, emptyState, postButton, shownTime } from '../console-page.ts';
import { finish, frameOf, itemsOf, manage, type Visit } from '../console-visit.ts';
import { mayPost } from '../frame/allowed.ts';
import { itemOf, secretOf } from '../frame/flash.ts';
import { consolePath } from '../frame/navigation.ts';
import { linkTo } from '../people/people-picker.ts';
import { type Params, pathOfTab, refused, showTab } from './organization-tab.ts';

type Json = Readonly<Record<string, unknown>>;

const tab = '/setup-links';
const secretKind = 'setup-link';
const states: Readonly<Record<string, string>> = {
  open: 'not opened yet',
  used: 'opened in one browser',
  revoked: 'revoked',
  expired: 'over',
};
const works = ({ state }: Json): boolean => state === 'open' || state === 'used';

export async function setupLinksPage(visit: Visit, params: Params, notice?: Notice): Promise<FastifyReply> {
  const path = pathOfTab(params, tab);
  return showTab(visit, params, {
    tab,
    list: tab,
    notice,
    show: async (
      list,
    ) => html`<p>Send the link to the IT of the customer. There they prove the domains of this organisation, connect its provider, try it with a real sign-in, say who may sign in how, and make tokens for its directory. They need no account, and can open nothing else.</p>
${linkPanel(visit)}${mayPost(visit, path) && html`<form class="card" method="post" action="${consolePath(visit.request.tenant, path)}">${csrfField(frameOf(visit))}<p class="muted">It opens in one browser and works for 7 days.</p><div class="bar end"><button id="make-link">Make a set-up link</button></div></form>`}
${await linkTable(visit, path, itemsOf(list))}`,
  });
}

/** The link that was just made. */
function linkPanel(visit: Visit): Html | undefined {
  const secret = secretOf(visit, secretKind);
  return (
    secret &&
    html`<section class="panel" id="link" aria-label="The link"><h2>The link</h2>
<p>It works until ${shownTime(itemOf(secret, 'until'))}. Copy it now: this page shows it for ten minutes, and nothing shows it again.</p>
<pre id="setup-link">${itemOf(secret, 'link')}</pre></section>`
  );
}

async function linkTable(visit: Visit, path: string, links: readonly Json[]): Promise<Html> {
  if (links.length === 0) return emptyState('No set-up link yet', 'Send one to the people who run this customer’s sign-in.');
  const mayRevoke = mayPost(visit, `${path}/id/revoke`);
  const rows = await Promise.all(
    links.map(async (link) => [
      badge(states[text(link['state'])] ?? text(link['state']), works(link) ? 'good' : 'plain'),
      await makerOf(visit, text(link['created_by'])),
      shownTime(link['created_at']),
      shownTime(link['used_at']) || 'not yet',
      shownTime(link['expires_at']),
      ...(mayRevoke
        ? [
            works(link)
              ? postButton(frameOf(visit), {
                  path: `${path}/${encodeURIComponent(text(link['id']))}/revoke`,
                  label: 'Revoke…',
                  style: 'small danger',
                  of: text(link['created_at']),
                })
              : '',
          ]
        : []),
    ]),
  );
  return table('Set-up links', ['State', 'Made by', 'Made', 'Opened', 'Ends', ...(mayRevoke ? ['Revoke'] : [])], rows);
}

const makerOf = (visit: Visit, actor: string): Promise<Html | string> =>
  actor.startsWith('user:') ? linkTo(visit, 'user', actor.slice('user:'.length)) : Promise.resolve(actor);

export async function makeSetupLink(visit: Visit, _typed: Typed, params: Params): Promise<FastifyReply> {
  const path = pathOfTab(params, tab);
  const answer = await manage(visit, 'POST', path, {});
  if (answer.status !== 201) return setupLinksPage(visit, params, refused(answer));
  const { setup_url: url, expires_at: until } = answer.body;
  const items = [['link', text(url)] as const, ['until', text(until)] as const];
  return finish(visit, path, 'The link was made.', { kind: secretKind, items });
}

export async function revokeSetupLink(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const back = pathOfTab(params, tab);
  const path = `${back}/${encodeURIComponent(params['link'] ?? '')}`;
  if (!isSure(typed))
    return askPage(visit, {
      title: 'Take this link back?',
      text: 'It opens nothing any more, also in the browser that opened it. What was set up stays.',
      label: 'Revoke',
      path: `${path}/revoke`,
      back,
    });
  const answer = await manage(visit, 'DELETE', path);
  return answer.status === 204 ? finish(visit, back, 'The link was revoked.') : setupLinksPage(visit, params, refused(answer));
}
