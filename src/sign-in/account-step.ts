// Sessions at the sign-in page (design 14, 1): a request that reached it without the browser's cookie is answered from there,
// several accounts are chosen from, and a session that is too weak is raised by the same person.
import type { FastifyRequest } from 'fastify';
import { type FinishDeps, type FinishRequest, finishLogin, refuseLogin } from '../approvals/finish-login.ts';
import { knownSubject, wishOf } from '../approvals/session/sso-session.ts';
import { reject } from '../contract/contract-error.ts';
import { identifierCharsMax } from '../contract/limits.ts';
import type { Destination } from '../domain/oidc/authorization-response.ts';
import { judgeSession, type SessionDecision } from '../domain/sign-in/sso-session.ts';
import { addressBlock } from '../http/client-address.ts';
import { badField, isTicked, readOptionalField } from '../http/page-request.ts';
import type { Parts } from '../http/services.ts';
import { identifyLogin, setLoginSession } from '../storage/sign-in/login-transactions.ts';
import { openLogin } from './login-request.ts';
import { conflict, type StepAnswer } from './login-step.ts';
import type { LoginDeps, LoginNow } from './login-view.ts';

/** What finishing needs of its request. */
export const finishRequestOf = (request: FastifyRequest): FinishRequest => ({
  requestId: request.id,
  cookies: request.headers.cookie,
  addressBlock: addressBlock(request.clientAddress),
  keepsSession: request.method !== 'POST' || !isTicked(request, 'not_my_computer'),
});

/** A page being shown: the browser's sessions answer the request where they can, and always where it must not ask (`prompt=none`). */
export async function resumeLogin(
  services: FinishDeps & LoginDeps,
  request: FastifyRequest,
  login: LoginNow,
): Promise<{ readonly login: LoginNow } | Destination> {
  const { decision, row } = login;
  const isSilent = row.prompt?.split(' ').includes('none') === true;
  if (decision !== undefined && decision.kind !== 'choose') await apply(services, login, decision);
  const now = decision === undefined || decision.kind === 'choose' ? login : await openLogin(services, request);
  if (!isSilent || now.state === 'finished' || now.state === 'expired') return { login: now };
  const answer =
    now.state === 'approved' && now.consent === undefined
      ? await finishLogin(services, login.tenant, row.id, finishRequestOf(request))
      : await refuseLogin(services, login.tenant, row.id, finishRequestOf(request), silentErrorOf(now));
  return answer.ok ? answer : { login: await openLogin(services, request) };
}

function silentErrorOf({ state }: LoginNow): string {
  if (state === 'approved') return 'consent_required';
  if (state === 'account' || state === 'organization') return 'account_selection_required';
  return state === 'choose' ? 'interaction_required' : 'login_required';
}

/** Somebody picks one of the accounts this browser is signed in to, or another. */
export async function chooseAccount(services: Parts<'clock' | 'database'>, request: FastifyRequest, login: LoginNow): Promise<StepAnswer> {
  if (login.state !== 'account') throw conflict(login, 'account');
  if (isTicked(request, 'other')) {
    await apply(services, login, { kind: 'sign_in', session: undefined });
    return { state: 'identify' };
  }
  const account = readOptionalField(request, 'account', identifierCharsMax);
  const session = login.accounts.find(({ id }) => id === account);
  if (session === undefined) throw badField('account', 'unknown', 'one of the accounts shown');
  const decision = judgeSession(session, wishOf(login.row, login.organization), services.clock.nowMs());
  await apply(services, login, decision);
  return { state: decision.kind === 'continue' ? 'approved' : 'choose' };
}

async function apply(services: Parts<'database'>, login: LoginNow, decision: SessionDecision): Promise<void> {
  const { tenant, row } = login;
  const isDone = await services.database.write(tenant.id, (queries) => {
    if (decision.kind === 'continue') return setLoginSession(queries, tenant.id, row.id, decision.session);
    const session = decision.kind === 'choose' ? undefined : decision.session;
    if (session === undefined) return setLoginSession(queries, tenant.id, row.id, undefined);
    return identifyLogin(queries, tenant.id, row, { ...knownSubject(session), methods: login.methods });
  });
  if (!isDone) throw reject('login.conflict', { reason: 'wrong_state', received: login.state, expected: 'account' });
}
