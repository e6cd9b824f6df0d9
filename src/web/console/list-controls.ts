// What every list of the console has: a search that is a plain form, and links to the next page that keep it.
import { type Html, html } from '../../platform/html.ts';
import type { ApiAnswer } from '../own-app/app-api.ts';
import { consolePath } from './console-page.ts';
import type { Visit } from './console-visit.ts';

const pageSize = 25;

/** The query of the API for the page that was asked for; `name` is the parameter of the console's own address. */
export function searchOf(visit: Visit, name = 'search'): { readonly query: string; readonly search: string } {
  const search = (visit.query.get(name) ?? '').trim();
  const cursor = visit.query.get('cursor');
  const query = new URLSearchParams({ limit: String(pageSize) });
  if (search !== '') query.set('search', search);
  if (cursor !== null) query.set('cursor', cursor);
  return { query: query.toString(), search };
}

/** The form above a list. `hint` says what is searched. */
export function searchBar(visit: Visit, path: string, hint: string): Html {
  const here = consolePath(visit.request.tenant, path);
  const search = visit.query.get('search') ?? '';
  return html`<form class="search" method="get" action="${here}" role="search"><label class="hidden" for="search">${hint}</label><input type="search" id="search" name="search" value="${search}" placeholder="${hint}" maxlength="200"><button class="quiet" id="find">Search</button>${search !== '' && html`<a class="button link" id="all" href="${here}">Show all</a>`}</form>`;
}

/** Links to the first and the next page. `kept` are parameters of the console's address to keep. */
export function pageLinks(visit: Visit, path: string, { body }: ApiAnswer, kept: readonly string[] = ['search']): Html | undefined {
  const next = body['next_cursor'];
  const isFirst = visit.query.get('cursor') === null;
  if (next === undefined && isFirst) return undefined;
  const link = (cursor: unknown): string => {
    const query = new URLSearchParams();
    for (const name of kept) {
      const value = visit.query.get(name);
      if (value !== null && value !== '') query.set(name, value);
    }
    if (cursor !== undefined) query.set('cursor', String(cursor));
    const text = query.toString();
    return `${consolePath(visit.request.tenant, path)}${text === '' ? '' : `?${text}`}`;
  };
  return html`<nav class="pages bar" aria-label="Pages">${!isFirst && html`<a class="button quiet" id="first" href="${link(undefined)}">First page</a>`}${next !== undefined && html`<a class="button quiet" id="next" href="${link(next)}">Next page</a>`}</nav>`;
}
