// The console's page of what was posted to a webhook: each delivery with its state and what was answered, and what is posted again: one,
// all dead ones, or the events of a time.
import type { FastifyReply } from 'fastify';
import type { Typed } from '../../first-party/app-form.ts';
import { csrfField, type Notice, table } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { eventNamed, eventWords } from '../activity/event-words.ts';
import { text } from '../cells.ts';
import { badge, emptyState, postButton, shownTime } from '../console-page.ts';
import { consoleResource } from '../console-resources.ts';
import { finish, frameOf, itemsOf, manage, refusalText, showMissing, showPage, type Visit } from '../console-visit.ts';
import { mayChange } from '../frame/allowed.ts';
import { consolePath } from '../frame/navigation.ts';
import { pagesOf } from '../list-controls.ts';
import { pathOf, tabBar } from '../resource-pages.ts';

type Json = Readonly<Record<string, unknown>>;
type Params = Readonly<Record<string, string>>;

const webhooks = consoleResource('/webhooks');
const pageSize = 25;
const states = { waiting: 'plain', delivered: 'good', dead: 'bad' } as const;
const ownOf = (params: Params): string => pathOf(webhooks, params['id'] ?? '');
const deliveriesOf = (params: Params): string => `${ownOf(params)}/deliveries`;

/** The deliveries in the state that the query names, with what may be posted again. */
export async function webhookDeliveriesPage(visit: Visit, params: Params, notice?: Notice, typed?: Typed): Promise<FastifyReply> {
  const webhook = await manage(visit, 'GET', ownOf(params));
  if (webhook.status !== 200) return showMissing(visit, webhooks.singular, webhook);
  const query = new URLSearchParams({ limit: String(pageSize) });
  for (const name of ['state', 'cursor']) if ((visit.query.get(name) ?? '') !== '') query.set(name, visit.query.get(name)!);
  const list = await manage(visit, 'GET', `${deliveriesOf(params)}?${query}`);
  if (list.status !== 200) return showMissing(visit, webhooks.titleOf(webhook.body), list);
  const mayReplay = mayChange(visit, webhooks.path) && webhook.body['enabled'] === true;
  const deliveries = itemsOf(list);
  const heads = ['When', 'Event', 'State', 'Answer', ...(mayReplay ? ['Again'] : [])];
  const next = list.body['next_cursor'];
  return showPage(
    visit,
    webhooks.titleOf(webhook.body),
    html`${tabBar(visit, webhooks, params['id'] ?? '', '/deliveries')}${stateFilter(visit, params)}
${deliveries.length === 0 ? emptyState('No deliveries', 'What waits is listed, what was delivered for a day, and dead letters for thirty.') : table('Deliveries', heads, deliveries.map(rowOf(visit, params, mayReplay)))}
${pagesOf(visit, deliveriesOf(params), { previous: visit.query.has('cursor') ? {} : undefined, next: next === undefined ? undefined : { cursor: next } }, ['state'])}
${mayReplay && replayForms(visit, params, typed)}${webhook.body['enabled'] !== true && html`<p class="muted">The webhook is disabled: enable it to post anything again.</p>`}`,
    notice,
  );
}

function stateFilter(visit: Visit, params: Params): Html {
  const chosen = visit.query.get('state') ?? '';
  return html`<form class="bar" method="get" action="${consolePath(visit.request.tenant, deliveriesOf(params))}"><label for="state">State</label><select id="state" name="state">${[
    '',
    ...Object.keys(states),
  ].map(
    (state) => html`<option value="${state}"${state === chosen && html` selected`}>${state === '' ? 'Any state' : state}</option>`,
  )}</select><button class="quiet" id="filter">Show</button></form>`;
}

function rowOf(visit: Visit, params: Params, mayReplay: boolean): (delivery: Json) => readonly (Html | string)[] {
  return (delivery) => {
    const type = text(delivery['type']);
    const state = delivery['state'] as keyof typeof states; // the API's own words
    const next = delivery['next_attempt_at'];
    const path = `${deliveriesOf(params)}/${encodeURIComponent(text(delivery['id']))}/replay`;
    return [
      shownTime(delivery['attempted_at'] ?? delivery['created_at']),
      html`<span>${eventNamed(type)} <span class="muted">${text(delivery['seq'])}</span></span>`,
      html`<span>${badge(state, states[state])} ${tries(delivery)}${next !== null && html`<br><span class="muted">Next ${shownTime(next)}</span>`}</span>`,
      answered(delivery),
      ...(mayReplay ? [postButton(frameOf(visit), { path, label: 'Replay', style: 'small quiet', of: eventWords(type) })] : []),
    ];
  };
}

const tries = ({ attempts }: Json): string => (attempts === 1 ? '1 attempt' : `${text(attempts)} attempts`);

/** What the last attempt came to. */
function answered({ status, reason, answer, duration_ms: duration, attempted_at: at }: Json): Html | string {
  if (at === null) return 'not tried yet';
  const words = [status, reason, `${text(duration)} ms`].map(text).filter(Boolean).join(', ');
  const said = text(answer);
  return said === '' ? words : html`<div>${words}<details><summary>First 1 KiB</summary><pre>${said}</pre></details></div>`;
}

function replayForms(visit: Visit, params: Params, typed: Typed | undefined): Html {
  const action = consolePath(visit.request.tenant, `${deliveriesOf(params)}/replay`);
  const time = (name: string, label: string): Html =>
    html`<div class="field"><label for="${name}">${label}</label><input type="datetime-local" id="${name}" name="${name}" step="1" required value="${typed?.get(name) ?? ''}"></div>`;
  return html`<section class="panel" aria-label="Post again"><h2>Post again</h2><p>Under the same <code>webhook-id</code>: what was taken before is known by it.</p>
<form class="group" method="post" action="${action}">${csrfField(frameOf(visit))}<input type="hidden" name="state" value="dead"><button class="quiet" id="replay-dead">Replay all dead</button></form>
<form method="post" action="${action}" id="replay-time">${csrfField(frameOf(visit))}${time('from', 'All events from (UTC)')}${time('to', 'until before (UTC)')}<button class="quiet" id="replay">Replay this time</button></form></section>`;
}

/** Posts one event again. */
export async function replayOne(visit: Visit, params: Params): Promise<FastifyReply> {
  const answer = await manage(visit, 'POST', `${deliveriesOf(params)}/${encodeURIComponent(params['delivery'] ?? '')}/replay`);
  if (answer.status !== 200) return webhookDeliveriesPage(visit, params, { kind: 'bad', text: refusalText(answer) });
  return finish(visit, deliveriesOf(params), `${text(answer.body['type'])} is posted again.`);
}

/** Posts the dead ones again, or the events of a time. */
export async function replayMany(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const meant = typed.get('state') === 'dead' ? { state: 'dead' } : { from: inUtc(typed.get('from')), to: inUtc(typed.get('to')) };
  const answer = await manage(visit, 'POST', `${ownOf(params)}/replay`, meant);
  if (answer.status !== 200) return webhookDeliveriesPage(visit, params, { kind: 'bad', text: refusalText(answer) }, typed);
  const count = Number(answer.body['replayed']);
  return finish(visit, deliveriesOf(params), count === 1 ? '1 event is posted again.' : `${count} events are posted again.`);
}

/** A time as forms give it, as the API takes it; anything else is the API's to refuse. */
const inUtc = (value: string | null): string => {
  const given = (value ?? '').trim();
  return `${/T\d\d:\d\d$/.test(given) ? `${given}:00` : given}Z`;
};
