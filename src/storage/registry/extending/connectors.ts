// Connectors beside the rows of their kind: where each stands, how far it has read in the feed and gone through everybody, why it rests.
import { type Generated, sql } from 'kysely';
import { type Connector, connectorKind } from '../../../domain/extending/connector.ts';
import type { ConnectorId, TenantId } from '../../../domain/ids.ts';
import type { ConfigCache } from '../../engine/config/config-cache.ts';
import type { Queries } from '../../engine/database.ts';
import { databaseNowMs } from '../../engine/instance.ts';
import { rowsOf } from '../kind-rows.ts';

export type QuarantineReason = 'unauthorized' | 'failing';

export interface ConnectorStateTable {
  tenant_id: TenantId;
  connector_id: ConnectorId;
  /** Read in the feed. */
  position: number;
  /** Everybody is to be gone through, beginning after this id; null: done. */
  sync_after: string | null;
  /** The target asked to be left alone until then. */
  not_before: number | null;
  quarantined_at: number | null;
  quarantine_reason: QuarantineReason | null;
  probe_at: number | null;
  approval_since: number | null;
  approved_at: Generated<number>;
  /** Of the last fifty at most: how many were tried, how many failed. */
  window_total: Generated<number>;
  window_failed: Generated<number>;
  reconcile_at: number;
  reconciled_at: number | null;
}

export type ConnectorState = Readonly<{
  [Column in keyof ConnectorStateTable]: ConnectorStateTable[Column] extends Generated<infer V> ? V : ConnectorStateTable[Column];
}>;
type StateChange = Partial<Omit<ConnectorState, 'tenant_id' | 'connector_id' | 'position'>>;

/** More than a tenant may have. */
const allRows = 1000;
const reconcileEveryMs = 24 * 3_600_000;

const rows = rowsOf<(typeof connectorKind)['fields'], ConnectorId>(connectorKind);

/** Every connector of a tenant, from memory where nothing changed. */
export const listCachedConnectors = (cache: ConfigCache, tenant: TenantId): Promise<readonly Connector[]> =>
  cache.get(tenant, 'connectors', (queries) => rows.page(queries, tenant, { after: '', limit: allRows }));

export const findConnector = rows.find;

/** Lets a new connector begin with everybody. */
export async function beginConnector(queries: Queries, tenant: TenantId, id: ConnectorId): Promise<void> {
  const position = sql<number>`coalesce((SELECT last_seq FROM event_feeds WHERE tenant_id = ${tenant} LIMIT 1), 0)`;
  const reconcileAt = sql<number>`${databaseNowMs} + ${reconcileEveryMs}`;
  await queries
    .insertInto('connector_states')
    .values({ tenant_id: tenant, connector_id: id, position, sync_after: '', reconcile_at: reconcileAt })
    .execute();
  await queries.updateTable('tenants').set({ has_connectors: 1 }).where('tenant_id', '=', tenant).where('has_connectors', '=', 0).execute();
}

/** Where a connector stands. */
export async function findConnectorState(queries: Queries, tenant: TenantId, id: ConnectorId): Promise<ConnectorState | undefined> {
  return queries
    .selectFrom('connector_states')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('connector_id', '=', id)
    .executeTakeFirst();
}

/** Changes where a connector stands; times are by the database's clock. */
export async function changeConnectorState(queries: Queries, tenant: TenantId, id: ConnectorId, change: StateChange): Promise<void> {
  await queries.updateTable('connector_states').set(change).where('tenant_id', '=', tenant).where('connector_id', '=', id).execute();
}

/** Moves a connector on in the feed; false when somebody else has. */
export async function moveConnector(
  queries: Queries,
  tenant: TenantId,
  id: ConnectorId,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<boolean> {
  const rows = await queries
    .updateTable('connector_states')
    .set({ position: to })
    .where('tenant_id', '=', tenant)
    .where('connector_id', '=', id)
    .where('position', '=', from)
    .returning('connector_id')
    .execute();
  return rows.length === 1;
}

/** Moves a connector on in going through everybody, which `to` null ends; false when somebody else has, or asked to begin anew. */
export async function moveSync(
  queries: Queries,
  tenant: TenantId,
  id: ConnectorId,
  { from, to }: { readonly from: string; readonly to: string | null },
): Promise<boolean> {
  const rows = await queries
    .updateTable('connector_states')
    .set({ sync_after: to })
    .where('tenant_id', '=', tenant)
    .where('connector_id', '=', id)
    .where('sync_after', '=', from)
    .returning('connector_id')
    .execute();
  return rows.length === 1;
}

/** Counts what came of people and groups that were tried; true when so many of the last fifty failed that the connector is to rest. */
export async function noteResults(
  queries: Queries,
  tenant: TenantId,
  id: ConnectorId,
  { tried, failed }: { readonly tried: number; readonly failed: number },
): Promise<boolean> {
  const counted = (column: string, more: number) =>
    sql<number>`CASE WHEN window_total >= ${windowSize} THEN 0 ELSE ${sql.ref(column)} END + ${more}`;
  const row = await queries
    .updateTable('connector_states')
    .set({ window_total: counted('window_total', tried), window_failed: counted('window_failed', failed) })
    .where('tenant_id', '=', tenant)
    .where('connector_id', '=', id)
    .returning('window_failed')
    .executeTakeFirst();
  return (row?.window_failed ?? 0) >= windowFailuresMax;
}

const windowSize = 50;
const windowFailuresMax = 20;

/** Lets a connector rest until its target answers a probe; false when it rests already. */
export async function quarantine(
  queries: Queries,
  tenant: TenantId,
  id: ConnectorId,
  reason: QuarantineReason,
  probeAfterMs: number,
): Promise<boolean> {
  const rows = await queries
    .updateTable('connector_states')
    .set({ quarantined_at: databaseNowMs, quarantine_reason: reason, probe_at: sql<number>`${databaseNowMs} + ${probeAfterMs}` })
    .where('tenant_id', '=', tenant)
    .where('connector_id', '=', id)
    .where('quarantined_at', 'is', null)
    .returning('connector_id')
    .execute();
  return rows.length === 1;
}

/** Lets a connector go on; false when it does not rest. */
export async function endQuarantine(queries: Queries, tenant: TenantId, id: ConnectorId): Promise<boolean> {
  const rows = await queries
    .updateTable('connector_states')
    .set({ quarantined_at: null, quarantine_reason: null, probe_at: null, not_before: null, window_total: 0, window_failed: 0 })
    .where('tenant_id', '=', tenant)
    .where('connector_id', '=', id)
    .where('quarantined_at', 'is not', null)
    .returning('connector_id')
    .execute();
  return rows.length === 1;
}

/** Lets every connector of a tenant go through everybody again: their common rules changed. */
export async function syncEveryConnector(queries: Queries, tenant: TenantId): Promise<void> {
  await queries.updateTable('connector_states').set({ sync_after: '' }).where('tenant_id', '=', tenant).execute();
}

/** The open tenants that have, or had, connectors. */
export async function listTenantsWithConnectors(queries: Queries): Promise<readonly TenantId[]> {
  const rows = await queries
    .selectFrom('tenants')
    .select('tenant_id')
    .where('has_connectors', '=', 1)
    .where('moving', 'is', null)
    .execute();
  return rows.map(({ tenant_id: tenant }) => tenant);
}
