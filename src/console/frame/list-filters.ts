// What the address of a list chooses: parameters, the form that asks for them, and the heads of columns that sort. Every choice is in the
// address, so that it can be kept and sent on; those of people are the Management API's own.
import { type PeopleSort, peopleChoiceNames, peopleChoices, peopleSorts } from '../../domain/people/people-list.ts';
import type { Head } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { itemsOf, manage, type Visit } from '../console-visit.ts';
import { maySee } from './allowed.ts';
import { consolePath } from './navigation.ts';
import type { ConsoleResource } from './resource.ts';

type Choice = readonly [value: string, label: string];

const dayMs = 86_400_000;
const pageSizes = [25, 50, 100, 200] as const;
const choicesMax = 200;

/** Parameters that choose what is listed, and all that are kept from page to page. */
const chosenNames = ['search', 'from', 'to', ...peopleChoiceNames] as const;
export const keptNames = [...chosenNames, 'sort', 'size'] as const;

const askedFor = (asked: URLSearchParams, name: string): string => (asked.get(name) ?? '').trim();

/** True when something chooses what is listed. */
export const isFiltered = ({ query }: Visit): boolean => chosenNames.some((name) => askedFor(query, name) !== '');

/** How many a page has. */
export function sizeOf(asked: URLSearchParams): number {
  const size = Number(askedFor(asked, 'size'));
  return (pageSizes as readonly number[]).includes(size) ? size : pageSizes[0];
}

/** What the list is sorted by: the name of a member, with a minus in front turned around. Nothing asked: who is meant, else the name. */
export function sortOf(resource: ConsoleResource, asked: URLSearchParams): string {
  const sort = askedFor(asked, 'sort');
  const isKnown = sortsOf(resource).some(([name]) => name === sort.replace(/^-/, ''));
  if (isKnown) return sort;
  return resource.isNamed === true && askedFor(asked, 'search') !== '' ? 'best' : 'name';
}

/** What a list can be sorted by; of people, what has an index. */
const sortsOf = ({ columns, isNamed }: ConsoleResource): readonly Choice[] => [
  ['name', 'Name'],
  ...columns.flatMap(([head, , by]): readonly Choice[] =>
    by === undefined || (isNamed === true && !(peopleSorts as readonly string[]).includes(by)) ? [] : [[by, head]],
  ),
];

/** The parameters of the address as the API of people takes them. */
export function peopleQuery(resource: ConsoleResource, asked: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams({ sort: sortOf(resource, asked) satisfies string as PeopleSort }); // of a list of people it is one
  const put = (name: string, value: string): void => {
    if (value !== '') query.set(name, value);
  };
  put('contains', askedFor(asked, 'search'));
  for (const name of peopleChoiceNames) put(name, askedFor(asked, name));
  put('created_from', askedFor(asked, 'from'));
  const to = Date.parse(askedFor(asked, 'to'));
  if (!Number.isNaN(to)) put('created_to', new Date(to + dayMs).toISOString()); // the whole of that day
  return query;
}

/** Those of some fields that choose what is listed, and in which order. */
export function filtersOf(asked: URLSearchParams): URLSearchParams {
  const filters = new URLSearchParams();
  for (const name of keptNames) if (askedFor(asked, name) !== '') filters.set(name, askedFor(asked, name));
  return filters;
}

/** The address of the list with something changed, from its first page on. */
function hrefWith(visit: Visit, path: string, changes: Readonly<Record<string, string>>): string {
  const query = filtersOf(visit.query);
  for (const [name, value] of Object.entries(changes)) query.set(name, value);
  return `${consolePath(visit.request.tenant, path)}?${query}`;
}

/** The heads of a list: those it can be sorted by are links. */
export function headsOf(visit: Visit, resource: ConsoleResource): readonly (Head | string)[] {
  const sort = sortOf(resource, visit.query);
  const sorts = new Map(sortsOf(resource));
  const head = (name: string, by: string | undefined): Head | string => {
    if (by === undefined || !sorts.has(by)) return name;
    const sorted = sort === by ? 'ascending' : sort === `-${by}` ? 'descending' : undefined;
    const href = hrefWith(visit, resource.path, { sort: sorted === 'ascending' ? `-${by}` : by });
    return { name, sorted, shown: html`<a href="${href}">${name}</a>` };
  };
  return [head('Name', 'name'), ...resource.columns.map(([name, , by]) => head(name, by))];
}

/** The form above a list. */
export async function searchBar(visit: Visit, resource: ConsoleResource): Promise<Html> {
  const here = consolePath(visit.request.tenant, resource.path);
  const value = (name: string): string => askedFor(visit.query, name);
  const hint = resource.searchHint;
  const isPeople = resource.isNamed === true;
  const folded = keptNames.filter((name) => name !== 'search' && name !== 'state');
  const select = (name: string, label: string, choices: readonly Choice[]): Html =>
    html`<div><label for="${name}">${label}</label><select id="${name}" name="${name}">${choices.map(
      ([one, text]) => html`<option value="${one}"${one === value(name) && html` selected`}>${text}</option>`,
    )}</select></div>`;
  const date = (name: string, label: string): Html =>
    html`<div><label for="${name}">${label}</label><input type="date" id="${name}" name="${name}" value="${value(name).slice(0, 10)}"></div>`;
  const sorts: readonly Choice[] = [
    ['', isPeople && value('search') !== '' ? 'Who is meant first' : 'Name'],
    ...sortsOf(resource).flatMap(([by, name]): readonly Choice[] => [
      ...(by === 'name' ? [] : [[by, name] as const]),
      [`-${by}`, `${name}, backwards`],
    ]),
  ];
  const states = Object.entries(peopleChoices.state.values);
  return html`<form class="search" method="get" action="${here}" role="search"><label class="hidden" for="search">${hint}</label><input type="search" id="search" name="search" value="${value('search')}" placeholder="${hint}" maxlength="200">${
    isPeople &&
    html`<label class="hidden" for="state">State</label><select id="state" name="state">${[['', 'Any state'] as const, ...states].map(
      ([state, label]) => html`<option value="${state}"${value('state') === state && html` selected`}>${label}</option>`,
    )}</select>`
  }<button class="quiet" id="find">Search</button>${isFiltered(visit) && html`<a class="button link" id="all" href="${here}">Show all</a>`}<details class="more"${folded.some((name) => value(name) !== '') && html` open`}><summary>${isPeople ? 'Filter and sort' : 'Sort'}</summary><div class="choices">${isPeople && (await peopleFields(visit, select, date))}${select('sort', 'Sorted by', sorts)}${select(
    'size',
    'On a page',
    pageSizes.map((size) => [size === pageSizes[0] ? '' : String(size), String(size)]),
  )}</div></details></form>`;
}

async function peopleFields(
  visit: Visit,
  select: (name: string, label: string, choices: readonly Choice[]) => Html,
  date: (name: string, label: string) => Html,
): Promise<Html> {
  const any: Choice = ['', 'Any'];
  const { origin, invited, group, role, signed_in_since: since, not_signed_in_since: notSince } = peopleChoices;
  const listed = async (path: string, id: string, name: string): Promise<readonly Choice[]> =>
    maySee(visit, path)
      ? itemsOf(await manage(visit, 'GET', `${path}?limit=${choicesMax}`)).map((one) => [String(one[id]), String(one[name])])
      : [];
  const [groups, roles] = await Promise.all([listed('/groups', 'id', 'display_name'), listed('/roles', 'name', 'name')]);
  return html`${select('origin', origin.label, [any, ...Object.entries(origin.values)])}${visit.allowed.has(invited.takes) && select('invited', invited.label, [any, ...Object.entries(invited.values)])}${groups.length > 0 && select('group', group.label, [any, ...groups])}${roles.length > 0 && select('role', role.label, [any, ...roles])}${date('signed_in_since', since.label)}${date('not_signed_in_since', notSince.label)}${date('from', 'Made from')}${date('to', 'to')}`;
}
