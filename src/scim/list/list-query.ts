// The parameters of a list or search (RFC 7644 sections 3.4.2 and 3.4.3, RFC 9865), read once from the query string or from
// a .search body into one typed value. Wrong numbers are invalidValue; an empty or repeated filter is invalidFilter.
import { reject } from '../../contract/contract-error.ts';
import { invalidFilter, invalidSyntax, invalidValue } from '../refuse.ts';
import { isJsonObject } from '../value-reader.ts';

const countDefault = 100;
export const countMax = 200;

export interface ListQuery {
  readonly filter: string | undefined;
  readonly sortBy: string | undefined;
  readonly descending: boolean;
  /** One-based; 1 when cursors are used. */
  readonly startIndex: number;
  readonly count: number;
  /** Undefined: index paging. Empty: the first page of cursor paging. */
  readonly cursor: string | undefined;
  readonly attributes: readonly string[] | undefined;
  readonly excludedAttributes: readonly string[] | undefined;
}

/** Query parameters by lower-case name; a name sent twice is a list. */
export type Parameters = ReadonlyMap<string, string | readonly string[]>;

/** Collects query parameters whatever the case of their names. Percent-encoding that means nothing is refused, not guessed at. */
export function readParameters({ query, url }: { readonly query: unknown; readonly url: string }): Parameters {
  try {
    decodeURIComponent(url.slice(url.indexOf('?') + 1));
  } catch {
    throw reject('scim.malformed', 'percent_encoding');
  }
  const parameters = new Map<string, string | readonly string[]>();
  if (!isJsonObject(query)) return parameters;
  for (const key of Object.keys(query)) {
    const value = query[key] as string | readonly string[]; // Fastify's query parser makes strings and lists of them
    const name = key.toLowerCase();
    const before = parameters.get(name);
    parameters.set(name, before === undefined ? value : [before, value].flat());
  }
  return parameters;
}

/** The list query of a GET. */
export function readListQuery(parameters: Parameters): ListQuery {
  const filter = parameters.get('filter');
  if (filter !== undefined && typeof filter !== 'string') throw invalidFilter('filter is repeated.');
  return listQuery({
    filter,
    sortBy: single(parameters, 'sortby'),
    sortOrder: single(parameters, 'sortorder'),
    startIndex: integerText(parameters, 'startindex', 'startIndex'),
    count: integerText(parameters, 'count', 'count'),
    cursor: single(parameters, 'cursor'),
    attributes: names(single(parameters, 'attributes')),
    excludedAttributes: names(single(parameters, 'excludedattributes')),
  });
}

/** The projection parameters of any request on one resource. */
export function readProjectionNames(parameters: Parameters): Pick<ListQuery, 'attributes' | 'excludedAttributes'> {
  return { attributes: names(single(parameters, 'attributes')), excludedAttributes: names(single(parameters, 'excludedattributes')) };
}

/** The list query of a .search body. */
export function readSearchBody(body: unknown): ListQuery {
  if (!isJsonObject(body)) throw invalidSyntax('The body must be a JSON object.');
  const members = new Map(Object.keys(body).map((key) => [key.toLowerCase(), body[key] ?? undefined]));
  const filter = members.get('filter');
  if (filter !== undefined && typeof filter !== 'string') throw invalidFilter('filter must be a string.');
  return listQuery({
    filter,
    sortBy: text(members.get('sortby'), 'sortBy'),
    sortOrder: text(members.get('sortorder'), 'sortOrder'),
    startIndex: integer(members.get('startindex'), 'startIndex'),
    count: integer(members.get('count'), 'count'),
    cursor: text(members.get('cursor'), 'cursor'),
    attributes: nameList(members.get('attributes'), 'attributes'),
    excludedAttributes: nameList(members.get('excludedattributes'), 'excludedAttributes'),
  });
}

interface RawQuery extends Pick<ListQuery, 'filter' | 'sortBy' | 'cursor' | 'attributes' | 'excludedAttributes'> {
  readonly sortOrder: string | undefined;
  readonly startIndex: number | undefined;
  readonly count: number | undefined;
}

function listQuery(raw: RawQuery): ListQuery {
  if (raw.filter !== undefined && raw.filter.trim() === '') throw invalidFilter('filter is empty.');
  if (raw.cursor !== undefined && raw.startIndex !== undefined) throw invalidValue('cursor and startIndex cannot be sent together.');
  const order = raw.sortOrder?.toLowerCase() ?? 'ascending';
  if (order !== 'ascending' && order !== 'descending') throw invalidValue('sortOrder must be ascending or descending.');
  return {
    ...raw,
    descending: order === 'descending',
    startIndex: Math.min(Math.max(raw.startIndex ?? 1, 1), Number.MAX_SAFE_INTEGER),
    count: Math.min(Math.max(raw.count ?? countDefault, 0), countMax),
  };
}

function single(parameters: Parameters, name: string): string | undefined {
  const value = parameters.get(name);
  if (value !== undefined && typeof value !== 'string') throw invalidValue(`${name} is repeated.`);
  return value;
}

function names(value: string | undefined): readonly string[] | undefined {
  return value?.split(',');
}

function integerText(parameters: Parameters, name: string, shown: string): number | undefined {
  const value = single(parameters, name);
  if (value === undefined) return undefined;
  if (!/^[+-]?[0-9]{1,30}$/.test(value)) throw invalidValue(`${shown} must be an integer.`);
  return Number(value);
}

function integer(value: unknown, name: string): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value)) throw invalidValue(`${name} must be an integer.`);
  return value;
}

function text(value: unknown, name: string): string | undefined {
  if (value !== undefined && typeof value !== 'string') throw invalidValue(`${name} must be a string.`);
  return value;
}

function nameList(value: unknown, name: string): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) throw invalidValue(`${name} must be a list of strings.`);
  return value;
}
