// Where a connector stands, on its page: how much is done, how long the rest takes, what it waits for, and what can be done.
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { badge, shownTime } from '../console-page.ts';
import type { Act, StateWords, StatusPage } from '../provisioning/status-page.ts';

type Json = Readonly<Record<string, unknown>>;

const states: StateWords = {
  disabled: ['paused', 'plain'],
  quarantined: ['in quarantine', 'bad'],
  waiting_for_approval: ['waits for approval', 'bad'],
  throttled: ['rests', 'plain'],
  running: ['at work', 'good'],
  idle: ['everything is done', 'good'],
};

export const linkWords: StateWords = {
  linked: ['linked', 'good'],
  pending: ['pending', 'plain'],
  conflict: ['conflict', 'bad'],
  failed: ['failed', 'bad'],
  ignored: ['left out', 'plain'],
  off: ['ended', 'plain'],
};

const acts: Readonly<Record<string, Act>> = {
  sync: { label: 'Sync now', done: 'It goes through everybody.', call: { path: '/sync' } },
  pause: { label: 'Pause', done: 'It is paused: changes wait.', call: { change: { enabled: false } } },
  'go-on': { label: 'Go on', done: 'It goes on.', call: { change: { enabled: true } } },
  resume: { label: 'Go on now', done: 'It goes on, and tries again what failed.', call: { path: '/resume' }, isMain: true },
  retry: { label: 'Try failures again', done: 'What failed is tried again.', call: { path: '/resume' } },
  approve: {
    label: 'Approve',
    done: 'The accounts end.',
    call: { path: '/approve' },
    confirm: () => 'The accounts that wait are ended at the application, as the connector says: deactivated or deleted.',
    isMain: true,
  },
};

export const connectorStatus: StatusPage = {
  path: '/connectors',
  acts,
  actsOf,
  progress: (status) => html`${waitsFor(status)}${progress(status)}`,
  links: { title: 'Accounts', words: linkWords },
};

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
