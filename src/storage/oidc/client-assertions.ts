// Client assertions already used (RFC 7523 3, item 7): the jti of each, by hash, until the assertion has expired.
import type { TenantId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { statement } from '../engine/statement.ts';

export interface ClientAssertionTable {
  tenant_id: TenantId;
  /** SHA-256 over client id and jti: another client's jti is another value. */
  jti_hash: string;
  expires_at: number;
}

const insertJti = statement((queries, values: { readonly tenant: TenantId; readonly hash: string; readonly expiresAt: number }) =>
  queries
    .insertInto('client_assertions')
    .values({ tenant_id: values.tenant, jti_hash: values.hash, expires_at: values.expiresAt })
    .onConflict((on) => on.doNothing())
    .returning('jti_hash'),
);

/** Takes the one use of an assertion (R2). Gives false when it was used before. */
export async function consumeClientAssertion(queries: Queries, tenant: TenantId, jtiHash: string, expiresAtMs: number): Promise<boolean> {
  const { rows } = await insertJti(queries, { tenant, hash: jtiHash, expiresAt: expiresAtMs });
  return rows.length === 1;
}
