// `/users`: the SCIM user in snake_case. Rules of single fields are in the schema; uniqueness is the database's.
import Type from 'typebox';
import {
  customOf,
  customToJson,
  listFault,
  listsOf,
  listsToJson,
  personProperties,
  profileOf,
  profileToJson,
  shownProperties,
} from '../../administration/people/user-fields.ts';
import {
  changeUser,
  changeUserState,
  createUser,
  endSession,
  endSessions,
  findStoredUser,
  listStoredUsers,
  removeUser,
  type StoredUser,
  type UserChange,
} from '../../administration/people/users.ts';
import { type CustomCells, type CustomValues, fromCustomCell, toCustomCells } from '../../domain/people/custom-attributes.ts';
import { adminRole, builtInRole } from '../../domain/people/role.ts';
import { liveUserStates, userOrigins, userRoles, userStates } from '../../domain/people/user.ts';
import { userNameFault } from '../../domain/people/user-name.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { listGrantsOfUser } from '../../storage/oidc/grants.ts';
import type { NewLists, UserProfile, UserRow } from '../../storage/people/user-rows.ts';
import type { NewUser } from '../../storage/people/user-writer.ts';
import { conflict, type Endpoint, endpoint, invalidField, isoTime, type Json, notFound, requireCapabilities } from '../endpoint.ts';
import { listOf, pageOf } from '../paging.ts';
import { closed, dateTime, listAnswer, nullable, oneOf } from '../schemas.ts';
import { attacked, attackOn } from '../sign-in/attacked.ts';
import { signedIn, withLastSignIn, withLastSignIns } from '../sign-in/last-sign-in.ts';
import { directoryOfPerson, fromDirectory } from './directory-of.ts';
import { grants, requireMayGrant, roleNames } from './granting.ts';
import { answerPeople, peopleQuery, refuseUnsorted } from './people-list.ts';
import { loadUser, unknownUser } from './user-of-path.ts';

const userBody = closed({
  ...personProperties,
  role: Type.Optional(oneOf(userRoles)), // admin: the role of this name, for whoever holds none
  state: Type.Optional(oneOf(liveUserStates)),
});
const userAnswer = Type.Object({
  id: Type.String(),
  ...shownProperties,
  state: oneOf(userStates),
  role: oneOf(userRoles),
  origin: oneOf(userOrigins),
  version: Type.Integer(),
  created_at: dateTime,
  updated_at: dateTime,
  ...signedIn,
  ...attacked,
  ...fromDirectory,
});
const sessionAnswer = Type.Object({
  id: Type.String(),
  client_id: Type.String(),
  scope: Type.String(),
  resource: nullable(Type.String()),
  amr: Type.Array(Type.String()),
  acr: nullable(Type.String()),
  auth_time: dateTime,
  created_at: dateTime,
  expires_at: dateTime,
});
const takenText: Readonly<Record<string, string>> = { user_name: 'The user name is in use.', emails: 'An email address is in use.' };
export const taken = (field: string): Error => conflict(field, takenText[field] ?? 'Another user has this value.');

export const userEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/users',
    capability: 'users:write',
    summary: 'Create a user',
    body: closed({ ...userBody.properties, admin_roles: Type.Optional(roleNames) }),
    answer: userAnswer,
    status: 201,
    handle: async ({ services, tenant, body, actor, scopes, requestId }) => {
      const roles = body.admin_roles ?? (body.role === 'admin' ? [adminRole] : []);
      await requireMayGrant({ services, tenant, scopes }, roles);
      const created = await createUser(services, tenant.id, newUserOf(tenant, body, roles), { actor, requestId });
      if (!created.ok) throw taken(created.field);
      return userToJson(tenant, created.user);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/users',
    capability: 'users:read',
    summary:
      'List users, oldest first; `search` is the start of a user name or email. With `sort` (`name` is the name shown, a minus turns it around, `best` has those first who are meant by `contains`): `contains` is words that are in names or emails, in any order (alone and under three characters: the start of one), or the start of an id or external id; what else is given all holds (`group` takes groups:read, `role` administrators:read, `invited` invitations:read; the times are those since when somebody did or did not sign in); `total` counts to 10,000, `previous_cursor` leads back',
    query: peopleQuery,
    answer: Type.Object({
      ...listAnswer(userAnswer).properties,
      total: Type.Optional(Type.Integer()),
      previous_cursor: Type.Optional(Type.String()),
    }),
    status: 200,
    handle: async (call) => {
      const { services, tenant, query } = call;
      if (query.sort !== undefined)
        return withLastSignIns(
          { services, tenant },
          { kind: 'user', idName: 'id' },
          await answerPeople(call, query.sort, (user) => userToJson(tenant, user)),
        );
      refuseUnsorted(query);
      const page = pageOf(query);
      const wanted = { ...page, limit: page.limit + 1, state: query.state, search: query.search };
      const users = await listStoredUsers(services, tenant.id, wanted);
      const list = listOf(
        page,
        users,
        (user) => user.row.id,
        (user) => userToJson(tenant, user),
      );
      return withLastSignIns({ services, tenant }, { kind: 'user', idName: 'id' }, list);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/users/:id',
    capability: 'users:read',
    summary: 'Read a user',
    answer: userAnswer,
    status: 200,
    handle: async ({ services, tenant, params }) => {
      const user = await findStoredUser(services, tenant.id, params['id']!);
      if (user === undefined) throw unknownUser();
      const json = await withLastSignIn({ services, tenant }, { kind: 'user', idName: 'id' }, userToJson(tenant, user));
      const { id } = user.row;
      return { ...json, ...(await attackOn(services, tenant, id)), ...(await directoryOfPerson({ services, tenant }, id)) };
    },
  }),
  endpoint({
    method: 'PATCH',
    path: '/users/:id',
    capability: 'users:write',
    summary: 'Change a user; null clears a field, `emails` replaces the list, `custom` is merged',
    body: userBody,
    answer: userAnswer,
    status: 200,
    handle: async ({ services, tenant, params, body, actor, scopes, requestId }) => {
      const fault = nameFaultOf(body);
      const against = (before: UserRow): ReturnType<NonNullable<UserChange['against']>> => {
        if (fault !== undefined && before.user_name !== (body as Json)['user_name']) throw fault; // names given before stay valid
        const custom = customCells(tenant, body, fromCustomCell(tenant.customAttributes, before.custom));
        if (body.role === undefined || body.role === before.role) return { custom }; // an administrator stays what they are
        requireCapabilities([grants, ...(body.role === 'admin' ? builtInRole(adminRole)!.capabilities : [])], scopes);
        return { custom, roles: body.role === 'admin' ? [adminRole] : [] };
      };
      const change = {
        ...readUser(body),
        state: body.state,
        against,
      };
      const changed = await changeUser(services, tenant.id, params['id']!, change, { actor, requestId });
      if (!changed.ok) throw changed.reason === 'taken' ? taken(changed.field) : unknownUser();
      return userToJson(tenant, changed.user);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/users/:id',
    capability: 'users:write',
    summary: 'Delete a user: sessions, devices, memberships end; the name and emails are free again',
    answer: undefined,
    status: 204,
    handle: async ({ services, tenant, params, actor, requestId }) => {
      if (!(await removeUser(services, tenant.id, params['id']!, { actor, requestId }))) throw unknownUser();
    },
  }),
  ...(['suspend', 'activate'] as const).map((verb) => stateEndpoint(verb)),
  endpoint({
    method: 'GET',
    path: '/users/:id/sessions',
    capability: 'users:read',
    summary: 'List what the user is signed in to',
    answer: listAnswer(sessionAnswer),
    status: 200,
    handle: async ({ services, tenant, params }) => {
      const user = await services.database.read(tenant.id, (queries) => loadUser(queries, tenant.id, params['id']!));
      const grants = await services.database.read(tenant.id, (queries) => listGrantsOfUser(queries, tenant.id, user.id));
      return { items: grants.map(sessionToJson) };
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/users/:id/sessions',
    capability: 'users:write',
    summary: 'End every session: refresh families and access tokens',
    answer: undefined,
    status: 204,
    handle: async ({ services, tenant, params, actor, requestId }) => {
      if ((await endSessions(services, tenant.id, params['id']!, { actor, requestId })) === undefined) throw unknownUser();
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/users/:id/sessions/:session_id',
    capability: 'users:write',
    summary: 'End one session',
    answer: undefined,
    status: 204,
    handle: async ({ services, tenant, params, actor, requestId }) => {
      const user = await services.database.read(tenant.id, (queries) => loadUser(queries, tenant.id, params['id']!));
      if (!(await endSession(services, tenant.id, { user: user.id, session: params['session_id']! }, { actor, requestId })))
        throw notFound('unknown_session');
    },
  }),
];

function stateEndpoint(verb: 'suspend' | 'activate'): Endpoint {
  return endpoint({
    method: 'POST',
    path: `/users/:id/${verb}`,
    capability: 'users:write',
    summary:
      verb === 'suspend'
        ? 'Suspend a user; sessions end, devices stop. What they know of clients works on: `/users/{id}/known-secrets` lists it'
        : 'Activate a suspended user',
    answer: userAnswer,
    status: 200,
    handle: async ({ services, tenant, params, actor, requestId }) => {
      const state = verb === 'suspend' ? 'suspended' : 'active';
      const changed = await changeUserState(services, tenant.id, params['id']!, state, { actor, requestId });
      if (!changed.ok) throw unknownUser();
      return userToJson(tenant, changed.user);
    },
  });
}

/** What is stored of a new person. @throws management.invalid_request */
export function newUserOf(tenant: Tenant, body: Json, roles: readonly string[]): Omit<NewUser, 'id'> {
  const fault = nameFaultOf(body);
  if (fault !== undefined) throw fault;
  const state = body['state'] === 'suspended' ? 'suspended' : 'active';
  return { ...readUser(body), custom: customCells(tenant, body, {}), roles, state, origin: 'console' };
}

function nameFaultOf({ user_name: name }: Json): Error | undefined {
  const fault = typeof name === 'string' ? userNameFault(name) : undefined;
  return fault === undefined ? undefined : invalidField('user_name', `This field ${fault}.`);
}

function readUser(body: Json): { readonly profile: UserProfile; readonly lists: NewLists } {
  const fault = listFault(body);
  if (fault !== undefined) throw invalidField(fault, 'This field may have one primary element.');
  return { profile: profileOf(body), lists: listsOf(body) };
}

/** @throws management.invalid_request */
function customCells({ customAttributes }: Tenant, body: Json, before: CustomValues): CustomCells | undefined {
  const reading = customOf(customAttributes, body, before);
  if (reading?.ok === false) throw invalidField(reading.field, `This field ${reading.text}.`);
  return reading && toCustomCells(customAttributes, reading.values);
}

/** The user as the API shows it; absent attributes are absent, as in SCIM. */
function userToJson({ customAttributes }: Tenant, { row, lists }: StoredUser): Json {
  const { id, state, role, origin, version } = row;
  return {
    id,
    ...profileToJson(row),
    ...listsToJson(lists),
    ...customToJson(customAttributes, row),
    state,
    role,
    origin,
    version,
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  };
}

function sessionToJson(grant: Awaited<ReturnType<typeof listGrantsOfUser>>[number]): Json {
  return {
    id: grant.id,
    client_id: grant.client_id,
    scope: grant.scope,
    resource: grant.resource,
    amr: JSON.parse(grant.amr),
    acr: grant.acr,
    auth_time: isoTime(grant.auth_time * 1000),
    created_at: isoTime(grant.created_at),
    expires_at: isoTime(grant.expires_at),
  };
}
