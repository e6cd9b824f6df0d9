// Lists: `limit` and `cursor` in, `{items, next_cursor?}` out. A cursor is the sort key after which the next page starts.
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { listLimitDefault, listLimitMax } from '../contract/limits.ts';
import type { TenantId } from '../domain/ids.ts';
import type { Queries } from '../storage/engine/database.ts';
import { listMatching, type Page } from '../storage/engine/rows/matching-rows.ts';
import { type Call, invalidField, type Json } from './endpoint.ts';

interface PageQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

const cursorCharsMax = 4096;
/** A key so long is a cursor as it is. */
const plainBytesMax = 600;
const keyBytesMax = 64 * 1024;

/** The page a query asks for. @throws ContractError naming `cursor` or `limit` */
export function pageOf({ limit, cursor }: PageQuery): Page {
  if (limit !== undefined && (limit < 1 || limit > listLimitMax))
    throw invalidField('limit', `This parameter must be from 1 to ${listLimitMax}.`);
  return { limit: limit ?? listLimitDefault, after: cursor === undefined ? '' : decodeCursor(cursor) };
}

/** Makes the answer from one row more than the page holds: ask storage for `limit + 1`. */
export function listOf<Row>(page: Page, rows: readonly Row[], keyOf: (row: Row) => string, toJson: (row: Row) => Json): Json {
  const shown = rows.slice(0, page.limit);
  const last = shown.at(-1);
  const more = rows.length > page.limit && last !== undefined;
  return { items: shown.map(toJson), ...(more ? { next_cursor: encodeCursor(keyOf(last)) } : {}) };
}

/** Answers a list of what a tenant has few of; `search` is compared with the texts of each row. */
export async function answerSearched<Row>(
  { services, tenant, query }: Call<PageQuery & { readonly search?: string | undefined }, unknown>,
  list: (queries: Queries, tenant: TenantId, page: Page) => Promise<readonly Row[]>,
  row: {
    readonly key: (row: Row) => string;
    readonly texts: (row: Row) => readonly string[];
    readonly json: (row: Row) => Json;
  },
): Promise<Json> {
  const page = pageOf(query);
  const wanted = { ...page, limit: page.limit + 1, search: query.search };
  const rows = await services.database.read(tenant.id, (queries) =>
    listMatching(wanted, (batch) => list(queries, tenant.id, batch), row.key, row.texts),
  );
  return listOf(page, rows, row.key, row.json);
}

/** The cursor of a sort key. Names are long, and longer as they are sorted (one letter may become eighteen): those are compressed. */
export function encodeCursor(key: string): string {
  const bytes = Buffer.from(key);
  return bytes.length <= plainBytesMax ? cursorOf('1:', bytes) : cursorOf('2:', deflateRawSync(bytes));
}

const cursorOf = (form: '1:' | '2:', bytes: Buffer): string => Buffer.concat([Buffer.from(form), bytes]).toString('base64url');

/** NUL, as it is and as JSON writes it: no list has such a key, and PostgreSQL takes none. */
const nul = /\0|(?<!\\)(?:\\\\)*\\u0000/;

function decodeCursor(cursor: string): string {
  const bytes = cursor.length <= cursorCharsMax && /^[A-Za-z0-9_-]+$/.test(cursor) ? Buffer.from(cursor, 'base64url') : Buffer.alloc(0);
  const form = bytes.subarray(0, 2).toString();
  const key = form === '1:' ? bytes.subarray(2).toString() : form === '2:' ? inflated(bytes.subarray(2)) : undefined;
  if (key === undefined || nul.test(key)) throw invalidField('cursor', 'This parameter is not a cursor of this list.');
  return key;
}

function inflated(bytes: Buffer): string | undefined {
  try {
    return inflateRawSync(bytes, { maxOutputLength: keyBytesMax }).toString();
  } catch {
    return undefined; // what we did not compress
  }
}

/** A time that limits a list, epoch milliseconds: RFC 3339 date and time, or a date. @throws ContractError naming the field */
export function timeOf(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const epochMs = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(epochMs)) throw invalidField(field, 'This parameter must be a time such as 2026-01-31T12:00:00Z.');
  return epochMs;
}
