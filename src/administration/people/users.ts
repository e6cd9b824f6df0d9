// Users as the management API and `gatehouse user` handle them: creation, change, suspension, deletion, each one transaction
// with its effects and its audit record.
import type { GrantId, TenantId, UserId } from '../../domain/ids.ts';
import { fail, type Outcome } from '../../domain/outcome.ts';
import { snakeCase } from '../../domain/people/user-attributes.ts';
import { uuidV7 } from '../../platform/random.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { deleteConsentsOf } from '../../storage/oidc/consents.ts';
import { revokeGrant, revokeGrantsOfUser } from '../../storage/oidc/grants.ts';
import { listUserLists, type UserLists } from '../../storage/people/user-lists.ts';
import { listHeldRoles } from '../../storage/people/user-roles.ts';
import type { UserRow } from '../../storage/people/user-rows.ts';
import * as people from '../../storage/people/user-writer.ts';
import { findLiveUser, listUsers, listUsersById, lockUser, type UserPage } from '../../storage/people/users.ts';
import { type Administration, type By, recordAct } from '../administration.ts';
import { unlessTaken } from '../taken.ts';

type Store = Pick<Administration, 'database' | 'clock'>;

export interface StoredUser {
  readonly row: UserRow;
  readonly lists: UserLists;
}

export interface Taken {
  readonly ok: false;
  readonly reason: 'taken';
  readonly field: string;
}

/** Creates a user; `taken` names `user_name` or `emails`. */
export async function createUser(
  store: Store,
  tenant: TenantId,
  user: Omit<people.NewUser, 'id'>,
  by: By,
): Promise<{ readonly ok: true; readonly user: StoredUser } | Taken> {
  const id = uuidV7(store.clock.nowMs()) as UserId; // made here
  const done = await unlessTaken('user_name', () =>
    store.database.write(tenant, async (queries) => {
      const row = await people.insertUser(queries, tenant, { ...user, id });
      await recordAct(queries, store, tenant, by, { type: 'user.created', target: `user:${id}`, data: createdData(user.roles) });
      return load(queries, store, tenant, row);
    }),
  );
  return done.ok ? { ok: true, user: done.value } : { ok: false, reason: 'taken', field: done.field ?? 'user_name' };
}

/** Whether `createUser` would make them: done, and undone. */
export async function rehearseUser(
  store: Store,
  tenant: TenantId,
  user: Omit<people.NewUser, 'id'>,
): Promise<{ readonly ok: true } | Taken> {
  const id = uuidV7(store.clock.nowMs()) as UserId; // made here
  const undone = new Error('undone');
  try {
    const done = await unlessTaken('user_name', () =>
      store.database.write(tenant, async (queries) => {
        await people.insertUser(queries, tenant, { ...user, id });
        throw undone;
      }),
    );
    return { ok: false, reason: 'taken', field: (!done.ok && done.field) || 'user_name' };
  } catch (error) {
    if (error === undone) return { ok: true };
    throw error;
  }
}

export interface UserChange extends Omit<people.UserChange, 'custom'> {
  /** Gives what depends on the locked row: custom values laid over its own, and roles; may throw, and then nothing is changed. */
  readonly against?: ((before: UserRow) => Pick<people.UserChange, 'custom' | 'roles'>) | undefined;
}

/** What the record of a new user says. */
export const createdData = (roles: readonly string[] = []): { readonly role: string; readonly roles?: readonly string[] } =>
  roles.length === 0 ? { role: 'user' } : { role: 'admin', roles };

/** Changes a user; what is undefined stays. @throws LastOwner */
export async function changeUser(
  store: Store,
  tenant: TenantId,
  id: string,
  change: UserChange,
  by: By,
): Promise<{ readonly ok: true; readonly user: StoredUser } | Taken | { readonly ok: false; readonly reason: 'unknown' }> {
  const done = await unlessTaken('user_name', () =>
    store.database.write(tenant, async (queries) => {
      const { state, against, ...rest } = change;
      const locked = await lockUser(queries, store.database.dialect, tenant, id);
      if (locked === undefined) return undefined;
      const { custom, roles = rest.roles } = against?.(locked) ?? {};
      const before = roles && ((await listHeldRoles(queries, tenant, [locked.id])).get(locked.id) ?? []).map(({ name }) => name);
      const row = (await people.changeUser(queries, tenant, id, { ...rest, custom, roles }))!; // locked above
      const { emails, values, addresses } = change.lists ?? {};
      const given = [
        ...Object.keys(values ?? {}).map(snakeCase),
        ...(addresses === undefined ? [] : ['addresses']),
        ...(emails === undefined ? [] : ['emails']),
        ...(roles === undefined ? [] : ['roles']),
        ...(custom === undefined ? [] : ['custom']),
      ];
      const fields = [...Object.keys(change.profile ?? {}), ...given];
      await recordAct(queries, store, tenant, by, { type: 'user.updated', target: `user:${id}`, data: { fields } });
      if (roles !== undefined)
        await recordAct(queries, store, tenant, by, { type: 'user.roles_changed', target: `user:${id}`, data: { roles, before } });
      const moved = state === undefined ? undefined : await moveTo(queries, store, tenant, { id, state }, by);
      return load(queries, store, tenant, moved ?? row);
    }),
  );
  if (!done.ok) return { ok: false, reason: 'taken', field: done.field ?? 'user_name' };
  return done.value === undefined ? fail('unknown') : { ok: true, user: done.value };
}

/** Suspends or activates; suspending ends the user's grants in the same transaction. @throws LastOwner */
export async function changeUserState(
  store: Store,
  tenant: TenantId,
  id: string,
  state: 'active' | 'suspended',
  by: By,
): Promise<Outcome<{ readonly user: StoredUser }, 'unknown'>> {
  return store.database.write(tenant, async (queries) => {
    const row = await moveTo(queries, store, tenant, { id, state }, by);
    return row === undefined ? fail('unknown') : { ok: true, user: await load(queries, store, tenant, row) };
  });
}

/** Deletes a user; false when there is none. @throws LastOwner */
export async function removeUser(store: Store, tenant: TenantId, id: string, by: By): Promise<boolean> {
  return store.database.write(tenant, (queries) => people.deleteUser(queries, tenant, id, { ...by, nowMs: store.clock.nowMs() }));
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

/** Ends one session of a user, and what they consented to of its client; false when it is not one of theirs or ended before. */
export async function endSession(
  store: Store,
  tenant: TenantId,
  { user, session }: { readonly user: UserId; readonly session: string },
  by: By,
  reason: 'administrator' | 'logout' = 'administrator',
): Promise<boolean> {
  return store.database.write(tenant, async (queries) => {
    const owned = await queries
      .selectFrom('grants')
      .select(['id', 'client_id'])
      .where('tenant_id', '=', tenant)
      .where('id', '=', session as GrantId) // a look-up key, not yet known to be an id
      .where('user_id', '=', user)
      .executeTakeFirst();
    if (owned === undefined || !(await revokeGrant(queries, tenant, owned.id, reason))) return false;
    // A program that a person let in would get the next one without asking while they are signed in somewhere.
    await deleteConsentsOf(queries, tenant, user, owned.client_id);
    await recordAct(queries, store, tenant, by, {
      type: 'user.session_ended',
      target: `user:${user}`,
      data: { session, client: owned.client_id },
    });
    return true;
  });
}

/** Suspends or activates in the caller's transaction, and tells it. @throws LastOwner */
export async function moveTo(
  queries: Queries,
  store: Store,
  tenant: TenantId,
  { id, state }: { readonly id: string; readonly state: 'active' | 'suspended' },
  by: By,
): Promise<UserRow | undefined> {
  const moved = await people.setUserState(queries, tenant, id, state);
  if (moved?.changed === true) {
    const type = state === 'suspended' ? 'user.suspended' : 'user.activated';
    await recordAct(queries, store, tenant, by, { type, target: `user:${id}` });
  }
  return moved?.row;
}

async function load(queries: Queries, { database }: Store, tenant: TenantId, row: UserRow): Promise<StoredUser> {
  const lists = await listUserLists(queries, database.dialect, tenant, [row.id]);
  return { row, lists: lists(row.id) };
}

/** A live user with everything of theirs; undefined when there is none. */
export async function findStoredUser(store: Store, tenant: TenantId, id: string): Promise<StoredUser | undefined> {
  return store.database.read(tenant, async (queries) => {
    const row = await findLiveUser(queries, tenant, id);
    return row === undefined ? undefined : load(queries, store, tenant, row);
  });
}

/** These users with everything of theirs, in the order of the ids. */
export async function findStoredUsers(
  { database }: Pick<Store, 'database'>,
  tenant: TenantId,
  ids: readonly UserId[],
): Promise<readonly StoredUser[]> {
  return database.read(tenant, async (queries) => {
    const rows = new Map((await listUsersById(queries, database.dialect, tenant, ids)).map((row) => [row.id, row]));
    const lists = await listUserLists(queries, database.dialect, tenant, ids);
    return ids.flatMap((id) => {
      const row = rows.get(id);
      return row === undefined ? [] : [{ row, lists: lists(id) }];
    });
  });
}

/** A page of live users with everything of theirs. */
export async function listStoredUsers(store: Store, tenant: TenantId, page: UserPage): Promise<readonly StoredUser[]> {
  return store.database.read(tenant, async (queries) => {
    const rows = await listUsers(queries, tenant, page);
    const ids = rows.map((row) => row.id);
    const lists = await listUserLists(queries, store.database.dialect, tenant, ids);
    return rows.map((row) => ({ row, lists: lists(row.id) }));
  });
}
