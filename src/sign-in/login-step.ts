// What every step of a sign-in is made from: the facts of its approval, the withdrawal of an earlier choice, the refusal of a
// step out of order. Used by the steps' own files.
import type { FastifyRequest } from 'fastify';
import { subjectKeyOf } from '../approvals/approval.ts';
import type { Asker, Asking } from '../approvals/asker.ts';
import { withdrawApproval } from '../approvals/resolve-approval.ts';
import { loadAskers } from '../approvals/session/known-browser.ts';
import { reject } from '../contract/contract-error.ts';
import type { ExternalIdentity } from '../domain/sign-in/external-identity.ts';
import { addressBlock } from '../http/client-address.ts';
import type { Parts } from '../http/services.ts';
import type { Queries } from '../storage/engine/database.ts';
import type { LoginNow } from './login-view.ts';

export type StepAnswer = Readonly<Record<string, unknown>>;

export const conflict = (login: LoginNow, step: string): Error =>
  reject('login.conflict', { reason: 'wrong_state', received: login.state, expected: step });

/** Whom guesses are counted by, over all names of a person. */
export const personKeyOf = ({ user_id: userId, subject_key: subjectKey }: LoginNow['row']): string =>
  userId === null ? (subjectKey ?? '') : subjectKeyOf(userId, '');

/** Who asks by the browser of a request, for whichever mailbox. */
export const askersOf = (services: Parts<'cache' | 'clock' | 'encryption'>, request: FastifyRequest): Promise<(mailKey: string) => Asker> =>
  loadAskers(services, request.tenant, request.headers.cookie, addressBlock(request.clientAddress), services.clock.nowMs());

/** Who asks for the person of this sign-in. */
export async function askerOf(
  services: Parts<'cache' | 'clock' | 'encryption'>,
  request: FastifyRequest,
  { row }: LoginNow,
): Promise<Asker> {
  return (await askersOf(services, request))(row.mail_key ?? '');
}

/** The same, as it is counted and recorded. */
export const askingOf = async (
  services: Parts<'cache' | 'clock' | 'encryption'>,
  request: FastifyRequest,
  login: LoginNow,
): Promise<Asking> => ({ asker: await askerOf(services, request, login), userId: login.row.user_id ?? undefined, requestId: request.id });

/** What the approval of a sign-in says about it. */
export const approvalFacts = ({ row }: LoginNow) => ({
  kind: row.kind === 'saml' ? ('saml_login' as const) : ('oidc_login' as const),
  userId: row.user_id ?? undefined,
  subjectKey: row.subject_key ?? '',
  clientId: row.client_id ?? undefined,
  serviceProviderId: row.service_provider_id ?? undefined,
  scope: row.scope ?? undefined,
  initiatedIp: row.initiated_ip ?? undefined,
  initiatedUserAgent: row.initiated_user_agent ?? undefined,
  expiresAtMs: row.expires_at,
  transactionId: row.id,
});

/** False when the approval so far was decided in the meantime: then there is nothing to choose any more. */
export async function withdrawEarlier(queries: Queries, { tenant, row }: LoginNow): Promise<boolean> {
  return row.approval_id === null || withdrawApproval(queries, tenant, row.approval_id);
}

/** Thrown inside a transaction that must leave nothing behind, because the sign-in is not at this step any more. */
export const rollback = new Error('the sign-in is not at this step');

/** One transaction; undefined when it was rolled back. */
export async function orRollBack<T>(
  services: Parts<'database'>,
  { tenant }: LoginNow,
  work: (queries: Queries) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await services.database.write(tenant.id, work);
  } catch (error) {
    if (error === rollback) return undefined;
    throw error;
  }
}

/** True while somebody may still say who they are and how they prove it. */
export const isOpen = ({ state }: LoginNow): boolean =>
  state === 'account' || state === 'identify' || state === 'choose' || state === 'waiting' || state === 'pin';

/** Who came from another provider to this sign-in, if anybody did. */
export const pendingIdentity = ({ external_identity: text }: Pick<LoginNow['row'], 'external_identity'>): ExternalIdentity | undefined =>
  text === null ? undefined : (JSON.parse(text) as ExternalIdentity); // written from one
