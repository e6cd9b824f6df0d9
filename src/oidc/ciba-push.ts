// The body of a CIBA push (CIBA Core 10.3): tokens for an approved request, minted and redeemed once and kept sealed so that
// every attempt sends the same bytes, or an error. Called by the delivery job.
import type { Client } from '../domain/client.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { Services } from '../http/services.ts';
import type { StoredCibaRequest } from '../storage/ciba-requests.ts';
import type { Grant } from '../storage/grants.ts';
import { mintAccessToken } from '../tokens/access-token.ts';
import { halfHash, mintIdToken } from '../tokens/id-token.ts';
import { ringWith } from '../tokens/signing-key-supply.ts';
import { passesAccessGate } from './access-gate.ts';
import { accessTokenLifetimeSeconds } from './access-token-lifetime.ts';
import { openPayload, sealPayload } from './ciba-notification.ts';
import { grantOfRequest, redeemRequest, refreshTokenFor } from './ciba-redemption.ts';
import { audienceOf, findUnboundScope } from './scopes.ts';

export type PushError = 'access_denied' | 'expired_token' | 'transaction_failed';

/** A push error body (CIBA Core 12). */
export const pushErrorBody = (authReqId: string, error: PushError): string => JSON.stringify({ auth_req_id: authReqId, error });

/**
 * The body that hands over the tokens of an approved request; the same at each call. `transaction_failed` when user, gate or
 * scope no longer stand; `expired_token` when it was too late to redeem.
 */
export async function pushBody(
  services: Services,
  tenant: Tenant,
  client: Client,
  stored: StoredCibaRequest,
  authReqId: string,
): Promise<string> {
  if (stored.payloadEncrypted !== undefined) return openPayload(services.encryption, tenant.id, stored.id, stored.payloadEncrypted);
  if (stored.isExpired) return pushErrorBody(authReqId, 'expired_token');
  if (!(await isStillEligible(services, tenant, client, stored))) return pushErrorBody(authReqId, 'transaction_failed');
  const grant = grantOfRequest(services, stored);
  const refreshToken = refreshTokenFor(client, grant);
  const lifetimeSeconds =
    grant.resource === undefined
      ? tenant.settings.access_token_lifetime_seconds
      : await accessTokenLifetimeSeconds(services, tenant, grant.resource);
  const payload = await mintPayload(services, tenant, client, grant, { authReqId, refreshToken, lifetimeSeconds });
  const isFirst = await redeemRequest(services, tenant, stored, {
    grant,
    refreshToken,
    accessTokenLifetimeSeconds: lifetimeSeconds,
    payloadEncrypted: sealPayload(services.encryption, tenant.id, stored.id, payload),
    requestId: undefined,
  });
  return isFirst ? payload : pushErrorBody(authReqId, 'expired_token');
}

async function isStillEligible(services: Services, tenant: Tenant, client: Client, stored: StoredCibaRequest): Promise<boolean> {
  if (stored.userState !== 'active' || findUnboundScope(client, stored.scope.split(' ')) !== undefined) return false;
  if (stored.resource !== undefined && !client.resources.includes(stored.resource)) return false;
  return passesAccessGate(services.database, tenant.id, client, stored.userId);
}

interface Minting {
  readonly authReqId: string;
  readonly refreshToken: string | undefined;
  readonly lifetimeSeconds: number;
}

async function mintPayload(
  services: Services,
  tenant: Tenant,
  client: Client,
  grant: Grant,
  { authReqId, refreshToken, lifetimeSeconds }: Minting,
): Promise<string> {
  const alg = client.idTokenSignedResponseAlg;
  const keys = await ringWith(services, tenant.id, [tenant.settings.access_token_alg, alg]);
  const { authTimeSeconds, acr, amr } = grant;
  const { token: accessToken } = await mintAccessToken(tenant, keys, services.clock, {
    clientId: client.clientId,
    sub: grant.userId,
    audience: audienceOf(tenant, grant.scope.split(' '), grant.resource),
    scope: grant.scope,
    lifetimeSeconds,
    sid: grant.id,
    authTime: authTimeSeconds,
    acr,
    amr,
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
