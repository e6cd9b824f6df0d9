// Console pages about what happened: the audit trail with its filters, and Explain, which shows for one request id which
// check failed, what was received and what was expected.
import type { FastifyReply } from 'fastify';
import { catalogue, type RowId } from '../../contract/catalogue.ts';
import { type Html, html } from '../../platform/html.ts';
import { table } from '../own-app/app-page.ts';
import { text } from './cells.ts';
import { consolePath, emptyState, shownTime } from './console-page.ts';
import { itemsOf, manage, refusalText, showPage, type Visit } from './console-visit.ts';

type Json = Readonly<Record<string, unknown>>;
const pageSize = 50;
const recentRefusals = 15;
const filters = [
  ['type', 'Type'],
  ['actor', 'Actor'],
  ['target', 'Target'],
  ['request_id', 'Request id'],
] as const;

export async function eventsPage(visit: Visit): Promise<FastifyReply> {
  const query = new URLSearchParams({ limit: String(pageSize) });
  for (const name of [...filters.map(([filter]) => filter), 'cursor']) {
    const value = visit.query.get(name);
    if (value !== null && value !== '') query.set(name, value);
  }
  const answer = await manage(visit, 'GET', `/events?${query}`);
  const rows = itemsOf(answer).map((event) => [
    shownTime(event['created_at']),
    text(event['type']),
    text(event['actor']),
    text(event['target']),
    text(event['reason']),
    explainLink(visit, event),
  ]);
  const next = answer.body['next_cursor'];
  const nextQuery = new URLSearchParams(query);
  nextQuery.delete('limit');
  nextQuery.set('cursor', text(next));
  const here = consolePath(visit.request.tenant, '/events');
  return showPage(
    visit,
    'Audit events',
    html`<form class="bar" method="get" action="${here}">${filters.map(([name, label]) => html`<div><label for="filter-${name}">${label}</label><input id="filter-${name}" name="${name}" value="${text(visit.query.get(name))}"></div>`)}<button id="filter">Filter</button></form>
${rows.length === 0 ? emptyState('Nothing found', 'No record matches these filters.') : table('Audit events', ['When', 'What', 'Who', 'To what', 'Why', 'Request'], rows)}
${next !== undefined && html`<p><a class="button quiet" id="next" href="${here}?${nextQuery.toString()}">Older</a></p>`}`,
    answer.status === 200 ? undefined : { kind: 'bad', text: refusalText(answer) },
  );
}

function explainLink(visit: Visit, event: Json): Html | string {
  const id = text(event['request_id']);
  return id === ''
    ? ''
    : html`<a class="mono" href="${consolePath(visit.request.tenant, '/explain')}?request_id=${encodeURIComponent(id)}">${id}</a>`;
}

export async function explainPage(visit: Visit): Promise<FastifyReply> {
  const id = (visit.query.get('request_id') ?? '').trim();
  const here = consolePath(visit.request.tenant, '/explain');
  const form = html`<form class="bar" method="get" action="${here}"><div><label for="request-id">X-Request-Id of the answer</label><input id="request-id" name="request_id" value="${id}" autocomplete="off"></div><button id="explain">Explain</button></form>`;
  if (id === '') {
    const recent = itemsOf(await manage(visit, 'GET', `/events?type=refusal&limit=${recentRefusals}`));
    const rows = recent.map((event) => [
      shownTime(event['created_at']),
      text(event['row']),
      text(event['reason']),
      explainLink(visit, event),
    ]);
    return showPage(
      visit,
      'Explain',
      html`${form}<h2>Recent refusals</h2>${rows.length === 0 ? emptyState('Nothing was refused', 'Every refusal of the last 30 days is listed here, with its reason.') : table('Recent refusals', ['When', 'Contract row', 'Reason', 'Request'], rows)}`,
    );
  }
  const answer = await manage(visit, 'GET', `/events/${encodeURIComponent(id)}`);
  const events = itemsOf(answer);
  if (events.length === 0)
    return showPage(visit, 'Explain', form, { kind: 'bad', text: 'Nothing is recorded under this request id in this tenant.' });
  return showPage(visit, 'Explain', html`${form}${events.map(explained)}`);
}

function explained(event: Json): Html {
  const row = Object.hasOwn(catalogue, text(event['row'])) ? catalogue[text(event['row']) as RowId] : undefined; // own key of the catalogue
  const facts: readonly (readonly [string, string])[] = [
    ['When', text(event['created_at'])],
    ['What', text(event['type'])],
    ['Who', text(event['actor'])],
    ['Contract row', row === undefined ? text(event['row']) : `${text(event['row'])} (${row.section}): ${row.status} ${row.code}`],
    ['Meaning', row?.when ?? ''],
    ['Check that failed', text(event['reason'])],
    ['Received', text(event['received'])],
    ['Expected', text(event['expected'])],
    ['Target', text(event['target'])],
    ['Request', event['data'] === undefined || event['data'] === null ? '' : JSON.stringify(event['data'])],
  ];
  return html`<dl class="card">${facts.filter(([, value]) => value !== '').map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}
