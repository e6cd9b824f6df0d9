// Where a connector stands, as a page: how much is done, how long the rest takes, what it waits for, and the buttons that go with it.
import type { FastifyReply } from 'fastify';
import type { Typed } from '../../first-party/app-form.ts';
import type { Notice } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { askPage, isSure, untypedMax } from '../confirm-page.ts';
import { badge, postButton, shownTime } from '../console-page.ts';
import { consoleResource } from '../console-resources.ts';
import { finish, frameOf, goTo, manage, refusalText, showMissing, showPage, type Visit } from '../console-visit.ts';
import { mayChange } from '../frame/allowed.ts';
import { consolePath } from '../frame/navigation.ts';
import { pathOf, tabBar } from '../resource-pages.ts';

type Json = Readonly<Record<string, unknown>>;
type Params = Readonly<Record<string, string>>;

const ownOf = ({ id = '' }: Params): string => pathOf(consoleResource('/connectors'), id);

const states: Readonly<Record<string, readonly [label: string, kind: 'good' | 'bad' | 'plain']>> = {
  disabled: ['paused', 'plain'],
  quarantined: ['in quarantine', 'bad'],
  waiting_for_approval: ['waits for approval', 'bad'],
  throttled: ['rests', 'plain'],
  running: ['at work', 'good'],
  idle: ['everything is done', 'good'],
};

/** What people read of the states of links; the API's own words below. */
export const linkWords: Readonly<Record<string, readonly [label: string, kind: 'good' | 'bad' | 'plain']>> = {
  linked: ['linked', 'good'],
  pending: ['pending', 'plain'],
  conflict: ['conflict', 'bad'],
  failed: ['failed', 'bad'],
  ignored: ['left out', 'plain'],
  off: ['ended', 'plain'],
};

interface Act {
  readonly label: string;
  readonly done: string;
  /** A call below the connector, or a change of it. */
  readonly call: string | Json;
  readonly confirm?: string;
}

const acts: Readonly<Record<string, Act>> = {
  sync: { label: 'Sync now', done: 'It goes through everybody.', call: '/sync' },
  pause: { label: 'Pause', done: 'It is paused: changes wait.', call: { enabled: false } },
  'go-on': { label: 'Go on', done: 'It goes on.', call: { enabled: true } },
  resume: { label: 'Go on now', done: 'It goes on, and tries again what failed.', call: '/resume' },
  retry: { label: 'Try failures again', done: 'What failed is tried again.', call: '/resume' },
  approve: {
    label: 'Approve',
    done: 'The accounts end.',
    call: '/approve',
    confirm: 'The accounts that wait are ended at the application, as the connector says: deactivated or deleted.',
  },
};

/** The page, as things are now. */
export async function connectorStatusPage(visit: Visit, params: Params, notice?: Notice): Promise<FastifyReply> {
  const resource = consoleResource('/connectors');
  const connector = await manage(visit, 'GET', ownOf(params));
  if (connector.status !== 200) return showMissing(visit, resource.singular, connector);
  const answer = await manage(visit, 'GET', `${ownOf(params)}/status`);
  if (answer.status !== 200) return showMissing(visit, resource.titleOf(connector.body), answer);
  const status = answer.body;
  const own = ownOf(params);
  const button = (name: string): Html => {
    const { label, confirm } = acts[name]!;
    const shown = { path: `${own}/status/${name}`, label: confirm === undefined ? label : `${label}…`, id: `act-${name}` };
    return postButton(frameOf(visit), name === 'approve' || name === 'resume' ? shown : { ...shown, style: 'quiet' });
  };
  return showPage(
    visit,
    resource.titleOf(connector.body),
    html`${tabBar(visit, resource, params['id'] ?? '', '/status')}
<section class="panel" aria-label="Progress">${waitsFor(status)}${progress(status)}</section>
${mayChange(visit, resource.path) && html`<div class="bar">${actsOf(status).map(button)}</div>`}
<section class="panel" aria-label="Accounts"><h2>Accounts</h2>${counts(visit, own, status)}</section>`,
    notice,
  );
}

function actsOf({ state, links }: Json): readonly string[] {
  const failed = Number((links as Json)['failed']);
  return [
    ...(state === 'waiting_for_approval' ? ['approve'] : []),
    ...(state === 'quarantined' ? ['resume'] : []),
    ...(state === 'disabled' ? ['go-on'] : ['sync', 'pause']),
    ...(failed > 0 && state !== 'quarantined' ? ['retry'] : []),
  ];
}

/** What holds it up, in a sentence. */
function waitsFor({ state, quarantine_reason: reason, resumes_at: at, waiting_for_approval: users }: Json): Html | undefined {
  if (state === 'quarantined')
    return html`<p><b>${reason === 'unauthorized' ? 'The application refuses us: it answered 401 or 403.' : 'Most requests failed.'}</b> It is asked again at ${shownTime(at)}. Correct what is wrong, then go on now. Nothing is lost meanwhile.</p>`;
  if (state === 'waiting_for_approval')
    return html`<p><b>${users === 1 ? '1 account' : `${text(users)} accounts`} would end.</b> That is more than is done unasked: look at the plan, then approve.</p>`;
  if (state === 'throttled') return html`<p>The application asked to be left alone until ${shownTime(at)}.</p>`;
  return undefined;
}

function progress(status: Json): Html {
  const { state, done, total, due, rate, seconds_left: seconds } = status;
  const [label, kind] = states[text(state)] ?? [text(state), 'plain'];
  return html`<dl><dt>State</dt><dd>${badge(label, kind)}</dd>
<dt id="done">Done</dt><dd><progress aria-labelledby="done" max="${String(Math.max(Number(total), 1))}" value="${text(done)}"></progress> ${text(done)} of ${text(total)}</dd>
<dt>Rate</dt><dd>${rate === 1 ? '1 request' : `${text(rate)} requests`} a second, at most</dd>
<dt>Time left</dt><dd>${Number(due) === 0 ? 'none' : lasting(Number(seconds))}</dd>
<dt>Compared with the application</dt><dd>${shownTime(status['reconciled_at']) || 'not yet'}, next ${shownTime(status['reconciles_at'])}</dd></dl>`;
}

function lasting(seconds: number): string {
  if (seconds < 60) return 'less than a minute';
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 120) return `about ${minutes} minutes`;
  return `about ${Math.ceil(minutes / 60)} hours`;
}

function counts(visit: Visit, own: string, { links }: Json): Html {
  const of = links as Readonly<Record<string, number>>; // the API's shape
  return html`<dl>${Object.entries(linkWords).map(
    ([state, [label]]) =>
      html`<dt><a href="${consolePath(visit.request.tenant, `${own}/links`)}?state=${state}">${label}</a></dt><dd>${text(of[state])}</dd>`,
  )}</dl>`;
}

/** What must be typed before many accounts end. */
async function wordFor(visit: Visit, own: string): Promise<string | undefined> {
  const { body } = await manage(visit, 'GET', `${own}/status`);
  const users = Number(body['waiting_for_approval'] ?? 0);
  return users > untypedMax ? `end ${users}` : undefined;
}

/** Does what a button of the page says; what ends accounts is asked first. */
export async function actOnConnector(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const own = ownOf(params);
  const back = `${own}/status`;
  const name = params['act'] ?? '';
  const act = Object.hasOwn(acts, name) ? acts[name] : undefined;
  if (act === undefined) return goTo(visit, back);
  const { label, call, confirm, done } = act;
  const typeThis = confirm === undefined ? undefined : await wordFor(visit, own);
  if (confirm !== undefined && !isSure(typed, typeThis))
    return askPage(visit, { title: `${label}?`, text: confirm, label, path: `${back}/${name}`, back, typeThis }, typed);
  const answer = await (typeof call === 'string' ? manage(visit, 'POST', `${own}${call}`) : manage(visit, 'PATCH', own, call));
  if (answer.status !== 200) return connectorStatusPage(visit, params, { kind: 'bad', text: refusalText(answer) });
  return finish(visit, back, done);
}
