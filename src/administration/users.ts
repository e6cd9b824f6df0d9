// Users as the management API and `gatehouse user` handle them: creation, change, suspension, deletion, each one transaction
// with its effects and its audit record.
import type { GrantId, TenantId, UserId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import { uuidV7 } from '../platform/random.ts';
import type { Queries } from '../storage/database.ts';
import { revokeGrant, revokeGrantsOfUser } from '../storage/grants.ts';
import {
  deleteUser,
  findLiveUser,
  insertUser,
  listEmailsOfUsers,
  listUserEmails,
  listUsers,
  type NewEmail,
  type NewUser,
  replaceUserEmails,
  setUserState,
  type UserEmailTable,
  type UserPage,
  type UserProfile,
  type UserTable,
  updateUser,
} from '../storage/users.ts';
import { type Administration, type By, recordAct } from './administration.ts';
import { unlessTaken, ValueTaken } from './taken.ts';
import { listUserLists, type StoredLists, type UserLists, writeUserLists } from './user-lists.ts';

type Store = Pick<Administration, 'database' | 'clock'>;

export interface StoredUser {
  readonly row: UserTable;
  readonly emails: readonly UserEmailTable[];
  readonly lists: StoredLists;
}

export interface Taken {
  readonly ok: false;
  readonly reason: 'taken';
  readonly field: string;
}

export interface UserChange {
  readonly profile: UserProfile;
  /** Undefined keeps them. */
  readonly emails?: readonly NewEmail[] | undefined;
  readonly lists?: UserLists | undefined;
  readonly role?: 'user' | 'admin' | undefined;
  readonly state?: 'active' | 'suspended' | undefined;
}

/** Creates a user; `taken` names `user_name` or `emails`. */
export async function createUser(
  store: Store,
  tenant: TenantId,
  user: Omit<NewUser, 'id'> & { readonly lists?: UserLists | undefined },
  by: By,
): Promise<{ readonly ok: true; readonly user: StoredUser } | Taken> {
  const id = uuidV7(store.clock.nowMs()) as UserId; // made here
  const done = await unlessTaken('user_name', () =>
    store.database.write(tenant, async (queries) => {
      const { lists = {}, ...fields } = user;
      const inserted = await insertUser(queries, tenant, { ...fields, id });
      if (!inserted.ok) throw new ValueTaken(inserted.reason);
      await writeUserLists(queries, tenant, id, lists);
      await recordAct(queries, store, tenant, by, { type: 'user.created', target: `user:${id}`, data: { role: user.role } });
      return load(queries, store, tenant, inserted.row);
    }),
  );
  return done.ok ? { ok: true, user: done.value } : { ok: false, reason: 'taken', field: done.field ?? 'user_name' };
}

/** Changes a user; what is undefined stays. */
export async function changeUser(
  store: Store,
  tenant: TenantId,
  id: string,
  change: UserChange,
  by: By,
): Promise<{ readonly ok: true; readonly user: StoredUser } | Taken | { readonly ok: false; readonly reason: 'unknown' }> {
  const done = await unlessTaken('user_name', () =>
    store.database.write(tenant, async (queries) => {
      const row = await updateUser(queries, tenant, id, { ...change.profile, ...(change.role === undefined ? {} : { role: change.role }) });
      if (row === undefined) return undefined;
      if (change.emails !== undefined && (await replaceUserEmails(queries, tenant, row.id, change.emails)) === 'taken')
        throw new ValueTaken('emails');
      await writeUserLists(queries, tenant, row.id, change.lists ?? {});
      const fields = [
        ...Object.keys(change.profile),
        ...Object.keys(change.lists ?? {}),
        ...(change.emails === undefined ? [] : ['emails']),
        ...(change.role === undefined ? [] : ['role']),
      ];
      await recordAct(queries, store, tenant, by, { type: 'user.updated', target: `user:${id}`, data: { fields } });
      const state = change.state === undefined ? undefined : await moveTo(queries, store, tenant, id, change.state, by);
      return load(queries, store, tenant, state ?? row);
    }),
  );
  if (!done.ok) return { ok: false, reason: 'taken', field: done.field ?? 'user_name' };
  return done.value === undefined ? fail('unknown') : { ok: true, user: done.value };
}

/** Suspends or activates; suspending ends the user's grants in the same transaction. */
export async function changeUserState(
  store: Store,
  tenant: TenantId,
  id: string,
  state: 'active' | 'suspended',
  by: By,
): Promise<Outcome<{ readonly user: StoredUser }, 'unknown'>> {
  return store.database.write(tenant, async (queries) => {
    const row = await moveTo(queries, store, tenant, id, state, by);
    return row === undefined ? fail('unknown') : { ok: true, user: await load(queries, store, tenant, row) };
  });
}

/** Deletes a user; false when there is none. */
export async function removeUser(store: Store, tenant: TenantId, id: string, by: By): Promise<boolean> {
  return store.database.write(tenant, async (queries) => {
    const deleted = await deleteUser(queries, tenant, id);
    if (deleted) await recordAct(queries, store, tenant, by, { type: 'user.deleted', target: `user:${id}` });
    return deleted;
  });
}

/** Ends every session of a user: refresh families and access tokens. Gives how many ended; undefined when there is no such user. */
export async function endSessions(
  store: Store,
  tenant: TenantId,
  id: string,
  by: By,
  reason: 'administrator' | 'logout' = 'administrator',
): Promise<number | undefined> {
  return store.database.write(tenant, async (queries) => {
    const user = await findLiveUser(queries, tenant, id);
    if (user === undefined) return undefined;
    const ended = await revokeGrantsOfUser(queries, tenant, user.id, reason);
    await recordAct(queries, store, tenant, by, { type: 'user.sessions_ended', target: `user:${id}`, data: { ended } });
    return ended;
  });
}

/** Ends one session of a user; false when it is not one of theirs or ended before. */
export async function endSession(
  store: Store,
  tenant: TenantId,
  user: UserId,
  session: string,
  by: By,
  reason: 'administrator' | 'logout' = 'administrator',
): Promise<boolean> {
  return store.database.write(tenant, async (queries) => {
    const owned = await queries
      .selectFrom('grants')
      .select('id')
      .where('tenant_id', '=', tenant)
      .where('id', '=', session as GrantId) // a look-up key, not yet known to be an id
      .where('user_id', '=', user)
      .executeTakeFirst();
    if (owned === undefined || !(await revokeGrant(queries, tenant, owned.id, reason))) return false;
    await recordAct(queries, store, tenant, by, { type: 'user.session_ended', target: `user:${user}`, data: { session } });
    return true;
  });
}

async function moveTo(
  queries: Queries,
  store: Store,
  tenant: TenantId,
  id: string,
  state: 'active' | 'suspended',
  by: By,
): Promise<UserTable | undefined> {
  const moved = await setUserState(queries, tenant, id, state);
  if (moved?.changed === true) {
    const type = state === 'suspended' ? 'user.suspended' : 'user.activated';
    await recordAct(queries, store, tenant, by, { type, target: `user:${id}` });
  }
  return moved?.row;
}

async function load(queries: Queries, { database }: Store, tenant: TenantId, row: UserTable): Promise<StoredUser> {
  const lists = await listUserLists(queries, database.dialect, tenant, [row.id]);
  return { row, emails: await listUserEmails(queries, tenant, row.id), lists: lists(row.id) };
}

/** A live user with everything of theirs; undefined when there is none. */
export async function findStoredUser(store: Store, tenant: TenantId, id: string): Promise<StoredUser | undefined> {
  return store.database.read(tenant, async (queries) => {
    const row = await findLiveUser(queries, tenant, id);
    return row === undefined ? undefined : load(queries, store, tenant, row);
  });
}

/** A page of live users with everything of theirs. */
export async function listStoredUsers(store: Store, tenant: TenantId, page: UserPage): Promise<readonly StoredUser[]> {
  return store.database.read(tenant, async (queries) => {
    const rows = await listUsers(queries, tenant, page);
    const ids = rows.map((row) => row.id);
    const emails = Map.groupBy(await listEmailsOfUsers(queries, tenant, ids), (email) => email.user_id);
    const lists = await listUserLists(queries, store.database.dialect, tenant, ids);
    return rows.map((row) => ({ row, emails: emails.get(row.id) ?? [], lists: lists(row.id) }));
  });
}
