// Answers of other providers that sign-ins wait for (design 14, 2): one row for each time somebody was sent there, found by the
// hash of `state` and used by one UPDATE. Nonce and PKCE verifier are sealed by whoever writes it.
import { sql } from 'kysely';
import type { IdentityProviderId, TenantId, TransactionId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

/** Stands for a sign-in where somebody links an account of theirs instead. */
export const linkTransaction = '' as TransactionId; // no sign-in has it

/** The same where somebody tries a provider before people sign in by it. */
export const trialTransaction = 'trial' as TransactionId; // sign-ins have random ids, which are longer

export interface ExternalLoginTable {
  tenant_id: TenantId;
  /** SHA-256 of `state`. */
  state_hash: string;
  provider_id: IdentityProviderId;
  transaction_id: TransactionId;
  sealed: string;
  /** What a form post brought, sealed; whoever has the key and the sign-in's cookie fetches it. */
  answer: string | null;
  /** SHA-256 of that key. */
  answer_hash: string | null;
  created_at: number;
  expires_at: number;
  used_at: number | null;
}

export type ExternalLogin = Readonly<ExternalLoginTable>;

export async function insertExternalLogin(
  queries: Queries,
  tenant: TenantId,
  login: Pick<ExternalLogin, 'state_hash' | 'provider_id' | 'transaction_id' | 'sealed'>,
  lifetimeSeconds: number,
): Promise<void> {
  await queries
    .insertInto('external_logins')
    .values({
      ...login,
      tenant_id: tenant,
      created_at: databaseNowMs,
      expires_at: sql<number>`${databaseNowMs} + ${lifetimeSeconds * 1000}`,
      used_at: null,
      answer: null,
      answer_hash: null,
    })
    .execute();
}

/** The sign-in that waits for this state, used or not. */
export async function findExternalLogin(queries: Queries, tenant: TenantId, stateHash: string): Promise<ExternalLogin | undefined> {
  return queries
    .selectFrom('external_logins')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('state_hash', '=', stateHash)
    .executeTakeFirst();
}

/** Keeps the one answer to a state of this provider. Undefined for every caller but the first, and once the state is used or over. */
export async function keepExternalAnswer(
  queries: Queries,
  tenant: TenantId,
  stateHash: string,
  provider: IdentityProviderId,
  kept: { readonly answer: string; readonly answerHash: string },
): Promise<ExternalLogin | undefined> {
  return queries
    .updateTable('external_logins')
    .set({ answer: kept.answer, answer_hash: kept.answerHash })
    .where('tenant_id', '=', tenant)
    .where('state_hash', '=', stateHash)
    .where('provider_id', '=', provider)
    .where('answer', 'is', null)
    .where('used_at', 'is', null)
    .where('expires_at', '>', databaseNowMs)
    .returningAll()
    .executeTakeFirst();
}

/** Uses up a state, once and in time: of this provider, or with the kept answer of this key. Undefined for every caller but the first. */
export async function consumeExternalLogin(
  queries: Queries,
  tenant: TenantId,
  stateHash: string,
  by: { readonly provider: IdentityProviderId } | { readonly answerHash: string },
): Promise<ExternalLogin | undefined> {
  return queries
    .updateTable('external_logins')
    .set({ used_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('state_hash', '=', stateHash)
    .where((is) =>
      'provider' in by ? is.and([is('provider_id', '=', by.provider), is('answer', 'is', null)]) : is('answer_hash', '=', by.answerHash),
    )
    .where('used_at', 'is', null)
    .where('expires_at', '>', databaseNowMs)
    .returningAll()
    .executeTakeFirst();
}
