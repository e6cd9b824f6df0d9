// What an approved CIBA request becomes: a grant with its first refresh token, once. Shared by the CIBA grant of the token
// endpoint (poll, ping) and the push delivery. Nothing is signed here.
import type { GrantId } from '../../domain/ids.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Parts } from '../../http/services.ts';
import type { Clock } from '../../platform/clock.ts';
import { uuidV7 } from '../../platform/random.ts';
import { redeemCibaRequest, type StoredCibaRequest } from '../../storage/oidc/ciba-requests.ts';
import type { Grant } from '../../storage/oidc/grants.ts';
import { type NewGrant, storeGrant } from '../grants/new-grant.ts';

/** The grant an approved request becomes when it is redeemed. */
export function grantOfRequest({ clock }: { readonly clock: Clock }, stored: StoredCibaRequest): Grant {
  return {
    id: uuidV7(clock.nowMs()) as GrantId, // made here
    clientId: stored.clientId,
    userId: stored.userId,
    scope: stored.scope,
    resource: stored.resource,
    organizationId: stored.organizationId,
    authTimeSeconds: Math.floor(stored.decidedAtMs / 1000),
    acr: stored.acr,
    amr: stored.amr,
    nonce: undefined,
    maxAgeSeconds: undefined,
    dpopJkt: undefined,
    hookClaims: stored.hookClaims,
  };
}

interface CibaRedemption extends NewGrant {
  /** The body of a push, under the master key. */
  readonly payloadEncrypted: string | null;
}

/** Uses the request up in one transaction with its grant, refresh token and audit record. False when somebody else did. */
export async function redeemRequest(
  services: Parts<'activity' | 'clock' | 'database'>,
  tenant: Tenant,
  stored: StoredCibaRequest,
  redemption: CibaRedemption,
): Promise<boolean> {
  const { grant, payloadEncrypted } = redemption;
  const isRedeemed = await services.database.write(tenant.id, async (queries) => {
    if (!(await redeemCibaRequest(queries, tenant.id, stored.authReqIdHash, grant.id, payloadEncrypted))) return false;
    await storeGrant(queries, tenant, services.clock.nowMs(), redemption, { ciba_request: stored.id });
    return true;
  });
  if (isRedeemed)
    services.activity.noteSignIn(tenant.id, {
      ...{ userId: grant.userId, application: ['client', grant.clientId] },
      organization: grant.organizationId ?? undefined,
    });
  return isRedeemed;
}
