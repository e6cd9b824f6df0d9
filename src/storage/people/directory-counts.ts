// How many live users, SCIM-managed groups, members of a group and memberships in organisations a tenant has, kept by triggers; and a cheap mark of "nothing was written since".
import { sql } from 'kysely';
import type { TenantId } from '../../domain/ids.ts';
import type { Dialect, Queries } from '../engine/database.ts';
import { containedInMoreThan } from '../engine/trigram-search.ts';

export interface DirectoryCountTable {
  tenant_id: TenantId;
  kind: string;
  shard: number;
  n: number;
}

/** The maintained count; costs the same for one user as for a million. */
export async function loadDirectoryCount(
  queries: Queries,
  tenant: TenantId,
  kind: 'users' | 'groups' | 'memberships' | `members:${string}`,
): Promise<number> {
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

/** Texts found in more rows than this are reached sooner by scanning the directory in order than by the trigram index. */
const commonAt = 2000;

/** Whether a trigram expression of SQLite finds so many rows that the index does not help. */
export async function isCommonTrigram(queries: Queries, table: 'user_trigrams' | 'email_trigrams', match: string): Promise<boolean> {
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM
    (SELECT 1 FROM ${sql.ref(table)} WHERE ${sql.ref(table)} MATCH ${match} LIMIT ${commonAt + 1})`.execute(queries);
  return (rows[0]?.n ?? 0) > commonAt;
}

/**
 * The same on PostgreSQL. Its trigrams are made of letters and digits: without three in a row there is nothing to look up,
 * and the server's locale decides about letters beyond ASCII.
 */
export async function isCommonText(queries: Queries, table: 'users' | 'user_emails', column: string, text: string): Promise<boolean> {
  return !/[a-z0-9]{3}/.test(text) || (await containedInMoreThan(queries, table, column, text, commonAt));
}
