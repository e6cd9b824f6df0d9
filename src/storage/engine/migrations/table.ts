// Table definitions that mean the same on both databases. Text compares by bytes, numbers are 64-bit integers,
// booleans are 0 and 1, times are epoch milliseconds. Used by migrations only.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../database.ts';

/** `?` allows null; `=…` gives a default (text in SQL quotes). */
export type ColumnType = 'text' | 'text?' | 'integer' | 'integer?' | `integer=${number}` | `text='${string}'`;

interface TableDefinition {
  readonly columns: Readonly<Record<string, ColumnType>>;
  readonly primaryKey: readonly string[];
  readonly unique?: readonly (readonly string[])[];
  /** Extra indexes: columns, optionally only the rows where a condition holds. */
  readonly indexes?: readonly { readonly columns: readonly string[]; readonly where?: string }[];
  readonly foreignKeys?: readonly { readonly columns: readonly string[]; readonly table: string; readonly references: readonly string[] }[];
  readonly checks?: readonly string[];
}

export interface MigrationContext {
  readonly dialect: Dialect;
  readonly execute: (statement: string) => Promise<void>;
  readonly rows: (query: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;
}

export function migrationContext(db: Kysely<unknown>, dialect: Dialect): MigrationContext {
  const run = (text: string) => sql.raw<Record<string, unknown>>(text).execute(db);
  return { dialect, execute: async (statement) => void (await run(statement)), rows: async (query) => (await run(query)).rows };
}

/** Creates a table with its indexes. Foreign keys delete with their parent. */
export async function createTable(context: MigrationContext, name: string, table: TableDefinition): Promise<void> {
  const parts = [
    ...Object.entries(table.columns).map(([column, type]) => `"${column}" ${columnSql(context.dialect, type)}`),
    `PRIMARY KEY (${list(table.primaryKey)})`,
    ...(table.unique ?? []).map((columns) => `UNIQUE (${list(columns)})`),
    ...(table.foreignKeys ?? []).map(
      (key) => `FOREIGN KEY (${list(key.columns)}) REFERENCES "${key.table}" (${list(key.references)}) ON DELETE CASCADE`,
    ),
    ...(table.checks ?? []).map((check) => `CHECK (${check})`),
  ];
  const end = context.dialect === 'sqlite' ? ' STRICT, WITHOUT ROWID' : '';
  await context.execute(`CREATE TABLE "${name}" (${parts.join(', ')})${end}`);
  for (const index of table.indexes ?? []) await createIndex(context, name, index);
}

export interface IndexDefinition {
  readonly columns: readonly string[];
  readonly where?: string;
  readonly unique?: boolean;
  readonly name?: string;
}

/** On a table of this migration; writers of one that is there would wait (registry.ts, IndexMigration). */
export async function createIndex(context: MigrationContext, table: string, index: IndexDefinition): Promise<void> {
  await context.execute(indexSql('', table, index));
}

export const indexName = (table: string, { name, columns }: IndexDefinition): string =>
  name ?? `${table}_by_${columns.filter((column) => column !== 'tenant_id').join('_')}`;

export function indexSql(how: '' | 'CONCURRENTLY IF NOT EXISTS', table: string, index: IndexDefinition): string {
  const where = index.where === undefined ? '' : ` WHERE ${index.where}`;
  const kind = index.unique === true ? 'UNIQUE INDEX' : 'INDEX';
  return `CREATE ${kind}${how === '' ? '' : ` ${how}`} "${indexName(table, index)}" ON "${table}" (${list(index.columns)})${where}`;
}

export async function addColumn(context: MigrationContext, table: string, column: string, type: ColumnType): Promise<void> {
  await context.execute(`ALTER TABLE "${table}" ADD COLUMN "${column}" ${columnSql(context.dialect, type)}`);
}

/**
 * A column of `users` for an attribute of a person, with the key and the index that its search needs: those the table in
 * domain/people/user-attributes.ts calls `folded` and `exact`.
 */
export async function addUserAttribute(context: MigrationContext, column: string, search: 'folded' | 'exact'): Promise<void> {
  await addColumn(context, 'users', column, 'text?');
  const searched = search === 'folded' ? `${column}_key` : column;
  if (search === 'folded') await addColumn(context, 'users', searched, 'text?');
  const columns = ['tenant_id', searched, 'created_at', 'id', 'state'];
  await createIndex(context, 'users', { columns, where: `${searched} IS NOT NULL` });
  if (context.dialect === 'postgres') return;
  // What SQLite's planner is told of the other indexes of this kind.
  await context.execute('ANALYZE sqlite_schema');
  await context.execute(
    `INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('users', 'users_by_${searched}_created_at_id_state', '1000000 500000 4 1 1 1 sz=140')`,
  );
}

const list = (columns: readonly string[]): string => columns.map((column) => `"${column}"`).join(', ');

function columnSql(dialect: Dialect, type: ColumnType): string {
  const nullable = type.endsWith('?');
  const [base, fallback] = type.replace('?', '').split('=', 2);
  const sqlType = base === 'text' ? (dialect === 'postgres' ? 'TEXT COLLATE "C"' : 'TEXT') : dialect === 'postgres' ? 'BIGINT' : 'INTEGER';
  return `${sqlType}${nullable ? '' : ' NOT NULL'}${fallback === undefined ? '' : ` DEFAULT ${fallback}`}`;
}
