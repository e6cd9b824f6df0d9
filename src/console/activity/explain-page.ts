// Explain: shows for one request id which check failed, what was received and what was expected.
import type { FastifyReply } from 'fastify';
import { catalogue, type RowId } from '../../contract/catalogue.ts';
import { table } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { emptyState, shownTime } from '../console-page.ts';
import { itemsOf, manage, showPage, type Visit } from '../console-visit.ts';
import { consolePath } from '../frame/navigation.ts';
import { plainWords } from '../frame/plain-words.ts';
import { eventNamed, reasonNamed } from './event-words.ts';
import { explainLink, named } from './events-page.ts';
import { whatHappened } from './sign-ins-page.ts';

type Json = Readonly<Record<string, unknown>>;
const recentRefusals = 15;

export async function explainPage(visit: Visit): Promise<FastifyReply> {
  const id = (visit.query.get('request_id') ?? '').trim();
  const here = consolePath(visit.request.tenant, '/explain');
  const form = html`<form class="bar" method="get" action="${here}"><div><label for="request-id">X-Request-Id of the answer</label><input id="request-id" name="request_id" value="${id}" autocomplete="off"></div><button id="explain">Explain</button></form>`;
  if (id === '') {
    const recent = itemsOf(await manage(visit, 'GET', `/events?type=refusal&limit=${recentRefusals}`));
    const rows = recent.map((event) => [
      shownTime(event['created_at']),
      rowNamed(text(event['row'])),
      reasonNamed(text(event['reason'])),
      explainLink(visit, event),
    ]);
    return showPage(
      visit,
      'Explain',
      html`${form}<h2>Recent refusals</h2>${rows.length === 0 ? emptyState('Nothing was refused', 'Every refusal of the last 30 days is listed here, with its reason.') : table('Recent refusals', ['When', 'What was refused', 'Why', 'Request'], rows)}`,
    );
  }
  const answer = await manage(visit, 'GET', `/events/${encodeURIComponent(id)}`);
  const events = itemsOf(answer);
  const signIn = answer.body['sign_in'] as Json | undefined; // the API's shape
  if (events.length === 0 && signIn === undefined)
    return showPage(visit, 'Explain', form, { kind: 'bad', text: 'Nothing is recorded under this request id in this tenant.' });
  return showPage(
    visit,
    'Explain',
    html`${form}${signIn !== undefined && html`<section class="card" id="sign-in"><h2>The sign-in it belongs to</h2>${whatHappened(visit, signIn)}</section>`}${events.map((event) => explained(visit, event))}`,
  );
}

const rowOf = (id: string) => (Object.hasOwn(catalogue, id) ? catalogue[id as RowId] : undefined); // own key of the catalogue

/** What a row of the contract is for, with its own name in the tooltip. */
const rowNamed = (id: string): Html | string => (id === '' ? '' : html`<span title="${id}">${rowOf(id)?.when ?? id}</span>`);

/** What was compared, with names of the API as people know them. */
const inWords = (compared: string): Html | string =>
  plainWords(compared) === compared ? compared : html`<span title="${compared}">${plainWords(compared)}</span>`;

function explained(visit: Visit, event: Json): Html {
  const id = text(event['row']);
  const row = rowOf(id);
  const facts: readonly (readonly [string, Html | string])[] = [
    ['When', shownTime(event['created_at'])],
    ['What', eventNamed(text(event['type']))],
    ['Who', named(visit, text(event['actor']), {})],
    ['What was refused', rowNamed(id)],
    [
      'What was answered',
      row === undefined ? '' : html`<span title="${row.code}">${String(row.status)}, section ${row.section} of the contract</span>`,
    ],
    ['Check that failed', reasonNamed(text(event['reason']))],
    ['Received', inWords(text(event['received']))],
    ['Expected', inWords(text(event['expected']))],
    ['Target', named(visit, text(event['target']), {})],
  ];
  return html`<section class="card"><dl>${facts.filter(([, value]) => value !== '').map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
<details><summary>As JSON</summary><pre>${JSON.stringify(event, null, 2)}</pre></details></section>`;
}
