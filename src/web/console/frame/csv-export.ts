// A filtered list of the console as CSV (RFC 4180), 10,000 rows at most. What a spreadsheet would run as a formula is escaped.
import type { FastifyReply } from 'fastify';
import type { Visit } from '../console-visit.ts';
import { filtersOf, readFound } from '../list-controls.ts';
import type { ConsoleResource } from './resource.ts';

type Json = Readonly<Record<string, unknown>>;

export async function exportList(visit: Visit, resource: ConsoleResource): Promise<FastifyReply> {
  const { items } = await readFound(visit, resource, filtersOf(visit.query));
  return sendCsv(visit, resource.plural, items);
}

/** Sends items as CSV; `name` is that of the file. */
export async function sendCsv(visit: Visit, name: string, items: readonly Json[]): Promise<FastifyReply> {
  const { stringify } = await import('csv-stringify/sync');
  const rows = items.map((item) => Object.fromEntries(cellsOf(item)));
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return visit.reply
    .headers({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${name.toLowerCase().replaceAll(' ', '-')}.csv"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    .send(stringify(rows, { header: true, columns, escape_formulas: true, record_delimiter: 'windows' }));
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
