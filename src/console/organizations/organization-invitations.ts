// Who is asked into an organisation: by address, with the roles they get; a reminder is another invitation in the place of the one before.
import type { FastifyReply } from 'fastify';
import { emailCharsMax } from '../../contract/limits.ts';
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
import { cursorPages, cursorQuery } from '../list-controls.ts';
import { roleChecks } from '../people/administrator-pages.ts';
import { type Params, pathOfTab, refused, showTab } from './organization-tab.ts';

type Json = Readonly<Record<string, unknown>>;

const tab = '/invitations';
const secretKind = 'organization-invitation';
const rolesOf = (invitation: Json): readonly string[] => invitation['roles'] as readonly string[]; // the API's shape

interface Shown {
  readonly typed?: Typed;
  readonly notice?: Notice;
}

export async function organizationInvitationsPage(visit: Visit, params: Params, { typed, notice }: Shown = {}): Promise<FastifyReply> {
  const path = pathOfTab(params, tab);
  const isAll = visit.query.get('state') === 'all';
  return showTab(visit, params, {
    tab,
    list: `${tab}?${cursorQuery(visit)}${isAll ? '' : '&state=open'}`,
    notice,
    show: async (list) => html`${linkPanel(visit)}${mayPost(visit, path) && (await inviteForm(visit, path, typed))}
<nav class="choose" aria-label="Invitations">${(['open', 'all'] as const).map(
      (state) =>
        html`<a href="${consolePath(visit.request.tenant, `${path}?state=${state}`)}"${(state === 'all') === isAll && html` aria-current="page"`}>${state === 'all' ? 'All' : 'Waiting'}</a>`,
    )}</nav>
${invitationTable(visit, path, itemsOf(list))}${cursorPages(visit, path, list, ['state'])}`,
  });
}

async function inviteForm(visit: Visit, path: string, typed: Typed | undefined): Promise<Html> {
  const { tenant } = visit.request;
  const roles = itemsOf(await manage(visit, 'GET', '/organization-roles?limit=200'));
  return html`<form class="card" method="post" action="${consolePath(tenant, path)}">${csrfField(frameOf(visit))}
<p class="muted">People with an account sign in and join. People without one get one through the link. A newer invitation replaces an older one.</p>
<div class="field"><label for="email">Email</label><input type="email" id="email" name="email" required maxlength="${emailCharsMax}" autocomplete="off" value="${typed?.get('email') ?? ''}"></div>
${roles.length > 0 && roleChecks(roles, typed?.getAll('role') ?? [])}
<div class="bar end">${tenant.canMail && html`<button id="invite" name="by" value="mail">Invite by mail</button>`}<button id="invite-link" name="by" value="link"${tenant.canMail && html` class="quiet"`}>Make a link to copy</button></div></form>`;
}

/** The link that was just made. */
function linkPanel(visit: Visit): Html | undefined {
  const secret = secretOf(visit, secretKind);
  return (
    secret &&
    html`<section class="panel" id="invitation" aria-label="Invitation"><h2>The link for ${itemOf(secret, 'email')}</h2>
<p>It works once, until ${shownTime(itemOf(secret, 'until'))}, and is shown here for ten minutes: hand it to nobody else.</p>
<pre id="invitation-link">${itemOf(secret, 'link')}</pre></section>`
  );
}

function invitationTable(visit: Visit, path: string, invitations: readonly Json[]): Html {
  if (invitations.length === 0) return emptyState('No invitation', 'Everybody who was invited to this organisation has joined.');
  const { canMail } = visit.request.tenant;
  const mayAct = mayPost(visit, path) || mayPost(visit, `${path}/id/withdraw`);
  const acts = (one: Json): Html => {
    const [id, email] = [encodeURIComponent(text(one['id'])), text(one['email'])];
    const again = { email, roles: rolesOf(one).join(' '), by: canMail ? 'mail' : 'link' };
    return html`<div class="bar">${postButton(frameOf(visit), { path, label: canMail ? 'Remind' : 'New link', style: 'small quiet', of: email, fields: again })}${postButton(frameOf(visit), { path: `${path}/${id}/withdraw`, label: 'Withdraw…', style: 'small danger', of: email })}</div>`;
  };
  const rows = invitations.map((one) => [
    text(one['email']),
    rolesOf(one).join(', ') || 'none',
    badge(text(one['state']), one['state'] === 'open' ? 'good' : 'plain'),
    one['mailed'] === true ? 'mailed' : 'handed over',
    shownTime(one['created_at']),
    shownTime(one['expires_at']),
    ...(mayAct ? [one['state'] === 'open' || one['state'] === 'expired' ? acts(one) : ''] : []),
  ]);
  return table('Invitations', ['Email', 'Roles', 'State', 'How', 'Made', 'Ends', ...(mayAct ? ['Remind or withdraw'] : [])], rows);
}

/** Invites somebody, or does so again; the tab shows the link, where it is not mailed. */
export async function inviteToOrganization(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const path = pathOfTab(params, tab);
  const email = (typed.get('email') ?? '').trim();
  const again = typed.get('roles');
  const roles = again === null ? typed.getAll('role') : again.split(' ').filter((role) => role !== '');
  const answer = await manage(visit, 'POST', path, { email, roles, mail: typed.get('by') === 'mail' });
  if (answer.status !== 201) return organizationInvitationsPage(visit, params, { typed, notice: refused(answer) });
  const { invitation_url: url, expires_at: until, mailed } = answer.body;
  if (mailed === true) return finish(visit, path, `The invitation was mailed to ${email}.`);
  const items = [['link', text(url)] as const, ['until', text(until)] as const, ['email', email] as const];
  return finish(visit, path, 'The link was made.', { kind: secretKind, items });
}

export async function withdrawInvitation(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const back = pathOfTab(params, tab);
  const path = `${back}/${encodeURIComponent(params['invitation'] ?? '')}`;
  if (!isSure(typed))
    return askPage(visit, {
      title: 'Withdraw this invitation?',
      text: 'Its link stops working. Who came by it stays a member.',
      label: 'Withdraw',
      path: `${path}/withdraw`,
      back,
    });
  const answer = await manage(visit, 'DELETE', path);
  if (answer.status === 204) return finish(visit, back, 'The invitation was withdrawn. Its link no longer works.');
  return organizationInvitationsPage(visit, params, { notice: refused(answer) });
}
