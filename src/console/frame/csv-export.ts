// A list of the console as CSV (RFC 4180), whole and page by page, however long it is. What a spreadsheet would run as a formula is escaped.
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { inTurn } from '../../http/long-work.ts';
import { paceOfLongWork } from '../../platform/turns/long-work.ts';
import type { Visit } from '../console-visit.ts';
import { pagesFound } from '../list-controls.ts';
import { filtersOf } from './list-filters.ts';
import type { ConsoleResource } from './resource.ts';

type Json = Readonly<Record<string, unknown>>;
/** Reads what is exported from its start, a page at a time. */
type Pages = () => AsyncIterable<readonly Json[]>;

export const exportList = (visit: Visit, resource: ConsoleResource): Promise<FastifyReply> =>
  sendCsv(visit, resource.plural, () => pagesFound(visit, resource, filtersOf(visit.query)));

/**
 * Sends items as CSV; `name` is that of the file. They are read twice: columns are those that any item has, and the first line names
 * them all. A page that cannot be read in the middle breaks the download off, so that half a list is not taken for the whole.
 */
export async function sendCsv(visit: Visit, name: string, pages: Pages): Promise<FastifyReply> {
  const { stringify } = await import('csv-stringify/sync');
  const columns = await columnsOf(visit, pages);
  const pace = paceOfLongWork();
  const lines = (rows: readonly Json[], header: boolean): string =>
    stringify([...rows], { header, columns, escape_formulas: true, record_delimiter: 'windows' });
  async function* text(): AsyncGenerator<string> {
    yield lines([], true);
    for await (const items of pages()) {
      await pace();
      yield lines(
        items.map((item) => Object.fromEntries(cellsOf(item))),
        false,
      );
    }
  }
  return visit.reply
    .headers({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${name.toLowerCase().replaceAll(' ', '-')}.csv"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    .send(Readable.from(text()));
}

/**
 * The first reading, in a turn: what comes after it goes as fast as it is taken, and who takes it slowly must not hold a turn.
 * @throws management.unavailable when no turn came
 */
function columnsOf({ services, request }: Visit, pages: Pages): Promise<readonly string[]> {
  const isGone = (): boolean => request.raw.socket.destroyed;
  return inTurn(services, { envelope: 'management', tenant: request.tenant.id, isGone }, async (pace) => {
    const found = new Set<string>();
    for await (const items of pages()) {
      if (isGone()) break;
      for (const item of items) {
        await pace();
        for (const [column] of cellsOf(item)) found.add(column);
      }
    }
    return [...found];
  });
}

/** Members of the JSON as cells: objects by dotted names, lists joined by spaces. */
function cellsOf(json: Json, prefix = ''): readonly (readonly [column: string, cell: string])[] {
  return Object.entries(json).flatMap(([key, value]): readonly (readonly [string, string])[] => {
    const column = `${prefix}${key}`;
    if (Array.isArray(value)) return [[column, value.map(textOf).join(' ')]];
    if (typeof value === 'object' && value !== null) return cellsOf(value as Json, `${column}.`);
    return [[column, String(value ?? '')]];
  });
}

const textOf = (item: unknown): string =>
  typeof item === 'object' && item !== null
    ? String((item as Json)['value'] ?? (item as Json)['name'] ?? JSON.stringify(item))
    : String(item);
