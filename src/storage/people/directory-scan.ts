// Scans live users or SCIM-managed groups in an order, a page or a count at a time. On the embedded database, whose
// statements run on our own thread, a scan that no filter index shortens goes in chunks of a few milliseconds, one chunk of
// all scans in a turn of the event loop, so that nobody waits behind it. Called by the SCIM lists; knows no filter language.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { Directory } from '../../domain/organizations/directory.ts';
import type { Dialect, Queries } from '../engine/database.ts';
import { runKeepingPlan } from '../engine/statement.ts';
import { groupTables, isShownGroup } from './directories/directory.ts';

export type Condition = RawBuilder<boolean>;
/** Where a row stands in an order: its values of the order's columns. */
export type Position = readonly (string | number)[];

/** An order of rows, or of those rows that satisfy `only`. */
export interface Order {
  readonly alias: 'u' | 'g';
  /** Together unique. */
  readonly columns: readonly string[];
  readonly descending: boolean;
  /** The index that has exactly this order; absent where rows are sorted instead. */
  readonly index?: string;
  readonly only?: Condition;
  /** The table whose rows have the order's columns, at most one for each row of the alias; absent: the alias itself. */
  readonly via?: keyof typeof vias;
}

/** Memberships of groups, primary addresses, values of one attribute, each with its user. */
const vias = { m: sql`group_members m`, p: sql`user_emails p`, c: sql`user_custom_values c` } as const;

export interface Scan {
  readonly queries: Queries;
  readonly dialect: Dialect;
  /** Whose groups; which of the tenant's users are meant, `where` says. */
  readonly directory: Directory;
  readonly order: Order;
  /** Which rows of the order count; absent: every one. */
  readonly where?: Condition;
  /** `where` finds its rows by an index of its own, and few of them: they are sorted. */
  readonly indexed: boolean;
  /** `where` looks a row or two up by their keys, so that one plan serves all values. */
  readonly isLookUp?: boolean;
}

interface Stretch {
  readonly after: Position | undefined;
  readonly skip: number;
  readonly limit: number;
}

export interface FoundRow {
  readonly id: string;
  readonly position: Position;
}

interface FoundRows {
  readonly rows: readonly FoundRow[];
  /** How many rows were passed over. Equal to `skip` when a row was found. */
  readonly skipped: number;
}

const sourceOf = (alias: 'u' | 'g', directory: Directory) =>
  alias === 'u'
    ? { table: sql`users u`, live: sql<boolean>`u.state <> 'deleted'` }
    : { table: sql`${sql.table(groupTables(directory).groups)} g`, live: isShownGroup(directory, 'g') };

/** Rows that may be passed over in one statement: some milliseconds along an index. */
const skipAtOnceMax = 5000;

/** The rows of a stretch of the order that count, in its order. */
export async function scanRows(scan: Scan, stretch: Stretch): Promise<FoundRows> {
  const cheap = scan.where === undefined && stretch.skip <= skipAtOnceMax;
  if (isChunked(scan) && !cheap) return scanChunks(scan, stretch);
  const rows = await listRows(scan, stretch);
  if (rows.length > 0 || stretch.skip === 0) return { rows, skipped: stretch.skip };
  const passed = await countRows(scan, stretch.after, undefined);
  return { rows, skipped: Math.min(stretch.skip, passed) };
}

/** How many rows of the whole order count. */
export async function scanCount(scan: Scan): Promise<number> {
  if (!isChunked(scan)) return countRows(scan, undefined, undefined);
  let total = 0;
  for await (const chunk of chunksOf(scan, undefined)) total += await countChunk(scan, chunk);
  return total;
}

/** How many live rows satisfy a condition, in one statement that stops at `max`. */
export async function countMatching(
  queries: Queries,
  alias: 'u' | 'g',
  directory: Directory,
  where: Condition,
  max: number,
): Promise<number> {
  const { table, live } = sourceOf(alias, directory);
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM (SELECT 1 FROM ${table}
    WHERE ${sql.ref(`${alias}.tenant_id`)} = ${directory.tenant} AND ${live} AND ${where} LIMIT ${max}) matching`.execute(queries);
  return rows[0]?.n ?? 0;
}

/** Only the embedded database needs chunks, and only an order with an index can be cut into them. */
function isChunked({ dialect, order, indexed }: Scan): boolean {
  return dialect === 'sqlite' && !indexed && order.index !== undefined;
}

async function scanChunks(scan: Scan, { after, skip, limit }: Stretch): Promise<FoundRows> {
  const rows: FoundRow[] = [];
  let left = skip;
  for await (const chunk of chunksOf(scan, after)) {
    if (left > 0) {
      const passed = await countChunk(scan, chunk);
      if (passed <= left) {
        left -= passed;
        continue;
      }
    }
    rows.push(...(await listRows(scan, { after: chunk.after, until: chunk.until, skip: left, limit: limit - rows.length })));
    left = 0;
    if (rows.length >= limit) break;
  }
  return { rows, skipped: skip - left };
}

interface Chunk {
  readonly after: Position | undefined;
  /** The last row of the chunk; absent in the last chunk. */
  readonly until: Position | undefined;
  /** Rows of the order in the chunk, unless it is the last. */
  readonly size: number;
}

async function countChunk(scan: Scan, chunk: Chunk): Promise<number> {
  const known = scan.where === undefined && chunk.until !== undefined;
  return known ? chunk.size : countRows(scan, chunk.after, chunk.until);
}

const chunkRows = { first: 500, min: 50, max: 20_000 } as const;
/** How long a chunk should take; a longer one is followed by one of half its rows. */
const chunkMs = 6;

async function* chunksOf(scan: Scan, start: Position | undefined): AsyncGenerator<Chunk> {
  let after = start;
  let size: number = chunkRows.first;
  for (;;) {
    const startedAt = performance.now();
    const until = await findRowAt(scan, after, size - 1);
    yield { after, until, size };
    if (until === undefined) return;
    after = until;
    const tookMs = performance.now() - startedAt;
    if (tookMs > chunkMs) size = Math.max(chunkRows.min, size >> 1);
    else if (tookMs < chunkMs / 2) size = Math.min(chunkRows.max, size * 2);
    await takeTurn();
  }
}

let lastTurn: Promise<void> = Promise.resolve();

/** Resolves in a turn of the event loop that no other scan has; in the order of asking. */
function takeTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => nextTurn());
  return lastTurn;
}

/** The position of the row this many rows further along the order. */
async function findRowAt(scan: Scan, after: Position | undefined, further: number): Promise<Position | undefined> {
  const { where: _, ...every } = scan;
  const [row] = await listRows(every, { after, skip: further, limit: 1 });
  return row?.position;
}

async function listRows(
  scan: Scan,
  { after, until, skip, limit }: Stretch & { readonly until?: Position | undefined },
): Promise<FoundRow[]> {
  const { order } = scan;
  const positions = order.columns.map((column, at) => sql`${columnOf(order, column)} AS ${sql.ref(`k${at}`)}`);
  const query = sql<{ id: string } & Record<string, string | number>>`SELECT ${sql.ref(`${order.alias}.id`)}, ${sql.join(positions)}
    FROM ${rangeOf(scan, after, until)} ORDER BY ${orderBy(scan)} LIMIT ${limit} OFFSET ${skip}`;
  const { rows } = await (scan.isLookUp === true ? runKeepingPlan(scan.queries, query) : query.execute(scan.queries));
  return rows.map((row) => ({ id: row.id, position: order.columns.map((_, at) => row[`k${at}`]!) }));
}

async function countRows(scan: Scan, after: Position | undefined, until: Position | undefined): Promise<number> {
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM ${rangeOf(scan, after, until)}`.execute(scan.queries);
  return rows[0]?.n ?? 0;
}

/** The table with its conditions: tenant, live, order, positions, filter. */
function rangeOf(scan: Scan, after: Position | undefined, until: Position | undefined): RawBuilder<unknown> {
  const { order, directory, where, dialect, indexed } = scan;
  const { tenant } = directory;
  const { live } = sourceOf(order.alias, directory);
  const hint = dialect === 'sqlite' && !indexed && order.index !== undefined ? sql` INDEXED BY ${sql.ref(order.index)}` : sql``;
  const [beyond, upTo] = order.descending ? [sql`<`, sql`>=`] : [sql`>`, sql`<=`];
  const conditions: RawBuilder<unknown>[] = [sql`${sql.ref(`${order.alias}.tenant_id`)} = ${tenant}`, live];
  if (order.via !== undefined) conditions.push(sql`${sql.ref(`${order.via}.tenant_id`)} = ${tenant}`);
  if (order.only !== undefined) conditions.push(order.only);
  const columns = sql`(${sql.join(columnsOf(scan))})`;
  if (after !== undefined) conditions.push(sql`${columns} ${beyond} (${sql.join(after)})`);
  if (until !== undefined) conditions.push(sql`${columns} ${upTo} (${sql.join(until)})`);
  if (where !== undefined) conditions.push(where);
  return sql`${tableOf(scan, dialect, hint)} WHERE ${sql.join(conditions, sql` AND `)}`;
}

function tableOf({ order: { alias, via }, directory }: Scan, dialect: Dialect, hint: RawBuilder<unknown>): RawBuilder<unknown> {
  const { table } = sourceOf(alias, directory);
  if (via === undefined) return sql`${table}${hint}`;
  // SQLite takes the tables of a CROSS JOIN in this order, so the rows come in the order of the first.
  const join = dialect === 'sqlite' ? sql`CROSS JOIN` : sql`JOIN`;
  return sql`${vias[via]}${hint} ${join} ${table} ON ${sql.ref(`${alias}.tenant_id`)} = ${sql.ref(`${via}.tenant_id`)}
    AND ${sql.ref(`${alias}.id`)} = ${sql.ref(`${via}.user_id`)}`;
}

const columnOf = ({ alias, via }: Order, column: string): RawBuilder<unknown> => sql.ref(`${via ?? alias}.${column}`);

function orderBy(scan: Scan): RawBuilder<unknown> {
  const direction = scan.order.descending ? sql` DESC` : sql``;
  return sql.join(columnsOf(scan).map((column) => sql`${column}${direction}`));
}

/** The order's columns; with a plus where SQLite is to find rows by the filter's index and not by the order's. */
function columnsOf({ order, indexed, dialect }: Scan): readonly RawBuilder<unknown>[] {
  const plus = indexed && dialect === 'sqlite' ? sql`+` : sql``;
  return order.columns.map((column) => sql`${plus}${columnOf(order, column)}`);
}
