// The body of a CIBA push (CIBA Core 10.3): tokens for an approved request, minted and redeemed once and kept sealed so that
// every attempt sends the same bytes, or an error. Called by the delivery job.
import type { Client } from '../../domain/client/client.ts';
import { registeredSpelling } from '../../domain/client/resource.ts';
import { type HookClaims, mergeClaims } from '../../domain/extending/hook.ts';
import { cibaGrantType } from '../../domain/oidc/grant-types.ts';
import { type HeldOrganization, scopesWithin, withOrganization } from '../../domain/organizations/tenant-organizations.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { HookVerdict } from '../../hooks/hooks.ts';
import type { Parts } from '../../http/services.ts';
import type { StoredCibaRequest } from '../../storage/oidc/ciba-requests.ts';
import type { Grant } from '../../storage/oidc/grants.ts';
import { insertAuditEvent } from '../../storage/records/audit-events.ts';
import { mintAccessToken } from '../../tokens/access-token.ts';
import { halfHash, mintIdToken } from '../../tokens/id-token.ts';
import { type KeySupply, ringWith } from '../../tokens/signing-key-supply.ts';
import { organizationOfGrant, passesAccessGate } from '../access-gate.ts';
import { accessTokenLifetimeSeconds } from '../access-token-lifetime.ts';
import { refreshTokenFor } from '../grants/new-grant.ts';
import { audienceOf, findUnboundScope } from '../scopes.ts';
import { askTokenHook, withAdded } from '../token-hook.ts';
import { claimsForTokens } from '../user-claims.ts';
import { openPayload, sealPayload } from './ciba-notification.ts';
import { grantOfRequest, redeemRequest } from './ciba-redemption.ts';

export type PushBodyDeps = KeySupply & Parts<'activity' | 'clock' | 'database' | 'hooks'>;

type PushError = 'access_denied' | 'expired_token' | 'transaction_failed';

/** A push error body (CIBA Core 12). */
export const pushErrorBody = (authReqId: string, error: PushError): string => JSON.stringify({ auth_req_id: authReqId, error });

/**
 * The body that hands over the tokens of an approved request; the same at each call. `transaction_failed` when user, gate or
 * scope no longer stand; `expired_token` when it was too late to redeem; `access_denied` when a hook denies. Undefined while a
 * hook fails: nothing is used up, and another attempt may do better.
 */
export async function pushBody(
  services: PushBodyDeps,
  tenant: Tenant,
  client: Client,
  stored: StoredCibaRequest,
  authReqId: string,
): Promise<string | undefined> {
  if (stored.payloadEncrypted !== undefined) return openPayload(services.encryption, tenant.id, stored.id, stored.payloadEncrypted);
  if (stored.isExpired) return pushErrorBody(authReqId, 'expired_token');
  if (!(await isStillEligible(services, tenant, client, stored))) return pushErrorBody(authReqId, 'transaction_failed');
  const organization = await organizationOfGrant(services.database, tenant.id, stored);
  if (organization === 'left') return pushErrorBody(authReqId, 'transaction_failed');
  const grant = grantOfRequest(services, stored);
  const scopes = scopesWithin(tenant.organizations, grant.scope.split(' '), organization);
  const asked = {
    grantType: cibaGrantType,
    client,
    grant,
    scopes,
    resource: grant.resource,
    organization,
    requestId: undefined,
  } as const;
  const verdict = await askTokenHook(services, tenant, asked);
  if (verdict?.ok === false) {
    await auditRefused(services, tenant, stored, verdict);
    return verdict.reason === 'denied' ? pushErrorBody(authReqId, 'access_denied') : undefined;
  }
  const refreshToken = refreshTokenFor(client, grant);
  const lifetimeSeconds =
    grant.resource === undefined
      ? tenant.settings.access_token_lifetime_seconds
      : await accessTokenLifetimeSeconds(services, tenant, grant.resource);
  const payload = await mintPayload(services, tenant, client, grant, {
    authReqId,
    scopes,
    organization,
    refreshToken,
    lifetimeSeconds,
    added: mergeClaims(grant.hookClaims, verdict?.claims),
  });
  const isFirst = await redeemRequest(services, tenant, stored, {
    grant,
    refreshToken,
    accessTokenLifetimeSeconds: lifetimeSeconds,
    payloadEncrypted: sealPayload(services.encryption, tenant.id, stored.id, payload),
    requestId: undefined,
  });
  return isFirst ? payload : pushErrorBody(authReqId, 'expired_token');
}

function auditRefused(
  { clock, database }: PushBodyDeps,
  tenant: Tenant,
  stored: StoredCibaRequest,
  verdict: Extract<HookVerdict, { readonly ok: false }>,
): Promise<void> {
  return database.write(tenant.id, (queries) =>
    insertAuditEvent(queries, tenant.id, clock.nowMs(), {
      type: `hook.${verdict.reason}`,
      actor: 'system',
      target: `ciba_request:${stored.id}`,
      reason: verdict.text,
      data: { hook: verdict.hook, point: 'token', client: stored.clientId },
    }),
  );
}

async function isStillEligible(services: Parts<'database'>, tenant: Tenant, client: Client, stored: StoredCibaRequest): Promise<boolean> {
  if (stored.userState !== 'active' || findUnboundScope(client, stored.scope.split(' ')) !== undefined) return false;
  if (stored.resource !== undefined && registeredSpelling(client.resources, stored.resource) === undefined) return false;
  return passesAccessGate(services.database, tenant.id, client, stored.userId, { organization: stored.organizationId });
}

interface Minting {
  readonly authReqId: string;
  readonly scopes: readonly string[];
  readonly organization: HeldOrganization | undefined;
  readonly refreshToken: string | undefined;
  readonly lifetimeSeconds: number;
  /** Claims of hooks. */
  readonly added: HookClaims | undefined;
}

async function mintPayload(
  services: PushBodyDeps,
  tenant: Tenant,
  client: Client,
  grant: Grant,
  { authReqId, scopes, organization, refreshToken, lifetimeSeconds, added }: Minting,
): Promise<string> {
  const alg = client.idTokenSignedResponseAlg;
  const keys = await ringWith(services, tenant.id, [tenant.settings.access_token_alg, alg]);
  const { authTimeSeconds, acr, amr } = grant;
  const claims = await claimsForTokens(services, tenant, client, { grant, scopes, requestId: undefined });
  const { token: accessToken } = await mintAccessToken(tenant, keys, services.clock, {
    clientId: client.clientId,
    sub: grant.userId,
    audience: audienceOf(tenant, scopes, grant.resource),
    scope: scopes.join(' '),
    lifetimeSeconds,
    sid: grant.id,
    authTime: authTimeSeconds,
    acr,
    amr,
    mappedClaims: withOrganization(tenant.organizations, withAdded(claims.accessToken, added?.access_token), organization),
  });
  const idToken = await mintIdToken(tenant, keys, services.clock, {
    alg,
    clientId: client.clientId,
    sub: grant.userId,
    sid: grant.id,
    authTimeSeconds,
    acr,
    amr,
    nonce: undefined,
    accessToken,
    userClaims: withOrganization(tenant.organizations, withAdded(claims.idToken, added?.id_token), organization),
    extraClaims: {
      'urn:openid:params:jwt:claim:auth_req_id': authReqId,
      ...(refreshToken === undefined ? {} : { 'urn:openid:params:jwt:claim:rt_hash': halfHash(alg, refreshToken) }),
    },
  });
  return JSON.stringify({
    auth_req_id: authReqId,
    access_token: accessToken,
    token_type: 'Bearer',
    ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
    expires_in: lifetimeSeconds,
    id_token: idToken,
  });
}
