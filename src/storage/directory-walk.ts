// Walks live users or SCIM-managed groups along an order, a page or a count at a time. On the embedded database, whose
// statements run on our own thread, a walk that no filter index shortens goes in chunks of a few milliseconds, one chunk of
// all walks in a turn of the event loop, so that nobody waits behind it. Called by the SCIM lists; knows no filter language.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { TenantId } from '../domain/ids.ts';
import type { Dialect, Queries } from './database.ts';

export type Condition = RawBuilder<boolean>;
/** Where a row stands in an order: its values of the order's columns. */
export type Place = readonly (string | number)[];

/** An order of rows, or of those rows that satisfy `only`. */
export interface Path {
  readonly alias: 'u' | 'g';
  /** Together unique. */
  readonly columns: readonly string[];
  readonly descending: boolean;
  /** The index that has exactly this order; absent where rows are sorted instead. */
  readonly index?: string;
  readonly only?: Condition;
}

export interface Walk {
  readonly queries: Queries;
  readonly dialect: Dialect;
  readonly tenant: TenantId;
  readonly path: Path;
  /** Which rows of the path count; absent: every one. */
  readonly where?: Condition;
  /** `where` finds its rows by an index of its own, and few of them: they are sorted. */
  readonly driven: boolean;
}

export interface Stretch {
  readonly after: Place | undefined;
  readonly skip: number;
  readonly limit: number;
}

export interface FoundRow {
  readonly id: string;
  readonly place: Place;
}

export interface FoundRows {
  readonly rows: readonly FoundRow[];
  /** How many rows were passed over. Equal to `skip` when a row was found. */
  readonly skipped: number;
}

const sources = {
  u: { table: sql`users u`, live: sql<boolean>`u.state <> 'deleted'` },
  g: { table: sql`groups g`, live: sql<boolean>`g.origin = 'scim'` },
} as const;

/** Rows that may be passed over in one statement: some milliseconds along an index. */
const skipAtOnceMax = 5000;

/** The rows of a stretch of the path that count, in its order. */
export async function walkRows(walk: Walk, stretch: Stretch): Promise<FoundRows> {
  const cheap = walk.where === undefined && stretch.skip <= skipAtOnceMax;
  if (isChunked(walk) && !cheap) return walkChunks(walk, stretch);
  const rows = await listRows(walk, stretch);
  if (rows.length > 0 || stretch.skip === 0) return { rows, skipped: stretch.skip };
  const passed = await countRows(walk, stretch.after, undefined);
  return { rows, skipped: Math.min(stretch.skip, passed) };
}

/** How many rows of the whole path count. */
export async function walkCount(walk: Walk): Promise<number> {
  if (!isChunked(walk)) return countRows(walk, undefined, undefined);
  let total = 0;
  for await (const chunk of chunksOf(walk, undefined)) total += await countChunk(walk, chunk);
  return total;
}

/** How many live rows satisfy a condition, in one statement that stops at `max`. */
export async function countMatching(queries: Queries, alias: 'u' | 'g', tenant: TenantId, where: Condition, max: number): Promise<number> {
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM (SELECT 1 FROM ${sources[alias].table}
    WHERE ${sql.ref(`${alias}.tenant_id`)} = ${tenant} AND ${sources[alias].live} AND ${where} LIMIT ${max}) matching`.execute(queries);
  return rows[0]?.n ?? 0;
}

/** Only the embedded database needs chunks, and only a path with an index can be cut into them. */
function isChunked({ dialect, path, driven }: Walk): boolean {
  return dialect === 'sqlite' && !driven && path.index !== undefined;
}

async function walkChunks(walk: Walk, { after, skip, limit }: Stretch): Promise<FoundRows> {
  const rows: FoundRow[] = [];
  let left = skip;
  for await (const chunk of chunksOf(walk, after)) {
    if (left > 0) {
      const passed = await countChunk(walk, chunk);
      if (passed <= left) {
        left -= passed;
        continue;
      }
    }
    rows.push(...(await listRows(walk, { after: chunk.after, until: chunk.until, skip: left, limit: limit - rows.length })));
    left = 0;
    if (rows.length >= limit) break;
  }
  return { rows, skipped: skip - left };
}

interface Chunk {
  readonly after: Place | undefined;
  /** The last row of the chunk; absent in the last chunk. */
  readonly until: Place | undefined;
  /** Rows of the path in the chunk, unless it is the last. */
  readonly size: number;
}

async function countChunk(walk: Walk, chunk: Chunk): Promise<number> {
  const known = walk.where === undefined && chunk.until !== undefined;
  return known ? chunk.size : countRows(walk, chunk.after, chunk.until);
}

const chunkRows = { first: 500, min: 50, max: 20_000 } as const;
/** How long a chunk should take; a longer one is followed by one of half its rows. */
const chunkMs = 6;

async function* chunksOf(walk: Walk, start: Place | undefined): AsyncGenerator<Chunk> {
  let after = start;
  let size: number = chunkRows.first;
  for (;;) {
    const startedAt = performance.now();
    const until = await findRowAt(walk, after, size - 1);
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

/** Resolves in a turn of the event loop that no other walk has; in the order of asking. */
function takeTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => nextTurn());
  return lastTurn;
}

/** The place of the row this many rows further along the path. */
async function findRowAt(walk: Walk, after: Place | undefined, further: number): Promise<Place | undefined> {
  const { where: _, ...every } = walk;
  const [row] = await listRows(every, { after, skip: further, limit: 1 });
  return row?.place;
}

async function listRows(walk: Walk, { after, until, skip, limit }: Stretch & { readonly until?: Place | undefined }): Promise<FoundRow[]> {
  const { path } = walk;
  const places = path.columns.map((column, at) => sql`${sql.ref(`${path.alias}.${column}`)} AS ${sql.ref(`k${at}`)}`);
  const { rows } = await sql<{ id: string } & Record<string, string | number>>`SELECT ${sql.ref(`${path.alias}.id`)}, ${sql.join(places)}
    FROM ${rangeOf(walk, after, until)} ORDER BY ${orderOf(walk)} LIMIT ${limit} OFFSET ${skip}`.execute(walk.queries);
  return rows.map((row) => ({ id: row.id, place: path.columns.map((_, at) => row[`k${at}`]!) }));
}

async function countRows(walk: Walk, after: Place | undefined, until: Place | undefined): Promise<number> {
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM ${rangeOf(walk, after, until)}`.execute(walk.queries);
  return rows[0]?.n ?? 0;
}

/** The table with its conditions: tenant, live, path, places, filter. */
function rangeOf(walk: Walk, after: Place | undefined, until: Place | undefined): RawBuilder<unknown> {
  const { path, tenant, where, dialect, driven } = walk;
  const { table, live } = sources[path.alias];
  const hint = dialect === 'sqlite' && !driven && path.index !== undefined ? sql` INDEXED BY ${sql.ref(path.index)}` : sql``;
  const [beyond, upTo] = path.descending ? [sql`<`, sql`>=`] : [sql`>`, sql`<=`];
  const conditions: RawBuilder<unknown>[] = [sql`${sql.ref(`${path.alias}.tenant_id`)} = ${tenant}`, live];
  if (path.only !== undefined) conditions.push(path.only);
  const columns = sql`(${sql.join(columnsOf(walk))})`;
  if (after !== undefined) conditions.push(sql`${columns} ${beyond} (${sql.join(after)})`);
  if (until !== undefined) conditions.push(sql`${columns} ${upTo} (${sql.join(until)})`);
  if (where !== undefined) conditions.push(where);
  return sql`${table}${hint} WHERE ${sql.join(conditions, sql` AND `)}`;
}

function orderOf(walk: Walk): RawBuilder<unknown> {
  const direction = walk.path.descending ? sql` DESC` : sql``;
  return sql.join(columnsOf(walk).map((column) => sql`${column}${direction}`));
}

/** The path's columns; with a plus where SQLite is to find rows by the filter's index and not by the order's. */
function columnsOf({ path, driven, dialect }: Walk): readonly RawBuilder<unknown>[] {
  const plus = driven && dialect === 'sqlite' ? sql`+` : sql``;
  return path.columns.map((column) => sql`${plus}${sql.ref(`${path.alias}.${column}`)}`);
}
