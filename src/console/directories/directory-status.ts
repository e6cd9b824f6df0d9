// Where a directory stands, on its page: what its last run did, when the next one is, why it cannot be read, what it waits for, and what can
// be done.
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { badge, shownTime } from '../console-page.ts';
import type { Visit } from '../console-visit.ts';
import type { Act, StateWords, StatusPage } from '../provisioning/status-page.ts';
import { mayDoAll } from './directory-resource.ts';
import { failureNotice } from './failure-words.ts';

type Json = Readonly<Record<string, unknown>>;

const states: StateWords = {
  disabled: ['paused', 'plain'],
  waiting_for_approval: ['waits for approval', 'bad'],
  running: ['at work', 'good'],
  failing: ['cannot be read', 'bad'],
  idle: ['up to date', 'good'],
};
const unread = ['waits for its first run', 'plain'] as const;

export const linkWords: StateWords = {
  linked: ['linked', 'good'],
  pending: ['waits for the next run', 'plain'],
  conflict: ['conflict', 'bad'],
  skipped: ['cannot be taken', 'bad'],
  ignored: ['left out', 'plain'],
  off: ['ended', 'plain'],
};

const ends: Readonly<Record<string, string>> = {
  suspend: 'The people who wait are suspended: their sessions end, and they cannot sign in.',
  delete: 'The people who wait are deleted. You can’t undo this.',
};

const acts: Readonly<Record<string, Act>> = {
  sync: { label: 'Sync now', done: 'What has changed is read now.', call: { path: '/sync', body: {} } },
  'sync-full': { label: 'Read everything', done: 'Everything is read now.', call: { path: '/sync', body: { full: true } } },
  pause: { label: 'Pause', done: 'It is paused: nothing is read.', call: { change: { enabled: false } } },
  'go-on': { label: 'Go on', done: 'It goes on.', call: { change: { enabled: true } } },
  approve: {
    label: 'Approve',
    done: 'The people end with the next run.',
    call: { path: '/approve' },
    confirm: ({ deprovision }) => ends[text(deprovision)] ?? 'The people who wait are no longer kept by this directory.',
    isMain: true,
  },
};

export const directoryStatus: StatusPage = {
  path: '/directories',
  acts,
  actsOf,
  progress: (status, directory) =>
    html`${status['failure'] !== null && failureNotice(status['failure'] as Json)}${waitsFor(status, directory)}${progress(status)}${lastRun(status)}`, // the API's shape
  links: { title: 'People and groups', words: linkWords },
};

function actsOf({ state }: Json, directory: Json, visit: Visit): readonly string[] {
  const mayAll = mayDoAll(visit, directory);
  if (state === 'disabled') return mayAll ? ['go-on'] : [];
  return [...(state === 'waiting_for_approval' && mayAll ? ['approve'] : []), 'sync', 'sync-full', ...(mayAll ? ['pause'] : [])];
}

/** What would end, in a sentence. */
function waitsFor({ state, waiting_for_approval: users }: Json, { deprovision }: Json): Html | undefined {
  if (state !== 'waiting_for_approval') return undefined;
  const fate = deprovision === 'delete' ? 'be deleted' : deprovision === 'suspend' ? 'be suspended' : 'no longer be kept';
  return html`<p><b>${users === 1 ? '1 person' : `${text(users)} people`} would ${fate}.</b> That is more than is done unasked. Look at the plan, then approve. If it is a mistake, correct it in the directory: the next run asks again.</p>`;
}

function progress(status: Json): Html {
  const { state, users, groups, running_since: since, next_run_at: next, read_whole_at: whole, held_since: held } = status;
  const { failures, failed_at: failedAt } = status;
  const isNew = state === 'idle' && status['last_run'] === null;
  const [label, kind] = isNew ? unread : (states[text(state)] ?? [text(state), 'plain']);
  return html`<dl><dt>State</dt><dd>${badge(label, kind)}</dd>
${since !== null && html`<dt>This run began</dt><dd>${shownTime(since)}</dd>`}${held !== null && html`<dt>Waits for approval</dt><dd>${shownTime(held)}</dd>`}
${Number(failures) > 0 && html`<dt>Failed</dt><dd>${failures === 1 ? 'once' : `${text(failures)} times in a row`}, last ${shownTime(failedAt)}</dd>`}
<dt>Next run</dt><dd>${shownTime(next) || (since === null ? 'none' : 'when this one is done')}</dd>
<dt>Everything was read</dt><dd>${shownTime(whole) || 'not yet'}</dd>
<dt>Entries of people</dt><dd>${text(users)}</dd><dt>Entries of groups</dt><dd>${text(groups)}</dd></dl>`;
}

const figures: readonly (readonly [name: string, label: string])[] = [
  ['read', 'Entries read'],
  ['created', 'Made here'],
  ['updated', 'Changed here'],
  ['ended', 'Ended here'],
  ['unchanged', 'As they were'],
  ['conflicts', 'In conflict'],
  ['skipped', 'Cannot be taken'],
];

function lastRun({ last_run: run }: Json): Html | undefined {
  if (run === null) return undefined;
  const { began_at: began, ended_at: ended, full, ...counts } = run as Json; // the API's shape
  const seconds = Math.round((Date.parse(text(ended)) - Date.parse(text(began))) / 1000);
  const referrals = Number(counts['referrals'] ?? 0);
  return html`<h2>Last run that was done</h2><dl><dt>Began</dt><dd>${shownTime(began)}</dd><dt>Took</dt><dd>${lasted(seconds)}</dd><dt>Read</dt><dd>${full === true ? 'everything' : 'what had changed'}</dd>${figures.map(
    ([name, label]) => html`<dt>${label}</dt><dd>${text(counts[name])}</dd>`,
  )}${referrals > 0 && html`<dt>Referrals to other directories</dt><dd>${referrals}, not followed</dd>`}</dl>`;
}

function lasted(seconds: number): string {
  if (seconds < 1) return 'less than a second';
  if (seconds < 120) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  return `${Math.round(seconds / 60)} minutes`;
}
