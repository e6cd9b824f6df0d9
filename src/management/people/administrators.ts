// Who holds roles: `/administrators`, `/users/{id}/roles`, and `/me`, which says what the caller may do (design 13, 4).
import Type from 'typebox';
import { changeUser } from '../../administration/people/users.ts';
import { roleNameCharsMax } from '../../contract/limits.ts';
import { capabilitiesOfTenant } from '../../domain/people/capabilities.ts';
import { liveUserStates } from '../../domain/people/user.ts';
import { listHeldRoles, listHolders } from '../../storage/people/user-roles.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { listOf, pageOf } from '../paging.ts';
import { closed, listAnswer, nullable, oneOf, pageQuery } from '../schemas.ts';
import { grants, requireMayGrant, roleNames } from './granting.ts';
import { loadUser, unknownUser } from './user-of-path.ts';

const rolesAnswer = Type.Object({ roles: Type.Array(Type.String()) });
const holderAnswer = Type.Object({
  user_id: Type.String(),
  user_name: nullable(Type.String()),
  display_name: nullable(Type.String()),
  state: oneOf(liveUserStates),
  roles: Type.Array(Type.String()),
});

export const administratorEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/me',
    summary: 'Who calls, and what the token and, for a person, the roles they hold now allow',
    answer: Type.Object({ actor: Type.String(), capabilities: Type.Array(Type.String()) }),
    status: 200,
    handle: async ({ tenant, actor, scopes }) => ({
      actor,
      capabilities: capabilitiesOfTenant(tenant).filter((capability) => scopes.includes(capability)),
    }),
  }),
  endpoint({
    method: 'GET',
    path: '/administrators',
    capability: 'administrators:read',
    summary: 'List the people who hold roles, or the one named by `role`, oldest first',
    query: closed({ ...pageQuery.properties, role: Type.Optional(Type.String({ minLength: 1, maxLength: roleNameCharsMax })) }),
    answer: listAnswer(holderAnswer),
    status: 200,
    handle: async ({ services, tenant, query }) => {
      const page = pageOf(query);
      const found = await services.database.read(tenant.id, async (queries) => {
        const rows = await listHolders(queries, tenant.id, { ...page, limit: page.limit + 1, role: query.role });
        const ids = rows.map(({ id }) => id);
        const held = await listHeldRoles(queries, tenant.id, ids);
        return rows.map((row) => ({ ...row, roles: (held.get(row.id) ?? []).map(({ name }) => name) }));
      });
      return listOf(
        page,
        found,
        (row) => row.id,
        ({ id, ...rest }) => ({ user_id: id, ...rest }),
      );
    },
  }),
  endpoint({
    method: 'GET',
    path: '/users/:id/roles',
    capability: 'administrators:read',
    summary: 'List the roles a user holds, by name',
    answer: rolesAnswer,
    status: 200,
    handle: async ({ services, tenant, params }) =>
      services.database.read(tenant.id, async (queries) => {
        const { id } = await loadUser(queries, tenant.id, params['id']!);
        return { roles: ((await listHeldRoles(queries, tenant.id, [id])).get(id) ?? []).map(({ name }) => name) };
      }),
  }),
  endpoint({
    method: 'PUT',
    path: '/users/:id/roles',
    capability: grants,
    summary: 'Set the roles a user holds; an empty list makes an ordinary user. The caller needs every capability given and taken',
    body: closed({ roles: roleNames }),
    answer: rolesAnswer,
    status: 200,
    handle: async (call) => {
      const { services, tenant, params, body, actor, requestId } = call;
      const roles = [...new Set(body.roles)].sort();
      await requireMayGrant(call, roles);
      const changed = await changeUser(services, tenant.id, params['id']!, { roles }, { actor, requestId });
      if (!changed.ok) throw unknownUser();
      return { roles };
    },
  }),
];
