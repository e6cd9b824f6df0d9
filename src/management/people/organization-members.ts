// `/organizations/{id}/members` and `/users/{id}/organizations`: who is in which organisation, and with which roles there.
import Type from 'typebox';
import { capabilitiesByRoles } from '../../administration/organizations.ts';
import { membersPerOrganizationMax, organizationRolesMax, organizationsPerPersonMax, roleNameCharsMax } from '../../contract/limits.ts';
import { membershipsMax } from '../../contract/organization-limits.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { Queries } from '../../storage/engine/database.ts';
import {
  type Belonging,
  countMembers,
  deleteMember,
  type ListedMember,
  listMembers,
  listOrganizationsOfUser,
  putMember,
} from '../../storage/people/organization-members.ts';
import { lockUser } from '../../storage/people/users.ts';
import {
  audit,
  type Call,
  conflict,
  type Endpoint,
  endpoint,
  invalidField,
  isoTime,
  type Json,
  notFound,
  requireCapabilities,
  withStatus,
} from '../endpoint.ts';
import { listOf, pageOf } from '../paging.ts';
import { closed, dateTime, listAnswer, nullable, searchQuery } from '../schemas.ts';
import { requireOrganization, unknownOrganization } from './organizations.ts';
import { loadUser, unknownUser } from './user-of-path.ts';

const roleNames = Type.Array(Type.String({ minLength: 1, maxLength: roleNameCharsMax }), { maxItems: organizationRolesMax });
const membership = { user_id: Type.String(), roles: Type.Array(Type.String()), created_at: dateTime };
const suspended = Type.Boolean({ description: 'by the directory of the organisation: they do not sign in for it' });
const listedMember = Type.Object({ ...membership, suspended, user_name: nullable(Type.String()), display_name: nullable(Type.String()) });
const belonging = Type.Object({
  id: Type.String(),
  name: Type.String(),
  display_name: nullable(Type.String()),
  enabled: Type.Boolean(),
  suspended,
  roles: Type.Array(Type.String()),
  created_at: dateTime,
});

export const organizationMemberEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/organizations/:id/members',
    capability: 'organizations:read',
    summary: 'List the members of an organisation by name; `search` is a part of a name or email. Needs `users:read` too',
    query: searchQuery,
    answer: Type.Object({ ...listAnswer(listedMember).properties, total: Type.Integer() }),
    status: 200,
    handle: async ({ services, tenant, params, query, scopes }) => {
      requireCapabilities(['users:read'], scopes); // it says who people are
      const page = pageOf(query);
      const { search } = query;
      const after = page.after === '' ? undefined : placeOf(page.after);
      const { found, total } = await services.database.read(tenant.id, async (queries) => {
        const { id, members } = await requireOrganization(queries, tenant.id, params['id']!);
        return {
          found: await listMembers(queries, tenant.id, id, { search, after, limit: page.limit + 1 }),
          total: search === undefined ? members : await countMembers(queries, tenant.id, id, { search }),
        };
      });
      return { ...listOf(page, found, ({ name, userId }) => JSON.stringify([name, userId]), memberToJson), total };
    },
  }),
  endpoint({
    method: 'PUT',
    path: '/organizations/:id/members/:user_id',
    capability: 'organizations:write',
    actsOn: async (_queries, { params }) => [params['user_id']!],
    summary:
      'Make a person a member with these roles, or change those of a member; without `roles` they stay as they are, and a new member has none. A role with `manage` takes what it lets people do: `users:read`, `users:write`, `invitations:write`, `sign-in:write`, `scim:read` and `scim:write`',
    body: closed({ roles: Type.Optional(roleNames) }),
    answer: Type.Object(membership),
    status: 200,
    handle: put,
  }),
  endpoint({
    method: 'DELETE',
    path: '/organizations/:id/members/:user_id',
    capability: 'organizations:write',
    actsOn: async (_queries, { params }) => [params['user_id']!],
    summary: 'End a membership; the person keeps the account',
    answer: undefined,
    status: 204,
    handle: async (call) => {
      const { services, tenant, params } = call;
      await services.database.write(tenant.id, async (queries) => {
        const { id } = await requireOrganization(queries, tenant.id, params['id']!);
        if (!(await deleteMember(queries, tenant.id, id, params['user_id']!))) throw notFound('not_a_member');
        const data = { user: params['user_id']! };
        await audit(call, queries, { type: 'organization.member_removed', target: `organization:${id}`, data });
      });
    },
  }),
  endpoint({
    method: 'GET',
    path: '/users/:id/organizations',
    capability: 'organizations:read',
    summary: 'List the organisations a user is in, by name, with the roles there',
    answer: listAnswer(belonging),
    status: 200,
    handle: ({ services, tenant, params }) =>
      services.database.read(tenant.id, async (queries) => {
        const user = await loadUser(queries, tenant.id, params['id']!);
        return { items: (await listOrganizationsOfUser(queries, tenant.id, user.id)).map(belongingToJson) };
      }),
  }),
];

async function put(call: Call<undefined, { readonly roles?: readonly string[] | undefined }>): Promise<unknown> {
  const { services, tenant, params, body, scopes } = call;
  const wanted = body.roles && [...new Set(body.roles)].sort();
  return services.database.write(tenant.id, async (queries) => {
    const { id } = await requireOrganization(queries, tenant.id, params['id']!);
    await requireMayGive(queries, tenant.id, scopes, wanted ?? []);
    const user = await lockUser(queries, services.database.dialect, tenant.id, params['user_id']!);
    if (user === undefined) throw unknownUser();
    const joined = await putMember(queries, tenant.id, { organizationId: id, userId: user.id, roles: wanted });
    if (!joined.ok)
      switch (joined.reason) {
        case 'unknown':
          throw unknownOrganization();
        case 'unknown_role':
          throw invalidField('roles', `No such role of organisations: ${joined.role}`);
        case 'person_full':
          throw conflict('user_id', `A person is in at most ${organizationsPerPersonMax} organisations.`);
        case 'tenant_full':
          throw conflict('members', `A tenant has at most ${membershipsMax} memberships in its organisations.`);
        default:
          throw conflict('members', `An organisation has at most ${membersPerOrganizationMax} members.`);
      }
    const { roles } = joined;
    if (joined.was !== 'same') {
      const type = joined.was === 'none' ? 'organization.member_added' : 'organization.member_changed';
      await audit(call, queries, { type, target: `organization:${id}`, data: { user: user.id, roles } });
    }
    const json = { user_id: user.id, roles, created_at: isoTime(joined.createdAt) };
    return joined.was === 'none' ? withStatus(201, json) : json;
  });
}

/** Whoever lets somebody manage an organisation may do what they may do there then. @throws management.forbidden */
export async function requireMayGive(
  queries: Queries,
  tenant: TenantId,
  scopes: readonly string[],
  roles: readonly string[],
): Promise<void> {
  requireCapabilities(await capabilitiesByRoles(queries, tenant, roles), scopes);
}

function placeOf(text: string): readonly [name: string, id: string] {
  try {
    const [name, id] = JSON.parse(text) as readonly unknown[]; // checked below
    if (typeof name === 'string' && typeof id === 'string') return [name, id];
  } catch {
    // refused below, like any other text that is no cursor
  }
  throw invalidField('cursor', 'This parameter is not a cursor of this list.');
}

const memberToJson = ({ userId, roles, createdAtMs, isSuspended, userName, displayName }: ListedMember): Json => ({
  user_id: userId,
  roles,
  created_at: isoTime(createdAtMs),
  suspended: isSuspended,
  user_name: userName,
  display_name: displayName,
});

const belongingToJson = ({ id, name, displayName, isEnabled, isSuspended, roles, createdAtMs }: Belonging): Json => ({
  id,
  name,
  display_name: displayName ?? null,
  enabled: isEnabled,
  suspended: isSuspended,
  roles,
  created_at: isoTime(createdAtMs),
});
