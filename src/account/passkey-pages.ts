// The passkeys of a person on the account page: list, add, rename, revoke. Adding one asks for a sign-in of the last minutes by
// phone or passkey; whoever has neither may add the first one after an email code, where the tenant signs in by those.

import type { FastifyReply } from 'fastify';
import {
  addPasskey,
  type PasskeyActor,
  type Registrant,
  revokePasskey,
  startPasskeyRegistration,
} from '../approvals/passkeys/passkey-registration.ts';
import { reject } from '../contract/contract-error.ts';
import { passkeyNameCharsMax, passkeysPerUserMax } from '../contract/limits.ts';
import { parseAttestation } from '../crypto/webauthn.ts';
import { displayNameOf } from '../domain/people/user.ts';
import { emailPinMethod } from '../domain/sign-in/login-methods.ts';
import { accountApp } from '../first-party/account-client.ts';
import type { Typed } from '../first-party/app-form.ts';
import { csrfField } from '../first-party/app-page.ts';
import { startSignIn } from '../first-party/app-sign-in.ts';
import { parseStrictJson } from '../http/strict-json.ts';
import { passkeyCreateScript } from '../pages/passkey-script.ts';
import { type Html, html } from '../platform/html.ts';
import { countActiveDevices } from '../storage/device/devices.ts';
import type { Queries } from '../storage/engine/database.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { listPasskeysOfUser, type Passkey, renamePasskey } from '../storage/sign-in/passkeys.ts';
import { type PasskeyTexts, passkeyCatalogs } from '../texts/passkey-texts.ts';
import { timeOf } from './account-time.ts';
import { type AccountVisit, byOf, goTo, holdSession, isByKey, isByRecoveryCode, isFresh, pathTo, showPage } from './account-visit.ts';
import { isTooWeak, proveMorePage } from './recovery-pages.ts';

type Params = Readonly<Record<string, string>>;

const textsOf = ({ language }: AccountVisit): PasskeyTexts => passkeyCatalogs[language];

/** The person, with the language their browser asks for. */
const actorOf = (visit: AccountVisit): PasskeyActor => ({ ...byOf(visit), asked: visit.request.headers['accept-language'] });

const passkeysOf = ({ services, request, user }: AccountVisit): Promise<readonly Passkey[]> =>
  services.database.read(request.tenant.id, (queries) => listPasskeysOfUser(queries, request.tenant.id, user.id));

export async function passkeysPage(visit: AccountVisit): Promise<FastifyReply> {
  const words = textsOf(visit);
  const passkeys = await passkeysOf(visit);
  const entry = (passkey: Passkey): Html =>
    html`<li class="card"><h2><a href="${pathTo(visit, `/passkeys/${passkey.id}`)}">${passkey.name}</a></h2>
${passkey.backed_up === 1 && html`<p class="muted">${words.synced}</p>`}
<dl><dt>${words.added}</dt><dd>${timeOf(visit, passkey.created_at)}</dd>
<dt>${words.lastUsed}</dt><dd>${passkey.last_used_at === null ? words.never : timeOf(visit, passkey.last_used_at)}</dd></dl></li>`;
  const add =
    passkeys.length < passkeysPerUserMax
      ? html`<p><a class="button" id="add-passkey" href="${pathTo(visit, '/passkeys/new')}">${words.add}</a></p>`
      : html`<p>${words.full(passkeysPerUserMax)}</p>`;
  return showPage(
    visit,
    visit.words.passkeys,
    html`<p class="muted">${visit.words.passkeysLead}</p>
${passkeys.length === 0 ? html`<p>${words.none}</p>` : html`<ul class="cards">${passkeys.map(entry)}</ul>`}
${add}`,
  );
}

/** Why this session may not add a passkey now. */
type Barrier = 'stale' | 'weak';

async function findBarrier(queries: Queries, visit: AccountVisit): Promise<Barrier | undefined> {
  const { request, user } = visit;
  const { tenant } = request;
  if (!isByKey(visit) && !isByRecoveryCode(visit)) {
    const devices = await countActiveDevices(queries, tenant.id, user.id);
    const passkeys = await listPasskeysOfUser(queries, tenant.id, user.id);
    if (devices > 0 || passkeys.length > 0 || !tenant.settings.login_methods.includes(emailPinMethod)) return 'weak';
  }
  return isFresh(visit) ? undefined : 'stale';
}

export async function newPasskeyPage(visit: AccountVisit, alert?: string, name?: string): Promise<FastifyReply> {
  const { services, request } = visit;
  const words = textsOf(visit);
  const { barrier, passkeys } = await services.database.read(request.tenant.id, async (queries) => ({
    barrier: await findBarrier(queries, visit),
    passkeys: await listPasskeysOfUser(queries, request.tenant.id, visit.user.id),
  }));
  if (barrier !== undefined) return signInAgainPage(visit, barrier);
  const names = { name: visit.user.user_name ?? visit.user.id, displayName: displayNameOf(visit.user) };
  const options = await services.database.write(request.tenant.id, (queries) =>
    startPasskeyRegistration(queries, request.tenant, registrantOf(visit), names),
  );
  return showPage(
    visit,
    words.newTitle,
    html`<p>${words.newText}</p>
<p class="notice bad" id="passkey-alert" role="alert" hidden></p>
<noscript><p class="notice bad" role="alert">${words.needsScript}</p></noscript>
<form class="card" method="post" action="${pathTo(visit, '/passkeys')}" data-new-passkey data-options="${JSON.stringify(options)}" data-unsupported="${words.unsupported}" data-address="${words.address}" data-failed="${words.failed}" data-here="${words.here}">${csrfField(visit.session)}
<input type="hidden" name="response">
<div class="field"><label for="name">${words.nameLabel}</label>
<input id="name" name="name" required maxlength="${passkeyNameCharsMax}" value="${name ?? words.suggested(passkeys.length + 1)}" aria-describedby="name-hint"><p class="hint" id="name-hint">${words.nameHint}</p></div>
<button id="create-passkey">${words.create}</button></form>
<p><a href="${pathTo(visit, '/passkeys')}">${words.back}</a></p>`,
    { script: passkeyCreateScript, ...(alert === undefined ? {} : { notice: { kind: 'bad', text: alert } }) },
  );
}

function signInAgainPage(visit: AccountVisit, barrier: Barrier): FastifyReply {
  const words = textsOf(visit);
  const text = barrier === 'weak' ? words.phoneText : words.signInText;
  const isRefusal = visit.request.method === 'POST';
  return showPage(
    visit,
    words.signInTitle,
    html`${!isRefusal && html`<p>${text}</p>`}
<p><a class="button" id="sign-in-again" href="${pathTo(visit, '/passkeys/sign-in')}">${words.signIn}</a></p>
<p><a href="${pathTo(visit, '/passkeys')}">${words.back}</a></p>`,
    isRefusal ? { notice: { kind: 'bad', text } } : {},
  );
}

/** To the sign-in, by phone or better for everybody who has one, and back to adding a passkey. */
export async function signInForPasskey(visit: AccountVisit): Promise<FastifyReply> {
  const { services, request, reply, user } = visit;
  const { tenant } = request;
  const barrier = await services.database.read(tenant.id, (queries) => findBarrier(queries, visit));
  const devices = await services.database.read(tenant.id, (queries) => countActiveDevices(queries, tenant.id, user.id));
  const isStrong = barrier === 'weak' || devices > 0 || isByKey(visit);
  return startSignIn(services, accountApp, request, reply, {
    returnTo: '/passkeys/new',
    acrValues: isStrong ? 'phone' : undefined,
    again: true,
  });
}

/** Binds the challenge to this session: its grant ends with it. */
const registrantOf = ({ session, user }: AccountVisit): Registrant => ({ subject: `registration:${session.grantId}`, userId: user.id });

/** The browser's response, with the name. */
export async function takeNewPasskey(visit: AccountVisit, typed: Typed): Promise<FastifyReply> {
  const { services, request } = visit;
  const words = textsOf(visit);
  const name = nameOf(typed);
  if (name === undefined) return newPasskeyPage(visit, words.badName(passkeyNameCharsMax), '');
  const parsed = parseStrictJson(Buffer.from(typed.get('response') ?? ''));
  const attestation = parsed.ok ? parseAttestation(parsed.value) : undefined;
  if (attestation === undefined) return newPasskeyPage(visit, words.refused, name);
  const mayAdd = async (queries: Queries): Promise<boolean> =>
    (await holdSession(queries, visit)) && (await findBarrier(queries, visit)) === undefined;
  const added = await addPasskey(services, request.tenant, { ...registrantOf(visit), mayAdd }, { attestation, name }, actorOf(visit));
  if (added.ok) return goTo(visit, '/passkeys', 'donePasskeyAdded');
  await services.database.write(request.tenant.id, (queries) =>
    insertAuditEvent(queries, request.tenant.id, services.clock.nowMs(), {
      ...byOf(visit),
      type: 'passkey.failed',
      target: `user:${visit.user.id}`,
      reason: added.reason,
      data: { ip: request.clientAddress },
    }),
  );
  return newPasskeyPage(visit, added.reason === 'too_many' ? words.full(passkeysPerUserMax) : words.refused, name);
}

/** A name of one line; undefined when there is none or it is too long. */
function nameOf(typed: Typed): string | undefined {
  const name = (typed.get('name') ?? '').replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return name === '' || [...name].length > passkeyNameCharsMax ? undefined : name;
}

export async function passkeyPage(visit: AccountVisit, { id }: Params, alert?: string): Promise<FastifyReply> {
  const words = textsOf(visit);
  const passkey = (await passkeysOf(visit)).find((candidate) => candidate.id === id);
  if (passkey === undefined) throw reject('login.not_found', 'unknown_passkey');
  const action = (what: string): string => pathTo(visit, `/passkeys/${passkey.id}/${what}`);
  const revoke: Html = html`<details class="card"><summary>${words.revoke}</summary><p>${words.revokeText}</p>
<form method="post" action="${action('revoke')}">${csrfField(visit.session)}<button class="danger" id="revoke-passkey">${words.revokeNow}</button></form></details>`;
  return showPage(
    visit,
    passkey.name,
    html`<form class="card" method="post" action="${action('rename')}">${csrfField(visit.session)}
<div class="field"><label for="name">${words.nameLabel}</label><input id="name" name="name" required maxlength="${passkeyNameCharsMax}" value="${passkey.name}"></div>
<button id="rename-passkey">${words.save}</button></form>
${revoke}
<p><a href="${pathTo(visit, '/passkeys')}">${words.back}</a></p>`,
    alert === undefined ? {} : { notice: { kind: 'bad', text: alert } },
  );
}

export async function takeRename(visit: AccountVisit, typed: Typed, params: Params): Promise<FastifyReply> {
  const { services, request, user } = visit;
  const name = nameOf(typed);
  if (name === undefined) return passkeyPage(visit, params, textsOf(visit).badName(passkeyNameCharsMax));
  const renamed = await services.database.write(request.tenant.id, async (queries) => {
    const passkey = await renamePasskey(queries, request.tenant.id, user.id, params['id'] ?? '', name);
    if (passkey === undefined) return false;
    const event = { ...byOf(visit), type: 'passkey.renamed', target: `passkey:${passkey.id}`, data: { user: user.id } } as const;
    await insertAuditEvent(queries, request.tenant.id, services.clock.nowMs(), event);
    return true;
  });
  if (!renamed) throw reject('login.not_found', 'unknown_passkey');
  return goTo(visit, '/passkeys', 'donePasskeyRenamed');
}

export async function takeRevocation(visit: AccountVisit, _typed: Typed, params: Params): Promise<FastifyReply> {
  const { services, request, user } = visit;
  if (await isTooWeak(visit)) return proveMorePage(visit, '/passkeys/prove');
  const revoked = await services.database.write(request.tenant.id, (queries) =>
    revokePasskey(queries, services, request.tenant, { userId: user.id, id: params['id'] ?? '' }, actorOf(visit)),
  );
  if (!revoked) throw reject('login.not_found', 'unknown_passkey');
  return goTo(visit, '/passkeys', 'donePasskeyRevoked');
}
