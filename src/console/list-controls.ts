// What every list of the console reads: a page of what was asked for (frame/list-filters.ts), how many there are, and links to the pages
// before and behind that keep what was asked.

import type { ApiAnswer } from '../first-party/app-api.ts';
import { type Html, html } from '../platform/html.ts';
import { itemsOf, manage, type Visit } from './console-visit.ts';
import { keptNames, peopleQuery, sizeOf, sortOf } from './frame/list-filters.ts';
import { consolePath } from './frame/navigation.ts';
import type { ConsoleResource } from './frame/resource.ts';

type Json = Readonly<Record<string, unknown>>;

const pageSize = 25;
/** So many of what has no order of names in the API are read and sorted here. */
const sortedMax = 2_000;
const readAtOnce = 200;
/** More people than this are not counted. */
export const countedMax = 10_000;

/** What is listed: a page in the order of names, and parameters of the pages around it. */
export interface Listing {
  readonly answer: ApiAnswer;
  readonly items: readonly Json[];
  readonly total: number;
  /** True: there are more than were counted. */
  readonly isMore: boolean;
  readonly previous?: Json | undefined;
  readonly next?: Json | undefined;
}

/** What was typed into the search; empty without one. */
const searchText = (asked: URLSearchParams): string => (asked.get('search') ?? '').trim();

/** Everything that is found, in the order of names; `isMore`: there is more than may be taken at once. */
export async function readFound(
  visit: Visit,
  resource: ConsoleResource,
  asked: URLSearchParams,
): Promise<{ readonly items: readonly Json[]; readonly isMore: boolean }> {
  if (resource.isNamed !== true) {
    const { found, read } = await findSorted(visit, resource, asked);
    return { items: found, isMore: read.isMore };
  }
  const query = peopleQuery(resource, asked);
  query.set('limit', String(readAtOnce));
  const items: Json[] = [];
  for (;;) {
    const answer = await manage(visit, 'GET', `${resource.path}?${query}`);
    items.push(...itemsOf(answer));
    const next = answer.body['next_cursor'];
    if (next === undefined || items.length >= countedMax) return { items, isMore: next !== undefined };
    query.set('cursor', String(next));
  }
}

/** Everything that is found, however much, a page at a time: in the order of names, or the API's where there is too much to sort. */
export async function* pagesFound(visit: Visit, resource: ConsoleResource, asked: URLSearchParams): AsyncGenerator<readonly Json[]> {
  const search = searchText(asked);
  if (resource.isNamed !== true) {
    const { found, read } = await findSorted(visit, resource, asked);
    if (!read.isMore) return yield found;
  }
  const query = resource.isNamed === true ? peopleQuery(resource, asked) : new URLSearchParams(search === '' ? {} : { search });
  for await (const answer of answersBelow(visit, resource.path, query)) yield itemsOf(answer);
}

/** The API's answers below a path, page after page. @throws Error when one is refused */
export async function* answersBelow(visit: Visit, path: string, query: URLSearchParams): AsyncGenerator<ApiAnswer, void> {
  query.set('limit', String(readAtOnce));
  for (;;) {
    const answer = await manage(visit, 'GET', `${path}?${query}`);
    if (answer.status !== 200) throw new Error(`expected a page of ${path}, found ${answer.status}`);
    yield answer;
    const next = answer.body['next_cursor'];
    if (next === undefined) return;
    query.set('cursor', String(next));
  }
}

/** The page of a resource that was asked for. */
export async function loadListing(visit: Visit, resource: ConsoleResource): Promise<Listing> {
  return resource.isNamed === true ? listByApi(visit, resource) : listSorted(visit, resource);
}

async function listByApi(visit: Visit, resource: ConsoleResource): Promise<Listing> {
  const query = peopleQuery(resource, visit.query);
  query.set('limit', String(sizeOf(visit.query)));
  const cursor = visit.query.get('cursor');
  if (cursor !== null) query.set('cursor', cursor);
  const answer = await manage(visit, 'GET', `${resource.path}?${query}`);
  const { total, previous_cursor: previous, next_cursor: next } = answer.body;
  const counted = Number(total ?? 0);
  return {
    answer,
    items: itemsOf(answer),
    total: Math.min(counted, countedMax),
    isMore: counted > countedMax,
    previous: previous === undefined ? undefined : { cursor: previous },
    next: next === undefined ? undefined : { cursor: next },
  };
}

/** Few enough to be sorted and searched here; of more, those the API's own search finds. */
async function findSorted(visit: Visit, resource: ConsoleResource, asked: URLSearchParams) {
  const search = searchText(asked);
  const every = await readAll(visit, resource, '');
  const read = every.isMore && search !== '' ? await readAll(visit, resource, search) : every;
  const found = every.isMore ? read.items : read.items.filter((json) => hasText(json, search.toLowerCase()));
  const sort = sortOf(resource, asked);
  const by = sort.replace(/^-/, '');
  const keyOf = (json: Json): string => (by === 'name' ? resource.titleOf(json) : String(json[by] ?? ''));
  const sorted = found.toSorted((left, right) => keyOf(left).localeCompare(keyOf(right), 'en'));
  return { read, found: sort === by ? sorted : sorted.reverse() };
}

async function listSorted(visit: Visit, resource: ConsoleResource): Promise<Listing> {
  const { read, found: sorted } = await findSorted(visit, resource, visit.query);
  const pageSize = sizeOf(visit.query);
  const pages = Math.max(1, Math.ceil(sorted.length / pageSize));
  const page = Math.min(Math.max(1, Math.trunc(Number(visit.query.get('page') ?? 1)) || 1), pages);
  return {
    answer: read.answer,
    items: sorted.slice((page - 1) * pageSize, page * pageSize),
    total: sorted.length,
    isMore: read.isMore,
    previous: page > 1 ? { page: page - 1 } : undefined,
    next: page < pages ? { page: page + 1 } : undefined,
  };
}

async function readAll(visit: Visit, resource: ConsoleResource, search: string) {
  const query = new URLSearchParams({ limit: String(readAtOnce), ...(search === '' ? {} : { search }) });
  const items: Json[] = [];
  for (;;) {
    const answer = await manage(visit, 'GET', `${resource.path}?${query}`);
    items.push(...itemsOf(answer));
    const next = answer.body['next_cursor'];
    if (next === undefined || items.length >= sortedMax) return { answer, items, isMore: next !== undefined };
    query.set('cursor', String(next));
  }
}

/** Whether any text of a thing has that part; times do not count. */
const hasText = (json: Json, part: string): boolean =>
  Object.entries(json).some(([name, value]) => typeof value === 'string' && !name.endsWith('_at') && value.toLowerCase().includes(part));

/** How many there are, in words. */
export const totalText = ({ total, isMore }: Listing, resource: Pick<ConsoleResource, 'singular' | 'plural'>): string =>
  `${total.toLocaleString('en')}${isMore ? '+' : ''} ${(total === 1 ? resource.singular : resource.plural).replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())}`;

/** Links to the pages before and behind. */
export function pagesOf(
  visit: Visit,
  path: string,
  { previous, next }: Pick<Listing, 'previous' | 'next'>,
  kept: readonly string[] = keptNames,
  [before, after]: readonly [before: string, after: string] = ['Previous', 'Next'],
): Html | undefined {
  if (previous === undefined && next === undefined) return undefined;
  const link = (id: string, label: string, parameters: Json): Html => {
    const query = new URLSearchParams();
    for (const name of kept) {
      const value = visit.query.get(name);
      if (value !== null && value !== '') query.set(name, value);
    }
    for (const [name, value] of Object.entries(parameters)) query.set(name, String(value));
    return html`<a class="button quiet" id="${id}" href="${consolePath(visit.request.tenant, path)}?${query.toString()}">${label}</a>`;
  };
  return html`<nav class="pages bar" aria-label="Pages">${previous !== undefined && link('previous', before, previous)}${next !== undefined && link('next', after, next)}</nav>`;
}

/** The query of the API for a page of a list without names, and the links around it. */
export function cursorQuery(visit: Visit): string {
  const cursor = visit.query.get('cursor');
  return new URLSearchParams({ limit: String(pageSize), ...(cursor === null ? {} : { cursor }) }).toString();
}

/** The links around it; `kept` are parameters of the address that the pages have in common. */
export function cursorPages(visit: Visit, path: string, { body }: ApiAnswer, kept: readonly string[] = []): Html | undefined {
  const isFirst = visit.query.get('cursor') === null;
  const next = body['next_cursor'];
  return pagesOf(visit, path, { previous: isFirst ? undefined : {}, next: next === undefined ? undefined : { cursor: next } }, kept);
}
