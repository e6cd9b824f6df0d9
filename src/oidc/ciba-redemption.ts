// What an approved CIBA request becomes: a grant with its first refresh token, once. Shared by the CIBA grant of the token
// endpoint (poll, ping) and the push delivery. Nothing is signed here.
import { hashSecret } from '../crypto/secret-hash.ts';
import type { Client } from '../domain/client.ts';
import type { GrantId } from '../domain/ids.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { Services } from '../http/services.ts';
import { randomSecret, uuidV7 } from '../platform/random.ts';
import { insertAuditEvent } from '../storage/audit-events.ts';
import { redeemCibaRequest, type StoredCibaRequest } from '../storage/ciba-requests.ts';
import { type Grant, insertGrant } from '../storage/grants.ts';
import { insertFirstRefreshToken } from '../storage/refresh-tokens.ts';

export const cibaGrantType = 'urn:openid:params:grant-type:ciba';

/** The grant an approved request becomes when it is redeemed. */
export function grantOfRequest({ clock }: Services, stored: StoredCibaRequest): Grant {
  return {
    id: uuidV7(clock.nowMs()) as GrantId, // made here
    clientId: stored.clientId,
    userId: stored.userId,
    scope: stored.scope,
    resource: stored.resource,
    authTimeSeconds: Math.floor(stored.decidedAtMs / 1000),
    acr: stored.acr,
    amr: stored.amr,
    nonce: undefined,
    maxAgeSeconds: undefined,
    dpopJkt: undefined,
  };
}

/** A refresh token for the grant, when the client may refresh and offline_access was granted. */
export function refreshTokenFor(client: Client, grant: Grant): string | undefined {
  const isOffline = client.grantTypes.includes('refresh_token') && grant.scope.split(' ').includes('offline_access');
  return isOffline ? randomSecret() : undefined;
}

export interface CibaRedemption {
  readonly grant: Grant;
  readonly refreshToken: string | undefined;
  readonly accessTokenLifetimeSeconds: number;
  /** The body of a push, under the master key. */
  readonly payloadEncrypted: string | null;
  readonly requestId: string | undefined;
}

/** Seconds a grant's row outlives its last token, so that a revocation is never forgotten early. */
const graceSeconds = 60;

/** Uses the request up in one transaction with its grant, refresh token and audit record. False when somebody else did. */
export async function redeemRequest(
  services: Services,
  tenant: Tenant,
  stored: StoredCibaRequest,
  redemption: CibaRedemption,
): Promise<boolean> {
  const { grant, refreshToken, accessTokenLifetimeSeconds } = redemption;
  const { refresh_token_absolute_seconds: absolute, refresh_token_idle_seconds: idle } = tenant.settings;
  const lifetimeSeconds = accessTokenLifetimeSeconds + (refreshToken === undefined ? 0 : absolute) + graceSeconds;
  return services.database.write(tenant.id, async (queries) => {
    if (!(await redeemCibaRequest(queries, tenant.id, stored.authReqIdHash, grant.id, redemption.payloadEncrypted))) return false;
    await insertGrant(queries, tenant.id, grant, lifetimeSeconds);
    if (refreshToken !== undefined)
      await insertFirstRefreshToken(queries, tenant.id, {
        tokenHash: hashSecret(refreshToken),
        grantId: grant.id,
        lifetimeSeconds: Math.min(idle, absolute),
      });
    await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
      type: 'grant.created',
      requestId: redemption.requestId,
      actor: `client:${grant.clientId}`,
      target: `grant:${grant.id}`,
      data: { user_id: grant.userId, scope: grant.scope, ciba_request: stored.id },
    });
    return true;
  });
}
