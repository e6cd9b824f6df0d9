// The end of a sign-in, only ever by a post from the browser that holds the transaction's cookie. A compare-and-set decides
// who finishes; in its transaction user state and access gate are read again and the authorization code is made, or the SAML
// session becomes ready. Called by web/. The caller has checked the cookie and answers with the location after the commit.

import type { KeyEncryption } from '../crypto/key-encryption.ts';
import { hashSecret } from '../crypto/secret-hash.ts';
import type { Client } from '../domain/client.ts';
import type { GrantId, TransactionId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { Clock } from '../platform/clock.ts';
import { randomSecret, uuidV7 } from '../platform/random.ts';
import { isAssigned } from '../storage/access-assignments.ts';
import { type ApprovalTable, findApproval } from '../storage/approvals.ts';
import { insertAuditEvent } from '../storage/audit-events.ts';
import { insertAuthorizationCode } from '../storage/authorization-codes.ts';
import { findClient } from '../storage/clients.ts';
import { insertConsent } from '../storage/consents.ts';
import type { Database, Queries } from '../storage/database.ts';
import { cancelLogin, completeLogin, type LoginTransactionTable, markLoginRefused } from '../storage/login-transactions.ts';
import { findUser, type UserTable } from '../storage/users.ts';
import { withdrawApproval } from './resolve-approval.ts';
import { finishSamlSignIn } from './saml-sign-in.ts';

export interface FinishDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly encryption: KeyEncryption;
}

export interface FinishedLogin {
  /** Where the browser goes: the client's redirect_uri with its answer, or the SAML post-back. */
  readonly location: string;
  /** False when the client hears of a refusal instead. */
  readonly signedIn: boolean;
}

/** Finishes an approved sign-in once. `not_approved`: not approved (yet), expired, or finished by another request. */
export async function finishLogin(
  deps: FinishDeps,
  tenant: Tenant,
  id: TransactionId,
  requestId: string,
): Promise<Outcome<FinishedLogin, 'not_approved'>> {
  return deps.database.write(tenant.id, async (queries) => {
    const login = await completeLogin(queries, tenant.id, id);
    if (login === undefined) return fail('not_approved');
    const approval = await findApproval(queries, tenant.id, login.approval_id ?? '');
    const user = approval?.user_id == null ? undefined : await findUser(queries, tenant.id, approval.user_id);
    const client = login.client_id === null ? undefined : await findClient(queries, tenant.id, login.client_id);
    const refusal = user === undefined || approval === undefined ? 'unknown_user' : await refusalOf(queries, tenant, login, client, user);
    const location =
      refusal === undefined && approval !== undefined && user !== undefined
        ? await complete(deps, queries, tenant, login, client, approval, user)
        : await refuse(deps, queries, tenant, login);
    await insertAuditEvent(queries, tenant.id, deps.clock.nowMs(), {
      type: refusal === undefined ? 'login.finished' : 'login.refused',
      requestId,
      actor: user === undefined ? undefined : `user:${user.id}`,
      target: targetOf(login),
      reason: refusal,
      data: { transaction: login.id, method: approval?.method, ip: login.initiated_ip },
    });
    return location === undefined ? fail('not_approved') : { ok: true, location, signedIn: refusal === undefined };
  });
}

/** Gives the sign-in up at the person's wish, once: `access_denied` to the client, a session without subject for SAML. */
export async function abandonLogin(
  deps: FinishDeps,
  tenant: Tenant,
  id: TransactionId,
  requestId: string,
): Promise<Outcome<FinishedLogin, 'finished'>> {
  return deps.database.write(tenant.id, async (queries) => {
    const login = await cancelLogin(queries, tenant.id, id);
    if (login === undefined) return fail('finished');
    if (login.approval_id !== null) await withdrawApproval(queries, tenant, login.approval_id);
    const location = await accessDenied(deps, queries, tenant, login);
    await insertAuditEvent(queries, tenant.id, deps.clock.nowMs(), {
      type: 'login.cancelled',
      requestId,
      actor: login.user_id === null ? undefined : `user:${login.user_id}`,
      target: targetOf(login),
      data: { transaction: login.id, ip: login.initiated_ip },
    });
    return location === undefined ? fail('finished') : { ok: true, location, signedIn: false };
  });
}

const targetOf = (login: LoginTransactionTable): string =>
  login.kind === 'oidc' ? `client:${login.client_id}` : `service_provider:${login.service_provider_id}`;

/** Why a sign-in that was approved must not complete after all; SAML reads its own gate at the post-back. */
async function refusalOf(
  queries: Queries,
  tenant: Tenant,
  login: LoginTransactionTable,
  client: Client | undefined,
  user: UserTable,
): Promise<'user_inactive' | 'client_disabled' | 'access_gate' | undefined> {
  if (user.state !== 'active') return 'user_inactive';
  if (login.kind === 'saml') return undefined;
  if (client === undefined || !client.enabled) return 'client_disabled';
  if (client.accessPolicy === 'assigned' && !(await isAssigned(queries, tenant.id, { kind: 'client', id: client.clientId }, user.id)))
    return 'access_gate';
  return undefined;
}

async function complete(
  deps: FinishDeps,
  queries: Queries,
  tenant: Tenant,
  login: LoginTransactionTable,
  client: Client | undefined,
  approval: ApprovalTable,
  user: UserTable,
): Promise<string | undefined> {
  const authTimeSeconds = Math.floor((approval.decided_at ?? 0) / 1000);
  if (login.kind === 'saml')
    return finishSamlSignIn(queries, deps.encryption, tenant, login.saml_session_sealed ?? '', { userId: user.id, authTimeSeconds });
  if (login.client_id === null || login.redirect_uri === null) throw new Error(`login ${login.id} has no client`);
  const code = randomSecret();
  await insertAuthorizationCode(queries, tenant.id, {
    codeHash: hashSecret(code),
    redirectUri: login.redirect_uri,
    codeChallenge: login.code_challenge ?? undefined,
    dpopJkt: login.dpop_jkt ?? undefined,
    lifetimeSeconds: tenant.settings.authorization_code_lifetime_seconds,
    grant: {
      id: uuidV7(deps.clock.nowMs()) as GrantId, // made here
      clientId: login.client_id,
      userId: user.id,
      scope: login.scope ?? '',
      resource: login.resource ?? undefined,
      authTimeSeconds,
      acr: approval.acr ?? undefined,
      amr: JSON.parse(approval.amr ?? '[]'),
      nonce: login.nonce ?? undefined,
      maxAgeSeconds: login.max_age ?? undefined,
    },
  });
  if (client?.requireConsent === true) await insertConsent(queries, tenant.id, user.id, login.client_id, login.scope ?? '');
  return answerTo(tenant, login, { code });
}

async function refuse(deps: FinishDeps, queries: Queries, tenant: Tenant, login: LoginTransactionTable): Promise<string | undefined> {
  await markLoginRefused(queries, tenant.id, login.id);
  return accessDenied(deps, queries, tenant, login);
}

function accessDenied(deps: FinishDeps, queries: Queries, tenant: Tenant, login: LoginTransactionTable): Promise<string | undefined> {
  if (login.kind === 'saml') return finishSamlSignIn(queries, deps.encryption, tenant, login.saml_session_sealed ?? '', undefined);
  return Promise.resolve(answerTo(tenant, login, { error: 'access_denied' }));
}

/** The redirect_uri with an authorization response: RFC 6749 4.1.2, RFC 9207 `iss`. */
function answerTo(tenant: Tenant, login: LoginTransactionTable, answer: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(answer);
  if (login.request_state !== null) query.set('state', login.request_state);
  query.set('iss', tenant.baseUrl);
  const uri = login.redirect_uri ?? '';
  return `${uri}${uri.includes('?') ? '&' : '?'}${query}`;
}
