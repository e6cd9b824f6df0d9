// Tells SQLite's planner what our tables look like: a tenant has very many rows, a key few. Without statistics it takes any index
// that starts with tenant_id for selective, the primary key first of all, and reads a whole tenant to find one row. Called by
// the migrator for the embedded database; a migration may write better statistics of its own, and a later ANALYZE replaces all.
import { sql } from 'kysely';
import type { Queries } from '../database.ts';

const rowsOfTable = 1_000_000;
/** What a partial index leaves out is what is over. */
const rowsOfPartialIndex = 10_000;
const rowsOfKey = 10;
/** Columns with a handful of values: they narrow nothing down by themselves. */
const fewValues: ReadonlySet<string> = new Set(['kind', 'purpose', 'state', 'type', 'use', 'status', 'attribute', 'row_id', 'step']);

interface IndexRow {
  readonly table: string;
  readonly index: string;
  readonly isUnique: number;
  readonly isPartial: number;
  /** JSON list, in order. */
  readonly columns: string;
}

/** Writes statistics for every index that has none. Runs in the caller's transaction. */
export async function describeTables(queries: Queries): Promise<void> {
  await sql`ANALYZE sqlite_schema`.execute(queries); // makes sqlite_stat1
  const { rows } = await sql<IndexRow>`
    SELECT t.name AS "table", CASE i.origin WHEN 'pk' THEN t.name ELSE i.name END AS "index", i."unique" AS "isUnique", i.partial AS "isPartial",
      (SELECT json_group_array(c.name ORDER BY c.seqno) FROM pragma_index_info(i.name) AS c) AS columns
    FROM sqlite_schema AS t, pragma_index_list(t.name) AS i
    WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
      AND NOT EXISTS (SELECT 1 FROM sqlite_stat1 AS s WHERE s.tbl = t.name AND s.idx = CASE i.origin WHEN 'pk' THEN t.name ELSE i.name END)`.execute(
    queries,
  );
  for (const row of rows) {
    const statistics = statisticsOf(JSON.parse(row.columns), row.isUnique === 1, row.isPartial === 1); // a JSON list of names, made above
    await sql`INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (${row.table}, ${row.index}, ${statistics})`.execute(queries);
  }
  await sql`ANALYZE sqlite_schema`.execute(queries); // reads them
}

/** Rows of the index, then how many share the first column, the first two, and so on (sqlite.org/fileformat2.html, 2.6.3). */
function statisticsOf(columns: readonly string[], isUnique: boolean, isPartial: boolean): string {
  const rows = isPartial ? rowsOfPartialIndex : rowsOfTable;
  const statistics = [rows];
  let sharing = rows;
  for (const [position, column] of columns.entries()) {
    if (isUnique && position === columns.length - 1) sharing = 1;
    else if (column === 'tenant_id') sharing = rows / 2;
    else if (fewValues.has(column)) sharing = Math.max(1, Math.floor(sharing / 4));
    else sharing = sharing > rowsOfKey ? rowsOfKey : Math.max(1, Math.floor(sharing / 2));
    statistics.push(sharing);
  }
  return statistics.join(' ');
}
