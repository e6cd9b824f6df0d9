// The PINs a sign-in mails: to the person it is of, to nobody for a decoy, and to the address another provider named, which has to
// be proven. Used by the steps that choose, resend and prove.
import type { FastifyRequest } from 'fastify';
import { createApproval, isTypedSubject } from '../approvals/approval.ts';
import { type Asker, nobody } from '../approvals/asker.ts';
import type { MailDeps } from '../approvals/mailed/mail-delivery.ts';
import { loadPinPepper, sendPin } from '../approvals/mailed/pin.ts';
import { reject } from '../contract/contract-error.ts';
import { foldKey } from '../domain/fold.ts';
import type { UserId } from '../domain/ids.ts';
import { languageFor } from '../domain/language.ts';
import type { Parts } from '../http/services.ts';
import type { Queries } from '../storage/engine/database.ts';
import { listUserEmails } from '../storage/people/user-lists.ts';
import { findUser, findUserOfEmail } from '../storage/people/users.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { setLoginStep } from '../storage/sign-in/login-transactions.ts';
import { approvalFacts, askersOf, pendingIdentity, rollback, type StepAnswer, withdrawEarlier } from './login-step.ts';
import type { LoginNow } from './login-view.ts';
import { note } from './noted-try.ts';

export type PinSent = Awaited<ReturnType<typeof sendPin>>;

/** What a step answers whose PIN was mailed, or had to wait. @throws pin.cooldown_active */
export function pinAnswer(sent: PinSent | undefined): StepAnswer {
  if (sent?.ok === false)
    throw reject('pin.cooldown_active', { reason: 'cooldown', expected: sent.budget }, { retryAfterSeconds: sent.retryAfterSeconds });
  return { state: 'pin' };
}

/** What mailing a PIN needs from before its transaction. */
export interface PinMailing {
  readonly pepper: Buffer;
  readonly askers: (mailKey: string) => Asker;
}

export async function preparePin(services: Parts<'cache' | 'clock' | 'encryption'>, request: FastifyRequest): Promise<PinMailing> {
  return { pepper: await loadPinPepper(services, request.tenant), askers: await askersOf(services, request) };
}

/** Mails a PIN and makes the approval it will decide. A mailbox that must wait changes nothing. */
export async function startPin(
  queries: Queries,
  services: MailDeps,
  request: FastifyRequest,
  login: LoginNow,
  mailing: PinMailing,
): Promise<PinSent> {
  const { tenant, row } = login;
  const sent = await mailPin(queries, services, request, login, mailing);
  if (!sent.ok) return sent;
  if (!(await withdrawEarlier(queries, login))) throw rollback;
  const created = await createApproval(queries, tenant, { ...approvalFacts(login), onDevices: false, withNumber: false });
  if (!created.ok || !(await setLoginStep(queries, tenant.id, row, 'pin', created.approvalId))) throw rollback;
  return sent;
}

/** Mails another PIN; the ones before no longer work. */
export async function mailPin(
  queries: Queries,
  services: MailDeps,
  request: FastifyRequest,
  login: LoginNow,
  { pepper, askers }: PinMailing,
): Promise<PinSent> {
  const { tenant, row } = login;
  const email = await primaryEmail(queries, login, row.user_id ?? undefined);
  const user = await findUser(queries, tenant.id, row.user_id ?? nobody);
  const sent = await sendPin(queries, services, tenant, pepper, {
    purpose: 'login',
    subjectId: row.id,
    asker: askers(row.mail_key ?? ''),
    userId: row.user_id ?? undefined,
    requestId: request.id,
    mailKey: row.mail_key ?? '',
    askedKey: row.subject_key !== null && isTypedSubject(row.subject_key) ? row.subject_key : undefined,
    to: (await provableAddress(queries, login)) ?? email?.value,
    purposeName: login.clientName,
    language: languageFor(user, row.ui_locales, request.headers['accept-language']),
  });
  const check = sent.ok && !sent.isCapped ? undefined : 'too_many_codes';
  await note(queries, request, login, { type: sent.ok ? 'code.sent' : 'login.refused', check });
  if (sent.ok && sent.isCapped)
    await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
      type: 'pin.capped',
      requestId: request.id,
      target: `user:${row.user_id}`,
      data: { login: row.id, ip: row.initiated_ip },
    });
  return sent;
}

/** The address another provider named and nobody has proven: as somebody here has it, else as it was named. */
async function provableAddress(queries: Queries, { tenant, row }: LoginNow): Promise<string | undefined> {
  const email = row.user_id === null ? pendingIdentity(row)?.email : undefined;
  return email === undefined ? undefined : ((await findUserOfEmail(queries, tenant.id, foldKey(email)))?.address ?? email);
}

/** The address mail to somebody goes to, and its folded form. */
export async function primaryEmail(
  queries: Queries,
  { tenant }: Pick<LoginNow, 'tenant'>,
  userId: UserId | undefined,
): Promise<{ readonly value: string; readonly key: string } | undefined> {
  const emails = await listUserEmails(queries, tenant.id, userId ?? nobody);
  const email = emails.find((candidate) => candidate.is_primary === 1) ?? emails[0];
  return email === undefined ? undefined : { value: email.value, key: email.value_key };
}
