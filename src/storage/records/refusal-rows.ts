// How many refusals a tenant keeps: found and deleted along an index of their own (migration 176).
import { sql } from 'kysely';
import type { TenantId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';

/** Refusals, whole and summed up: the condition of their index. */
export const refusalTypes = "type IN ('refusal', 'refusal_summary')";
const areRefusals = sql.raw(refusalTypes);

/** The id of the newest refusal behind so many newer ones; undefined when there are not so many. */
export async function findRefusalBehind(queries: Queries, tenant: TenantId, rows: number): Promise<string | undefined> {
  const found = await sql<{ id: string }>`SELECT id FROM audit_events WHERE tenant_id = ${tenant} AND ${areRefusals}
    ORDER BY id DESC LIMIT 1 OFFSET ${sql.lit(rows)}`.execute(queries);
  return found.rows[0]?.id;
}

/** Deletes refusals up to this id, so many at most; gives how many. */
export async function deleteRefusalsUpTo(queries: Queries, tenant: TenantId, id: string, rowsMax: number): Promise<number> {
  const result = await sql`DELETE FROM audit_events WHERE tenant_id = ${tenant} AND id IN
    (SELECT id FROM audit_events WHERE tenant_id = ${tenant} AND ${areRefusals} AND id <= ${id} LIMIT ${sql.lit(rowsMax)})`.execute(
    queries,
  );
  return Number(result.numAffectedRows ?? 0n);
}
