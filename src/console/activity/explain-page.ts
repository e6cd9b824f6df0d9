// Explain: shows for one request id which check failed, what was received and what was expected.
import type { FastifyReply } from 'fastify';
import { catalogue, type RowId } from '../../contract/catalogue.ts';
import { table } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { emptyState, shownTime } from '../console-page.ts';
import { itemsOf, manage, showPage, type Visit } from '../console-visit.ts';
import { consolePath } from '../frame/navigation.ts';
import { explainLink } from './events-page.ts';
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
  const signIn = answer.body['sign_in'] as Json | undefined; // the API's shape
  if (events.length === 0 && signIn === undefined)
    return showPage(visit, 'Explain', form, { kind: 'bad', text: 'Nothing is recorded under this request id in this tenant.' });
  return showPage(
    visit,
    'Explain',
    html`${form}${signIn !== undefined && html`<section class="card" id="sign-in"><h2>The sign-in it belongs to</h2>${whatHappened(visit, signIn)}</section>`}${events.map(explained)}`,
  );
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
