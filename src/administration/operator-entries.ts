// An operator enters a tenant and leaves it (decision 40): made in the root tenant, for the person of a session there, told in the events
// of both. The caller has checked that the person may.

import type { GrantId, TenantId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import { uuidV7 } from '../platform/random.ts';
import { listShownNames } from '../storage/people/users.ts';
import { deleteOperatorEntry, insertOperatorEntry, redeemOperatorEntry } from '../storage/records/operator-entries.ts';
import { actorOf, makeEntrySecret, readEntrySecret } from '../tokens/operator-entry.ts';
import { type Administration, recordAct } from './administration.ts';

type Store = Pick<Administration, 'clock' | 'database'>;

interface Entering {
  readonly root: TenantId;
  readonly tenant: TenantId;
  /** The session in the root console. */
  readonly grantId: GrantId;
  readonly requestId: string;
}

/** Makes an entry; its text opens it at the tenant's address, once and within a minute. Fails when the session has ended. */
export async function enterTenant(
  store: Store,
  { root, tenant, grantId, requestId }: Entering,
): Promise<Outcome<{ readonly handOver: string }, 'session_ended'>> {
  const id = uuidV7(store.clock.nowMs());
  const secret = makeEntrySecret(id);
  const about = { type: 'operator.entered', target: `tenant:${tenant}`, data: { entry: id } } as const;
  const made = await store.database.write(root, async (queries) => {
    const entry = await insertOperatorEntry(queries, root, { id, secretHash: secret.hash, grantId, enteredId: tenant });
    if (entry !== undefined) await recordAct(queries, store, root, { actor: `user:${entry.userId}`, requestId }, about);
    return entry;
  });
  if (made === undefined) return fail('session_ended');
  // Nobody has the entry before the tenant's own record of it is written.
  await store.database.write(tenant, (queries) => recordAct(queries, store, tenant, { actor: actorOf(made.userId), requestId }, about));
  return { ok: true, handOver: secret.text };
}

export interface OpenEntry {
  readonly id: string;
  /** What calls carry. */
  readonly bearer: string;
  readonly expiresAtMs: number;
  /** What the operator is called. */
  readonly name: string;
}

/** Opens an entry at the tenant it leads to. */
export async function openEntry(store: Store, root: TenantId, tenant: TenantId, handOver: string): Promise<OpenEntry | undefined> {
  const given = readEntrySecret(handOver);
  if (given === undefined) return undefined;
  const secret = makeEntrySecret(given.id);
  return store.database.write(root, async (queries) => {
    const opened = await redeemOperatorEntry(queries, root, { ...given, enteredId: tenant }, secret.hash);
    if (opened === undefined) return undefined;
    const { userId, expiresAtMs } = opened;
    const name = (await listShownNames(queries, store.database.dialect, root, [userId])).get(userId) ?? userId;
    return { id: given.id, bearer: secret.text, expiresAtMs, name };
  });
}

/** Ends an entry; told when it had not ended. */
export async function leaveTenant(
  store: Store,
  { root, tenant, id, requestId }: Omit<Entering, 'grantId'> & { readonly id: string },
): Promise<void> {
  const about = { type: 'operator.left', target: `tenant:${tenant}`, data: { entry: id } } as const;
  const userId = await store.database.write(root, async (queries) => {
    const whose = await deleteOperatorEntry(queries, root, id);
    if (whose !== undefined) await recordAct(queries, store, root, { actor: `user:${whose}`, requestId }, about);
    return whose;
  });
  if (userId === undefined) return;
  await store.database.write(tenant, (queries) => recordAct(queries, store, tenant, { actor: actorOf(userId), requestId }, about));
}
