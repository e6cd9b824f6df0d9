// How many live users and SCIM-managed groups a tenant has, kept by triggers; and a cheap mark of "nothing was written since".
import { sql } from 'kysely';
import type { TenantId } from '../domain/ids.ts';
import type { Dialect, Queries } from './database.ts';

export interface DirectoryCountTable {
  tenant_id: TenantId;
  kind: string;
  shard: number;
  n: number;
}

/** The maintained count; costs the same for one user as for a million. */
export async function loadDirectoryCount(queries: Queries, tenant: TenantId, kind: 'users' | 'groups'): Promise<number> {
  const row = await queries
    .selectFrom('directory_counts')
    .select((eb) => eb.fn.sum<number | null>('n').as('n'))
    .where('tenant_id', '=', tenant)
    .where('kind', '=', kind)
    .executeTakeFirst();
  return Number(row?.n ?? 0);
}

/** A number that changes with every commit of any connection, where the database has one: SQLite alone does. */
export async function findDataVersion(queries: Queries, dialect: Dialect): Promise<number | undefined> {
  if (dialect !== 'sqlite') return undefined;
  const { rows } = await sql<{ data_version: number }>`PRAGMA data_version`.execute(queries);
  return rows[0]?.data_version;
}

const commonAt = 2000;

/** Whether a trigram expression finds so many rows that walking the directory in order reaches a page sooner. SQLite only. */
export async function isCommonTrigram(queries: Queries, table: 'user_trigrams' | 'email_trigrams', match: string): Promise<boolean> {
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM
    (SELECT 1 FROM ${sql.ref(table)} WHERE ${sql.ref(table)} MATCH ${match} LIMIT ${commonAt + 1})`.execute(queries);
  return (rows[0]?.n ?? 0) > commonAt;
}
