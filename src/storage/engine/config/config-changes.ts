// The epochs by which processes notice that a tenant's configuration changed: one row a tenant, never deleted. A trigger
// sets `sequence` with every change, on PostgreSQL the number of the transaction, on the embedded database the next number.
import { type RawBuilder, sql } from 'kysely';
import type { TenantId } from '../../../domain/ids.ts';
import type { Dialect, Queries } from '../database.ts';
import { databaseNowMs } from '../instance.ts';
import { schemaLevelKey } from '../migrations/schema-level.ts';

export interface ConfigEpochTable {
  tenant_id: TenantId;
  version: number;
  changed_at: number;
  sequence: number;
}

/** Marks the configuration of a tenant as changed. Call in the transaction of every configuration write. */
export async function bumpConfigEpoch(queries: Queries, tenant: TenantId): Promise<void> {
  await queries
    .insertInto('config_epochs')
    .values({ tenant_id: tenant, version: 1, changed_at: databaseNowMs, sequence: 0 })
    .onConflict((on) =>
      on.column('tenant_id').doUpdateSet((eb) => ({ version: eb('config_epochs.version', '+', 1), changed_at: databaseNowMs })),
    )
    .execute();
}

export interface ConfigChanges {
  /** Names this start of this server; another name is another server, which may lack commits of the one before. */
  readonly server: string;
  readonly isStandby: boolean;
  /** Of the schema; null where no migration has written one. */
  readonly schemaLevel: string | null;
  /** 1 when something waits that was asked for along with this. */
  readonly due: number;
  /** Changes committed after this answer have this sequence or a higher one. */
  readonly floor: number;
  /** Tenants and sequences at or above the floor asked for; some may be known already. */
  readonly changed: readonly (readonly [tenant: TenantId, sequence: number])[];
}

interface ConfigChangesRow extends Omit<ConfigChanges, 'changed' | 'isStandby'> {
  readonly isStandby: number;
  /** JSON. */
  readonly changed: string;
}

/** What changed since the answer that gave `floor`, in one statement; without a floor nothing but the floor to ask with next. */
export async function readConfigChanges(
  queries: Queries,
  dialect: Dialect,
  floor: number | undefined,
  due: RawBuilder<number> = sql.lit(0),
): Promise<ConfigChanges> {
  const text = dialect === 'postgres' ? postgresChanges : sqliteChanges;
  const { rows } = await text(floor ?? Number.MAX_SAFE_INTEGER, due).execute(queries);
  const { changed, isStandby, ...row } = rows[0]!; // an aggregate has one row
  return { ...row, isStandby: isStandby === 1, changed: JSON.parse(changed) }; // pairs made by the statement
}

const storedLevel = sql<string | null>`(SELECT value FROM instance WHERE key = ${sql.lit(schemaLevelKey)})`;

/**
 * A transaction that has its number and is still open now stays at or above the oldest open one's (xmin of the snapshot), so
 * the next answer shows it however late it commits.
 */
const postgresChanges = (floor: number, due: RawBuilder<number>): RawBuilder<ConfigChangesRow> => sql<ConfigChangesRow>`
  SELECT extract(epoch FROM pg_postmaster_start_time())::text AS server, pg_is_in_recovery()::int AS "isStandby", ${storedLevel} AS "schemaLevel", ${due} AS due,
    pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS floor,
    (SELECT coalesce(json_agg(json_build_array(tenant_id, sequence)), '[]')::text FROM config_epochs WHERE sequence >= ${floor}) AS changed`;

/** Writers come one after another here, so the highest number is the last change. */
const sqliteChanges = (floor: number, due: RawBuilder<number>): RawBuilder<ConfigChangesRow> => sql<ConfigChangesRow>`
  SELECT 'embedded' AS server, 0 AS "isStandby", ${storedLevel} AS "schemaLevel", ${due} AS due,
    (SELECT coalesce(max(sequence), 0) FROM config_epochs) AS floor,
    (SELECT json_group_array(json_array(tenant_id, sequence)) FROM config_epochs WHERE sequence >= ${floor}) AS changed`;
