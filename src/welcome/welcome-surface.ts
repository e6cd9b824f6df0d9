// {base_url}/welcome: where an invitation leads. Only the post uses the link up; what it begins is a visit in this browser, in which one
// adds a passkey or a phone.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { addPasskey, type PasskeyDeps, type Registrant, startPasskeyRegistration } from '../approvals/passkeys/passkey-registration.ts';
import { accountBodyBytesMax, passkeysPerUserMax } from '../contract/limits.ts';
import { parseAttestation } from '../crypto/webauthn.ts';
import { displayNameOf } from '../domain/people/user.ts';
import { type LoginMethod, passkeyMethod, phoneMethod } from '../domain/sign-in/login-methods.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { enforceRateLimit } from '../http/budgets/rate-limits.ts';
import { readField, refuseForeignOrigin, wantsJson } from '../http/page-request.ts';
import type { Parts } from '../http/services.ts';
import { parseStrictJson } from '../http/strict-json.ts';
import { registerSurface } from '../http/surface.ts';
import { recordRefusal, sharedError } from '../http/surface-errors.ts';
import type { Page } from '../pages/page.ts';
import { presentErrorPage } from '../pages/status-page.ts';
import { tokenCharsMax } from '../pages/token-link.ts';
import { listDevicesOfUser } from '../storage/device/devices.ts';
import type { Queries } from '../storage/engine/database.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { findVisit, holdVisit } from '../storage/sign-in/invitations.ts';
import { listPasskeysOfUser } from '../storage/sign-in/passkeys.ts';
import { passkeyCatalogs } from '../texts/passkey-texts.ts';
import { type StopDeps, stopQuestion, takeStop } from './stop-page.ts';
import { linkPage, pathBelow, waysPage, welcomeLanguage } from './welcome-page.ts';
import {
  beginVisit,
  beginVisitOfMember,
  enrollmentOf,
  openWelcome,
  renewEnrollment,
  type VisitDeps,
  type WelcomeVisit,
} from './welcome-visit.ts';

type WelcomeDeps = VisitDeps & PasskeyDeps & StopDeps;

export function registerWelcome(app: FastifyInstance, services: WelcomeDeps): void {
  registerSurface(
    app,
    services,
    {
      name: 'welcome',
      envelope: 'management',
      prefix: '/welcome',
      bodies: { 'application/x-www-form-urlencoded': 'form', 'application/json': 'raw' },
      bodyBytesMax: accountBodyBytesMax,
      ofTenant: true,
      isPages: true,
      present: presentErrorPage,
    },
    (route) => {
      route('', {
        GET: (request, reply) => send(reply, 200, linkPage(request, false)),
        POST: (request, reply) => take(services, request, reply),
      });
      route('/add', { GET: (request, reply) => show(services, request, reply) });
      route('/stop', { GET: stopQuestion, POST: (request, reply) => takeStop(services, request, reply) });
      route('/status', { GET: (request, reply) => sendStatus(services, request, reply) });
      route('/phone', { POST: (request, reply) => anotherPhone(services, request, reply) });
      route('/passkey', { POST: (request, reply) => takePasskey(services, request, reply) });
    },
  );
}

const send = (reply: FastifyReply, status: number, page: Page): FastifyReply => reply.code(status).headers(page.headers).send(page.markup);

export const toWays = (request: FastifyRequest, reply: FastifyReply, query = ''): FastifyReply =>
  reply
    .code(303)
    .headers({ location: pathBelow(request.tenant, `/welcome/add${query}`), 'cache-control': 'no-store', 'referrer-policy': 'same-origin' })
    .send();

/** The post of the link. */
async function take(services: WelcomeDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  refuseForeignOrigin(request);
  await limitStarts(services, request);
  const token = readField(request, 'token', tokenCharsMax);
  const cookie = await beginVisit(services, request.tenant, token, request.id);
  if (cookie !== undefined) return toWays(request, reply.header('set-cookie', cookie));
  const member = await beginVisitOfMember(services, request.tenant, token, request.id);
  if (member.ok) return toWays(request, reply.header('set-cookie', member.setCookie));
  if (member.reason === 'here') return toJoin(request, reply, token);
  const refused = sharedError('management', 'not_found', member.reason === 'unknown' ? 'invitation' : member.reason);
  if (wantsJson(request)) throw refused;
  recordRefusal(services, request, refused);
  return send(reply, 404, linkPage(request, true));
}

/** Whoever has an account joins on the account page: the token alone is worth nothing there. */
const toJoin = ({ tenant }: FastifyRequest, reply: FastifyReply, token: string): FastifyReply =>
  reply
    .code(303)
    .headers({
      location: `${pathBelow(tenant, '/account/organizations/join')}?invitation=${encodeURIComponent(token)}`,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    })
    .send();

const limitStarts = ({ rateLimiter }: Parts<'rateLimiter'>, { tenant, clientAddress }: FastifyRequest): Promise<void> =>
  enforceRateLimit(rateLimiter, tenant, 'management', 'login_starts_per_ip', clientAddress);

/** @throws management.not_found when nobody visits, or no longer */
async function visitOf(queries: Queries, request: FastifyRequest, find = findVisit): Promise<WelcomeVisit> {
  const visit = await openWelcome(queries, request, find);
  if (visit === undefined) throw sharedError('management', 'not_found', 'no_visit');
  request.auditActor = `user:${visit.user.id}`;
  return visit;
}

/** Whether the person may add one: what the tenant signs people in by; administrators may always (design 17, 2.2). */
const takes = ({ settings }: Tenant, { role }: WelcomeVisit['user'], method: LoginMethod): boolean =>
  role === 'admin' || settings.login_methods.includes(method);

async function show(services: WelcomeDeps, request: FastifyRequest, reply: FastifyReply, alert?: string): Promise<FastifyReply> {
  const { tenant } = request;
  const found = await services.database.write(tenant.id, async (queries) => {
    const visit = await visitOf(queries, request);
    const passkeys = (await listPasskeysOfUser(queries, tenant.id, visit.user.id)).length;
    const takesPasskey = takes(tenant, visit.user, passkeyMethod) && passkeys < passkeysPerUserMax;
    const names = { name: visit.user.user_name ?? visit.user.id, displayName: displayNameOf(visit.user) };
    const options = takesPasskey ? await startPasskeyRegistration(queries, tenant, registrantOf(visit), names) : undefined;
    return { visit, passkeys, options, phones: await phonesOf(queries, request, visit) };
  });
  const { user, invitation } = found.visit;
  const query = new URL(request.url, tenant.baseUrl).searchParams;
  const page = await waysPage(request, {
    name: displayNameOf(user),
    isAdministrator: user.role === 'admin',
    passkeys: found.passkeys,
    phones: found.phones,
    passkeyOptions: found.options,
    qrUri: enrollmentOf(services, tenant, invitation),
    alert,
    isRecovery: invitation.recovery_reason !== null,
    passkeyAdded: query.get('done') === 'passkey',
    wantsAnother: query.get('phone') === 'another',
  });
  return send(reply, alert === undefined ? 200 : 400, page);
}

/** Names of the phones added since the visit began. */
async function phonesOf(queries: Queries, { tenant }: FastifyRequest, { user, invitation }: WelcomeVisit): Promise<readonly string[]> {
  const devices = await listDevicesOfUser(queries, tenant.id, user.id);
  return devices
    .filter((device) => device.state === 'active' && device.created_at >= (invitation.used_at ?? 0))
    .map((device) => device.name);
}

async function sendStatus(services: WelcomeDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const phones = await services.database.read(request.tenant.id, async (queries) =>
    phonesOf(queries, request, await visitOf(queries, request)),
  );
  return reply
    .header('cache-control', 'no-store')
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ phones: phones.length }));
}

async function anotherPhone(services: WelcomeDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  refuseForeignOrigin(request);
  await limitStarts(services, request);
  const { tenant } = request;
  await services.database.write(tenant.id, async (queries) => {
    const { invitation, user } = await visitOf(queries, request, holdVisit);
    if (!takes(tenant, user, phoneMethod)) throw sharedError('management', 'not_found', 'no_phones');
    await renewEnrollment(queries, services, tenant, { id: invitation.id, userId: user.id });
  });
  return toWays(request, reply, '?phone=another');
}

/** Binds the challenge to this visit. */
const registrantOf = ({ invitation, user }: WelcomeVisit): Registrant => ({ subject: `welcome:${invitation.id}`, userId: user.id });

async function takePasskey(services: WelcomeDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  refuseForeignOrigin(request);
  const { tenant } = request;
  const words = passkeyCatalogs[welcomeLanguage(request)];
  const typed = new URLSearchParams(typeof request.body === 'string' ? request.body : '');
  const parsed = parseStrictJson(Buffer.from(typed.get('response') ?? ''));
  const attestation = parsed.ok ? parseAttestation(parsed.value) : undefined;
  const { visit, count } = await services.database.read(tenant.id, async (queries) => {
    const found = await visitOf(queries, request);
    return { visit: found, count: (await listPasskeysOfUser(queries, tenant.id, found.user.id)).length };
  });
  if (attestation === undefined) return show(services, request, reply, words.refused);
  const mayAdd = async (queries: Queries): Promise<boolean> =>
    takes(tenant, visit.user, passkeyMethod) && (await openWelcome(queries, request, holdVisit)) !== undefined;
  const by = { actor: `user:${visit.user.id}`, requestId: request.id, asked: request.headers['accept-language'] };
  const response = { attestation, name: words.suggested(count + 1) };
  const added = await addPasskey(services, tenant, { ...registrantOf(visit), mayAdd }, response, by);
  if (added.ok) return toWays(request, reply, '?done=passkey');
  await services.database.write(tenant.id, (queries) =>
    insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
      actor: by.actor,
      requestId: request.id,
      type: 'passkey.failed',
      target: by.actor,
      reason: added.reason,
      data: { ip: request.clientAddress },
    }),
  );
  return show(services, request, reply, added.reason === 'too_many' ? words.full(passkeysPerUserMax) : words.refused);
}
