// A request to the sign-in pages, opened: transaction found, cookie checked, origin of a post checked. Whoever
// does not hold the transaction's cookie gets one 404, whatever else is wrong. Called by login-surface.ts.
import type { FastifyRequest } from 'fastify';
import { joinOrganizations } from '../approvals/organizations/join-organizations.ts';
import { raiseSignIn } from '../approvals/organizations/raise-sign-in.ts';
import { holdsTransactionCookie } from '../approvals/session/transaction-cookie.ts';
import { reject } from '../contract/contract-error.ts';
import { refuseForeignOrigin } from '../http/page-request.ts';
import { type LoginDeps, type LoginNow, loadLogin } from './login-view.ts';

/** The transaction as it was when the request came; pages of errors show its step. */
const opened = new WeakMap<FastifyRequest, LoginNow>();

/** Keeps a sign-in found by other means than its path. */
export const rememberOpened = (request: FastifyRequest, login: LoginNow): void => void opened.set(request, login);

export const openedLogin = (request: FastifyRequest): LoginNow | undefined => opened.get(request);

/** Finds the transaction of the path for the browser that holds its cookie. @throws login.not_found, login.forbidden */
export async function openLogin(services: LoginDeps, request: FastifyRequest): Promise<LoginNow> {
  const { transaction: id } = request.params as { transaction: string }; // the route's own parameter
  const login = await loadLogin(services, request.tenant, id, request.headers.cookie);
  const isBound = holdsTransactionCookie(request.headers.cookie, request.tenant.baseUrl, id, login?.row.binding_hash);
  if (login === undefined || !isBound) throw reject('login.not_found', login === undefined ? 'unknown_transaction' : 'transaction_cookie');
  if (request.method === 'POST') refuseForeignOrigin(request);
  const now = (await settleOrganizations(services, request, login))
    ? await loadLogin(services, request.tenant, id, request.headers.cookie)
    : login;
  opened.set(request, now ?? login);
  return now ?? login;
}

/** What follows for organisations from a sign-in that was approved: the person joins, or goes on with what is asked for. True: it is another now. */
async function settleOrganizations(
  services: LoginDeps,
  request: FastifyRequest,
  { tenant, row, state, answering }: LoginNow,
): Promise<boolean> {
  if (!tenant.organizations.exist || (state !== 'approved' && state !== 'organization')) return false;
  const hasJoined = await joinOrganizations(services, tenant, row, request.id);
  return (await raiseSignIn(services.database, tenant, row, answering)) || hasJoined;
}
