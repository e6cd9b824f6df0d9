// Passkeys (WebAuthn credentials) of users, and the challenges of their ceremonies: one live challenge per subject, consumed
// by one conditional UPDATE (R1). Called by approvals/, the account page and the management API; verifies nothing.
import { sql } from 'kysely';
import type { PasskeyId, TenantId, UserId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { endApproved } from './approvals.ts';

export interface PasskeyTable {
  tenant_id: TenantId;
  id: PasskeyId;
  user_id: UserId;
  /** base64url; unique in the tenant. */
  credential_id: string;
  /** COSE_Key, base64url. */
  public_key: string;
  /** The authenticator's signature counter; 0 where it has none. */
  counter: number;
  /** JSON list of the transports the browser named. */
  transports: string;
  /** 1: may be synced to other devices. */
  backup_eligible: number;
  /** 1: was synced when last seen. */
  backed_up: number;
  /** The model of the authenticator, a UUID; zeros where it does not say. */
  aaguid: string;
  name: string;
  created_at: number;
  last_used_at: number | null;
}

export type Passkey = Readonly<PasskeyTable>;

export interface PasskeyChallengeTable {
  tenant_id: TenantId;
  /** `login:<transaction>` or `registration:<account session>`. */
  subject: string;
  challenge_hash: string;
  expires_at: number;
  used_at: number | null;
}

/** The passkeys of a user, oldest first. */
export async function listPasskeysOfUser(queries: Queries, tenant: TenantId, user: UserId): Promise<readonly Passkey[]> {
  return queries
    .selectFrom('passkeys')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

export async function findPasskeyByCredential(queries: Queries, tenant: TenantId, credentialId: string): Promise<Passkey | undefined> {
  return queries
    .selectFrom('passkeys')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('credential_id', '=', credentialId)
    .executeTakeFirst();
}

/**
 * Notes a verified use: true when the passkey is still the user's, the user is active and the counter moved forward (or the
 * authenticator has none). WebAuthn 7.2 step 22, as compare-and-set.
 */
export async function recordPasskeyUse(
  queries: Queries,
  tenant: TenantId,
  use: { readonly id: PasskeyId; readonly userId: UserId; readonly counter: number; readonly backedUp: boolean },
): Promise<boolean> {
  const rows = await queries
    .updateTable('passkeys')
    .set({ counter: use.counter, backed_up: Number(use.backedUp), last_used_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('id', '=', use.id)
    .where('user_id', '=', use.userId)
    .where((eb) => eb.or([eb('counter', '<', use.counter), ...(use.counter === 0 ? [eb('counter', '=', 0)] : [])]))
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('users as u')
          .select('u.id')
          .whereRef('u.tenant_id', '=', 'passkeys.tenant_id')
          .whereRef('u.id', '=', 'passkeys.user_id')
          .where('u.state', '=', 'active'),
      ),
    )
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** Gives the renamed passkey, or undefined when the user has none of that id. */
export async function renamePasskey(
  queries: Queries,
  tenant: TenantId,
  user: UserId,
  id: string,
  name: string,
): Promise<Passkey | undefined> {
  return queries
    .updateTable('passkeys')
    .set({ name })
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('id', '=', id as PasskeyId) // a look-up key
    .returningAll()
    .executeTakeFirst();
}

/** Revokes a passkey for good by deleting it; gives what it was, or undefined when the user has none of that id. */
export async function deletePasskey(queries: Queries, tenant: TenantId, user: UserId, id: string): Promise<Passkey | undefined> {
  const deleted = await queries
    .deleteFrom('passkeys')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('id', '=', id as PasskeyId) // a look-up key
    .returningAll()
    .executeTakeFirst();
  if (deleted !== undefined) await endApproved(queries, tenant, user, [deleted.id]);
  return deleted;
}

/** Makes a challenge the only one of its subject. */
export async function replacePasskeyChallenge(
  queries: Queries,
  tenant: TenantId,
  subject: string,
  challengeHash: string,
  lifetimeMs: number,
): Promise<void> {
  const values = { challenge_hash: challengeHash, expires_at: sql<number>`${databaseNowMs} + ${lifetimeMs}`, used_at: null };
  await queries
    .insertInto('passkey_challenges')
    .values({ ...values, tenant_id: tenant, subject })
    .onConflict((on) => on.columns(['tenant_id', 'subject']).doUpdateSet(values))
    .execute();
}

/** The hash of the challenge a subject may answer now. */
export async function findPasskeyChallenge(queries: Queries, tenant: TenantId, subject: string): Promise<string | undefined> {
  const row = await queries
    .selectFrom('passkey_challenges')
    .select('challenge_hash')
    .where('tenant_id', '=', tenant)
    .where('subject', '=', subject)
    .where('used_at', 'is', null)
    .where('expires_at', '>', databaseNowMs)
    .executeTakeFirst();
  return row?.challenge_hash;
}

/** Consumes a challenge: true for exactly one caller, while it lives and is its subject's newest. */
export async function consumePasskeyChallenge(
  queries: Queries,
  tenant: TenantId,
  subject: string,
  challengeHash: string,
): Promise<boolean> {
  const rows = await queries
    .updateTable('passkey_challenges')
    .set({ used_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('subject', '=', subject)
    .where('challenge_hash', '=', challengeHash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', databaseNowMs)
    .returning('subject')
    .execute();
  return rows.length === 1;
}
