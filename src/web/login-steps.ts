// The steps of a sign-in: identify, choose a method, PIN, start again. Each is one transaction and answers with the next
// state. A person nobody knows goes through the same queries and the same answers as one we know (design 04): the decoy
// approval has no user, the decoy PIN goes to nobody.
import type { FastifyRequest } from 'fastify';
import { createApproval, subjectKeyOf } from '../approvals/approval.ts';
import { examinePin, loadPinPepper, redeemPin, sendPin } from '../approvals/pin.ts';
import { resolveApproval } from '../approvals/resolve-approval.ts';
import { type StartedLogin, startLogin } from '../approvals/start-login.ts';
import { reject } from '../contract/contract-error.ts';
import { identifierCharsMax, pinCharsMax } from '../contract/limits.ts';
import { type LoginMethod, loginMethods } from '../domain/authentication-method.ts';
import { foldKey } from '../domain/fold.ts';
import type { ApprovalId, UserId } from '../domain/ids.ts';
import { languageFor } from '../domain/language.ts';
import { addressBlock } from '../http/client-address.ts';
import { enforceRateLimit } from '../http/rate-limits.ts';
import type { Services } from '../http/services.ts';
import { insertAuditEvent } from '../storage/audit-events.ts';
import type { Queries } from '../storage/database.ts';
import { identifyLogin, setLoginStep } from '../storage/login-transactions.ts';
import { findUser, findUserByIdentifier, listUserEmails } from '../storage/users.ts';
import { badField, readField } from './login-request.ts';
import { approvalFacts, conflict, type StepAnswer, undo, undoable, withdrawEarlier } from './login-step.ts';
import { type LoginNow, offeredMethods } from './login-view.ts';
import { choosePasskey } from './passkey-steps.ts';

const isOpen = ({ state }: LoginNow): boolean => state === 'identify' || state === 'choose' || state === 'waiting' || state === 'pin';

/** Somebody says who they are. A single method is chosen at once. */
export async function identify(services: Services, request: FastifyRequest, login: LoginNow): Promise<StepAnswer> {
  const { tenant, row } = login;
  const identifier = readField(request, 'identifier', identifierCharsMax).trim();
  if (identifier === '') throw badField('identifier', 'required');
  if (!isOpen(login)) throw conflict(login, 'identify');
  await enforceRateLimit(
    services.rateLimiter,
    tenant,
    'management',
    'login_starts_per_ip',
    `identify:${addressBlock(request.clientAddress)}`,
  );
  const methods = offeredMethods(tenant, row.acr_values);
  const only = methods.length === 1 ? methods[0] : undefined;
  const pepper = only === 'email_pin' ? await loadPinPepper(services, tenant) : undefined;
  const outcome = await undoable(services, login, async (queries) => {
    const subject = await findSubject(queries, login, identifier);
    if (!(await withdrawEarlier(queries, login))) throw undo;
    if (!(await identifyLogin(queries, tenant.id, row.id, { ...subject, methods }))) throw undo;
    const identified = {
      ...row,
      user_id: subject.userId ?? null,
      subject_key: subject.subjectKey,
      mail_key: subject.mailKey,
      approval_id: null,
    };
    const then = { ...login, row: identified, methods };
    return { login: then, sent: pepper === undefined ? undefined : await startPin(queries, services, request, then, pepper) };
  });
  if (outcome === undefined) throw conflict(login, 'identify');
  if (only === undefined) return { state: 'choose', methods };
  return only === 'email_pin' ? pinAnswer(outcome.sent) : choose(services, request, outcome.login, only);
}

/** Who an identifier names. The same queries run for one that nobody has. */
async function findSubject(queries: Queries, login: LoginNow, identifier: string) {
  const found = await findUserByIdentifier(queries, login.tenant.id, identifier);
  const userId = found?.state === 'active' ? found.id : undefined;
  const email = await primaryEmail(queries, login, userId);
  const key = foldKey(identifier);
  return { identifier, userId, subjectKey: subjectKeyOf(userId, key), mailKey: email?.key ?? key };
}

/** Somebody picks a method; picking again starts it over. */
export async function chooseMethod(services: Services, request: FastifyRequest, login: LoginNow): Promise<StepAnswer> {
  const method = readField(request, 'method', 40);
  if (!isOpen(login) || login.state === 'identify') throw conflict(login, 'choose');
  const known = loginMethods.find((candidate) => candidate === method && login.methods.includes(candidate));
  if (known === undefined) throw badField('method', 'not_offered', login.methods.join(' or ') || 'another sign-in');
  return choose(services, request, login, known);
}

async function choose(services: Services, request: FastifyRequest, login: LoginNow, method: LoginMethod): Promise<StepAnswer> {
  if (method === 'passkey') return choosePasskey(services, request, login);
  return method === 'phone' ? choosePhone(services, login) : chooseEmailPin(services, request, login);
}

const pendingRetrySeconds = 30;

async function choosePhone(services: Services, login: LoginNow): Promise<StepAnswer> {
  const { tenant, row } = login;
  await enforceRateLimit(services.rateLimiter, tenant, 'management', 'approvals_per_user', row.subject_key ?? '');
  const outcome = await services.database.write(tenant.id, async (queries) => {
    if (!(await withdrawEarlier(queries, login))) return 'conflict' as const;
    const created = await createApproval(queries, tenant, { ...approvalFacts(login), onDevices: true, withNumber: true });
    if (!created.ok) return created.reason;
    return (await setLoginStep(queries, tenant.id, row.id, 'waiting', created.approvalId)) ? created : ('conflict' as const);
  });
  if (outcome === 'conflict') throw conflict(login, 'choose');
  if (outcome === 'too_many_pending')
    throw reject(
      'management.rate_limited',
      { reason: 'rate_limited', expected: 'approvals_pending_per_user' },
      {
        retryAfterSeconds: pendingRetrySeconds,
        fields: { retry_after_seconds: pendingRetrySeconds },
      },
    );
  return { state: 'waiting', number: outcome.number };
}

async function chooseEmailPin(services: Services, request: FastifyRequest, login: LoginNow): Promise<StepAnswer> {
  const pepper = await loadPinPepper(services, login.tenant);
  const sent = await undoable(services, login, (queries) => startPin(queries, services, request, login, pepper));
  if (sent === undefined) throw conflict(login, 'choose');
  return pinAnswer(sent);
}

/** Sends another PIN; the ones before no longer work. */
export async function resendPin(services: Services, request: FastifyRequest, login: LoginNow): Promise<StepAnswer> {
  if (login.state !== 'pin') throw conflict(login, 'pin');
  const { tenant, row } = login;
  const pepper = await loadPinPepper(services, tenant);
  const sent = await undoable(services, login, async (queries) => {
    const outcome = await mailPin(queries, services, request, login, pepper);
    if (outcome.ok && !(await setLoginStep(queries, tenant.id, row.id, 'pin', row.approval_id))) throw undo;
    return outcome;
  });
  if (sent === undefined) throw conflict(login, 'pin');
  return pinAnswer(sent);
}

type PinSent = Awaited<ReturnType<typeof sendPin>>;

function pinAnswer(sent: PinSent | undefined): StepAnswer {
  if (sent?.ok === false) throw reject('pin.cooldown_active', 'cooldown', { retryAfterSeconds: sent.retryAfterSeconds });
  return { state: 'pin' };
}

/** Mails a PIN and makes the approval it will decide. A mailbox that must wait changes nothing. */
async function startPin(queries: Queries, services: Services, request: FastifyRequest, login: LoginNow, pepper: Buffer): Promise<PinSent> {
  const { tenant, row } = login;
  const sent = await mailPin(queries, services, request, login, pepper);
  if (!sent.ok) return sent;
  if (!(await withdrawEarlier(queries, login))) throw undo;
  const created = await createApproval(queries, tenant, { ...approvalFacts(login), onDevices: false, withNumber: false });
  if (!created.ok || !(await setLoginStep(queries, tenant.id, row.id, 'pin', created.approvalId))) throw undo;
  return sent;
}

async function mailPin(queries: Queries, services: Services, request: FastifyRequest, login: LoginNow, pepper: Buffer): Promise<PinSent> {
  const { tenant, row } = login;
  const email = await primaryEmail(queries, login, row.user_id ?? undefined);
  const user = await findUser(queries, tenant.id, row.user_id ?? nobody);
  return sendPin(queries, services, tenant, pepper, {
    purpose: 'login',
    subjectId: row.id,
    mailKey: row.mail_key ?? '',
    to: email?.value,
    purposeName: login.clientName,
    language: languageFor(user, row.ui_locales, request.headers['accept-language']),
  });
}

/** The PIN of the mail (contract 7.17). Right: the approval is approved. */
export async function verifyPin(services: Services, request: FastifyRequest, login: LoginNow): Promise<StepAnswer> {
  const { tenant, row } = login;
  const presented = readField(request, 'pin', pinCharsMax);
  await enforceRateLimit(services.rateLimiter, tenant, 'management', 'pin_attempts_per_ip', addressBlock(request.clientAddress));
  if (login.state !== 'pin' || row.approval_id === null)
    throw reject('pin.expired', { reason: 'no_pin_at_this_step', received: login.state });
  const verdict = await examinePin(services, tenant, { purpose: 'login', subjectId: row.id }, normalizePin(presented));
  if (!verdict.ok) {
    await auditFailure(services, request, login, verdict.reason);
    if (verdict.reason === 'wrong') throw reject('pin.invalid', 'wrong_pin', { fields: { attempts_left: verdict.attemptsLeft } });
    throw reject(verdict.reason === 'locked' ? 'pin.locked' : 'pin.expired', verdict.reason);
  }
  const approvalId: ApprovalId = row.approval_id;
  const approved = await services.database.write(tenant.id, async (queries) => {
    const redeemed = await redeemPin(queries, tenant, verdict);
    if (!redeemed.ok) return false;
    const context = { nowMs: services.clock.nowMs(), requestId: request.id };
    return (await resolveApproval(queries, tenant, approvalId, { verdict: 'approve', method: 'email_pin' }, context)).ok;
  });
  if (!approved) throw reject('pin.expired', 'used');
  return { state: 'approved' };
}

/** Spaces people copy along, and full-width digits, are the same PIN. */
const normalizePin = (presented: string): string => presented.normalize('NFKC').replace(/\s/gu, '');

async function auditFailure(services: Services, request: FastifyRequest, { tenant, row }: LoginNow, reason: string): Promise<void> {
  if (reason === 'expired') return;
  await services.database.write(tenant.id, (queries) =>
    insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
      type: reason === 'locked' ? 'pin.locked' : 'pin.failed',
      requestId: request.id,
      actor: row.user_id === null ? undefined : `user:${row.user_id}`,
      target: `login:${row.id}`,
      data: { ip: request.clientAddress },
    }),
  );
}

/** A new transaction for the same request, for a browser whose first one expired. Only OIDC: a SAML session ends with its login. */
export async function restart(services: Services, request: FastifyRequest, login: LoginNow): Promise<StartedLogin> {
  const { tenant, row } = login;
  if (login.state !== 'expired' || row.client_id === null || row.redirect_uri === null) throw conflict(login, 'expired');
  await enforceRateLimit(
    services.rateLimiter,
    tenant,
    'management',
    'login_starts_per_ip',
    `identify:${addressBlock(request.clientAddress)}`,
  );
  return startLogin(
    services,
    tenant,
    {
      kind: 'oidc',
      clientId: row.client_id,
      redirectUri: row.redirect_uri,
      scope: row.scope ?? '',
      resource: row.resource ?? undefined,
      state: row.request_state ?? undefined,
      nonce: row.nonce ?? undefined,
      codeChallenge: row.code_challenge ?? undefined,
      dpopJkt: row.dpop_jkt ?? undefined,
      maxAgeSeconds: row.max_age ?? undefined,
      acrValues: row.acr_values ?? undefined,
      prompt: row.prompt ?? undefined,
      loginHint: row.identifier ?? row.login_hint ?? undefined,
      uiLocales: row.ui_locales ?? undefined,
    },
    { ip: request.clientAddress, userAgent: request.headers['user-agent'] },
  );
}

/** Nobody's id: the query runs and finds nothing. */
const nobody = 'nobody' as UserId;

async function primaryEmail(
  queries: Queries,
  { tenant }: LoginNow,
  userId: UserId | undefined,
): Promise<{ readonly value: string; readonly key: string } | undefined> {
  const emails = await listUserEmails(queries, tenant.id, userId ?? nobody);
  const email = emails.find((candidate) => candidate.is_primary === 1) ?? emails[0];
  return email === undefined ? undefined : { value: email.value, key: email.value_key };
}
