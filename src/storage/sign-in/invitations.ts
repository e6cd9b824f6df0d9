// Invitations: a link lets one person in once to add a passkey or phone. 256 bits, stored by SHA-256. Using it up gives the browser
// that did a visit of an hour, which is bound to a cookie. A newer invitation of a person revokes those before. A recovery is one
// that says why, and that the person may stop.
import { sql } from 'kysely';
import type { TenantId, UserId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface InvitationTable {
  tenant_id: TenantId;
  /** UUID version 7: sorts by time. */
  id: string;
  user_id: UserId;
  token_hash: string;
  /** Null: the link was handed over. */
  mailed_to: string | null;
  created_at: number;
  expires_at: number;
  used_at: number | null;
  revoked_at: number | null;
  visit_hash: string | null;
  visit_expires_at: number | null;
  /** The enrolment link the visit shows, under the master key. */
  enrollment_encrypted: string | null;
  /** Why somebody is let in again; null: an invitation. */
  recovery_reason: string | null;
  /** Of the token that stops a recovery. */
  stop_hash: string | null;
  stopped_at: number | null;
}

export type Invitation = Readonly<InvitationTable>;

/** Stores an invitation for `lifetimeMs`; gives when it ends, in epoch milliseconds. The caller has revoked the person's others. */
export async function insertInvitation(
  queries: Queries,
  tenant: TenantId,
  invitation: Pick<Invitation, 'id' | 'user_id' | 'token_hash' | 'mailed_to'> &
    Partial<Pick<Invitation, 'recovery_reason' | 'stop_hash'>> & { readonly lifetimeMs: number },
): Promise<number> {
  const { lifetimeMs, ...columns } = invitation;
  const row = await queries
    .insertInto('invitations')
    .values({
      ...columns,
      tenant_id: tenant,
      created_at: databaseNowMs,
      expires_at: sql<number>`${databaseNowMs} + ${lifetimeMs}`,
      used_at: null,
      revoked_at: null,
      visit_hash: null,
      visit_expires_at: null,
      enrollment_encrypted: null,
    })
    .returning('expires_at')
    .executeTakeFirstOrThrow();
  return row.expires_at;
}

/** A visit without a link before it, for whoever proved otherwise that they may: the link counts as used. */
export async function insertVisit(
  queries: Queries,
  tenant: TenantId,
  visit: Pick<Invitation, 'id' | 'user_id' | 'token_hash'> & { readonly visitHash: string; readonly visitMs: number },
): Promise<void> {
  const { visitHash, visitMs, ...columns } = visit;
  const end = sql<number>`${databaseNowMs} + ${visitMs}`;
  await queries
    .insertInto('invitations')
    .values({
      ...columns,
      tenant_id: tenant,
      mailed_to: null,
      created_at: databaseNowMs,
      expires_at: end,
      used_at: databaseNowMs,
      revoked_at: null,
      visit_hash: visitHash,
      visit_expires_at: end,
      enrollment_encrypted: null,
    })
    .execute();
}

/** Uses a link up and begins the visit: one caller gets it, once, in time, while the person is active. */
export async function consumeInvitation(
  queries: Queries,
  tenant: TenantId,
  { tokenHash, visitHash, visitMs }: { readonly tokenHash: string; readonly visitHash: string; readonly visitMs: number },
): Promise<Invitation | undefined> {
  return queries
    .updateTable('invitations')
    .set({ used_at: databaseNowMs, visit_hash: visitHash, visit_expires_at: sql<number>`${databaseNowMs} + ${visitMs}` })
    .where('tenant_id', '=', tenant)
    .where('token_hash', '=', tokenHash)
    .where('used_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', databaseNowMs)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('users')
          .select('users.id')
          .where('users.tenant_id', '=', tenant)
          .whereRef('users.id', '=', 'invitations.user_id')
          .where('users.state', '=', 'active'),
      ),
    )
    .returningAll()
    .executeTakeFirst();
}

/** The invitation behind a visit that goes on. */
export async function findVisit(queries: Queries, tenant: TenantId, visitHash: string): Promise<Invitation | undefined> {
  return queries
    .selectFrom('invitations')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('visit_hash', '=', visitHash)
    .where('revoked_at', 'is', null)
    .where('visit_expires_at', '>', databaseNowMs)
    .executeTakeFirst();
}

/** The same for whoever adds something in the visit: its end waits for them, or they for it. */
export async function holdVisit(queries: Queries, tenant: TenantId, visitHash: string): Promise<Invitation | undefined> {
  return queries
    .updateTable('invitations')
    .set((eb) => ({ visit_hash: eb.ref('visit_hash') }))
    .where('tenant_id', '=', tenant)
    .where('visit_hash', '=', visitHash)
    .where('revoked_at', 'is', null)
    .where('visit_expires_at', '>', databaseNowMs)
    .returningAll()
    .executeTakeFirst();
}

/** A recovery whose link still works. */
export async function findOpenRecovery(queries: Queries, tenant: TenantId, id: string): Promise<Invitation | undefined> {
  return queries
    .selectFrom('invitations')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where('recovery_reason', 'is not', null)
    .where('used_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', databaseNowMs)
    .executeTakeFirst();
}

/** How long after its end a recovery may still be stopped: whoever reads the mail late undoes what was added. */
const stoppableMs = 7 * 24 * 3600 * 1000;

/** Stops a recovery, its link and its visit: for one caller, once. */
export async function stopRecoveryOnce(queries: Queries, tenant: TenantId, stopHash: string): Promise<Invitation | undefined> {
  return queries
    .updateTable('invitations')
    .set((eb) => ({ stopped_at: databaseNowMs, revoked_at: eb.fn.coalesce('revoked_at', databaseNowMs) }))
    .where('tenant_id', '=', tenant)
    .where('stop_hash', '=', stopHash)
    .where('stopped_at', 'is', null)
    .where('expires_at', '>', sql<number>`${databaseNowMs} - ${stoppableMs}`)
    .returningAll()
    .executeTakeFirst();
}

/** A recovery that is or was stopped by this token, while that means anything. */
export async function findStoppable(queries: Queries, tenant: TenantId, stopHash: string): Promise<Invitation | undefined> {
  return queries
    .selectFrom('invitations')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('stop_hash', '=', stopHash)
    .where('expires_at', '>', sql<number>`${databaseNowMs} - ${stoppableMs}`)
    .executeTakeFirst();
}

export async function keepEnrollment(queries: Queries, tenant: TenantId, id: string, encrypted: string): Promise<void> {
  await queries
    .updateTable('invitations')
    .set({ enrollment_encrypted: encrypted })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .execute();
}

type InvitationKind = 'invitation' | 'recovery';

/** The invitations or recoveries of a person, newest first. */
export async function listInvitations(
  queries: Queries,
  tenant: TenantId,
  user: UserId,
  kind: InvitationKind,
): Promise<readonly Invitation[]> {
  return queries
    .selectFrom('invitations')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('recovery_reason', kind === 'recovery' ? 'is not' : 'is', null)
    .orderBy('id', 'desc')
    .limit(listedMax)
    .execute();
}

type InvitationState = 'open' | 'expired' | 'used' | 'revoked';

/** The invitations of a tenant in one state, or all, newest first, from one on. */
export async function listInvitationsOfTenant(
  queries: Queries,
  tenant: TenantId,
  { state, after, limit }: { readonly state: InvitationState | undefined; readonly after: string; readonly limit: number },
): Promise<readonly Invitation[]> {
  let query = queries.selectFrom('invitations').selectAll().where('tenant_id', '=', tenant).where('recovery_reason', 'is', null);
  if (after !== '') query = query.where('id', '<', after);
  if (state === 'used') query = query.where('used_at', 'is not', null);
  else if (state !== undefined) query = query.where('used_at', 'is', null).where('revoked_at', state === 'revoked' ? 'is not' : 'is', null);
  if (state === 'open') query = query.where('expires_at', '>', databaseNowMs);
  if (state === 'expired') query = query.where('expires_at', '<=', databaseNowMs);
  return query.orderBy('id', 'desc').limit(limit).execute();
}

const listedMax = 50;

/** Revokes one invitation or recovery of a person, or all of both, with the visits they began; gives when those were. */
export async function revokeInvitations(
  queries: Queries,
  tenant: TenantId,
  user: UserId,
  one?: { readonly id: string; readonly kind: InvitationKind },
): Promise<readonly Pick<Invitation, 'used_at' | 'visit_expires_at'>[]> {
  let query = queries
    .updateTable('invitations')
    .set({ revoked_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('revoked_at', 'is', null);
  if (one !== undefined) query = query.where('id', '=', one.id).where('recovery_reason', one.kind === 'recovery' ? 'is not' : 'is', null);
  return query.returning(['used_at', 'visit_expires_at']).execute();
}
