// The roles a member holds in an organisation, as a page and in the list of its members.
import type { FastifyReply } from 'fastify';
import type { Typed } from '../../first-party/app-form.ts';
import type { Notice } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { postForm } from '../console-page.ts';
import { finish, frameOf, itemsOf, manage, refusalText, showMissing, showPage, type Visit } from '../console-visit.ts';
import { consolePath } from '../frame/navigation.ts';
import { roleChecks } from './administrator-pages.ts';
import { organizations } from './organization-resource.ts';

type Json = Readonly<Record<string, unknown>>;
type Params = Readonly<Record<string, string>>;

const pathOfMember = (params: Params): { readonly organization: string; readonly member: string } => {
  const organization = `/organizations/${encodeURIComponent(params['id'] ?? '')}`;
  return { organization, member: `${organization}/members/${encodeURIComponent(params['entry'] ?? '')}` };
};

/** The roles of a member in a list of members, leading to where they are changed. */
export function rolesCell(visit: Visit, own: string, entry: Json): Html {
  const held = (entry['roles'] as readonly string[]).join(', ') || 'none'; // the API's shape
  const at = consolePath(visit.request.tenant, `${own}/members/${encodeURIComponent(text(entry['user_id']))}/roles`);
  return html`<a href="${at}">${held}</a>`;
}

/** The roles a member holds in an organisation, to be ticked. */
export async function memberRolesPage(visit: Visit, params: Params, typed?: Typed, notice?: Notice): Promise<FastifyReply> {
  const { organization, member } = pathOfMember(params);
  const person = `/users/${encodeURIComponent(params['entry'] ?? '')}`;
  const [whole, user, belongs, roles] = await Promise.all([
    manage(visit, 'GET', organization),
    manage(visit, 'GET', person),
    manage(visit, 'GET', `${person}/organizations`),
    manage(visit, 'GET', '/organization-roles?limit=200'),
  ]);
  const missing = [whole, user, belongs, roles].find(({ status }) => status !== 200);
  if (missing !== undefined) return showMissing(visit, organizations.singular, missing);
  const held = itemsOf(belongs).find(({ id }) => id === whole.body['id'])?.['roles'] as readonly string[] | undefined; // the API's shape
  if (held === undefined) return showMissing(visit, 'Member', { ...belongs, status: 404 });
  const name = text(user.body['display_name'] ?? user.body['user_name']);
  const back = consolePath(visit.request.tenant, `${organization}/members`);
  return showPage(
    visit,
    `${name} in ${organizations.titleOf(whole.body)}`,
    postForm(
      frameOf(visit),
      { path: `${member}/roles` },
      itemsOf(roles).length === 0
        ? html`<p class="muted">There are no <a href="${consolePath(visit.request.tenant, '/organization-roles')}">roles of organisations</a> yet.</p>`
        : roleChecks(itemsOf(roles), typed?.getAll('role') ?? held),
      html`<button id="save">Save</button> <a class="button quiet" href="${back}">Back to the members</a>`,
    ),
    notice,
  );
}

export async function changeMemberRoles(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const { organization, member } = pathOfMember(params);
  const answer = await manage(visit, 'PUT', member, { roles: typed.getAll('role') });
  if (answer.status !== 200) return memberRolesPage(visit, params, typed, { kind: 'bad', text: refusalText(answer) });
  return finish(visit, `${organization}/members`, 'The roles are saved.');
}
