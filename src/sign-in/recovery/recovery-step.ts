// The step of a sign-in for whoever lost the phone (design 14, 3): a recovery code, in place of a method. A wrong code, a used
// one, one of nobody: the same statements and the same answer.
import type { FastifyRequest } from 'fastify';
import { createApproval } from '../../approvals/approval.ts';
import {
  loadRecoveryPepper,
  type RecoveryCodeDeps,
  redeemRecoveryCode,
  takeRecoveryAttempt,
} from '../../approvals/recovery/recovery-codes.ts';
import { resolveApproval } from '../../approvals/resolve-approval.ts';
import { reject } from '../../contract/contract-error.ts';
import { recoveryCodeCharsMax } from '../../contract/limits.ts';
import { recoveryMethod } from '../../domain/sign-in/login-methods.ts';
import { offersRecovery } from '../../domain/sign-in/sign-in-strength.ts';
import { enforceRateLimit } from '../../http/budgets/rate-limits.ts';
import { addressBlock } from '../../http/client-address.ts';
import { readField } from '../../http/page-request.ts';
import type { Parts } from '../../http/services.ts';
import { insertAuditEvent } from '../../storage/records/audit-events.ts';
import { setLoginStep } from '../../storage/sign-in/login-transactions.ts';
import { approvalFacts, askerOf, conflict, orRollBack, personKeyOf, rollback, type StepAnswer, withdrawEarlier } from '../login-step.ts';
import type { LoginNow } from '../login-view.ts';

/** Whether this sign-in takes a recovery code now: somebody was named, and nothing stronger is asked for. The same for everybody. */
export const takesRecoveryCode = ({ tenant, row, state, organization, strength }: LoginNow): boolean =>
  organization?.signIn !== 'own_providers' &&
  (state === 'choose' || state === 'waiting' || state === 'pin') &&
  row.provider_id === null &&
  offersRecovery(tenant.settings, { ...strength, external_identity: row.external_identity });

/** A recovery code. Right: it is used up and the sign-in is approved. */
export async function takeRecoveryCode(
  services: RecoveryCodeDeps & Parts<'rateLimiter'>,
  request: FastifyRequest,
  login: LoginNow,
): Promise<StepAnswer> {
  const { tenant, row } = login;
  const code = readField(request, 'code', recoveryCodeCharsMax);
  await enforceRateLimit(services.rateLimiter, tenant, 'management', 'pin_attempts_per_ip', addressBlock(request.clientAddress));
  if (!takesRecoveryCode(login)) throw conflict(login, 'choose');
  const budget = { asker: await askerOf(services, request, login), person: personKeyOf(row) };
  const pepper = await loadRecoveryPepper(services, tenant);
  const attemptsLeft = await takeRecoveryAttempt(services, tenant, row.id, budget);
  if (attemptsLeft === undefined) throw await failed(services, request, login, undefined);
  const asked = row.ui_locales ?? request.headers['accept-language'];
  const presented = { userId: row.user_id ?? undefined, budget, code, requestId: request.id, asked };
  const outcome = await orRollBack(services, login, async (queries) => {
    if (!(await redeemRecoveryCode(queries, services, tenant, pepper, presented))) return 'wrong';
    if (!(await withdrawEarlier(queries, login))) throw rollback;
    const created = await createApproval(queries, tenant, { ...approvalFacts(login), onDevices: false, withNumber: false });
    if (!created.ok || !(await setLoginStep(queries, tenant.id, row, 'choose', created.approvalId))) throw rollback;
    const context = { nowMs: services.clock.nowMs(), requestId: request.id };
    const decision = { verdict: 'approve', method: recoveryMethod } as const;
    if (!(await resolveApproval(queries, tenant, created.approvalId, decision, context)).ok) throw rollback;
    return 'approved';
  });
  if (outcome === undefined) throw conflict(login, 'choose');
  if (outcome === 'wrong') throw await failed(services, request, login, attemptsLeft);
  return { state: 'approved' };
}

/** Writes the audit record of a code that was not taken, and makes the answer; `attemptsLeft` undefined: none was. */
async function failed(
  services: Parts<'clock' | 'database'>,
  request: FastifyRequest,
  { tenant, row }: LoginNow,
  attemptsLeft: number | undefined,
): Promise<Error> {
  const isLocked = attemptsLeft === undefined || attemptsLeft <= 0;
  await services.database.write(tenant.id, (queries) =>
    insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
      type: isLocked ? 'recovery_code.locked' : 'recovery_code.failed',
      requestId: request.id,
      actor: row.user_id === null ? undefined : `user:${row.user_id}`,
      target: `login:${row.id}`,
      data: { ip: request.clientAddress },
    }),
  );
  if (isLocked) return reject('pin.locked', 'no_attempts_left');
  return reject('pin.invalid', 'wrong_recovery_code', { fields: { attempts_left: attemptsLeft } });
}
