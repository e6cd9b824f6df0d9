// Administrators: who holds roles, a new one by mail or a link to copy, and the roles of one person. Who may give which the
// Management API decides.
import type { FastifyReply } from 'fastify';
import type { ApiAnswer } from '../../first-party/app-api.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { csrfField, type Notice, table } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { badge, emptyState } from '../console-page.ts';
import { consoleResource } from '../console-resources.ts';
import { finish, frameOf, itemsOf, manage, refusalText, showMissing, showPage, type Visit } from '../console-visit.ts';
import { mayGrant } from '../frame/allowed.ts';
import { consolePath } from '../frame/navigation.ts';
import { cursorPages, cursorQuery } from '../list-controls.ts';
import { pathOf, tabBar } from '../resource-pages.ts';

type Json = Readonly<Record<string, unknown>>;
type Params = Readonly<Record<string, string>>;

const users = consoleResource('/users');
const rolesTab = '/roles';

export async function administratorsPage(visit: Visit): Promise<FastifyReply> {
  const answer = await manage(visit, 'GET', `/administrators?${cursorQuery(visit)}`);
  const link = (below: string): string => consolePath(visit.request.tenant, below);
  const rows = itemsOf(answer).map((holder) => [
    html`<a class="strong" href="${link(`${pathOf(users, text(holder['user_id']))}${rolesTab}`)}">${users.titleOf({ ...holder, id: holder['user_id'] })}</a>`,
    text(holder['user_name'] ?? ''),
    badge(text(holder['state']), holder['state'] === 'active' ? 'good' : 'bad'),
    (holder['roles'] as readonly string[]).join(', '), // the API's shape
  ]);
  const buttons = html`<div class="bar spread"><p class="hint">What each may do is what their roles allow.</p><div class="bar"><a class="button quiet" href="${link('/roles')}">Roles</a>${
    mayGrant(visit) && html`<a class="button" id="new" href="${link('/administrators/new')}">Add administrator</a>`
  }</div></div>`;
  return showPage(
    visit,
    'Administrators',
    html`${buttons}
${rows.length === 0 ? emptyState('No administrators yet', 'People who have a role can use this console.') : table('Administrators', ['Name', 'User name', 'State', 'Roles'], rows)}
${cursorPages(visit, '/administrators', answer)}`,
    answer.status === 200 ? undefined : { kind: 'bad', text: refusalText(answer) },
  );
}

export async function newAdministratorPage(visit: Visit, typed?: Typed, notice?: Notice): Promise<FastifyReply> {
  const roles = await manage(visit, 'GET', '/roles?limit=200');
  if (roles.status !== 200) return showMissing(visit, 'Add administrator', roles);
  const { tenant } = visit.request;
  const { canMail } = tenant;
  if (!mayGrant(visit))
    return showPage(visit, 'Add administrator', html`<p>Your roles do not let you give roles. An owner of ${tenant.name} can.</p>`, notice);
  return showPage(
    visit,
    'Add administrator',
    html`<form class="card" method="post" action="${consolePath(tenant, '/administrators')}">${csrfField(frameOf(visit))}
<div class="field"><label for="email">Email</label><input type="email" id="email" name="email" required autocomplete="off" value="${typed?.get('email') ?? ''}"><p class="hint">Somebody who has this email becomes an administrator; else a person is made.</p></div>
${roleChecks(itemsOf(roles), typed?.getAll('role') ?? [])}
<p>They get a link, which works once, by which they add a passkey or phone.</p>
<div class="bar end">${canMail && html`<button id="invite" name="by" value="mail">Invite by mail</button>`}<button id="invite-link" name="by" value="link"${canMail && html` class="quiet"`}>Make a link to copy</button> <a class="button quiet" href="${consolePath(tenant, '/administrators')}">Cancel</a></div></form>`,
    notice,
  );
}

/** Makes somebody an administrator and invites them; the tab of their invitations shows the link, where it is not mailed. */
export async function addAdministrator(visit: Visit, typed: Typed): Promise<FastifyReply> {
  const email = (typed.get('email') ?? '').trim();
  const roles = typed.getAll('role');
  const refuse = (why: string): Promise<FastifyReply> => newAdministratorPage(visit, typed, { kind: 'bad', text: why });
  if (roles.length === 0) return refuse('Tick a role.');
  const found = await manage(visit, 'GET', `/users?search=${encodeURIComponent(email)}`);
  if (found.status !== 200) return refuse(refusalText(found));
  const known = itemsOf(found).find((user) => emailsOf(user).includes(email.toLowerCase()));
  const made = known === undefined ? await create(visit, email, roles) : await give(visit, known, roles);
  if (made.status >= 300) return refuse(refusalText(made));
  const path = `${pathOf(users, text(known?.['id'] ?? made.body['id']))}/invitations`;
  const invited = await manage(visit, 'POST', path, { mail: typed.get('by') === 'mail' });
  if (invited.status !== 201) return refuse(refusalText(invited));
  const { mailed_to: mailedTo, invitation_url: url, expires_at: until } = invited.body;
  if (mailedTo !== null) return finish(visit, path, `${email} is an administrator. The invitation was mailed to ${text(mailedTo)}.`);
  const items = [['link', text(url)] as const, ['until', text(until)] as const];
  return finish(visit, path, `${email} is an administrator. The link was made.`, { kind: 'invitation', items });
}

const create = (visit: Visit, email: string, roles: readonly string[]): Promise<ApiAnswer> =>
  manage(visit, 'POST', '/users', { user_name: email, emails: [{ value: email, primary: true }], admin_roles: roles });

/** The roles beside those they hold. */
async function give(visit: Visit, user: Json, roles: readonly string[]): Promise<ApiAnswer> {
  const path = `${pathOf(users, text(user['id']))}${rolesTab}`;
  const held = await manage(visit, 'GET', path);
  return held.status === 200 ? manage(visit, 'PUT', path, { roles: [...new Set([...heldIn(held.body), ...roles])] }) : held;
}

/** The tab of a person: the roles they hold, to be ticked. */
export async function userRolesPage(visit: Visit, params: Params, typed?: Typed, notice?: Notice): Promise<FastifyReply> {
  const path = pathOf(users, params['id'] ?? '');
  const [user, held, roles] = await Promise.all([
    manage(visit, 'GET', path),
    manage(visit, 'GET', `${path}${rolesTab}`),
    manage(visit, 'GET', '/roles?limit=200'),
  ]);
  if (user.status !== 200) return showMissing(visit, users.singular, user);
  const missing = [held, roles].find(({ status }) => status !== 200);
  if (missing !== undefined) return showMissing(visit, users.titleOf(user.body), missing);
  return showPage(
    visit,
    users.titleOf(user.body),
    html`${tabBar(visit, users, params['id'] ?? '', rolesTab)}<form class="card" method="post" action="${consolePath(visit.request.tenant, `${path}${rolesTab}`)}">${csrfField(frameOf(visit))}
${roleChecks(itemsOf(roles), typed?.getAll('role') ?? heldIn(held.body))}
${mayGrant(visit) && html`<div class="bar end"><button id="save">Save</button></div>`}</form>`,
    notice,
  );
}

export async function changeUserRoles(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const path = `${pathOf(users, params['id'] ?? '')}${rolesTab}`;
  const answer = await manage(visit, 'PUT', path, { roles: typed.getAll('role') });
  if (answer.status !== 200) return userRolesPage(visit, params, typed, { kind: 'bad', text: refusalText(answer) });
  const roles = heldIn(answer.body);
  return finish(visit, path, roles.length === 0 ? 'They hold no role now.' : `Their roles: ${roles.join(', ')}.`);
}

/** Roles to tick. */
export const roleChecks = (roles: readonly Json[], ticked: readonly string[]): Html =>
  html`<fieldset><legend>Roles</legend>${roles.map((role) => {
    const name = text(role['name']);
    return html`<div class="check"><input type="checkbox" id="role-${name}" name="role" value="${name}"${ticked.includes(name) && html` checked`}><label for="role-${name}">${name}</label><p class="hint">${text(role['description'] ?? '')}</p></div>`;
  })}</fieldset>`;

const heldIn = (body: Json): readonly string[] => body['roles'] as readonly string[]; // the API's shape

/** Addresses of a person as they are compared. */
export const emailsOf = (user: Json): readonly string[] =>
  ((user['emails'] ?? []) as readonly { readonly value: string }[]).map(({ value }) => value.toLowerCase()); // the API's shape
