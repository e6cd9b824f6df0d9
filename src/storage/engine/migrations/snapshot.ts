// The schema of a new database: one text for each database, which scripts/generate-schema.ts writes of what the migrations make. It
// records the migrations it stands for, so that one it is behind of is applied after it. Called by the migrator on a database that has nothing.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Dialect, Queries } from '../database.ts';
import { readLedger } from './ledger.ts';

/** Between statements; none has an empty line in it. */
export const statementEnd = ';\n\n';

export const snapshotFile = (dialect: Dialect): string => join(import.meta.dirname, 'snapshot', `${dialect}.sql`);

/** Makes all tables, with what else belongs to them, and gives the numbers of the migrations they stand for; none when there are some. */
export async function applySnapshot(queries: Queries, dialect: Dialect): Promise<readonly number[]> {
  if ((await readLedger(queries, dialect)).applied.size > 0) return []; // another migrator came first
  const text = readFileSync(snapshotFile(dialect), 'utf8');
  // PostgreSQL takes all of them in one message.
  const statements = dialect === 'postgres' ? [text] : text.trimEnd().split(statementEnd);
  for (const statement of statements) await sql.raw(statement).execute(queries);
  return [...(await readLedger(queries, dialect)).applied].toSorted((left, right) => left - right);
}
