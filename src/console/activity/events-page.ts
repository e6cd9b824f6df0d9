// The Events page: the audit trail in plain words, with names for ids, filters, pages both ways, and the same as CSV.
import type { FastifyReply } from 'fastify';
import { table } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { emptyState, shownTime } from '../console-page.ts';
import { itemsOf, manage, refusalText, showPage, type Visit } from '../console-visit.ts';
import { maySee } from '../frame/allowed.ts';
import { sendCsv } from '../frame/csv-export.ts';
import { exportScript } from '../frame/export-script.ts';
import { consolePath } from '../frame/navigation.ts';
import { answersBelow, pagesOf } from '../list-controls.ts';
import { chosenOf, filterForm, filterNames, isChosen, withFilters } from './event-filters.ts';
import { eventNamed, eventWords, kindName, kindPath, reasonNamed } from './event-words.ts';

type Json = Readonly<Record<string, unknown>>;
type Names = Readonly<Record<string, string>>;

const pageSize = 20;

export async function eventsPage(visit: Visit): Promise<FastifyReply> {
  const chosen = await chosenOf(visit);
  const form = filterForm(visit, chosen);
  const refuse = (wrong: string): FastifyReply => showPage(visit, 'Events', form, { kind: 'bad', text: wrong });
  if (chosen.wrong !== undefined) return refuse(chosen.wrong);
  if (chosen.choices !== undefined) return showPage(visit, 'Events', form);
  const { query } = chosen;
  query.set('limit', String(pageSize));
  const cursor = visit.query.get('cursor');
  if (cursor !== null) query.set('cursor', cursor);
  const answer = await manage(visit, 'GET', `/events?${query}`);
  if (answer.status !== 200) return refuse(refusalText(answer));
  const { previous_cursor: previous, next_cursor: next } = answer.body;
  return showPage(
    visit,
    'Events',
    html`${form}${eventTable(visit, itemsOf(answer), namesIn(answer.body), isChosen(visit))}
<div class="bar spread">${pagesOf(visit, '/events', { previous: cursorTo(previous), next: cursorTo(next) }, filterNames, ['Newer', 'Older'])}${itemsOf(answer).length > 0 && html`<a class="button quiet" id="csv" href="${withFilters(visit, '/events/export', {})}">CSV</a>`}</div>`,
    undefined,
    { script: itemsOf(answer).length > 0 ? exportScript : undefined },
  );
}

const cursorTo = (cursor: unknown): Json | undefined => (cursor === undefined ? undefined : { cursor });

/** Records as a table; one that is empty says so. */
export function eventTable(visit: Visit, events: readonly Json[], names: Names, isFiltered: boolean): Html {
  if (events.length === 0)
    return isFiltered
      ? emptyState('Nothing found', 'No record matches these filters.')
      : emptyState('Nothing happened yet', 'Whatever people and administrators do is listed here.');
  const rows = events.map((event) => [
    shownTime(event['created_at']),
    eventNamed(text(event['type'])),
    named(visit, text(event['actor']), names),
    named(visit, text(event['target']), names),
    reasonNamed(text(event['reason'])),
    explainLink(visit, event),
  ]);
  return table('Events', ['When', 'What', 'Who', 'To what', 'Why', 'Request'], rows);
}

/** The names that an answer of `/events` tells. */
export const namesIn = ({ names }: Json): Names => (names ?? {}) as Names; // the API's shape

const kindAndId = (reference: string): readonly [kind: string, id: string] => {
  const at = reference.indexOf(':');
  return at < 0 ? [reference, ''] : [reference.slice(0, at), reference.slice(at + 1)];
};

/** Whom or what a record names: by name, as a link where there is a page of it; what has no name by kind and id. */
export function named(visit: Visit, reference: string, names: Names): Html | string {
  if (reference === '') return '';
  const [kind, id] = kindAndId(reference);
  const name = Object.hasOwn(names, reference) ? names[reference] : undefined;
  if (name === undefined) return html`<span>${kindName(kind)}${id !== '' && html` <code>${id}</code>`}</span>`;
  const path = kindPath(kind);
  return path !== undefined && maySee(visit, path)
    ? html`<a href="${consolePath(visit.request.tenant, `${path}/${encodeURIComponent(id)}`)}">${name}</a>`
    : name;
}

/** A link to all that is known about the request of a record. */
export function explainLink(visit: Visit, event: Json): Html | string {
  const id = text(event['request_id']);
  return id === ''
    ? ''
    : html`<a href="${consolePath(visit.request.tenant, '/explain')}?request_id=${encodeURIComponent(id)}" title="${id}">Explain</a>`;
}

/** Everything that the filters find as CSV, newest first. */
export async function exportEvents(visit: Visit): Promise<FastifyReply> {
  const { query, wrong, choices } = await chosenOf(visit);
  if (wrong !== undefined || choices !== undefined) return eventsPage(visit);
  const first = await manage(visit, 'GET', `/events?${query}`);
  if (first.status !== 200) return showPage(visit, 'Events', html``, { kind: 'bad', text: refusalText(first) });
  return sendCsv(visit, 'Events', () => exportedPages(visit, new URLSearchParams(query)));
}

async function* exportedPages(visit: Visit, query: URLSearchParams): AsyncGenerator<readonly Json[]> {
  for await (const answer of answersBelow(visit, '/events', query)) {
    const names = namesIn(answer.body);
    yield itemsOf(answer).map((event) => exported(event, names));
  }
}

function exported(event: Json, names: Names): Json {
  const { id, created_at, type, actor, target, data, ...rest } = event;
  const nameOf = (reference: unknown): string => (Object.hasOwn(names, text(reference)) ? names[text(reference)]! : '');
  const what = eventWords(text(type));
  const details = data === null ? '' : JSON.stringify(data);
  return { created_at, type, what, who: nameOf(actor), to: nameOf(target), actor, target, ...rest, details, id };
}
