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
  listUserEmails,
  type NewEmail,
  type NewUser,
  replaceUserEmails,
  setUserState,
  type UserEmailTable,
  type UserProfile,
  type UserTable,
  updateUser,
} from '../storage/users.ts';
import { type Administration, type By, recordAct } from './administration.ts';
import { unlessTaken, ValueTaken } from './taken.ts';

type Store = Pick<Administration, 'database' | 'clock'>;

export interface StoredUser {
  readonly row: UserTable;
  readonly emails: readonly UserEmailTable[];
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
  readonly role?: 'user' | 'admin' | undefined;
  readonly state?: 'active' | 'suspended' | undefined;
}

/** Creates a user; `taken` names `user_name` or `emails`. */
export async function createUser(
  store: Store,
  tenant: TenantId,
  user: Omit<NewUser, 'id'>,
  by: By,
): Promise<{ readonly ok: true; readonly user: StoredUser } | Taken> {
  const id = uuidV7(store.clock.nowMs()) as UserId; // made here
  const done = await unlessTaken('user_name', () =>
    store.database.write(tenant, async (queries) => {
      const inserted = await insertUser(queries, tenant, { ...user, id });
      if (!inserted.ok) throw new ValueTaken(inserted.reason);
      await recordAct(queries, store, tenant, by, { type: 'user.created', target: `user:${id}`, data: { role: user.role } });
      return load(queries, tenant, inserted.row);
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
      const fields = [
        ...Object.keys(change.profile),
        ...(change.emails === undefined ? [] : ['emails']),
        ...(change.role === undefined ? [] : ['role']),
      ];
      await recordAct(queries, store, tenant, by, { type: 'user.updated', target: `user:${id}`, data: { fields } });
      const state = change.state === undefined ? undefined : await moveTo(queries, store, tenant, id, change.state, by);
      return load(queries, tenant, state ?? row);
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
    return row === undefined ? fail('unknown') : { ok: true, user: await load(queries, tenant, row) };
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
export async function endSessions(store: Store, tenant: TenantId, id: string, by: By): Promise<number | undefined> {
  return store.database.write(tenant, async (queries) => {
    const user = await findLiveUser(queries, tenant, id);
    if (user === undefined) return undefined;
    const ended = await revokeGrantsOfUser(queries, tenant, user.id, 'administrator');
    await recordAct(queries, store, tenant, by, { type: 'user.sessions_ended', target: `user:${id}`, data: { ended } });
    return ended;
  });
}

/** Ends one session of a user; false when it is not one of theirs or ended before. */
export async function endSession(store: Store, tenant: TenantId, user: UserId, session: string, by: By): Promise<boolean> {
  return store.database.write(tenant, async (queries) => {
    const owned = await queries
      .selectFrom('grants')
      .select('id')
      .where('tenant_id', '=', tenant)
      .where('id', '=', session as GrantId) // a look-up key, not yet known to be an id
      .where('user_id', '=', user)
      .executeTakeFirst();
    if (owned === undefined || !(await revokeGrant(queries, tenant, owned.id, 'administrator'))) return false;
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

async function load(queries: Queries, tenant: TenantId, row: UserTable): Promise<StoredUser> {
  return { row, emails: await listUserEmails(queries, tenant, row.id) };
}
