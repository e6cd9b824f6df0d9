// Rows about the deployment itself: the check value of the master key, the operator token, and the epochs by which
// processes notice that a tenant's configuration changed. No tenant owns these tables.

import { sql } from 'kysely';
import type { TenantId } from '../domain/ids.ts';
import type { Queries } from './database.ts';

export interface InstanceTable {
  key: string;
  value: string;
}

export interface ConfigEpochTable {
  tenant_id: TenantId;
  version: number;
  changed_at: number;
}

/** The current time of the database in epoch milliseconds (R3), usable in any statement of either dialect. */
export const databaseNowMs = sql<number>`gatehouse_now_ms()`;

export async function findInstanceValue(queries: Queries, key: string): Promise<string | undefined> {
  const row = await queries.selectFrom('instance').select('value').where('key', '=', key).executeTakeFirst();
  return row?.value;
}

/** Writes a value unless the key has one. Gives true when this call wrote it. */
export async function insertInstanceValue(queries: Queries, key: string, value: string): Promise<boolean> {
  const rows = await queries
    .insertInto('instance')
    .values({ key, value })
    .onConflict((on) => on.column('key').doNothing())
    .returning('key')
    .execute();
  return rows.length === 1;
}

export async function replaceInstanceValue(queries: Queries, key: string, value: string): Promise<void> {
  await queries
    .insertInto('instance')
    .values({ key, value })
    .onConflict((on) => on.column('key').doUpdateSet({ value }))
    .execute();
}

/** Marks the configuration of a tenant as changed. Call in the transaction of every configuration write. */
export async function bumpConfigEpoch(queries: Queries, tenant: TenantId): Promise<void> {
  await queries
    .insertInto('config_epochs')
    .values({ tenant_id: tenant, version: 1, changed_at: databaseNowMs })
    .onConflict((on) =>
      on.column('tenant_id').doUpdateSet((eb) => ({ version: eb('config_epochs.version', '+', 1), changed_at: databaseNowMs })),
    )
    .execute();
}

/** Epochs changed within the last `windowMs`; wide enough that a slow commit is still seen by a later poll. */
export async function listRecentConfigEpochs(queries: Queries, windowMs: number): Promise<readonly ConfigEpochTable[]> {
  return queries.selectFrom('config_epochs').selectAll().where('changed_at', '>=', sql<number>`${databaseNowMs} - ${windowMs}`).execute();
}
