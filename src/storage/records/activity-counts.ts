// Counts of what happened in a tenant, one row per hour and name: sign-ins, and refusals by contract row. Written by the
// recorder in src/audit/activity.ts, read by the statistics of the management API. They say how often, never who.
import { sql } from 'kysely';
import type { TenantId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';

export interface ActivityCountTable {
  tenant_id: TenantId;
  /** `<hour_at>:<name>` */
  id: string;
  /** Start of the hour, epoch milliseconds. */
  hour_at: number;
  /** `sign_in`, or `refusal:<row>`. */
  name: string;
  n: number;
}

export interface ActivityCount {
  readonly hourAtMs: number;
  readonly name: string;
  readonly n: number;
}

/** Adds to the counts. Rows are written in one order everywhere, so that parallel writers cannot wait for each other in a circle. */
export async function addActivity(queries: Queries, tenant: TenantId, counts: readonly ActivityCount[]): Promise<void> {
  const rows = counts
    .map(({ hourAtMs, name, n }) => ({ tenant_id: tenant, id: `${hourAtMs}:${name}`, hour_at: hourAtMs, name, n }))
    .toSorted((left, right) => (left.id < right.id ? -1 : 1));
  await queries
    .insertInto('activity_counts')
    .values(rows)
    .onConflict((on) => on.columns(['tenant_id', 'id']).doUpdateSet({ n: sql`activity_counts.n + excluded.n` }))
    .execute();
}

/** The counts of the hours that start at `fromMs` or later, oldest first. */
export async function listActivity(queries: Queries, tenant: TenantId, fromMs: number): Promise<readonly ActivityCount[]> {
  const rows = await queries
    .selectFrom('activity_counts')
    .select(['hour_at', 'name', 'n'])
    .where('tenant_id', '=', tenant)
    .where('hour_at', '>=', fromMs)
    .orderBy('hour_at')
    .orderBy('name')
    .execute();
  return rows.map((row) => ({ hourAtMs: Number(row.hour_at), name: row.name, n: Number(row.n) }));
}

/** Tables whose rows an overview counts; each has few rows a tenant, and counting stops at the limit. */
type CountedTable = 'clients' | 'resources' | 'service_providers' | 'groups';

/** How many rows the tenant has, up to `max`: a bounded scan of the primary key. */
export async function countUpTo(queries: Queries, tenant: TenantId, table: CountedTable, max: number): Promise<number> {
  const { rows } = await sql<{ n: number | string }>`SELECT count(*) AS n FROM
    (SELECT 1 AS one FROM ${sql.table(table)} WHERE tenant_id = ${tenant} LIMIT ${max}) AS counted`.execute(queries);
  return Number(rows[0]?.n ?? 0);
}
