// Lists: `limit` and `cursor` in, `{items, next_cursor?}` out. A cursor is the sort key after which the next page starts.
import { listLimitDefault, listLimitMax } from '../contract/limits.ts';
import { invalidField, type Json } from './endpoint.ts';

export interface Page {
  /** Sort key of the last item of the page before; empty at the start. */
  readonly after: string;
  readonly limit: number;
}

interface PageQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

const cursorCharsMax = 1024;

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

const encodeCursor = (key: string): string => Buffer.from(`1:${key}`).toString('base64url');

function decodeCursor(cursor: string): string {
  const text = cursor.length <= cursorCharsMax && /^[A-Za-z0-9_-]+$/.test(cursor) ? Buffer.from(cursor, 'base64url').toString() : '';
  if (!text.startsWith('1:')) throw invalidField('cursor', 'This parameter is not a cursor of this list.');
  return text.slice(2);
}
