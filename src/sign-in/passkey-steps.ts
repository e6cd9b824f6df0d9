// The passkey steps of a sign-in: the options for the browser, and its response, which approves. Every failure of a response
// is one answer; the reason goes to the audit record. A person nobody knows gets options of the same shape.

import type { FastifyRequest } from 'fastify';
import { createApproval } from '../approvals/approval.ts';
import { examinePasskey, loadDecoyKey, redeemPasskey, startPasskeySignIn } from '../approvals/passkeys/passkeys.ts';
import { resolveApproval } from '../approvals/resolve-approval.ts';
import { reject } from '../contract/contract-error.ts';
import { parseAssertion } from '../crypto/webauthn.ts';
import type { ApprovalId } from '../domain/ids.ts';
import { passkeyMethod } from '../domain/sign-in/login-methods.ts';
import { enforceRateLimit } from '../http/budgets/rate-limits.ts';
import { addressBlock } from '../http/client-address.ts';
import { badField, readObjectField } from '../http/page-request.ts';
import type { Parts } from '../http/services.ts';
import type { Queries } from '../storage/engine/database.ts';
import { findUser } from '../storage/people/users.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { trimTries } from '../storage/sign-in/kept-tries.ts';
import { setLoginStep } from '../storage/sign-in/login-transactions.ts';
import { approvalFacts, conflict, orRollBack, personKeyOf, rollback, type StepAnswer, withdrawEarlier } from './login-step.ts';
import type { LoginNow } from './login-view.ts';
import { note } from './noted-try.ts';

const subjectOf = ({ row }: LoginNow): string => `login:${row.id}`;

/** Somebody picks the passkey: a challenge of this sign-in, the ones before no longer work. */
export async function choosePasskey(
  services: Parts<'cache' | 'database' | 'encryption' | 'rateLimiter'>,
  request: FastifyRequest,
  login: LoginNow,
): Promise<StepAnswer> {
  const { tenant, row } = login;
  const key = `passkey:${addressBlock(request.clientAddress)}`;
  await enforceRateLimit(services.rateLimiter, tenant, 'management', 'login_starts_per_ip', key);
  const decoyKey = await loadDecoyKey(services, tenant);
  const subject = { subject: subjectOf(login), userId: row.user_id ?? undefined, subjectKey: personKeyOf(row) };
  const options = await orRollBack(services, login, async (queries) => {
    if (!(await withdrawEarlier(queries, login))) throw rollback;
    const created = await createApproval(queries, tenant, { ...approvalFacts(login), onDevices: false, withNumber: false });
    if (!created.ok || !(await setLoginStep(queries, tenant.id, row, 'passkey', created.approvalId))) throw rollback;
    return startPasskeySignIn(queries, tenant, decoyKey, subject);
  });
  if (options === undefined) throw conflict(login, 'choose');
  return { state: 'passkey', options };
}

/** The browser's response (WebAuthn 7.2). Right: the approval is approved. */
export async function verifyPasskey(
  services: Parts<'clock' | 'database' | 'rateLimiter'>,
  request: FastifyRequest,
  login: LoginNow,
): Promise<StepAnswer> {
  const { tenant, row } = login;
  const assertion = parseAssertion(readObjectField(request, 'response'));
  if (assertion === undefined) throw badField('response', 'malformed', 'an AuthenticationResponseJSON');
  await enforceRateLimit(services.rateLimiter, tenant, 'management', 'pin_attempts_per_ip', addressBlock(request.clientAddress));
  if (login.state !== 'choose' || row.step !== 'passkey' || row.approval_id === null) throw conflict(login, 'passkey');
  const approvalId: ApprovalId = row.approval_id;
  const examined = await examinePasskey(
    services.database,
    tenant,
    { subject: subjectOf(login), userId: row.user_id ?? undefined },
    assertion,
  );
  if (!examined.ok) throw await refused(services, request, login, examined.reason);
  const outcome = await services.database.write(tenant.id, async (queries) => {
    if (!(await mayUsePasskey(queries, login))) return 'address_of_provider';
    const redeemed = await redeemPasskey(queries, tenant, examined.passkey);
    if (!redeemed.ok) return redeemed.reason;
    const context = { nowMs: services.clock.nowMs(), requestId: request.id };
    const resolved = await resolveApproval(
      queries,
      tenant,
      approvalId,
      { verdict: 'approve', method: passkeyMethod, passkeyId: examined.passkey.passkeyId },
      context,
    );
    return resolved.ok ? 'approved' : 'used';
  });
  if (outcome === 'refused' || outcome === 'address_of_provider') throw await refused(services, request, login, outcome);
  if (outcome === 'used') throw conflict(login, 'passkey');
  return { state: 'approved' };
}

/** Whose address a provider answers for signs in there; administrators may sign in here, too. */
async function mayUsePasskey(queries: Queries, { tenant, row }: LoginNow): Promise<boolean> {
  return row.provider_id === null || (await findUser(queries, tenant.id, row.user_id ?? ''))?.role === 'admin';
}

/** Writes the audit record of a response that was not accepted, and makes the one answer. */
async function refused(services: Parts<'clock' | 'database'>, request: FastifyRequest, login: LoginNow, reason: string): Promise<Error> {
  const { tenant, row } = login;
  const grown = await services.database.write(tenant.id, async (queries) => {
    await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
      type: 'passkey.failed',
      requestId: request.id,
      actor: row.user_id === null ? undefined : `user:${row.user_id}`,
      target: `login:${row.id}`,
      reason,
      data: { ip: request.clientAddress },
    });
    return note(queries, request, login, { type: 'login.refused', check: 'passkey_refused', detail: reason });
  });
  await trimTries(services.database, tenant.id, grown);
  return reject('login.passkey_refused', reason);
}
