// Rows about the deployment itself, such as the check value of the master key and the operator token. No tenant owns them.

import { sql } from 'kysely';
import type { Queries } from './database.ts';

export interface InstanceTable {
  key: string;
  value: string;
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

export async function deleteInstanceValue(queries: Queries, key: string): Promise<void> {
  await queries.deleteFrom('instance').where('key', '=', key).execute();
}
