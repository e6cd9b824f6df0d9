// Table definitions that mean the same on both databases. Text compares by bytes, numbers are 64-bit integers,
// booleans are 0 and 1, times are epoch milliseconds. Used by migrations only.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../database.ts';

/** `?` allows null; `=…` gives a default (text in SQL quotes). */
export type ColumnType = 'text' | 'text?' | 'integer' | 'integer?' | `integer=${number}` | `text='${string}'`;

export interface TableDefinition {
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
}

export function migrationContext(db: Kysely<unknown>, dialect: Dialect): MigrationContext {
  return { dialect, execute: async (statement) => void (await sql.raw(statement).execute(db)) };
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

export async function createIndex(
  context: MigrationContext,
  table: string,
  index: { readonly columns: readonly string[]; readonly where?: string; readonly unique?: boolean; readonly name?: string },
): Promise<void> {
  const name = index.name ?? `${table}_by_${index.columns.filter((column) => column !== 'tenant_id').join('_')}`;
  const where = index.where === undefined ? '' : ` WHERE ${index.where}`;
  await context.execute(`CREATE ${index.unique === true ? 'UNIQUE ' : ''}INDEX "${name}" ON "${table}" (${list(index.columns)})${where}`);
}

export async function addColumn(context: MigrationContext, table: string, column: string, type: ColumnType): Promise<void> {
  await context.execute(`ALTER TABLE "${table}" ADD COLUMN "${column}" ${columnSql(context.dialect, type)}`);
}

const list = (columns: readonly string[]): string => columns.map((column) => `"${column}"`).join(', ');

function columnSql(dialect: Dialect, type: ColumnType): string {
  const nullable = type.endsWith('?');
  const [base, fallback] = type.replace('?', '').split('=', 2);
  const sqlType = base === 'text' ? (dialect === 'postgres' ? 'TEXT COLLATE "C"' : 'TEXT') : dialect === 'postgres' ? 'BIGINT' : 'INTEGER';
  return `${sqlType}${nullable ? '' : ' NOT NULL'}${fallback === undefined ? '' : ` DEFAULT ${fallback}`}`;
}
