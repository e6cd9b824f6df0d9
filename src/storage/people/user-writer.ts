// The one writer of `users` and its lists: inserts many, changes, sets the state, deletes. Search keys are made here, so that every
// search finds what is written. Uniqueness is the constraints' business: a taken name or email throws ValueTaken. The caller owns
// the transaction.

import { sql } from 'kysely';
import type { TenantId, UserId } from '../../domain/ids.ts';
import { type CustomCells, customPath } from '../../domain/people/custom-attributes.ts';
import type { LiveUserState, UserOrigin, UserRole } from '../../domain/people/user.ts';
import { userColumns } from '../../domain/people/user-attributes.ts';
import { revokeDevicesOfUser } from '../device/devices.ts';
import type { Dialect, Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { dialectOf, idIn } from '../engine/rows/id-list.ts';
import { slicesOfRows } from '../engine/rows/row-slices.ts';
import { takenAs, ValueTaken } from '../engine/unique-violation.ts';
import { revokeGrantsOfUser } from '../oidc/grants.ts';
import { type AuditEvent, insertAuditEvent } from '../records/audit-events.ts';
import { forgetLocal } from '../records/directory-endings.ts';
import { listReceiversWithout } from '../registry/extending/ssf-removed-subjects.ts';
import { countStreams, listReceiversOf } from '../registry/extending/ssf-streams.ts';
import { forgetSignIns } from '../registry/last-sign-ins.ts';
import { forgetFailuresOfUser } from '../sign-in/pin-failures.ts';
import { isFreeOfDirectories, requireOwnValues, saysWhoSomebodyIs } from './directories/ldap-people.ts';
import { keepFromDirectories } from './directories/scim-members.ts';
import { insertEmailChange } from './email-changes.ts';
import { touchGroupsOfUser } from './group-writer.ts';
import { leaveOrganizations } from './organization-members.ts';
import { listUserEmails } from './user-lists.ts';
import { insertHeldRoles, replaceHeldRoles, requireOtherOwner } from './user-roles.ts';
import { type NewLists, readColumns, type UserProfile, type UserRow } from './user-rows.ts';
import { addressSearchColumns, emailSearchColumns, userSearchColumns, valueSearchColumns } from './user-search.ts';
import { lockUser } from './users.ts';

export interface NewUser {
  readonly id: UserId;
  readonly state: LiveUserState;
  readonly origin: UserOrigin;
  /** Roles of an administrator. */
  readonly roles?: readonly string[] | undefined;
  readonly profile: UserProfile;
  readonly lists: NewLists;
  readonly custom?: CustomCells | undefined;
}

/** Inserts users with their lists, a statement a table. */
export async function insertUsers(queries: Queries, tenant: TenantId, users: readonly NewUser[]): Promise<void> {
  if (users.length === 0) return;
  const rows = await insertRows(queries, tenant, users).returning('id').execute();
  await insertListsOf(queries, tenant, users, rows.length);
}

/** Inserts a user with its lists; gives its row. */
export async function insertUser(queries: Queries, tenant: TenantId, user: NewUser): Promise<UserRow> {
  const rows = await insertRows(queries, tenant, [user]).returning(readColumns).execute();
  await insertListsOf(queries, tenant, [user], rows.length);
  return rows[0]!;
}

function insertRows(queries: Queries, tenant: TenantId, users: readonly NewUser[]) {
  const rows = users.map(({ id, state, origin, roles, profile, custom }) => ({
    ...profile,
    ...userSearchColumns(profile),
    tenant_id: tenant,
    id,
    state,
    origin,
    role: roleOf(roles),
    custom: custom?.cell ?? null,
    version: 1,
    created_at: databaseNowMs,
    updated_at: databaseNowMs,
  }));
  return queries
    .insertInto('users')
    .values(rows as never) // the columns left out are nullable
    .onConflict((on) => on.doNothing());
}

async function insertListsOf(queries: Queries, tenant: TenantId, users: readonly NewUser[], inserted: number): Promise<void> {
  if (inserted < users.length) throw new ValueTaken('user_name');
  await insertLists(
    queries,
    tenant,
    users.map(({ id, lists }) => ({ id, lists })),
  );
  await insertCustom(queries, tenant, users);
  await insertHeldRoles(
    queries,
    tenant,
    users.map(({ id, roles = [] }) => ({ id, roles })),
  );
}

/** What `users.role` says of whoever holds these. */
const roleOf = (roles: readonly string[] = []): UserRole => (roles.length > 0 ? 'admin' : 'user');

export interface UserChange {
  readonly profile?: UserProfile;
  /** All the roles of the person; none make them an ordinary one. */
  readonly roles?: readonly string[] | undefined;
  readonly origin?: UserOrigin | undefined;
  /** A suspension ends the user's grants. */
  readonly state?: LiveUserState | undefined;
  readonly lists?: NewLists | undefined;
  /** All custom values of the user. */
  readonly custom?: CustomCells | undefined;
  /** A directory of LDAP writes what it says of its own. */
  readonly writer?: 'directory' | undefined;
}

/**
 * Changes a live user, whose row the caller holds where somebody's attributes change, and raises its version; what is absent stays. Undefined
 * when there is no such user. @throws LastOwner, ManagedByDirectory
 */
export async function changeUser(queries: Queries, tenant: TenantId, id: string, change: UserChange): Promise<UserRow | undefined> {
  const { lists = {}, roles, state, custom } = change;
  const mayBeSaid = change.writer !== 'directory' && saysWhoSomebodyIs(change);
  let row = await updateUser(queries, tenant, id, change, mayBeSaid);
  if (row === undefined && mayBeSaid) {
    await requireOwnValues(queries, tenant, id, change);
    row = await updateUser(queries, tenant, id, change, false);
  }
  if (row === undefined) return undefined;
  await replaceListsTelling(queries, tenant, row, lists);
  if (custom !== undefined) {
    await queries.deleteFrom('user_custom_values').where('tenant_id', '=', tenant).where('user_id', '=', row.id).execute();
    await insertCustom(queries, tenant, [{ id: row.id, custom }]);
  }
  if (roles !== undefined) await replaceHeldRoles(queries, tenant, { id: row.id, roles });
  if (state === 'suspended') await endForSuspension(queries, tenant, row);
  return row;
}

/** Writes the row of a live user; with `isFree` of one only whom no directory of LDAP speaks of. */
async function updateUser(
  queries: Queries,
  tenant: TenantId,
  id: string,
  { profile = {}, roles, origin, state, custom }: UserChange,
  isFree: boolean,
): Promise<UserRow | undefined> {
  const role = roles && roleOf(roles);
  const given = Object.fromEntries(
    Object.entries({ role, origin, state, custom: custom?.cell }).filter(([, value]) => value !== undefined),
  );
  return takenAs('user_name', () =>
    queries
      .updateTable('users')
      .set({ ...profile, ...userSearchColumns(profile), ...given, version: sql`version + 1`, updated_at: databaseNowMs })
      .where('tenant_id', '=', tenant)
      .where('id', '=', id as UserId) // a look-up key, not yet known to be an id
      .where('state', '<>', 'deleted')
      .$if(isFree, (update) => update.where(isFreeOfDirectories('users')))
      .returning(readColumns)
      .executeTakeFirst(),
  );
}

/** Ends the grants of a person whose row is held and says suspended now. @throws LastOwner */
async function endForSuspension(queries: Queries, tenant: TenantId, { id, role }: UserRow): Promise<void> {
  if (role === 'admin') await requireOtherOwner(queries, tenant, id);
  await revokeGrantsOfUser(queries, tenant, id, 'user_state');
}

/** Suspends, which ends the user's grants, or activates, whoever suspended them. `changed` is false when it was so before; undefined: no such user. @throws LastOwner */
export async function setUserState(
  queries: Queries,
  tenant: TenantId,
  id: string,
  state: LiveUserState,
): Promise<{ readonly row: UserRow; readonly changed: boolean } | undefined> {
  const before = await lockUser(queries, dialectOf(queries), tenant, id);
  if (before === undefined) return undefined;
  await keepFromDirectories(queries, tenant, before.id);
  if (before.state === state) return { row: before, changed: false };
  return { row: (await changeUser(queries, tenant, id, { state }))!, changed: true }; // locked above
}

/** Makes other writers of this user wait until the transaction ends; false when there is no such active user. */
export async function holdActiveUser(queries: Queries, tenant: TenantId, id: UserId): Promise<boolean> {
  const rows = await queries
    .updateTable('users')
    .set((eb) => ({ version: eb.ref('version') }))
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where('state', '=', 'active')
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** What else is known about a person, by table; emptied when the user is deleted. */
const personalTables = [
  'user_emails',
  'user_values',
  'user_addresses',
  'user_custom_values',
  'group_members',
  'access_assignments',
  'passkeys',
  'external_identities',
  'recovery_codes',
  'email_changes',
  'ssf_removed_subjects',
  'sign_in_openings',
  'sign_in_tries',
] as const;
const nothing: UserProfile = Object.fromEntries(userColumns.map((column) => [column, null]));

/** Who deletes, and when. */
type Deletion = Pick<AuditEvent, 'actor' | 'requestId'> & { readonly nowMs: number };

/**
 * Deletes a user, whoever asks: sessions end, devices are revoked, names, lists, memberships, assignments and passkeys go, groups
 * it was in have a new version; one audit record. The row stays so that its id is never another's. False: no such live user. @throws LastOwner
 */
export async function deleteUser(queries: Queries, tenant: TenantId, id: string, { nowMs, ...by }: Deletion): Promise<boolean> {
  const row = await queries
    .updateTable('users')
    .set({
      ...nothing,
      ...userSearchColumns(nothing),
      custom: null,
      state: 'deleted',
      role: 'user',
      version: sql`version + 1`,
      updated_at: databaseNowMs,
    })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id as UserId) // a look-up key, not yet known to be an id
    .where('state', '<>', 'deleted')
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) return false;
  const receivers = await listReceiversOf(queries, tenant, row.id);
  const notTold = await listReceiversWithout(queries, tenant, row.id);
  await replaceHeldRoles(queries, tenant, { id: row.id, roles: [] });
  await touchGroupsOfUser(queries, { tenant }, row.id);
  await leaveOrganizations(queries, tenant, row.id);
  await forgetFailuresOfUser(queries, tenant, row.id); // by the emails, which go next
  for (const table of personalTables)
    await queries.deleteFrom(table).where('tenant_id', '=', tenant).where('user_id', '=', row.id).execute();
  await forgetSignIns(queries, tenant, 'user', row.id);
  await forgetLocal(queries, tenant, row.id);
  await revokeGrantsOfUser(queries, tenant, row.id, 'user_state');
  await revokeDevicesOfUser(queries, tenant, row.id);
  await insertAuditEvent(queries, tenant, nowMs, {
    type: 'user.deleted',
    target: `user:${row.id}`,
    ...(receivers.length + notTold.length > 0 && {
      data: { ...(receivers.length > 0 && { receivers }), ...(notTold.length > 0 && { not_told: notTold }) },
    }),
    ...by,
  });
  return true;
}

interface ListsOf {
  readonly id: UserId;
  readonly lists: NewLists;
}

/** Replaces the lists that are given; where somebody receives security events, a change of the main email address is recorded for them. */
async function replaceListsTelling(
  queries: Queries,
  tenant: TenantId,
  { id, version, updated_at: nowMs }: UserRow,
  lists: NewLists,
): Promise<void> {
  const isTold = lists.emails !== undefined && (await countStreams(queries, tenant, 1)) > 0;
  const before = isTold ? await mainEmail(queries, tenant, id) : null;
  await replaceLists(queries, tenant, id, lists);
  const after = isTold ? await mainEmail(queries, tenant, id) : null;
  if (before === after) return;
  await insertEmailChange(queries, tenant, { user_id: id, version, before, after });
  await insertAuditEvent(queries, tenant, nowMs, { type: 'user.email_changed', actor: 'system', target: `user:${id}`, data: { version } });
}

async function mainEmail(queries: Queries, tenant: TenantId, user: UserId): Promise<string | null> {
  const emails = await listUserEmails(queries, tenant, user);
  return (emails.find(({ is_primary: isPrimary }) => isPrimary === 1) ?? emails[0])?.value ?? null;
}

/** Replaces the lists that are given. */
async function replaceLists(queries: Queries, tenant: TenantId, id: UserId, lists: NewLists): Promise<void> {
  const { emails, values, addresses } = lists;
  for (const [table, given] of [['user_emails', emails] as const, ['user_addresses', addresses] as const])
    if (given !== undefined) await queries.deleteFrom(table).where('tenant_id', '=', tenant).where('user_id', '=', id).execute();
  const attributes = Object.keys(values ?? {});
  if (attributes.length > 0)
    await queries
      .deleteFrom('user_values')
      .where('tenant_id', '=', tenant)
      .where('user_id', '=', id)
      .where('attribute', 'in', attributes)
      .execute();
  await insertLists(queries, tenant, [{ id, lists }]);
}

async function insertLists(queries: Queries, tenant: TenantId, users: readonly ListsOf[]): Promise<void> {
  const place = (id: UserId, position: number) => ({ tenant_id: tenant, user_id: id, position });
  const emails = users.flatMap(({ id, lists }) =>
    (lists.emails ?? []).map((email, position) => ({ ...email, ...emailSearchColumns(email), ...place(id, position) })),
  );
  const values = users.flatMap(({ id, lists }) =>
    Object.entries(lists.values ?? {}).flatMap(([attribute, list]) =>
      list.map((value, position) => ({ ...value, ...valueSearchColumns(attribute, value), attribute, ...place(id, position) })),
    ),
  );
  const addresses = users.flatMap(({ id, lists }) =>
    (lists.addresses ?? []).map((address, position) => ({ ...address, ...addressSearchColumns(address), ...place(id, position) })),
  );
  for (const some of slicesOfRows(emails)) {
    const inserted = await queries
      .insertInto('user_emails')
      .values(some)
      .onConflict((on) => on.doNothing())
      .returning('position')
      .execute();
    if (inserted.length < some.length) throw new ValueTaken('emails');
  }
  for (const some of slicesOfRows(values)) await queries.insertInto('user_values').values(some).execute();
  for (const some of slicesOfRows(addresses)) await queries.insertInto('user_addresses').values(some).execute();
}

/** In one order whoever writes, so that no two wait for each other. */
async function insertCustom(queries: Queries, tenant: TenantId, users: readonly Pick<NewUser, 'id' | 'custom'>[]): Promise<void> {
  const keys = users.flatMap(({ id, custom }) => (custom?.keys ?? []).map((one) => ({ id, ...one })));
  const ordered = keys.toSorted((left, right) => (left.attribute.id + left.key < right.attribute.id + right.key ? -1 : 1));
  for (const batch of slicesOfRows(ordered)) {
    const inserted = await queries
      .insertInto('user_custom_values')
      .values(
        batch.map(({ id, attribute, key }) => ({
          tenant_id: tenant,
          user_id: id,
          attribute: attribute.id,
          value_key: key,
          unique_key: attribute.unique ? key : null,
        })),
      )
      .onConflict((on) => on.doNothing())
      .returning(['user_id', 'attribute', 'value_key'])
      .execute();
    const isIn = ({ id, attribute, key }: (typeof keys)[number]): boolean =>
      inserted.some((row) => row.user_id === id && row.attribute === attribute.id && row.value_key === key);
    if (inserted.length < batch.length) throw new ValueTaken(customPath(batch.find((one) => !isIn(one))!.attribute));
  }
}

/** Takes a deleted attribute from people who have values of it, found by at most `rows` keys; gives how many. */
export async function forgetCustomValues(queries: Queries, dialect: Dialect, tenant: TenantId, attribute: string, rows: number) {
  const found = await queries
    .selectFrom('user_custom_values')
    .select('user_id')
    .where('tenant_id', '=', tenant)
    .where('attribute', '=', attribute)
    .limit(rows)
    .execute();
  const ids = found.map((row) => row.user_id);
  const rest = dialect === 'sqlite' ? sql`json_remove(custom, ${`$."${attribute}"`})` : sql`(custom::jsonb - ${attribute}::text)::text`;
  await sql`UPDATE users SET custom = ${rest} WHERE tenant_id = ${tenant} AND ${idIn(dialect, 'id', ids)}`.execute(queries);
  await sql`DELETE FROM user_custom_values
    WHERE tenant_id = ${tenant} AND attribute = ${attribute} AND ${idIn(dialect, 'user_id', ids)}`.execute(queries);
  return found.length;
}
