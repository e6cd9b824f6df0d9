// Signing keys of a tenant and of its service providers: per use and algorithm one `next` (published, not used), one `current`, and retired ones kept for verification.
import { sql } from 'kysely';
import type { ServiceProviderId, TenantId } from '../../domain/ids.ts';
import { ownUse } from '../../domain/saml/service-provider.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface SigningKeyTable {
  tenant_id: TenantId;
  kid: string;
  /** oidc, saml, or saml:<id of a service provider> for the provider's own. */
  use: string;
  alg: string;
  state: string;
  /** PKCS#8 DER under the master key. */
  private_key_encrypted: string;
  public_jwk: string;
  /** PEM, for SAML keys. */
  certificate: string | null;
  created_at: number;
  activated_at: number | null;
  retired_at: number | null;
  /** A next key signs from then on; null: at any time. */
  signs_from: number | null;
}

export type StoredSigningKey = Readonly<SigningKeyTable>;

type NewSigningKey = Pick<StoredSigningKey, 'kid' | 'use' | 'alg' | 'state' | 'private_key_encrypted' | 'public_jwk' | 'certificate'>;

/** Inserts a key; a next one with `waitMs` may not sign for that long. */
export async function insertSigningKey(queries: Queries, tenant: TenantId, key: NewSigningKey, waitMs?: number): Promise<void> {
  await insertion(queries, tenant, key, waitMs).execute();
}

const insertion = (queries: Queries, tenant: TenantId, key: NewSigningKey, waitMs?: number) =>
  queries.insertInto('signing_keys').values({
    tenant_id: tenant,
    ...key,
    created_at: databaseNowMs,
    activated_at: key.state === 'current' ? databaseNowMs : null,
    retired_at: null,
    signs_from: waitMs === undefined ? null : sql<number>`${databaseNowMs} + ${waitMs}`,
  });

/** The keys of the tenant itself, oldest first. */
export async function listSigningKeys(queries: Queries, tenant: TenantId): Promise<readonly StoredSigningKey[]> {
  return listKeysOf(queries, tenant, ['oidc', 'saml']);
}

/** The keys of one service provider alone, oldest first. */
export async function listOwnKeys(queries: Queries, tenant: TenantId, provider: ServiceProviderId): Promise<readonly StoredSigningKey[]> {
  return listKeysOf(queries, tenant, [ownUse(provider)]);
}

async function listKeysOf(queries: Queries, tenant: TenantId, uses: readonly string[]): Promise<readonly StoredSigningKey[]> {
  return queries
    .selectFrom('signing_keys')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('use', 'in', uses)
    .orderBy('created_at')
    .orderBy('kid')
    .execute();
}

/** Inserts a key unless the tenant has one of that use, algorithm and state (a partial unique index decides). */
export async function insertMissingSigningKey(queries: Queries, tenant: TenantId, key: NewSigningKey): Promise<void> {
  await insertion(queries, tenant, key)
    .onConflict((on) => on.doNothing())
    .execute();
}

/** A key by its kid, of whatever use. */
export async function findSigningKey(queries: Queries, tenant: TenantId, kid: string): Promise<StoredSigningKey | undefined> {
  return queries.selectFrom('signing_keys').selectAll().where('tenant_id', '=', tenant).where('kid', '=', kid).executeTakeFirst();
}

interface KeyPromotion {
  /** Undefined for a ring that has not signed yet. */
  readonly from: string | undefined;
  readonly to: string;
  readonly fresh: NewSigningKey;
  /** How long the fresh key may not sign, in milliseconds. */
  readonly freshWaitMs?: number;
  /** Makes the next key current however young it is. */
  readonly force?: boolean;
}

/**
 * Retires the current key, makes the next one current and stores a fresh next of the same use. False when `from` is not
 * current any more, or `to` may not sign yet.
 */
export async function promoteSigningKey(queries: Queries, tenant: TenantId, step: KeyPromotion): Promise<boolean> {
  if (step.from !== undefined && !(await retireKey(queries, tenant, step, step.from))) return false;
  const promoted = await queries
    .updateTable('signing_keys')
    .set({ state: 'current', activated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('kid', '=', step.to)
    .where('use', '=', step.fresh.use)
    .where('state', '=', 'next')
    .where((eb) => (step.force === true ? eb.lit(true) : mayItSign))
    .returning('kid')
    .execute();
  if (promoted.length !== 1) return false;
  await insertSigningKey(queries, tenant, step.fresh, step.freshWaitMs);
  return true;
}

const mayItSign = sql<boolean>`(signs_from IS NULL OR signs_from <= ${databaseNowMs})`;

/** The condition on the next key is in the statement, so that nothing is retired when it may not sign. */
async function retireKey(queries: Queries, tenant: TenantId, step: KeyPromotion, from: string): Promise<boolean> {
  const retired = await queries
    .updateTable('signing_keys')
    .set({ state: 'retired', retired_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('kid', '=', from)
    .where('use', '=', step.fresh.use)
    .where('state', '=', 'current')
    .where(({ exists, selectFrom }) => {
      const next = selectFrom('signing_keys as next')
        .select('next.kid')
        .where('next.tenant_id', '=', tenant)
        .where('next.kid', '=', step.to)
        .where('next.state', '=', 'next');
      const ready = sql<boolean>`(next.signs_from IS NULL OR next.signs_from <= ${databaseNowMs})`;
      return exists(step.force === true ? next : next.where(ready));
    })
    .returning('kid')
    .execute();
  return retired.length === 1;
}

/** Deletes OIDC keys retired longer than `keptSeconds` ago: no token they signed can be alive. Gives their kids. */
export async function deleteRetiredSigningKeys(queries: Queries, tenant: TenantId, keptSeconds: number): Promise<readonly string[]> {
  const rows = await queries
    .deleteFrom('signing_keys')
    .where('tenant_id', '=', tenant)
    .where('use', '=', 'oidc')
    .where('state', '=', 'retired')
    .where('retired_at', '<', sql<number>`${databaseNowMs} - ${keptSeconds * 1000}`)
    .returning('kid')
    .execute();
  return rows.map((row) => row.kid);
}
