// Users in a document, with their emails, roles and groups. What is not in it: devices, passkeys and sessions, which belong
// to one deployment. A user without an id is found by user name, else by email.
import Type from 'typebox';
import {
  directoryKeyBytesMax,
  directoryValueCharsMax,
  listedNamesMax,
  roleNameCharsMax,
  rolesPerPersonMax,
} from '../../../contract/limits.ts';
import type { FieldFault } from '../../../domain/field.ts';
import { foldKey } from '../../../domain/fold.ts';
import type { UserId } from '../../../domain/ids.ts';
import { type CustomAttribute, type CustomValues, toCustomCells } from '../../../domain/people/custom-attributes.ts';
import { adminRole, builtInRole, type HeldRole } from '../../../domain/people/role.ts';
import { type LiveUserState, liveUserStates, type UserOrigin, type UserRole, userOrigins, userRoles } from '../../../domain/people/user.ts';
import { userColumns } from '../../../domain/people/user-attributes.ts';
import { userNameFault } from '../../../domain/people/user-name.ts';
import { uuidV7 } from '../../../platform/random.ts';
import type { Queries } from '../../../storage/engine/database.ts';
import { changeMemberships } from '../../../storage/people/group-writer.ts';
import { listMembershipsOfUsers } from '../../../storage/people/groups.ts';
import { listUserLists, type UserLists } from '../../../storage/people/user-lists.ts';
import { listHeldRoles } from '../../../storage/people/user-roles.ts';
import type { UserRow } from '../../../storage/people/user-rows.ts';
import { changeUser, deleteUser, insertUsers, type NewUser } from '../../../storage/people/user-writer.ts';
import { listOwners, listUsers, listUsersById, lockUser } from '../../../storage/people/users.ts';
import { insertAuditEvents } from '../../../storage/records/audit-events.ts';
import { recordAct } from '../../administration.ts';
import {
  customOf,
  customToJson,
  documentedProperties,
  listFault,
  listPaths,
  listsOf,
  listsToJson,
  longKeyIn,
  profileOf,
  profileToJson,
} from '../../people/user-fields.ts';
import { createdData, moveTo } from '../../people/users.ts';
import { closed, oneOf } from '../../schema-pieces.ts';
import {
  type Creation,
  compact,
  type Declared,
  type Desired,
  faultAt,
  type Json,
  type Kind,
  type Match,
  pageRows,
  type Session,
  type Stored,
  type Update,
} from '../document.ts';
import {
  type DeclaredMembership,
  declaredMemberships,
  loadMemberships,
  membershipsSchema,
  writeMemberships,
} from './user-organizations.ts';
import { uuid } from './uuid.ts';

const schema = closed({
  id: Type.Optional(uuid),
  ...documentedProperties,
  groups: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: directoryValueCharsMax }), { maxItems: listedNamesMax * 10 })),
  organizations: Type.Optional(membershipsSchema),
  role: Type.Optional(oneOf(userRoles)),
  admin_roles: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: roleNameCharsMax }), { maxItems: rolesPerPersonMax })),
  state: Type.Optional(oneOf(liveUserStates)),
  origin: Type.Optional(oneOf(userOrigins)),
});

/** What this file reads of an item by name; the rest goes by the table of attributes. */
interface UserItem extends Json {
  readonly id?: string;
  readonly user_name?: string | null;
  readonly display_name?: string | null;
  readonly emails?: readonly { readonly value: string }[];
  readonly groups?: readonly string[];
  readonly organizations?: readonly DeclaredMembership[];
  /** Beside `admin_roles`: what those say. Alone, `admin`: the role of this name for whoever holds none. */
  readonly role?: UserRole;
  readonly admin_roles?: readonly string[];
  readonly state?: LiveUserState;
  readonly origin?: UserOrigin;
}

export const userKind: Kind = {
  section: 'users',
  noun: 'user',
  schema,
  uniqueField: 'user_name or emails',
  isConfiguration: false,
  examine: (session, declared) => {
    const { id, ...item } = declared.value as UserItem; // checked by the schema
    const fault = listFault(item);
    if (fault !== undefined) throw faultAt(declared, [fault], 'one primary element', item[fault]);
    const { custom: _, ...others } = item;
    const long = longKeyIn(others);
    if (long !== undefined) throw faultAt(declared, long, `a text of at most ${directoryKeyBytesMax} bytes`, 'a longer one');
    const custom = customOf([...session.attributes.values()], item, {});
    if (custom?.ok === false) throw customFault(session, declared, custom);
    requireRoles(session, declared, item);
    const groups = groupIds(session, declared, item.groups ?? []);
    const { organizations: given } = item;
    const organizations = given === undefined ? {} : { organizations: declaredMemberships(session, declared, given) };
    const title = item.user_name ?? item.emails?.[0]?.value ?? item.display_name ?? id ?? '';
    if (id === undefined && (item.user_name ?? undefined) === undefined && (item.emails ?? []).length === 0)
      throw faultAt(declared, [], 'an id, a user_name or an email', declared.value);
    return { id, title, fields: fieldsOfItem({ ...item, groups, ...organizations, custom: custom?.values }), declared };
  },
  newId: ({ administration }) => uuidV7(administration.clock.nowMs()),
  find,
  remember: ({ newUsers }, id, { declared, fields }) => {
    newUsers.set(id, id);
    if ((declared.value as UserItem).id === undefined) for (const key of keysOf(fields)) newUsers.set(key, id);
  },
  create,
  update,
  page: async (queries, session, after) => {
    const rows = await listUsers(queries, session.tenant.id, { after, limit: pageRows });
    return load(queries, session, rows);
  },
  remove: async (queries, { administration, tenant, by }, { id }) => {
    await deleteUser(queries, tenant.id, id, { ...by, nowMs: administration.clock.nowMs() });
  },
  write: (_session, { id, fields }) => {
    const { role: _, state, origin, ...others } = fields;
    return {
      id,
      ...others,
      ...(state === 'active' ? {} : { state }),
      ...(origin === 'console' ? {} : { origin }),
    };
  },
};

function customFault({ attributes }: Session, declared: Declared, { field, text }: FieldFault): Error {
  const [, name = ''] = field.split('.');
  const known = `one of the tenant's attributes: ${[...attributes.keys()].join(', ') || 'none'}`;
  const given = (declared.value as UserItem)['custom'] as Json; // where the fault is
  if (name === '') return faultAt(declared, ['custom'], `values that ${text}`, given);
  return faultAt(declared, ['custom', name], attributes.has(name) ? `a value that ${text}` : known, given[name]);
}

/** Folded user name and emails. */
function keysOf({ user_name: name, emails }: Json): readonly string[] {
  const values = (emails ?? []) as readonly { readonly value: string }[];
  return [...(typeof name === 'string' ? [foldKey(name)] : []), ...values.map(({ value }) => foldKey(value))];
}

function requireRoles({ roles: known }: Session, declared: Declared, { role, admin_roles: roles = [] }: UserItem): void {
  const unknown = roles.findIndex((name) => builtInRole(name) === undefined && !known.has(name));
  if (unknown >= 0) throw faultAt(declared, ['admin_roles', unknown], 'the name of a role of this document or tenant', roles[unknown]);
  if (role === 'user' && roles.length > 0) throw faultAt(declared, ['role'], 'admin or nothing beside admin_roles', role);
}

function groupIds({ groups }: Session, declared: Declared, named: readonly string[]): readonly string[] {
  const ids = named.map((name, index) => {
    const id = groups.get(name) ?? groups.get(foldKey(name));
    if (id === undefined) throw faultAt(declared, ['groups', index], 'the id or display_name of a group of this document or tenant', name);
    return id;
  });
  return [...new Set(ids)].sort();
}

async function find(queries: Queries, session: Session, items: readonly Desired[]): Promise<readonly Match[]> {
  const { tenant, administration } = session;
  const { dialect } = administration.database;
  const keys = items.map(({ fields }) => ({
    name: typeof fields['user_name'] === 'string' ? foldKey(fields['user_name']) : undefined,
    emails: keysOf({ emails: fields['emails'] }),
  }));
  const owners = await listOwners(queries, dialect, tenant.id, {
    names: keys.flatMap(({ name }) => name ?? []),
    emails: keys.flatMap(({ emails }) => emails),
  });
  const byName = new Map(owners.names.map(({ key, id }) => [key, id]));
  const byEmail = new Map(owners.emails.map(({ key, id }) => [key, id]));
  const wanted = items.map(({ id }, at) => {
    const { name, emails } = keys[at]!;
    return (
      id ??
      (name === undefined ? undefined : byName.get(name)) ??
      emails.map((email) => byEmail.get(email)).find((owner) => owner !== undefined)
    );
  });
  const rows = await listUsersById(queries, dialect, tenant.id, [...new Set(wanted.flatMap((id) => id ?? []))]);
  const deleted = new Set(rows.filter(({ state }) => state === 'deleted').map((row) => String(row.id)));
  const live = await load(
    queries,
    session,
    rows.filter(({ state }) => state !== 'deleted'),
  );
  const stored = new Map(live.map((user) => [user.id, user]));
  const here = new Map<string, string>();
  return items.map((_item, at) => {
    const { name, emails } = keys[at]!;
    const id = wanted[at];
    if (id !== undefined && deleted.has(id)) return { conflict: 'this id belonged to a user who was deleted' };
    for (const [field, key, owner] of [
      ...(name === undefined ? [] : [['user_name', name, byName.get(name)] as const]),
      ...emails.map((email) => ['email', email, byEmail.get(email)] as const),
    ]) {
      if (owner !== undefined && owner !== id) return { conflict: `${field} ${key} is in use by user ${owner}` };
      const first = here.get(`${field} ${key}`);
      if (first !== undefined) return { conflict: `${field} ${key} stands twice in the document, first at ${first}` };
      here.set(`${field} ${key}`, items[at]!.declared.path);
    }
    const given = items[at]!.fields['user_name'];
    const before = id === undefined ? undefined : stored.get(id);
    const fault = typeof given !== 'string' || before?.fields['user_name'] === given ? undefined : userNameFault(given);
    if (fault !== undefined) return { conflict: `user_name ${fault}` };
    return { stored: before && comparable(before, items[at]!) };
  });
}

/** An item that names no roles leaves an administrator those they hold; so one that names no organisations. */
function comparable(stored: Stored, { fields, declared }: Desired): Stored {
  const { admin_roles: roles, organizations, ...rest } = stored.fields;
  const said = declared.value as UserItem; // checked by the schema
  return {
    ...stored,
    fields: {
      ...rest,
      ...(fields['admin_roles'] === undefined || roles === undefined ? {} : { admin_roles: roles }),
      ...(said.organizations === undefined || organizations === undefined ? {} : { organizations }),
    },
  };
}

/** Everything a document says of these users. */
async function load(queries: Queries, session: Session, rows: readonly UserRow[]): Promise<readonly Stored[]> {
  const { tenant, administration, attributes } = session;
  const { dialect } = administration.database;
  const ids = rows.map((row) => row.id);
  const lists = await listUserLists(queries, dialect, tenant.id, ids);
  const held = await listHeldRoles(queries, tenant.id, ids);
  const belonging = await loadMemberships(queries, session, ids);
  const memberships = Map.groupBy(await listMembershipsOfUsers(queries, dialect, tenant.id, ids), (member) => member.user_id);
  return rows.map((row) => {
    const groups = (memberships.get(row.id) ?? []).map((member) => String(member.group_id)).sort();
    const own = lists(row.id);
    return {
      id: row.id,
      title: row.user_name ?? own.emails[0]?.value ?? row.id,
      fields: { ...fieldsOfRow([...attributes.values()], row, own, groups), ...rolesField(held.get(row.id)), ...belonging.get(row.id) },
    };
  });
}

async function create(queries: Queries, session: Session, items: readonly Creation[]): Promise<void> {
  const { tenant, administration, by } = session;
  const attributes = [...session.attributes.values()];
  const users = items.map(({ id, desired }) => userOf(attributes, id, desired.fields));
  await insertUsers(queries, tenant.id, users);
  const added = items.map(({ id, desired }) => ({ user: id as UserId, added: groupsOf(desired.fields), removed: [] }));
  await changeMemberships(queries, administration.database.dialect, tenant.id, added);
  for (const { id, desired } of items)
    await writeMemberships(queries, session, { user: id as UserId, before: {}, after: desired.fields, declared: desired.declared });
  const events = users.map(({ id, roles }) => ({ type: 'user.created' as const, target: `user:${id}`, data: createdData(roles), ...by }));
  await insertAuditEvents(queries, tenant.id, administration.clock.nowMs(), events);
}

async function update(queries: Queries, session: Session, items: readonly Update[]): Promise<void> {
  const { tenant, administration, by } = session;
  for (const { stored, desired, changed } of items) {
    const { id, state, ...user } = userOf([...session.attributes.values()], stored.id, desired.fields, changed);
    if ([...changed].some((field) => field !== 'groups' && field !== 'organizations' && field !== 'state')) {
      await lockUser(queries, administration.database.dialect, tenant.id, id);
      await changeUser(queries, tenant.id, id, user);
    }
    if (changed.has('organizations'))
      await writeMemberships(queries, session, { user: id, before: stored.fields, after: desired.fields, declared: desired.declared });
    const target = `user:${id}`;
    await recordAct(queries, administration, tenant.id, by, { type: 'user.updated', target, data: { fields: [...changed] } });
    if (changed.has('admin_roles') || changed.has('role')) {
      const data = { roles: rolesOf(desired.fields as UserItem), before: rolesOf(stored.fields as UserItem) }; // made by fieldsOfItem and load
      await recordAct(queries, administration, tenant.id, by, { type: 'user.roles_changed', target, data });
    }
    if (changed.has('state')) await moveTo(queries, administration, tenant.id, { id, state }, by);
  }
  const memberships = items.map(({ stored, desired }) => ({
    user: stored.id as UserId, // read from the table
    added: groupsOf(desired.fields).filter((group) => !groupsOf(stored.fields).includes(group)),
    removed: groupsOf(stored.fields).filter((group) => !groupsOf(desired.fields).includes(group)),
  }));
  await changeMemberships(queries, administration.database.dialect, tenant.id, memberships);
  const events = memberships.flatMap(({ user, added, removed }) => {
    const told = { data: { user }, ...by };
    return [
      ...added.map((group) => ({ ...told, type: 'group.member_added' as const, target: `group:${group}` })),
      ...removed.map((group) => ({ ...told, type: 'group.member_removed' as const, target: `group:${group}` })),
    ];
  });
  await insertAuditEvents(queries, tenant.id, administration.clock.nowMs(), events);
}

const groupsOf = (fields: Json): readonly string[] => (fields['groups'] ?? []) as readonly string[];

/** Every field written out, as two users are compared. */
function fieldsOfItem({ id: _, ...item }: UserItem): Json {
  const { emails = [], ...lists } = elementsOf(item);
  return compact({
    ...item,
    name: compact((item['name'] ?? {}) as Json),
    enterprise: compact((item['enterprise'] ?? {}) as Json),
    ...Object.fromEntries(Object.entries(lists).map(([list, elements]) => [list, elements.map(marked)])),
    emails: emails.map((email) => ({ ...compact(email), primary: email['primary'] ?? emails.length === 1 })),
    ...(item.admin_roles === undefined ? {} : { admin_roles: [...new Set(item.admin_roles)].sort() }),
    role: item.role ?? (item.admin_roles?.length ? 'admin' : 'user'),
    state: item.state ?? 'active',
    origin: item.origin ?? 'console',
  });
}

function fieldsOfRow(attributes: readonly CustomAttribute[], row: UserRow, own: UserLists, groups: readonly string[]): Json {
  const { emails, ...lists } = elementsOf(listsToJson(own));
  return compact({
    ...profileToJson(row),
    ...customToJson(attributes, row),
    emails,
    ...Object.fromEntries(Object.entries(lists).map(([list, elements]) => [list, elements.map(marked)])),
    groups,
    role: row.role,
    state: row.state,
    origin: row.origin,
  });
}

const rolesField = (held: readonly HeldRole[] = []): Json => (held.length === 0 ? {} : { admin_roles: held.map(({ name }) => name) });

const rolesOf = ({ role, admin_roles: roles }: UserItem): readonly string[] => roles ?? (role === 'admin' ? [adminRole] : []);

const elementsOf = (json: Json): Readonly<Record<string, readonly Json[]>> =>
  Object.fromEntries(listPaths.filter((path) => json[path] !== undefined).map((path) => [path, json[path] as readonly Json[]])); // checked by the schema

/** Whether an email is the primary one is always written out, because one alone is it by default; elsewhere only when it is. */
const marked = ({ primary, ...element }: Json): Json => ({ ...compact(element), ...(primary === true ? { primary: true } : {}) });

const noProfile = Object.fromEntries(userColumns.map((column) => [column, null]));

/** The user of these fields, with every list, or with those that changed: a list no longer there is empty. */
function userOf(
  attributes: readonly CustomAttribute[],
  id: string,
  fields: Json,
  changed: ReadonlySet<string> = new Set([...listPaths, 'custom', 'admin_roles']),
): NewUser {
  const item = fields as UserItem; // made by fieldsOfItem
  const lists = listPaths.filter((path) => changed.has(path)).map((path) => [path, fields[path] ?? []]);
  return {
    id: id as UserId, // of the document or made here
    state: item.state ?? 'active',
    origin: item.origin ?? 'console',
    ...(changed.has('role') || changed.has('admin_roles') ? { roles: rolesOf(item) } : {}),
    profile: { ...noProfile, ...profileOf(fields) },
    lists: listsOf(Object.fromEntries(lists)),
    ...(changed.has('custom') ? { custom: toCustomCells(attributes, (fields['custom'] ?? {}) as CustomValues) } : {}),
  };
}
