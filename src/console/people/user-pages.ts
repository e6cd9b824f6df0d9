// What belongs to one person, beside their fields: devices with their keys and enrolment, passkeys, sessions. Every page shows
// what the Management API tells and ends things through it, after a question.
import type { FastifyReply } from 'fastify';
import { methodWords } from '../../domain/sign-in/login-methods.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { type Notice, table } from '../../first-party/app-page.ts';
import { qrCode } from '../../pages/qr-code.ts';
import { type Html, html } from '../../platform/html.ts';
import { scopesNamed, text } from '../cells.ts';
import { askPage, isSure, type Question } from '../confirm-page.ts';
import { badge, emptyState, postButton, shownTime } from '../console-page.ts';
import { consoleResource } from '../console-resources.ts';
import { finish, frameOf, itemsOf, manage, refusalText, showMissing, showPage, type Visit } from '../console-visit.ts';
import { itemOf, secretOf } from '../frame/flash.ts';
import { consolePath } from '../frame/navigation.ts';
import { pathOf, tabBar } from '../resource-pages.ts';

type Json = Readonly<Record<string, unknown>>;
type Params = Readonly<Record<string, string>>;

const users = consoleResource('/users');
const idOf = (params: Params): string => params['id'] ?? '';
const enrollmentsUrl = (params: Params): string => `${pathOf(users, idOf(params))}/enrollments`;

/** A tab of the person: loads them, and what the tab lists, and shows it. */
export async function tabPage(
  visit: Visit,
  params: Params,
  tab: string,
  show: (items: readonly Json[], user: Json) => Html,
  notice?: Notice,
): Promise<FastifyReply> {
  const path = pathOf(users, idOf(params));
  const [user, list] = await Promise.all([manage(visit, 'GET', path), manage(visit, 'GET', `${path}${tab}`)]);
  if (user.status !== 200) return showMissing(visit, users.singular, user);
  if (list.status !== 200) return showMissing(visit, users.titleOf(user.body), list);
  return showPage(
    visit,
    users.titleOf(user.body),
    html`${tabBar(visit, users, idOf(params), tab)}${show(itemsOf(list), user.body)}`,
    notice,
  );
}

export async function devicesPage(visit: Visit, params: Params, notice?: Notice): Promise<FastifyReply> {
  const enrolment = await enrolmentPanel(visit);
  return tabPage(
    visit,
    params,
    '/devices',
    (
      devices,
      user,
    ) => html`${enrolment}${devices.length === 0 ? emptyState('No phone yet', 'An enrolment link lets this person add their phone.') : devices.map((device) => devicePanel(visit, params, device))}
${user['state'] === 'active' && enrolment === undefined && html`<div class="bar">${postButton(frameOf(visit), { path: enrollmentsUrl(params), label: 'Make an enrolment link', id: 'enroll' })}</div>`}`,
    notice,
  );
}

function devicePanel(visit: Visit, params: Params, device: Json): Html {
  const path = `${pathOf(users, idOf(params))}/devices/${text(device['id'])}`;
  const isActive = device['state'] === 'active';
  const name = text(device['name']) || text(device['model']) || text(device['id']);
  const facts: readonly (readonly [string, Html | string])[] = [
    ['Model', [device['model'], device['os_version']].map(text).filter(Boolean).join(', ')],
    ['App', text(device['app_version'])],
    ['Platform', text(device['platform'])],
    ['Push', text(device['push_provider'])],
    ['Last push', lastPush(device['push'])],
    ['Attestation', text(device['attestation_format'] ?? 'none')],
    ['Key', keyProtections[text(device['key_protection'])] ?? ''],
    ['Added', shownTime(device['created_at'])],
    ['Revoked', shownTime(device['revoked_at'])],
    ['Phone id', html`<code>${text(device['id'])}</code>`],
  ];
  const keys = (device['keys'] ?? []) as readonly Json[]; // the API's shape
  return html`<section class="panel" aria-label="${name}"><div class="bar spread"><h2>${name} ${badge(text(device['state']), isActive ? 'good' : 'bad')}</h2><div class="bar">${isActive && device['push_provider'] !== 'none' && postButton(frameOf(visit), { path: `${path}/test-push`, label: 'Send a test push', style: 'small quiet', of: name })}${isActive && postButton(frameOf(visit), { path: `${path}/revoke`, label: 'Revoke…', style: 'small danger', of: name })}</div></div>
<dl>${facts.filter(([, value]) => value !== '').map(([fact, value]) => html`<dt>${fact}</dt><dd>${value}</dd>`)}</dl>
<ul class="keys" aria-label="Keys">${keys.map((key) => keyRow(visit, `${path}/keys/${text(key['key_id'])}/revoke`, key, isActive))}</ul></section>`;
}

const keyProtections: Readonly<Record<string, string>> = {
  attested: 'attested by the hardware',
  webauthn: 'platform authenticator, bound to this machine',
  webauthn_synced: 'platform authenticator, may be copied to the person’s other machines',
  claimed: 'as the phone says, without evidence',
};

function lastPush(value: unknown): Html | string {
  if (value === null || value === undefined) return '';
  const { at, outcome, reason } = value as Json; // the API's shape
  return html`${shownTime(at)}: ${text(outcome)}${reason !== null && html` (<code>${text(reason)}</code>)`}`;
}

/** Sends a test push and says what became of it. */
export async function testPush(visit: Visit, params: Params): Promise<FastifyReply> {
  const answer = await manage(visit, 'POST', `/devices/${encodeURIComponent(text(params['device']))}/test-push`);
  if (answer.status !== 200) return devicesPage(visit, params, { kind: 'bad', text: refusalText(answer) });
  const { outcome, reason } = answer.body;
  if (outcome === 'sent')
    return finish(visit, `${pathOf(users, idOf(params))}/devices`, 'The vendor took the test push: it shows on the phone in a moment.');
  return devicesPage(visit, params, { kind: 'bad', text: `The test push was not sent: ${text(outcome)}, ${text(reason)}.` });
}

const purposes: Readonly<Record<string, string>> = { uv: 'approves with the person verified', pop: 'proves possession' };

function keyRow(visit: Visit, path: string, key: Json, isActive: boolean): Html {
  const purpose = text(key['purpose']);
  const state = text(key['state']);
  return html`<li><span><b>${purpose}</b> ${purposes[purpose] ?? ''}, ${text(key['alg'])} ${badge(state, state === 'revoked' ? 'bad' : 'good')}<br><code>${text(key['key_id'])}</code></span>${isActive && state !== 'revoked' && postButton(frameOf(visit), { path, label: 'Revoke key…', style: 'small danger', of: purpose })}</li>`;
}

/** The enrolment link that was just made, as a QR code and a link. */
async function enrolmentPanel(visit: Visit): Promise<Html | undefined> {
  const secret = secretOf(visit, 'enrolment');
  if (secret === undefined) return undefined;
  const link = itemOf(secret, 'link');
  return html`<section class="panel" id="enrolment" aria-label="Enrolment"><div class="once">${await qrCode(link, 'QR code of the enrolment link')}<div><h2>Scan this with the app</h2>
<p>It works once, until ${shownTime(itemOf(secret, 'until'))}. This page shows it for ten minutes: hand it to this person alone.</p>
<p class="muted">On the phone itself, open the link:</p><pre id="enrolment-link">${link}</pre></div></div></section>`;
}

/** Makes an enrolment token; the tab shows it. */
export async function enroll(visit: Visit, params: Params): Promise<FastifyReply> {
  const answer = await manage(visit, 'POST', enrollmentsUrl(params), {});
  if (answer.status !== 201) return devicesPage(visit, params, { kind: 'bad', text: refusalText(answer) });
  const items = [
    ['link', text(answer.body['qr_uri'])],
    ['until', text(answer.body['expires_at'])],
  ] as const;
  return finish(visit, `${pathOf(users, idOf(params))}/devices`, 'The enrolment link was made.', { kind: 'enrolment', items });
}

export async function revokeDevice(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const device = text(params['device']);
  return end(visit, typed, params, {
    tab: '/devices',
    below: `/devices/${device}/revoke`,
    api: `/devices/${encodeURIComponent(device)}`,
    done: 'The phone was revoked. It stops at its next request.',
    title: 'Revoke this phone?',
    text: 'It stops at its next request and can never be used again. The person needs another way to sign in, or a new enrolment.',
    label: 'Revoke',
  });
}

export async function revokeKey(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const [device, key] = [text(params['device']), text(params['key'])];
  return end(visit, typed, params, {
    tab: '/devices',
    below: `/devices/${device}/keys/${key}/revoke`,
    api: `/devices/${encodeURIComponent(device)}/keys/${encodeURIComponent(key)}`,
    done: 'The key was revoked.',
    title: 'Revoke this key?',
    text: 'Requests signed with this key are refused from now on, for good. The other key of the phone goes on working.',
    label: 'Revoke key',
  });
}

/** What the person knows of applications: it works on when they are suspended, until it is another. */
interface SecretKind {
  readonly what: string;
  /** Where it is ended, below /console. */
  readonly path: (id: string) => string;
  readonly cure: string;
}

const secretKinds: Readonly<Record<string, SecretKind>> = {
  client: { what: 'Application', path: (id) => `/clients/${id}/credentials`, cure: 'Make a new secret, or replace its keys' },
  initial_access_token: { what: 'Initial access token', path: (id) => `/initial-access-tokens/${id}`, cure: 'Delete it' },
  scim_token: { what: 'Token of a directory', path: () => '/scim', cure: 'Make another for the directory, then revoke it' },
};

export async function knownSecretsPage(visit: Visit, params: Params): Promise<FastifyReply> {
  const { tenant } = visit.request;
  const row = (item: Json): readonly (Html | string)[] => {
    const { what, path, cure } = secretKinds[text(item['kind'])]!; // every kind of the API
    const name = text(item['name']) || text(item['id']);
    return [
      html`<a href="${consolePath(tenant, path(encodeURIComponent(text(item['id']))))}">${name}</a>`,
      what,
      shownTime(item['since']),
      cure,
    ];
  };
  return tabPage(visit, params, '/known-secrets', (items) =>
    items.length === 0
      ? emptyState('No secret of an application', 'Applications whose secret this person made or was shown last would stand here.')
      : html`<p>This person knows what these sign in by. It works on when the person is suspended or loses a role.</p>${table('Secrets', ['Name', 'What', 'Since', 'To end it'], items.map(row))}`,
  );
}

export async function passkeysPage(visit: Visit, params: Params, notice?: Notice): Promise<FastifyReply> {
  const row = (passkey: Json): readonly (Html | string)[] => [
    html`<span class="strong">${text(passkey['name'])}</span>`,
    passkey['backed_up'] === true ? 'synced' : 'on one device',
    shownTime(passkey['created_at']),
    passkey['last_used_at'] === null ? 'never' : shownTime(passkey['last_used_at']),
    postButton(frameOf(visit), {
      path: `${pathOf(users, idOf(params))}/passkeys/${encodeURIComponent(text(passkey['id']))}/revoke`,
      label: 'Revoke…',
      style: 'small danger',
      of: text(passkey['name']),
    }),
  ];
  return tabPage(
    visit,
    params,
    '/passkeys',
    (passkeys) =>
      passkeys.length === 0
        ? emptyState('No passkey yet', 'Only the person themselves adds one, on their account page.')
        : table('Passkeys', ['Name', 'Kind', 'Added', 'Last used', 'Revoke'], passkeys.map(row)),
    notice,
  );
}

export async function revokePasskey(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const passkey = encodeURIComponent(text(params['passkey']));
  return end(visit, typed, params, {
    tab: '/passkeys',
    below: `/passkeys/${passkey}/revoke`,
    api: `${pathOf(users, idOf(params))}/passkeys/${passkey}`,
    done: 'The passkey was revoked.',
    title: 'Revoke this passkey?',
    text: 'It can never be used to sign in again.',
    label: 'Revoke',
  });
}

export async function sessionsPage(visit: Visit, params: Params, notice?: Notice): Promise<FastifyReply> {
  const own = pathOf(users, idOf(params));
  const row = (session: Json): readonly (Html | string)[] => [
    html`<code>${text(session['client_id'])}</code>`,
    shownTime(session['auth_time']),
    methodWords((session['amr'] ?? []) as readonly string[], text(session['acr'])), // the API's shape
    scopesNamed(text(session['scope'])),
    shownTime(session['expires_at']),
    postButton(frameOf(visit), {
      path: `${own}/sessions/${encodeURIComponent(text(session['id']))}/end`,
      label: 'End…',
      style: 'small danger',
      of: text(session['client_id']),
    }),
  ];
  return tabPage(
    visit,
    params,
    '/sessions',
    (sessions) =>
      sessions.length === 0
        ? emptyState('No session', 'This person is signed in to nothing at the moment.')
        : html`${table('Sessions', ['Client', 'Signed in', 'By', 'Scopes', 'At most until', 'End'], sessions.map(row))}<div class="bar">${postButton(frameOf(visit), { path: `${own}/sessions/end`, label: 'End every session…', style: 'danger', id: 'end-all' })}</div>`,
    notice,
  );
}

export async function endSession(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const session = params['session'] === undefined ? '' : `/${encodeURIComponent(params['session'])}`;
  return end(visit, typed, params, {
    tab: '/sessions',
    below: `/sessions${session}/end`,
    api: `${pathOf(users, idOf(params))}/sessions${session}`,
    done: session === '' ? 'Every session was ended.' : 'The session was ended.',
    title: session === '' ? 'End every session?' : 'End this session?',
    text: 'Refresh tokens and access tokens stop working at once. The person must sign in again.',
    label: session === '' ? 'End every session' : 'End session',
  });
}

/** The browsers that are signed in by a session of ours, where the tenant has them. */
export async function browsersPage(visit: Visit, params: Params, notice?: Notice): Promise<FastifyReply> {
  const row = (session: Json): readonly (Html | string)[] => [
    text(session['user_agent']),
    text(session['ip']),
    shownTime(session['signed_in_at']),
    shownTime(session['last_used_at']),
    shownTime(session['expires_at']),
    postButton(frameOf(visit), {
      path: `${pathOf(users, idOf(params))}/browser-sessions/${encodeURIComponent(text(session['id']))}/end`,
      label: 'Sign out…',
      style: 'small danger',
      of: text(session['user_agent']),
    }),
  ];
  return tabPage(
    visit,
    params,
    '/browser-sessions',
    (sessions) =>
      sessions.length === 0
        ? emptyState('No browser', 'No browser opens applications for this person without a sign-in.')
        : table('Browsers', ['Browser', 'Address', 'Signed in', 'Last used', 'At most until', 'Sign out'], sessions.map(row)),
    notice,
  );
}

export async function endBrowser(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const session = `/${encodeURIComponent(params['session'] ?? '')}`;
  return end(visit, typed, params, {
    tab: '/browser-sessions',
    below: `/browser-sessions${session}/end`,
    api: `${pathOf(users, idOf(params))}/browser-sessions${session}`,
    done: 'The browser was signed out.',
    title: 'Sign this browser out?',
    text: 'The applications that it is signed in to learn about it. Applications with offline access keep that.',
    label: 'Sign out',
  });
}

interface Ending extends Pick<Question, 'title' | 'text' | 'label'> {
  /** Below the person. */
  readonly tab: string;
  readonly below: string;
  /** What is deleted, in the API. */
  readonly api: string;
  /** What is said then. */
  readonly done: string;
}

/** Asks, then deletes through the API, then shows the tab again. What is not this person's is answered like an unknown one. */
export async function end(
  visit: Visit,
  typed: Typed,
  params: Params,
  { tab, below, api, done, ...question }: Ending,
): Promise<FastifyReply> {
  const own = pathOf(users, idOf(params));
  const user = await manage(visit, 'GET', own);
  if (user.status !== 200) return showMissing(visit, users.singular, user);
  if (!isSure(typed)) return askPage(visit, { ...question, path: `${own}${below}`, back: `${own}${tab}` });
  const answer = await manage(visit, 'DELETE', api);
  if (answer.status === 204) return finish(visit, `${own}${tab}`, done);
  return showMissing(visit, users.titleOf(user.body), answer);
}
