// A tenant that moves to another deployment: closed at the source before it is read, built closed at the target and opened whole.
// While it is closed its deliveries are held: the queues are read across tenants, and none of its may be sent from two places.
import { sql } from 'kysely';
import type { TenantId } from '../domain/ids.ts';
import { randomId } from '../platform/random.ts';
import { deliveryQueues } from './deliveries.ts';
import { bumpConfigEpoch } from './engine/config/config-changes.ts';
import type { Database, Queries } from './engine/database.ts';
import { deleteInstanceValue, findInstanceValue, insertInstanceValue, replaceInstanceValue } from './engine/instance.ts';
import { lockTenant } from './engine/tenant-closed.ts';

export interface HeldDeliveryTable {
  tenant_id: TenantId;
  id: string;
  /** The table it was taken from. */
  queue: string;
  /** Its row, JSON. */
  delivery: string;
}

export type Cells = Readonly<Record<string, string | number | null>>;

export interface Move {
  readonly way: 'to' | 'from';
  /** Of the bundle. */
  readonly id: string;
  /** The group that was asked to open it: whether it did, that group alone can tell. */
  readonly opener?: string | undefined;
}

export const moveOf = (moving: string): Move => {
  const [way, id, ...opener] = moving.split(':') as ['to' | 'from', string, ...string[]]; // written below
  return { way, id, opener: opener.length === 0 ? undefined : opener.join(':') };
};

const textOf = ({ way, id, opener }: Move): string => `${way}:${id}${opener === undefined ? '' : `:${opener}`}`;

/**
 * Closes a tenant: waits for those who write to it, and from the commit on nobody does. `record` writes the audit record into
 * the same transaction. A tenant that is closed already takes the new id.
 */
export async function closeTenant(
  database: Database,
  tenant: TenantId,
  id: string,
  record: (queries: Queries) => Promise<void>,
): Promise<void> {
  await database.writeClosed(tenant, async (queries) => {
    await lockTenant(queries, database.dialect, tenant);
    await record(queries);
    for (const queue of deliveryQueues) await hold(queries, tenant, queue);
    await setMoving(queries, tenant, { way: 'to', id });
  });
}

/** Whether a tenant is closed by this move. */
export async function isMovedBy(queries: Queries, tenant: TenantId, id: string): Promise<boolean> {
  const row = await queries.selectFrom('tenants').select('moving').where('tenant_id', '=', tenant).executeTakeFirst();
  const move = typeof row?.moving === 'string' ? moveOf(row.moving) : undefined;
  return move?.way === 'to' && move.id === id;
}

/** Takes a closed tenant from whoever reads it: no bundle of what is left of it is ever whole. One that a group was asked to open was read. */
export async function endReading(queries: Queries, tenant: TenantId): Promise<void> {
  await queries
    .updateTable('tenants')
    .set({ moving: textOf({ way: 'to', id: randomId() }) })
    .where('tenant_id', '=', tenant)
    .where('moving', 'like', 'to:%')
    .where('moving', 'not like', 'to:%:%') // without an opener
    .execute();
}

/** Notes which group is asked to open a tenant; false when it is not closed by this move any more. From the commit on it may be open there. */
export async function noteOpener(database: Database, tenant: TenantId, id: string, opener: string): Promise<boolean> {
  return database.writeClosed(tenant, async (queries) => {
    await lockTenant(queries, database.dialect, tenant);
    if (!(await isMovedBy(queries, tenant, id))) return false;
    await setMoving(queries, tenant, { way: 'to', id, opener });
    return true;
  });
}

/** Opens a tenant that was closed or imported, and gives its deliveries back to their queues. `record` may refuse, by throwing. */
export async function openTenant(database: Database, tenant: TenantId, record: (queries: Queries) => Promise<void>): Promise<void> {
  await database.writeClosed(tenant, async (queries) => {
    await lockTenant(queries, database.dialect, tenant);
    await record(queries);
    const held = await queries.selectFrom('held_deliveries').selectAll().where('tenant_id', '=', tenant).execute();
    for (const { queue, delivery } of held) {
      // What hold() wrote, here or at the deployment the tenant comes from, which must not queue for others.
      const known = deliveryQueues.find(({ table }) => table === queue);
      if (known === undefined) throw new Error(`a delivery of a queue there is not: ${queue}`);
      await insertRows(queries, queue, [{ ...(JSON.parse(delivery) as Cells), [known.tenant]: tenant }]);
    }
    await queries.deleteFrom('held_deliveries').where('tenant_id', '=', tenant).execute();
    await setMoving(queries, tenant, undefined);
  });
}

/** Inserts rows, all of the same columns, as another deployment had them. */
export async function insertRows(queries: Queries, table: string, rows: readonly Cells[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  if (columns.length === 0) return;
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`);
  await sql`INSERT INTO ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))}) VALUES ${sql.join(values)}`.execute(
    queries,
  );
}

async function hold(queries: Queries, tenant: TenantId, { table, tenant: owner, key }: (typeof deliveryQueues)[number]): Promise<void> {
  const { rows } = await sql<Cells>`DELETE FROM ${sql.table(table)} WHERE ${sql.ref(owner)} = ${tenant} RETURNING *`.execute(queries);
  for (const row of rows)
    await queries
      .insertInto('held_deliveries')
      .values({ tenant_id: tenant, id: `${table}:${row[key]}`, queue: table, delivery: JSON.stringify(row) })
      .execute();
}

async function setMoving(queries: Queries, tenant: TenantId, move: Move | undefined): Promise<void> {
  await queries
    .updateTable('tenants')
    .set({ moving: move === undefined ? null : textOf(move) })
    .where('tenant_id', '=', tenant)
    .execute();
  await bumpConfigEpoch(queries, tenant);
}

const importedKey = (id: string): string => `imported_bundle:${id}`;

/** Remembers for good that a bundle was imported here; false when it was before. Call in the transaction that opens the tenant. */
export const rememberImport = (queries: Queries, id: string): Promise<boolean> => insertInstanceValue(queries, importedKey(id), '1');

/** Remembers that a bundle is never imported here; false when it was imported, or given up before. */
export const rememberGivenUp = (queries: Queries, id: string): Promise<boolean> => insertInstanceValue(queries, importedKey(id), givenUp);

const givenUp = '0';

/** What became of a bundle here; undefined while nothing has. */
export async function fateOf(queries: Queries, id: string): Promise<'imported' | 'given_up' | undefined> {
  const found = await findInstanceValue(queries, importedKey(id));
  return found === undefined ? undefined : found === givenUp ? 'given_up' : 'imported';
}

/** How far an import in parts is. One is there at a time: who begins holds the turn, and what others left is of no use. */
export interface ImportState {
  readonly next: number;
  readonly rows: number;
  /** The head of the bundle, JSON. */
  readonly head: string;
}

const stateKey = (id: string): string => `tenant_import:${id}`;

export async function beginImportState(queries: Queries, id: string, state: ImportState): Promise<void> {
  await queries.deleteFrom('instance').where('key', 'like', stateKey('%')).execute();
  await replaceInstanceValue(queries, stateKey(id), JSON.stringify(state));
}

export const saveImportState = (queries: Queries, id: string, state: ImportState): Promise<void> =>
  replaceInstanceValue(queries, stateKey(id), JSON.stringify(state));

export const endImportState = (queries: Queries, id: string): Promise<void> => deleteInstanceValue(queries, stateKey(id));

export async function findImportState(queries: Queries, id: string): Promise<ImportState | undefined> {
  const found = await findInstanceValue(queries, stateKey(id));
  return found === undefined ? undefined : (JSON.parse(found) as ImportState); // written above
}

export const wasImported = async (queries: Queries, id: string): Promise<boolean> =>
  (await findInstanceValue(queries, importedKey(id))) !== undefined;

/** A tenant that is being built: closed from its first row on. */
export const movingFrom = (id: string): string => textOf({ way: 'from', id });

/** Tenants that are being built, or were. */
export async function listUnfinished(queries: Queries): Promise<readonly TenantId[]> {
  const rows = await queries.selectFrom('tenants').select('tenant_id').where('moving', 'like', movingFrom('%')).execute();
  return rows.map(({ tenant_id: tenant }) => tenant);
}
