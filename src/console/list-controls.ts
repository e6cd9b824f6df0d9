// What every list of the console has: a search and filters that are one plain form, how many there are, and links to the pages before
// and behind that keep what was asked.

import type { ApiAnswer } from '../first-party/app-api.ts';
import { type Html, html } from '../platform/html.ts';
import { itemsOf, manage, type Visit } from './console-visit.ts';
import { consolePath } from './frame/navigation.ts';
import type { ConsoleResource } from './frame/resource.ts';

type Json = Readonly<Record<string, unknown>>;

const pageSize = 25;
const dayMs = 86_400_000;
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
const searchText = (visit: Visit): string => (visit.query.get('search') ?? '').trim();

/** Parameters of the console's address that choose what is listed. */
const filterNames = ['search', 'state', 'from', 'to'] as const;

/** The same parameters for the API of people. */
function peopleQuery(asked: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams({ sort: 'name' });
  const put = (name: string, value: string | undefined | null): void => {
    if (value !== undefined && value !== null && value.trim() !== '') query.set(name, value.trim());
  };
  put('contains', asked.get('search'));
  put('state', asked.get('state'));
  put('created_from', asked.get('from'));
  const to = Date.parse(asked.get('to') ?? '');
  if (!Number.isNaN(to)) put('created_to', new Date(to + dayMs).toISOString()); // the whole of that day
  return query;
}

/** Those of some fields that choose what is listed. */
export function filtersOf(asked: URLSearchParams): URLSearchParams {
  const filters = new URLSearchParams();
  for (const name of filterNames) {
    const value = asked.get(name);
    if (value !== null && value !== '') filters.set(name, value);
  }
  return filters;
}

/** Everything that is found, in the order of names; `isMore`: there is more than may be taken at once. */
export async function readFound(
  visit: Visit,
  resource: ConsoleResource,
  asked: URLSearchParams,
): Promise<{ readonly items: readonly Json[]; readonly isMore: boolean }> {
  if (resource.isNamed !== true) {
    const { found, read } = await findSorted(visit, resource, (asked.get('search') ?? '').trim());
    return { items: found, isMore: read.isMore };
  }
  const query = peopleQuery(asked);
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
  const search = (asked.get('search') ?? '').trim();
  if (resource.isNamed !== true) {
    const { found, read } = await findSorted(visit, resource, search);
    if (!read.isMore) return yield found;
  }
  const query = resource.isNamed === true ? peopleQuery(asked) : new URLSearchParams(search === '' ? {} : { search });
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
  const query = peopleQuery(visit.query);
  query.set('limit', String(pageSize));
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
async function findSorted(visit: Visit, resource: ConsoleResource, search: string) {
  const every = await readAll(visit, resource, '');
  const read = every.isMore && search !== '' ? await readAll(visit, resource, search) : every;
  const found = every.isMore ? read.items : read.items.filter((json) => hasText(json, search.toLowerCase()));
  return { read, found: found.toSorted((left, right) => resource.titleOf(left).localeCompare(resource.titleOf(right), 'en')) };
}

async function listSorted(visit: Visit, resource: ConsoleResource): Promise<Listing> {
  const { read, found: sorted } = await findSorted(visit, resource, searchText(visit));
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

/** True when something chooses what is listed. */
export const isFiltered = (visit: Visit): boolean => filterNames.some((name) => (visit.query.get(name) ?? '') !== '');

/** The form above a list. */
export function searchBar(visit: Visit, resource: ConsoleResource): Html {
  const here = consolePath(visit.request.tenant, resource.path);
  const value = (name: string): string => visit.query.get(name) ?? '';
  const hint = resource.searchHint;
  return html`<form class="search" method="get" action="${here}" role="search"><label class="hidden" for="search">${hint}</label><input type="search" id="search" name="search" value="${value('search')}" placeholder="${hint}" maxlength="200">${
    resource.isNamed === true &&
    html`<label class="hidden" for="state">State</label><select id="state" name="state">${['', 'active', 'suspended'].map(
      (state) =>
        html`<option value="${state}"${value('state') === state && html` selected`}>${state === '' ? 'Any state' : state}</option>`,
    )}</select><details class="dates"${(value('from') !== '' || value('to') !== '') && html` open`}><summary>Dates</summary><label for="from">Made from</label><input type="date" id="from" name="from" value="${value('from')}"><label for="to">to</label><input type="date" id="to" name="to" value="${value('to')}"></details>`
  }<button class="quiet" id="find">Search</button>${isFiltered(visit) && html`<a class="button link" id="all" href="${here}">Show all</a>`}</form>`;
}

/** Links to the pages before and behind. */
export function pagesOf(
  visit: Visit,
  path: string,
  { previous, next }: Pick<Listing, 'previous' | 'next'>,
  kept: readonly string[] = filterNames,
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
