// Users in a document, with their emails, roles and groups. What is not in it: devices, passkeys and sessions, which belong
// to one deployment. A user without an id is found by user name, else by email.
import { foldKey } from '../../domain/fold.ts';
import type { TenantId, UserId } from '../../domain/ids.ts';
import { uuidV7 } from '../../platform/random.ts';
import { insertAuditEvents } from '../../storage/audit-events.ts';
import type { Queries } from '../../storage/database.ts';
import { changeMemberships, listMembershipsOfUsers } from '../../storage/declared-groups.ts';
import {
  type DeclaredRow,
  type DeclaredUser,
  insertDeclaredUsers,
  listDeclaredUsers,
  listOwners,
  listUsersById,
  updateDeclaredUser,
} from '../../storage/declared-users.ts';
import { deleteUser, listEmailsOfUsers, replaceUserEmails, setUserState } from '../../storage/users.ts';
import { recordAct } from '../administration.ts';
import { ValueTaken } from '../taken.ts';
import { listRows, listUserLists, type UserLists, writeUserLists } from '../user-lists.ts';
import {
  type Creation,
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
} from './document.ts';
import { columnsOf, emailsOf, fieldsOfItem, fieldsOfRow, listsOf, type UserItem, userSchema } from './user-item.ts';

export const userKind: Kind = {
  section: 'users',
  noun: 'user',
  schema: userSchema,
  uniqueField: 'user_name or emails',
  isConfiguration: false,
  examine: (session, declared) => {
    const { id, ...item } = declared.value as UserItem; // checked by the schema
    for (const [list, values] of Object.entries({ ...listsOf(item), emails: item.emails ?? [] }))
      if (values.filter((value) => value.primary === true).length > 1) throw faultAt(declared, [list], 'one primary element', values);
    const groups = groupIds(session, declared, item.groups ?? []);
    const title = item.user_name ?? item.emails?.[0]?.value ?? item.display_name ?? id ?? '';
    if (id === undefined && (item.user_name ?? undefined) === undefined && (item.emails ?? []).length === 0)
      throw faultAt(declared, [], 'an id, a user_name or an email', declared.value);
    return { id, title, fields: fieldsOfItem({ ...item, groups }), declared };
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
    const rows = await listDeclaredUsers(queries, session.tenant.id, { after, limit: pageRows });
    return load(queries, session, rows);
  },
  remove: async (queries, { administration, tenant, by }, { id }) => {
    if (await deleteUser(queries, tenant.id, id))
      await recordAct(queries, administration, tenant.id, by, { type: 'user.deleted', target: `user:${id}` });
  },
  write: (_session, { id, fields }) => {
    const { role, state, origin, ...others } = fields;
    return {
      id,
      ...others,
      ...(role === 'user' ? {} : { role }),
      ...(state === 'active' ? {} : { state }),
      ...(origin === 'console' ? {} : { origin }),
    };
  },
};

/** Folded user name and emails. */
function keysOf({ user_name: name, emails }: Json): readonly string[] {
  const values = (emails ?? []) as readonly { readonly value: string }[];
  return [...(typeof name === 'string' ? [foldKey(name)] : []), ...values.map(({ value }) => foldKey(value))];
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
    return { stored: id === undefined ? undefined : stored.get(id) };
  });
}

/** Everything a document says of these users. */
async function load(queries: Queries, { tenant, administration }: Session, rows: readonly DeclaredRow[]): Promise<readonly Stored[]> {
  const { dialect } = administration.database;
  const ids = rows.map((row) => row.id);
  const emails = Map.groupBy(await listEmailsOfUsers(queries, tenant.id, ids), (email) => email.user_id);
  const lists = await listUserLists(queries, dialect, tenant.id, ids);
  const memberships = Map.groupBy(await listMembershipsOfUsers(queries, dialect, tenant.id, ids), (member) => member.user_id);
  return rows.map((row) => {
    const groups = (memberships.get(row.id) ?? []).map((member) => String(member.group_id)).sort();
    const fields = fieldsOfRow(row, emails.get(row.id) ?? [], lists(row.id), groups);
    return { id: row.id, title: row.user_name ?? emails.get(row.id)?.[0]?.value ?? row.id, fields };
  });
}

async function create(queries: Queries, session: Session, items: readonly Creation[]): Promise<void> {
  const { tenant, administration, by } = session;
  const users = items.map(({ id, desired }) => userOf(id, desired.fields));
  const lists = items.map(({ id, desired }) => listRows(tenant.id, id as UserId, listsOf(desired.fields)));
  await insertDeclaredUsers(queries, tenant.id, users, {
    values: lists.flatMap(({ values }) => values),
    addresses: lists.flatMap(({ addresses }) => addresses),
  });
  const added = items.map(({ id, desired }) => ({ user: id as UserId, added: groupsOf(desired.fields), removed: [] }));
  await changeMemberships(queries, administration.database.dialect, tenant.id, added);
  const events = users.map(({ id, role }) => ({ type: 'user.created', target: `user:${id}`, data: { role }, ...by }));
  await insertAuditEvents(queries, tenant.id, administration.clock.nowMs(), events);
}

async function update(queries: Queries, session: Session, items: readonly Update[]): Promise<void> {
  const { tenant, administration, by } = session;
  for (const { stored, desired, changed } of items) {
    const user = userOf(stored.id, desired.fields);
    if ([...changed].some((field) => field !== 'groups' && field !== 'state')) await updateDeclaredUser(queries, tenant.id, user);
    if (changed.has('emails') && (await replaceUserEmails(queries, tenant.id, user.id, user.emails)) === 'taken')
      throw new ValueTaken('emails');
    await writeLists(queries, tenant.id, user.id, listsOf(desired.fields), changed);
    if (changed.has('state')) await setUserState(queries, tenant.id, user.id, user.state);
    const data = { fields: [...changed] };
    await recordAct(queries, administration, tenant.id, by, { type: 'user.updated', target: `user:${user.id}`, data });
  }
  const memberships = items.map(({ stored, desired }) => ({
    user: stored.id as UserId, // read from the table
    added: groupsOf(desired.fields).filter((group) => !groupsOf(stored.fields).includes(group)),
    removed: groupsOf(stored.fields).filter((group) => !groupsOf(desired.fields).includes(group)),
  }));
  await changeMemberships(queries, administration.database.dialect, tenant.id, memberships);
}

async function writeLists(queries: Queries, tenant: TenantId, user: UserId, lists: UserLists, changed: ReadonlySet<string>): Promise<void> {
  const differing = Object.entries(lists).filter(([name]) => changed.has(name));
  await writeUserLists(queries, tenant, user, Object.fromEntries(differing) as UserLists); // some of the lists
}

const groupsOf = (fields: Json): readonly string[] => (fields['groups'] ?? []) as readonly string[];

function userOf(id: string, fields: Json): DeclaredUser {
  const item = fields as UserItem; // made by fieldsOfItem
  return {
    id: id as UserId, // of the document or made here
    state: item.state ?? 'active',
    origin: item.origin ?? 'console',
    role: item.role ?? 'user',
    columns: columnsOf(fields),
    emails: emailsOf(item),
  };
}
