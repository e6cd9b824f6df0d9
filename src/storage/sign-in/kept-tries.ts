// How many tries to sign in are kept (sign-in-tries.ts): of a person, of all names that nobody has, and of one address among either.
import { sql } from 'kysely';
import { signInTriesPerAddressMax, signInTriesPerPersonMax, unknownSignInTriesMax } from '../../contract/limits.ts';
import type { TenantId, UserId } from '../../domain/ids.ts';
import type { Database } from '../engine/database.ts';
import { compilable, statement } from '../engine/statement.ts';

/** Whose tries became one more. */
export type GrownTries = { readonly userId: UserId | ''; readonly addressBlock: string };

/**
 * Drops the oldest tries beyond what is kept of a person, or of all names that nobody has, after the transaction that added one.
 * Nearly always there are none, so that it asks first; a transaction of its own locks nothing else.
 */
export async function trimTries(database: Database, tenant: TenantId, grown: GrownTries | undefined): Promise<void> {
  if (grown === undefined) return;
  const { userId } = grown;
  const kept = {
    ...grown,
    tenant,
    keep: userId === '' ? unknownSignInTriesMax : signInTriesPerPersonMax,
    keepOfBlock: signInTriesPerAddressMax,
  };
  const { rows } = await database.read(tenant, (queries) => beyondStatement(queries, kept));
  if (rows.length === 0) return;
  await database.write(tenant, async (queries) => {
    await trimStatement(queries, kept);
    await trimBlockStatement(queries, kept);
  });
}

type Kept = GrownTries & { readonly tenant: TenantId; readonly keep: number; readonly keepOfBlock: number };

const beyondStatement = statement((queries, { tenant, userId, addressBlock, keep, keepOfBlock }: Kept) =>
  compilable(
    queries,
    sql`
    SELECT 1 WHERE EXISTS (SELECT 1 FROM sign_in_tries WHERE tenant_id = ${tenant} AND user_id = ${userId} LIMIT 1 OFFSET ${keep})
      OR EXISTS (SELECT 1 FROM sign_in_tries WHERE tenant_id = ${tenant} AND address_block = ${addressBlock} AND user_id = ${userId}
        LIMIT 1 OFFSET ${keepOfBlock})`,
  ),
);

const trimStatement = statement((queries, { tenant, userId, keep }: Kept) =>
  compilable(
    queries,
    sql`
    DELETE FROM sign_in_tries WHERE tenant_id = ${tenant} AND user_id = ${userId} AND (started_at, id) <= (
      SELECT started_at, id FROM sign_in_tries WHERE tenant_id = ${tenant} AND user_id = ${userId}
      ORDER BY started_at DESC, id DESC LIMIT 1 OFFSET ${keep})`,
  ),
);

const trimBlockStatement = statement((queries, { tenant, userId, addressBlock, keepOfBlock }: Kept) =>
  compilable(
    queries,
    sql`
    DELETE FROM sign_in_tries WHERE tenant_id = ${tenant} AND address_block = ${addressBlock} AND user_id = ${userId} AND (started_at, id) <= (
      SELECT started_at, id FROM sign_in_tries WHERE tenant_id = ${tenant} AND address_block = ${addressBlock} AND user_id = ${userId}
      ORDER BY started_at DESC, id DESC LIMIT 1 OFFSET ${keepOfBlock})`,
  ),
);
