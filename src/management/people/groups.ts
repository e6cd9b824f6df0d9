// `/groups` and `/groups/{id}/members`. Groups made here are console-managed and invisible to SCIM; those SCIM made are shown too. Those of
// an identity provider or an LDAP directory are shown, assigned and deleted; their names and members are what it says.
import Type from 'typebox';
import { changeOf, creationOf, propertiesOf } from '../../administration/schema-pieces.ts';
import { unlessTaken } from '../../administration/taken.ts';
import { nameCharsMax } from '../../contract/limits.ts';
import { overlay, readChange, takenAt, toJson } from '../../domain/field.ts';
import type { GroupId } from '../../domain/ids.ts';
import { groupFields } from '../../domain/people/group.ts';
import { uuidV7 } from '../../platform/random.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { toCells, toRow } from '../../storage/engine/rows/row-codec.ts';
import { changeGroup, deleteGroup, deleteGroupMember, insertGroupMember, insertGroups } from '../../storage/people/group-writer.ts';
import {
  findGroup,
  type GroupMember,
  groupFromRow,
  listGroupMembers,
  listGroups,
  listGroupsOfUser,
  type OwnedGroupRow,
} from '../../storage/people/groups.ts';
import { listHoldersInGroup } from '../../storage/people/user-roles.ts';
import { findLiveUser, holdUser } from '../../storage/people/users.ts';
import { audit, type Call, conflict, type Endpoint, endpoint, invalidField, isoTime, type Json, notFound } from '../endpoint.ts';
import { listOf, pageOf } from '../paging.ts';
import { closed, dateTime, listAnswer, nullable, pageQuery } from '../schemas.ts';
import { directoryOfGroup, fromDirectory } from './directory-of.ts';

const groupAnswer = Type.Object({
  id: Type.String(),
  ...propertiesOf(groupFields),
  external_id: nullable(Type.String()), // of any length SCIM takes
  version: Type.Integer(),
  created_at: dateTime,
  updated_at: dateTime,
  ...fromDirectory,
});
const memberAnswer = Type.Object({
  user_id: Type.String(),
  user_name: nullable(Type.String()),
  display_name: nullable(Type.String()),
  created_at: dateTime,
});

const unknownGroup = (): Error => notFound('unknown_group');
const nameTaken = (): Error => conflict('display_name', 'The display name is in use.');

export const groupEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/users/:id/groups',
    capability: 'groups:read',
    summary: 'List the groups the user is in, by name',
    answer: listAnswer(Type.Object({ id: Type.String(), display_name: Type.String() })),
    status: 200,
    handle: ({ services, tenant, params }) =>
      services.database.read(tenant.id, async (queries) => {
        const user = await findLiveUser(queries, tenant.id, params['id']!);
        if (user === undefined) throw notFound('unknown_user');
        const groups = await listGroupsOfUser(queries, tenant.id, user.id);
        const items = groups.map(({ id, display_name }) => ({ id, display_name }));
        return { items: items.toSorted((left, right) => left.display_name.localeCompare(right.display_name, 'en')) };
      }),
  }),
  endpoint({
    method: 'POST',
    path: '/groups',
    capability: 'groups:write',
    summary: 'Create a console-managed group',
    body: creationOf(takenAt(groupFields, 'create')),
    answer: groupAnswer,
    status: 201,
    handle: async (call) => {
      const { services, tenant, body } = call;
      const id = uuidV7(services.clock.nowMs()) as GroupId; // made here
      const group = { id, ...toRow(groupFields, overlay(groupFields, body as Json)) }; // checked by the schema
      const done = await unlessTaken('display_name', () =>
        services.database.write(tenant.id, async (queries) => {
          const [row] = await insertGroups(queries, tenant.id, [group]);
          await audit(call, queries, { type: 'group.created', target: `group:${id}` });
          return row!;
        }),
      );
      if (!done.ok) throw nameTaken();
      return groupToJson(done.value);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/groups',
    capability: 'groups:read',
    summary: 'List groups, oldest first; `search` is the start of a display name',
    query: closed({ ...pageQuery.properties, search: Type.Optional(Type.String({ minLength: 1, maxLength: nameCharsMax })) }),
    answer: listAnswer(groupAnswer),
    status: 200,
    handle: async ({ services, tenant, query }) => {
      const page = pageOf(query);
      const wanted = { ...page, limit: page.limit + 1, search: query.search };
      const rows = await services.database.read(tenant.id, (queries) => listGroups(queries, tenant.id, wanted));
      return listOf(page, rows, (row) => row.id, groupToJson);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/groups/:id',
    capability: 'groups:read',
    summary: 'Read a group',
    answer: groupAnswer,
    status: 200,
    handle: async ({ services, tenant, params }) => {
      const group = await services.database.read(tenant.id, (queries) => requireGroup(queries, tenant.id, params['id']!));
      return { ...groupToJson(group), ...(await directoryOfGroup({ services, tenant }, group.id)) };
    },
  }),
  endpoint({
    method: 'PATCH',
    path: '/groups/:id',
    capability: 'groups:write',
    summary: 'Rename a group',
    body: changeOf(propertiesOf(takenAt(groupFields, 'change'))),
    answer: groupAnswer,
    status: 200,
    handle: rename,
  }),
  endpoint({
    method: 'DELETE',
    path: '/groups/:id',
    capability: 'groups:write',
    actsOn: (queries, { tenant, params }) => listHoldersInGroup(queries, tenant.id, params['id']!),
    summary: 'Delete a group with its memberships and assignments',
    answer: undefined,
    status: 204,
    handle: async (call) => {
      const { services, tenant, params } = call;
      await services.database.write(tenant.id, async (queries) => {
        if (!(await deleteGroup(queries, { tenant: tenant.id }, params['id']!))) throw unknownGroup();
        await audit(call, queries, { type: 'group.deleted', target: `group:${params['id']}` });
      });
    },
  }),
  endpoint({
    method: 'GET',
    path: '/groups/:id/members',
    capability: 'groups:read',
    summary: 'List the members of a group',
    query: pageQuery,
    answer: listAnswer(memberAnswer),
    status: 200,
    handle: async ({ services, tenant, params, query }) => {
      const page = pageOf(query);
      const rows = await services.database.read(tenant.id, async (queries) => {
        const group = await requireGroup(queries, tenant.id, params['id']!);
        return listGroupMembers(queries, tenant.id, group.id, { ...page, limit: page.limit + 1 });
      });
      return listOf(page, rows, (row) => row.user_id, memberToJson);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/groups/:id/members',
    capability: 'groups:write',
    actsOn: async (_queries, { body }) => [(body as { readonly user_id: string }).user_id], // checked by the schema
    summary: 'Add a user to a group',
    body: closed({ user_id: Type.String() }),
    answer: memberAnswer,
    status: 201,
    handle: addMember,
  }),
  endpoint({
    method: 'DELETE',
    path: '/groups/:id/members/:user_id',
    capability: 'groups:write',
    actsOn: async (_queries, { params }) => [params['user_id']!],
    summary: 'Take a user out of a group',
    answer: undefined,
    status: 204,
    handle: async (call) => {
      const { services, tenant, params } = call;
      await services.database.write(tenant.id, async (queries) => {
        const group = await requireOwnMembers(queries, tenant.id, params['id']!);
        if (!(await deleteGroupMember(queries, tenant.id, group.id, params['user_id']!))) throw notFound('not_a_member');
        await audit(call, queries, { type: 'group.member_removed', target: `group:${group.id}`, data: { user: params['user_id'] } });
      });
    },
  }),
];

async function rename(call: Call<unknown, unknown>): Promise<Json> {
  const { services, tenant, params, body } = call;
  const columns = toCells(groupFields, readChange(groupFields, body as Json)); // checked by the schema
  const done = await unlessTaken('display_name', () =>
    services.database.write(tenant.id, async (queries) => {
      const group = await requireGroup(queries, tenant.id, params['id']!);
      if (Object.keys(columns).length === 0) return group;
      if (group.identity_provider_id !== null)
        throw conflict('display_name', 'An identity provider manages this group: its rules name it.');
      const row = await changeGroup(queries, tenant.id, params['id']!, columns);
      if (row === undefined) throw unknownGroup();
      await audit(call, queries, { type: 'group.updated', target: `group:${row.id}` });
      return row;
    }),
  );
  if (!done.ok) throw nameTaken();
  return groupToJson(done.value);
}

async function addMember(call: Call<undefined, { readonly user_id: string }>): Promise<Json> {
  const { services, tenant, params, body } = call;
  return services.database.write(tenant.id, async (queries) => {
    const group = await requireOwnMembers(queries, tenant.id, params['id']!);
    const user = await holdUser(queries, services.database.dialect, tenant.id, body.user_id); // who is being deleted is waited for
    if (user === undefined) throw invalidField('user_id', 'No such user.');
    const inserted = await insertGroupMember(queries, tenant.id, group.id, user.id);
    if (!inserted.ok) throw conflict('user_id', 'The user is a member already.');
    await audit(call, queries, { type: 'group.member_added', target: `group:${group.id}`, data: { user: user.id } });
    return memberToJson({ user_id: user.id, user_name: user.user_name, display_name: user.display_name, created_at: inserted.createdAt });
  });
}

async function requireGroup(queries: Queries, tenant: Parameters<typeof findGroup>[1], id: string): Promise<OwnedGroupRow> {
  const group = await findGroup(queries, tenant, id);
  if (group === undefined) throw unknownGroup();
  return group;
}

/** A group whose members are changed here. */
async function requireOwnMembers(queries: Queries, tenant: Parameters<typeof findGroup>[1], id: string): Promise<OwnedGroupRow> {
  const group = await requireGroup(queries, tenant, id);
  if (group.identity_provider_id !== null) throw conflict('origin', 'An identity provider manages this group: its rules say who is in it.');
  return group;
}

function groupToJson(row: OwnedGroupRow): Json {
  const group = groupFromRow(row);
  const times = { created_at: isoTime(group.createdAtMs), updated_at: isoTime(group.updatedAtMs) };
  return { id: group.id, ...toJson(groupFields, group), version: group.version, ...times };
}

function memberToJson(member: GroupMember): Json {
  return { ...member, created_at: isoTime(member.created_at) };
}
