// `/users`: the SCIM user in snake_case. Rules of single fields are in the schema; uniqueness is the database's.
import Type from 'typebox';
import { addressParts, listsToJson, type UserLists, type ValueListName, valueListNames } from '../administration/user-lists.ts';
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
} from '../administration/users.ts';
import { emailCharsMax, emailsPerUserMax, profileCharsMax } from '../contract/limits.ts';
import { capabilities } from '../domain/capabilities.ts';
import type { TenantId } from '../domain/ids.ts';
import type { Services } from '../http/services.ts';
import { listGrantsOfUser } from '../storage/grants.ts';
import { findLiveUser, type NewEmail, type UserEmailTable, type UserProfile, type UserTable } from '../storage/users.ts';
import { conflict, type Endpoint, endpoint, invalidField, isoTime, type Json, notFound, requireCapabilities } from './endpoint.ts';
import { listOf, pageOf } from './paging.ts';
import { closed, dateTime, listAnswer, nullable, oneOf, pageQuery } from './schemas.ts';

const text = Type.Optional(nullable(Type.String({ minLength: 1, maxLength: profileCharsMax })));
const emailFields = {
  value: Type.String({ minLength: 3, maxLength: emailCharsMax, pattern: '^[^\\s@]+@[^\\s@]+$' }),
  type: text,
  display: text,
  primary: Type.Optional(Type.Boolean()),
};
const nameFields = {
  formatted: text,
  given_name: text,
  family_name: text,
  middle_name: text,
  honorific_prefix: text,
  honorific_suffix: text,
};
const plainFields = {
  user_name: text,
  external_id: text,
  display_name: text,
  nick_name: text,
  profile_url: text,
  title: text,
  user_type: text,
  preferred_language: text,
  locale: text,
  timezone: text,
};
const listValue = closed({ ...emailFields, value: Type.String({ minLength: 1, maxLength: profileCharsMax }) });
const values = Type.Optional(Type.Array(listValue, { maxItems: emailsPerUserMax }));
const address = closed({ ...Object.fromEntries(addressParts.map((part) => [part, text])), primary: emailFields.primary });
const listFields = {
  ...(Object.fromEntries(valueListNames.map((list) => [list, values])) as Record<ValueListName, typeof values>), // one entry a name
  addresses: Type.Optional(Type.Array(address, { maxItems: emailsPerUserMax })),
};
const userBody = closed({
  ...plainFields,
  ...listFields,
  name: Type.Optional(nullable(closed(nameFields))),
  emails: Type.Optional(Type.Array(closed(emailFields), { maxItems: emailsPerUserMax })),
  role: Type.Optional(oneOf(['user', 'admin'])),
  state: Type.Optional(oneOf(['active', 'suspended'])),
});
const userAnswer = Type.Object({
  id: Type.String(),
  ...plainFields,
  name: Type.Optional(Type.Object(nameFields)),
  emails: Type.Array(Type.Object(emailFields)),
  ...listFields,
  state: oneOf(['active', 'suspended', 'deleted']),
  role: oneOf(['user', 'admin']),
  origin: oneOf(['console', 'scim', 'signup']),
  version: Type.Integer(),
  created_at: dateTime,
  updated_at: dateTime,
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
type Body = Type.Static<typeof userBody>;

const takenText: Readonly<Record<string, string>> = { user_name: 'The user name is in use.', emails: 'An email address is in use.' };
const taken = (field: string): Error => conflict(field, takenText[field]!);
const unknownUser = (): Error => notFound('unknown_user');

export const userEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/users',
    capability: 'users:write',
    summary: 'Create a user',
    body: userBody,
    answer: userAnswer,
    status: 201,
    handle: async ({ services, tenant, body, actor, scopes, requestId }) => {
      if (body.role === 'admin') requireCapabilities(capabilities, scopes);
      const { profile, emails, lists } = readUser(body);
      const user = {
        profile,
        emails: emails ?? [],
        lists,
        role: body.role ?? 'user',
        state: body.state ?? 'active',
        origin: 'console',
      } as const;
      const created = await createUser(services, tenant.id, user, { actor, requestId });
      if (!created.ok) throw taken(created.field);
      return userToJson(created.user);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/users',
    capability: 'users:read',
    summary: 'List users, oldest first; `search` is the start of a user name or email',
    query: closed({
      ...pageQuery.properties,
      state: Type.Optional(oneOf(['active', 'suspended'])),
      search: Type.Optional(Type.String({ minLength: 1, maxLength: emailCharsMax })),
    }),
    answer: listAnswer(userAnswer),
    status: 200,
    handle: async ({ services, tenant, query }) => {
      const page = pageOf(query);
      const wanted = { ...page, limit: page.limit + 1, state: query.state, search: query.search };
      const users = await listStoredUsers(services, tenant.id, wanted);
      return listOf(page, users, (user) => user.row.id, userToJson);
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
      return userToJson(user);
    },
  }),
  endpoint({
    method: 'PATCH',
    path: '/users/:id',
    capability: 'users:write',
    summary: 'Change a user; null clears a field, `emails` replaces the list',
    body: userBody,
    answer: userAnswer,
    status: 200,
    handle: async ({ services, tenant, params, body, actor, scopes, requestId }) => {
      if (body.role === 'admin') requireCapabilities(capabilities, scopes);
      const change = { ...readUser(body), role: body.role, state: body.state };
      const changed = await changeUser(services, tenant.id, params['id']!, change, { actor, requestId });
      if (!changed.ok) throw changed.reason === 'taken' ? taken(changed.field) : unknownUser();
      return userToJson(changed.user);
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
      const user = await loadUser(services, tenant.id, params['id']!);
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
      const user = await loadUser(services, tenant.id, params['id']!);
      if (!(await endSession(services, tenant.id, user.id, params['session_id']!, { actor, requestId }))) throw notFound('unknown_session');
    },
  }),
];

function stateEndpoint(verb: 'suspend' | 'activate'): Endpoint {
  return endpoint({
    method: 'POST',
    path: `/users/:id/${verb}`,
    capability: 'users:write',
    summary: verb === 'suspend' ? 'Suspend a user; sessions end, devices stop' : 'Activate a suspended user',
    answer: userAnswer,
    status: 200,
    handle: async ({ services, tenant, params, actor, requestId }) => {
      const state = verb === 'suspend' ? 'suspended' : 'active';
      const changed = await changeUserState(services, tenant.id, params['id']!, state, { actor, requestId });
      if (!changed.ok) throw unknownUser();
      return userToJson(changed.user);
    },
  });
}

async function loadUser(services: Services, tenant: TenantId, id: string): Promise<UserTable> {
  const user = await services.database.read(tenant, (queries) => findLiveUser(queries, tenant, id));
  if (user === undefined) throw unknownUser();
  return user;
}

function readUser(body: Body): {
  readonly profile: UserProfile;
  readonly emails: readonly NewEmail[] | undefined;
  readonly lists: UserLists;
} {
  const { name, emails, role: _role, state: _state, ...rest } = body;
  const given = Object.entries(rest);
  const lists = Object.fromEntries(given.filter(([field]) => Object.hasOwn(listFields, field))) as UserLists; // the schema's own lists
  for (const [field, values] of Object.entries(lists)) requireOnePrimary(field, values ?? []);
  const plain = Object.fromEntries(given.filter(([field]) => !Object.hasOwn(listFields, field)));
  const names = name === null ? Object.fromEntries(Object.keys(nameFields).map((field) => [field, null])) : name;
  const { formatted, ...parts } = (names ?? {}) as Record<string, string | null>; // the members of the closed schema
  const profile: UserProfile = { ...plain, ...parts, ...(formatted === undefined ? {} : { name_formatted: formatted }) };
  return { profile, emails: emails === undefined ? undefined : readEmails(emails), lists };
}

function requireOnePrimary(field: string, values: readonly { readonly primary?: boolean }[]): void {
  if (values.filter((value) => value.primary === true).length > 1) throw invalidField(field, 'This field may have one primary element.');
}

function readEmails(emails: NonNullable<Body['emails']>): readonly NewEmail[] {
  requireOnePrimary('emails', emails);
  const rows = emails.map(({ value, type, display, primary }) => ({
    value,
    type: type ?? null,
    display: display ?? null,
    is_primary: Number(primary === true),
  }));
  const only = rows[0];
  return rows.length === 1 && only !== undefined && emails[0]?.primary === undefined ? [{ ...only, is_primary: 1 }] : rows;
}

/** The user as the API shows it; absent attributes are absent, as in SCIM. */
export function userToJson({ row, emails, lists }: StoredUser): Json {
  const present = (fields: Json): Json => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  const name = present({
    formatted: row.name_formatted,
    given_name: row.given_name,
    family_name: row.family_name,
    middle_name: row.middle_name,
    honorific_prefix: row.honorific_prefix,
    honorific_suffix: row.honorific_suffix,
  });
  const { id, state, role, origin, version } = row;
  const plain = Object.fromEntries(Object.keys(plainFields).map((field) => [field, row[field as keyof typeof plainFields]])); // each is a column
  return {
    id,
    ...present(plain),
    ...(Object.keys(name).length === 0 ? {} : { name }),
    emails: emails.map(emailToJson),
    ...listsToJson(lists),
    state,
    role,
    origin,
    version,
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  };
}

function emailToJson({ value, type, display, is_primary: primary }: UserEmailTable): Json {
  return { value, ...(type === null ? {} : { type }), ...(display === null ? {} : { display }), primary: primary === 1 };
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
