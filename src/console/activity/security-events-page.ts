// Security events in the console: the stream of each application that asked for one, how it does, and what can be done about it: pause, go
// on, try, remove. Streams are made by the applications themselves.
import type { FastifyReply } from 'fastify';
import type { Typed } from '../../first-party/app-form.ts';
import type { Notice } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { askPage, isSure } from '../confirm-page.ts';
import { badge, emptyState, postButton, shownTime } from '../console-page.ts';
import { finish, frameOf, goTo, itemsOf, manage, refusalText, showMissing, showPage, type Visit } from '../console-visit.ts';
import { mayChange } from '../frame/allowed.ts';
import { consolePath } from '../frame/navigation.ts';
import { cursorPages, cursorQuery } from '../list-controls.ts';

type Json = Readonly<Record<string, unknown>>;
type Params = Readonly<Record<string, string>>;

const here = '/security-events';
const title = 'Security events';
const docs = '/docs/how-to/security-events';
/** What waits longer shows that nobody takes it. */
const soonMs = 3_600_000;

const pathOf = ({ id = '' }: Params): string => `/ssf-streams/${encodeURIComponent(id)}`;

export async function securityEventsPage(visit: Visit, notice?: Notice): Promise<FastifyReply> {
  const answer = await manage(visit, 'GET', `/ssf-streams?${cursorQuery(visit)}`);
  if (answer.status !== 200) return showPage(visit, title, html``, { kind: 'bad', text: refusalText(answer) });
  const streams = itemsOf(answer);
  return showPage(
    visit,
    title,
    html`<p class="muted">Applications can learn at once when an account is suspended or deleted, sessions end or a passkey is removed (Shared Signals: CAEP and RISC). Each application makes one stream itself, and learns only about people who may use it.</p>
${streams.length === 0 ? emptyState('No application receives security events', 'Give an application the scopes ssf.read and ssf.manage: it then makes its stream itself.', html`<p><a class="button quiet" id="how" href="${docs}">How an application receives them</a></p>`) : html`${streams.map((stream) => panel(visit, stream))}${cursorPages(visit, here, answer)}${help}`}`,
    notice,
  );
}

const help = html`<p class="muted">A stream whose events nobody takes for seven days pauses by itself. What happens while it is paused is kept; what happens while it is disabled is never told. <a href="${docs}">How an application receives them</a></p>`;

function panel(visit: Visit, stream: Json): Html {
  const name = text(stream['client_name']);
  const client = `/clients/${encodeURIComponent(text(stream['client_id']))}`;
  const facts: readonly (readonly [string, Html | string])[] = [
    ['Delivery', deliveryOf(stream)],
    ['Is told of', eventsOf(stream)],
    ['Waiting', waitingOf(stream)],
    ['Last delivered', shownTime(stream['delivered_at']) || 'nothing yet'],
    ...(stream['removed_subjects'] === 0 ? [] : [['Left out', leftOut(stream)] as const]),
    ...(stream['description'] === null ? [] : [['Its own note', text(stream['description'])] as const]),
  ];
  return html`<section class="panel" aria-label="Stream of ${name}"><div class="bar spread"><h2><a href="${consolePath(visit.request.tenant, client)}">${name}</a></h2><div class="bar">${stateOf(visit, stream)}</div></div>
${whyStopped(stream)}<dl>${facts.map(([term, value]) => html`<dt>${term}</dt><dd>${value}</dd>`)}</dl>
${mayChange(visit, here) && html`<div class="bar">${buttons(visit, stream, name)}</div>`}</section>`;
}

function stateOf(visit: Visit, { status, waiting_since: since }: Json): Html {
  if (status !== 'enabled') return badge(text(status), status === 'paused' ? 'plain' : 'bad');
  const isStuck = typeof since === 'string' && visit.services.clock.nowMs() - Date.parse(since) > soonMs;
  return html`${isStuck && badge('takes nothing', 'bad')} ${badge('enabled', 'good')}`;
}

function whyStopped({ status, status_reason: reason, status_at: at }: Json): Html | undefined {
  if (status === 'enabled') return undefined;
  const meaning = status === 'paused' ? 'What happens meanwhile is kept for it.' : 'What happens meanwhile is never told.';
  return html`<p><b>${status === 'paused' ? 'Paused' : 'Disabled'}</b> ${shownTime(at)}. ${reason !== null && html`Reason: ${text(reason)} `}${meaning}</p>`;
}

const deliveryOf = ({ method, url }: Json): Html | string =>
  method === 'push' ? html`pushed to <code>${text(url)}</code>` : 'fetched by the application (poll)';

/** The last words of the types, as the specifications name them. */
function eventsOf({ events_delivered: types }: Json): string {
  const names = (types as readonly string[]).map((type) => type.slice(type.lastIndexOf('/') + 1).replaceAll('-', ' ')); // the API's shape
  return names.length === 0 ? 'nothing we know' : names.join(', ');
}

const waitingOf = ({ waiting, waiting_since: since }: Json): Html | string => {
  if (waiting === 0) return 'nothing';
  return html`${waiting === 1 ? '1 event' : `${text(waiting)} events`}, oldest: ${shownTime(since)}`;
};

const leftOut = ({ removed_subjects: count }: Json): string =>
  count === 1 ? '1 person, as the application asked' : `${text(count)} people, as the application asked`;

function buttons(visit: Visit, { id, status }: Json, of: string): readonly Html[] {
  const button = (act: string, label: string, style: 'quiet' | 'danger' | undefined): Html =>
    postButton(frameOf(visit), { path: `${here}/${text(id)}/${act}`, label, of, ...(style !== undefined && { style }) });
  return [
    ...(status === 'enabled' ? [] : [button('go-on', 'Go on', undefined)]),
    ...(status === 'disabled' ? [] : [button('verify', 'Send verification', 'quiet')]),
    ...(status === 'enabled' ? [button('pause', 'Pause', 'quiet')] : []),
    button('delete', 'Delete…', 'danger'),
  ];
}

interface Act {
  readonly done: string;
  readonly method: 'POST' | 'DELETE';
  /** Below the stream. */
  readonly path: string;
  readonly body?: Json;
}

const acts: Readonly<Record<string, Act>> = {
  pause: {
    ...{ method: 'POST', path: '/status', body: { status: 'paused', reason: 'Paused by an administrator.' } },
    done: 'is paused, and told so. What happens is kept for it.',
  },
  'go-on': { method: 'POST', path: '/status', body: { status: 'enabled' }, done: 'is told again, and what was kept first.' },
  verify: {
    ...{ method: 'POST', path: '/verify' },
    done: 'gets a verification event. Once it is taken, Last delivered has the time.',
  },
  delete: { method: 'DELETE', path: '', done: 'has no stream any more.' },
};

/** Does what a button of a stream says; what is lost is asked first. */
export async function actOnStream(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const stream = await manage(visit, 'GET', pathOf(params));
  if (stream.status !== 200) return showMissing(visit, title, stream);
  const name = params['act'] ?? '';
  const act = Object.hasOwn(acts, name) ? acts[name] : undefined;
  if (act === undefined) return goTo(visit, here);
  const of = text(stream.body['client_name']);
  if (name === 'delete' && !isSure(typed))
    return askPage(visit, {
      title: `Delete the stream of ${of}?`,
      text: 'Events that wait for it are lost. The application can make another stream, which gets what happens from then on. To prevent that, take its scopes away.',
      label: 'Delete',
      path: `${here}/${params['id'] ?? ''}/delete`,
      back: here,
    });
  const answer = await manage(visit, act.method, `${pathOf(params)}${act.path}`, act.body);
  if (answer.status >= 400) return securityEventsPage(visit, { kind: 'bad', text: refusalText(answer) });
  return finish(visit, here, `${of} ${act.done}`);
}
