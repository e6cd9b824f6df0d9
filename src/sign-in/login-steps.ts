// The steps of a sign-in: identify, choose a method, PIN, start again. Each is one transaction and answers with the next
// state. A person nobody knows goes through the same queries and the same answers as one we know (design 04): the decoy
// approval has no user, the decoy PIN goes to nobody.

import type { FastifyRequest } from 'fastify';
import { createApproval, typedSubjectKey } from '../approvals/approval.ts';
import { responseModeOf } from '../approvals/authorization-answer.ts';
import type { MailDeps } from '../approvals/mailed/mail-delivery.ts';
import { examinePin, mailBudgetSpent, type PinDeps, type PinVerdict, redeemPin } from '../approvals/mailed/pin.ts';
import { resolveApproval } from '../approvals/resolve-approval.ts';
import { type StartedLogin, startLogin } from '../approvals/start-login.ts';
import { reject } from '../contract/contract-error.ts';
import { identifierCharsMax, pinCharsMax } from '../contract/limits.ts';
import { foldKey } from '../domain/fold.ts';
import type { ApprovalId } from '../domain/ids.ts';
import { loadRequestedClaims } from '../domain/oidc/requested-claims.ts';
import type { ExternalIdentity } from '../domain/sign-in/external-identity.ts';
import { emailPinMethod, type LoginMethod, loginMethodNames, passkeyMethod, phoneMethod } from '../domain/sign-in/login-methods.ts';
import { offeredMethods } from '../domain/sign-in/sign-in-strength.ts';
import { enforceRateLimit } from '../http/budgets/rate-limits.ts';
import { addressBlock } from '../http/client-address.ts';
import { badField, isTicked, readField } from '../http/page-request.ts';
import type { Parts } from '../http/services.ts';
import type { Queries } from '../storage/engine/database.ts';
import { findUserByIdentifier } from '../storage/people/users.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { trimTries } from '../storage/sign-in/kept-tries.ts';
import { identifyLogin, setLoginStep } from '../storage/sign-in/login-transactions.ts';
import { findProviderOfAddress } from './external/address-provider.ts';
import { leaveFor } from './external/external-steps.ts';
import { tellWithheld } from './external/inbound.ts';
import { settleIdentity, settleOrRollBack } from './external/settle-identity.ts';
import {
  approvalFacts,
  askingOf,
  conflict,
  isOpen,
  orRollBack,
  pendingIdentity,
  rollback,
  type StepAnswer,
  withdrawEarlier,
} from './login-step.ts';
import { type LoginNow, waysInto } from './login-view.ts';
import { note, noteAlone } from './noted-try.ts';
import { choosePasskey } from './passkey-steps.ts';
import { mailPin, pinAnswer, preparePin, primaryEmail, startPin } from './pin-mail.ts';
import { takePush } from './push-budget.ts';

type StepDeps = PinDeps & Parts<'outbound' | 'rateLimiter'>;

/** Somebody says who they are. A single method is chosen at once. */
export async function identify(services: StepDeps, request: FastifyRequest, login: LoginNow): Promise<StepAnswer> {
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
  const { organization, strength } = login;
  const answers = await findProviderOfAddress(services, tenant, identifier, organization);
  const provider = answers?.provider;
  const allowed = waysInto(tenant, row, organization);
  // Administrators may use a passkey beside the provider; whether somebody is one is not told, so it is offered to all.
  const methods = offeredMethods(answers?.isOnly === true ? allowed.filter((method) => method === passkeyMethod) : allowed, strength);
  // The tenant's one way is taken at once; what administrators have beside it is offered there.
  const ways = offeredMethods(organization?.signIn === 'own_providers' ? [] : tenant.settings.login_methods, strength);
  const only = provider === undefined && ways.length === 1 ? ways[0] : undefined;
  const mailing = only === emailPinMethod ? await preparePin(services, request) : undefined;
  const keepsSession = !isTicked(request, 'not_my_computer');
  const outcome = await orRollBack(services, login, async (queries) => {
    const subject = await findSubject(queries, login, identifier);
    if (!(await withdrawEarlier(queries, login))) throw rollback;
    if (
      !(await identifyLogin(queries, tenant.id, row, {
        ...subject,
        methods,
        keepsSession,
        providerId: answers?.isOnly ? provider?.id : undefined,
      }))
    )
      throw rollback;
    const identified = {
      ...row,
      user_id: subject.userId ?? null,
      subject_key: subject.subjectKey,
      mail_key: subject.mailKey,
      approval_id: null,
    };
    const then = { ...login, row: identified, methods };
    const grown = await note(queries, request, then, { type: 'login.started' }, subject.tried);
    return { login: then, grown, sent: mailing === undefined ? undefined : await startPin(queries, services, request, then, mailing) };
  });
  if (outcome === undefined) throw conflict(login, 'identify');
  await trimTries(services.database, tenant.id, outcome.grown);
  if (provider !== undefined) {
    const { location } = await leaveFor(services, request, login, { provider, identifier });
    return { state: 'choose', methods, redirect_to: location };
  }
  // A mailbox that was sent enough, by strangers too, keeps nobody from the other ways.
  const isCooling = outcome.sent?.ok === false && methods.length > 1;
  if (only === undefined || isCooling) return { state: 'choose', methods };
  return only === emailPinMethod ? pinAnswer(outcome.sent) : choose(services, request, outcome.login, only);
}

/** Who an identifier names. The same queries run for one that nobody has. */
async function findSubject(queries: Queries, login: LoginNow, identifier: string) {
  const found = await findUserByIdentifier(queries, login.tenant.id, identifier);
  const userId = found?.state === 'active' ? found.id : undefined;
  const email = await primaryEmail(queries, login, userId);
  const key = foldKey(identifier);
  const check = found === undefined ? 'unknown_person' : userId === undefined ? 'user_suspended' : undefined;
  const tried = { userId: found?.id, typed: identifier, check } as const;
  return { identifier, tried, userId, subjectKey: typedSubjectKey(key), mailKey: email?.key ?? key };
}

/** Somebody picks a method; picking again starts it over. */
export async function chooseMethod(services: StepDeps, request: FastifyRequest, login: LoginNow): Promise<StepAnswer> {
  const method = readField(request, 'method', 40);
  if (!isOpen(login) || login.state === 'account' || login.state === 'identify') throw conflict(login, 'choose');
  const known = loginMethodNames.find((candidate) => candidate === method && login.methods.includes(candidate));
  if (known === undefined) throw badField('method', 'not_offered', login.methods.join(' or ') || 'another sign-in');
  return choose(services, request, login, known);
}

async function choose(services: StepDeps, request: FastifyRequest, login: LoginNow, method: LoginMethod): Promise<StepAnswer> {
  if (method === passkeyMethod) return choosePasskey(services, request, login);
  return method === phoneMethod ? choosePhone(services, request, login) : chooseEmailPin(services, request, login);
}

const pendingRetrySeconds = 30;

async function choosePhone(
  services: Parts<'cache' | 'clock' | 'database' | 'encryption' | 'rateLimiter'>,
  request: FastifyRequest,
  login: LoginNow,
): Promise<StepAnswer> {
  const { tenant, row } = login;
  const asking = await askingOf(services, request, login);
  const { asker } = asking;
  const isCapped = await takePush(services, login, asking);
  const outcome = await orRollBack(services, login, async (queries) => {
    if (!(await withdrawEarlier(queries, login))) throw rollback;
    const created = await createApproval(queries, tenant, { ...approvalFacts(login), asker, onDevices: true, withNumber: true, isCapped });
    if (!created.ok) return created.reason;
    if (created.isCapped)
      await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
        type: 'approval.capped',
        requestId: request.id,
        target: `user:${row.user_id}`,
        data: { approval: created.approvalId, ip: row.initiated_ip },
      });
    if (!(await setLoginStep(queries, tenant.id, row, 'waiting', created.approvalId))) throw rollback;
    return created;
  });
  if (outcome === undefined) throw conflict(login, 'choose');
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

async function chooseEmailPin(services: PinDeps, request: FastifyRequest, login: LoginNow): Promise<StepAnswer> {
  const mailing = await preparePin(services, request);
  const sent = await orRollBack(services, login, (queries) => startPin(queries, services, request, login, mailing));
  if (sent === undefined) throw conflict(login, 'choose');
  return pinAnswer(sent);
}

/** Sends another PIN; the ones before no longer work. */
export async function resendPin(services: PinDeps, request: FastifyRequest, login: LoginNow): Promise<StepAnswer> {
  if (login.state !== 'pin') throw conflict(login, 'pin');
  const { tenant, row } = login;
  const mailing = await preparePin(services, request);
  const sent = await orRollBack(services, login, async (queries) => {
    const outcome = await mailPin(queries, services, request, login, mailing);
    if (outcome.ok && !(await setLoginStep(queries, tenant.id, row, 'pin', row.approval_id))) throw rollback;
    return outcome;
  });
  if (sent === undefined) throw conflict(login, 'pin');
  return pinAnswer(sent);
}

/** The PIN of the mail (contract 7.17). Right: the approval is approved. */
export async function verifyPin(services: StepDeps, request: FastifyRequest, login: LoginNow): Promise<StepAnswer> {
  const { tenant, row } = login;
  const presented = readField(request, 'pin', pinCharsMax);
  await enforceRateLimit(services.rateLimiter, tenant, 'management', 'pin_attempts_per_ip', addressBlock(request.clientAddress));
  if (login.state !== 'pin' || row.approval_id === null)
    throw reject('pin.expired', { reason: 'no_pin_at_this_step', received: login.state });
  const asking = await askingOf(services, request, login);
  const verdict = await examinePin(services, tenant, { purpose: 'login', subjectId: row.id }, normalizePin(presented), asking);
  if (!verdict.ok) {
    await recordFailure(services, request, login, verdict);
    if (verdict.reason === 'wrong') throw reject('pin.invalid', 'wrong_pin', { fields: { attempts_left: verdict.attemptsLeft } });
    throw reject(verdict.reason === 'locked' ? 'pin.locked' : 'pin.expired', { reason: verdict.reason, expected: verdict.budget });
  }
  const approvalId: ApprovalId = row.approval_id;
  const identity = row.user_id === null ? pendingIdentity(row) : undefined;
  if (identity !== undefined) return continueAsProven(services, request, login, { identity, verdict });
  const approved = await services.database.write(tenant.id, async (queries) => {
    const redeemed = await redeemPin(queries, tenant, verdict);
    if (!redeemed.ok) return false;
    const context = { nowMs: services.clock.nowMs(), requestId: request.id };
    return (await resolveApproval(queries, tenant, approvalId, { verdict: 'approve', method: emailPinMethod }, context)).ok;
  });
  if (!approved) throw reject('pin.expired', 'used');
  return { state: 'approved' };
}

interface Proven {
  readonly identity: ExternalIdentity;
  readonly verdict: PinVerdict & { readonly ok: true };
}

/** The email another provider named is the person's: on with their sign-in. */
async function continueAsProven(
  services: StepDeps,
  request: FastifyRequest,
  login: LoginNow,
  { identity, verdict }: Proven,
): Promise<StepAnswer> {
  const { tenant, row } = login;
  const mailing = await preparePin(services, request);
  const arrival = { identity: { ...identity, emailCounts: true }, keepsSession: row.keeps_session === 1, byPin: true, mailing };
  const settled = await settleOrRollBack(services, login, async (queries) => {
    const isOwn = verdict.mailKey === row.mail_key && (await redeemPin(queries, tenant, verdict)).ok;
    return isOwn ? settleIdentity(queries, services, request, login, arrival) : undefined;
  });
  if (settled === undefined) throw reject('pin.expired', 'used');
  if (!settled.ok) throw reject('login.external_refused', settled.reason);
  await tellWithheld(services, request, identity, settled);
  return settled.answer;
}

/** Spaces people copy along, and full-width digits, are the same PIN. */
const normalizePin = (presented: string): string => presented.normalize('NFKC').replace(/\s/gu, '');

async function recordFailure(
  services: Parts<'database'> & MailDeps,
  request: FastifyRequest,
  login: LoginNow,
  verdict: PinVerdict & { readonly ok: false },
): Promise<void> {
  const { tenant, row } = login;
  const { reason } = verdict;
  const line = { type: 'code.wrong', check: `code_${reason}` } as const;
  if (reason === 'expired') return noteAlone(services, request, login, line);
  const grown = await services.database.write(tenant.id, async (queries) => {
    await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
      type: reason === 'locked' ? 'pin.locked' : 'pin.failed',
      requestId: request.id,
      actor: row.user_id === null ? undefined : `user:${row.user_id}`,
      target: `login:${row.id}`,
      data: { ip: request.clientAddress },
    });
    const person = { userId: row.user_id ?? undefined, asked: request.headers['accept-language'] };
    if (reason === 'locked' && verdict.isTold === true) await mailBudgetSpent(queries, services, tenant, person);
    return note(queries, request, login, line);
  });
  await trimTries(services.database, tenant.id, grown);
}

/** A new transaction for the same request, for a browser whose first one expired. Only OIDC: a SAML session ends with its login. */
export async function restart(
  services: Parts<'database' | 'rateLimiter'>,
  request: FastifyRequest,
  login: LoginNow,
): Promise<StartedLogin> {
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
      isNewClient: row.document_client_id !== null,
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
      responseMode: responseModeOf(row),
      claims: loadRequestedClaims(row.claims),
      essentialAcr: row.essential_acr ?? undefined,
      organizationId: row.organization_id ?? undefined,
      idTokenHintUser: row.id_token_hint_user ?? undefined,
    },
    { ip: request.clientAddress, userAgent: request.headers['user-agent'] },
  );
}
