// Entries of operators into tenants: rows of the root tenant, each good for one tenant, while the session that made it lives and its
// person may still manage tenants. Made by administration/operator-entries.ts, asked about at every request by tokens/operator-entry.ts.
import { sql } from 'kysely';
import type { GrantId, TenantId, UserId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface OperatorEntryTable {
  /** The root tenant. */
  tenant_id: TenantId;
  id: string;
  /** SHA-256 of what is handed to the tenant's address, and once that was opened, of what the operator's calls carry. */
  secret_hash: string;
  is_open: number;
  user_id: UserId;
  /** The session in the root console. */
  grant_id: GrantId;
  /** The tenant it leads to. */
  entered_id: TenantId;
  created_at: number;
  expires_at: number;
}

interface OperatorEntry {
  readonly id: string;
  readonly secretHash: string;
  readonly grantId: GrantId;
  readonly enteredId: TenantId;
}

/** How long an operator stays in a tenant without entering again. */
const entrySeconds = 3600;
/** How long the way to the tenant's address may take. */
const handOverSeconds = 60;

/** Makes an entry for whoever's session that is. Gives the person and when it ends, or undefined when the session has ended. */
export async function insertOperatorEntry(
  queries: Queries,
  root: TenantId,
  { id, secretHash, grantId, enteredId }: OperatorEntry,
): Promise<{ readonly userId: UserId; readonly expiresAtMs: number } | undefined> {
  const { rows } = await sql<{ user_id: UserId; expires_at: number | string }>`INSERT INTO operator_entries
    (tenant_id, id, secret_hash, is_open, user_id, grant_id, entered_id, created_at, expires_at)
    SELECT g.tenant_id, ${id}, ${secretHash}, 0, g.user_id, g.id, ${enteredId}, ${databaseNowMs}, ${databaseNowMs} + ${sql.lit(entrySeconds * 1000)}
    FROM grants g WHERE g.tenant_id = ${root} AND g.id = ${grantId} AND g.revoked_at IS NULL
    RETURNING user_id, expires_at`.execute(queries);
  const row = rows[0];
  return row && { userId: row.user_id, expiresAtMs: Number(row.expires_at) };
}

/** Opens an entry at the tenant it leads to, once; from then on the other secret counts. */
export async function redeemOperatorEntry(
  queries: Queries,
  root: TenantId,
  { id, secretHash, enteredId }: Omit<OperatorEntry, 'grantId'>,
  newHash: string,
): Promise<{ readonly userId: UserId; readonly expiresAtMs: number } | undefined> {
  const row = await queries
    .updateTable('operator_entries')
    .set({ secret_hash: newHash, is_open: 1 })
    .where('tenant_id', '=', root)
    .where('id', '=', id)
    .where('secret_hash', '=', secretHash)
    .where('is_open', '=', 0)
    .where('entered_id', '=', enteredId)
    .where('created_at', '>', sql<number>`${databaseNowMs} - ${sql.lit(handOverSeconds * 1000)}`)
    .returning(['user_id', 'expires_at'])
    .executeTakeFirst();
  return row && { userId: row.user_id, expiresAtMs: Number(row.expires_at) };
}

/** Whose entry that is, while it stands: open, of that tenant, its session alive, its person an active administrator. */
export async function findOperator(
  queries: Queries,
  root: TenantId,
  { id, secretHash, enteredId }: Omit<OperatorEntry, 'grantId'>,
): Promise<UserId | undefined> {
  const row = await queries
    .selectFrom('operator_entries as e')
    .innerJoin('grants as g', (join) => join.onRef('g.tenant_id', '=', 'e.tenant_id').onRef('g.id', '=', 'e.grant_id'))
    .innerJoin('users as u', (join) => join.onRef('u.tenant_id', '=', 'e.tenant_id').onRef('u.id', '=', 'e.user_id'))
    .select('e.user_id')
    .where('e.tenant_id', '=', root)
    .where('e.id', '=', id)
    .where('e.secret_hash', '=', secretHash)
    .where('e.is_open', '=', 1)
    .where('e.entered_id', '=', enteredId)
    .where('e.expires_at', '>', databaseNowMs)
    .where('g.revoked_at', 'is', null)
    .where('u.state', '=', 'active')
    .where('u.role', '=', 'admin')
    .executeTakeFirst();
  return row?.user_id;
}

/** Ends an entry. Gives whose it was, or undefined when it had ended. */
export async function deleteOperatorEntry(queries: Queries, root: TenantId, id: string): Promise<UserId | undefined> {
  const row = await queries
    .deleteFrom('operator_entries')
    .where('tenant_id', '=', root)
    .where('id', '=', id)
    .returning('user_id')
    .executeTakeFirst();
  return row?.user_id;
}
