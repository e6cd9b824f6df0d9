// What a person approved elsewhere becomes a grant with its first refresh token: the rows both CIBA and devices write in the
// transaction that uses the approval up.
import type { EventData } from '../../contract/events.ts';
import { hashSecret } from '../../crypto/secret-hash.ts';
import type { Client } from '../../domain/client/client.ts';
import { refreshGrantType } from '../../domain/oidc/grant-types.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { randomSecret } from '../../platform/random.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { type Grant, insertGrant } from '../../storage/oidc/grants.ts';
import { insertFirstRefreshToken } from '../../storage/oidc/refresh-tokens.ts';
import { insertAuditEvent } from '../../storage/records/audit-events.ts';

/** A refresh token for the grant, when the client may refresh and offline_access was granted. */
export function refreshTokenFor(client: Client, grant: Grant): string | undefined {
  const isOffline = client.grantTypes.includes(refreshGrantType) && grant.scope.split(' ').includes('offline_access');
  return isOffline ? randomSecret() : undefined;
}

export interface NewGrant {
  readonly grant: Grant;
  readonly refreshToken: string | undefined;
  readonly accessTokenLifetimeSeconds: number;
  readonly requestId: string | undefined;
}

/** Seconds a grant's row outlives its last token, so that a revocation is never forgotten early. */
const graceSeconds = 60;

/** Stores the grant with its refresh token and audit record, in the caller's transaction. */
export async function storeGrant(
  queries: Queries,
  tenant: Tenant,
  nowMs: number,
  { grant, refreshToken, accessTokenLifetimeSeconds, requestId }: NewGrant,
  from: EventData<'grant.created'>,
): Promise<void> {
  const { refresh_token_absolute_seconds: absolute, refresh_token_idle_seconds: idle } = tenant.settings;
  const lifetimeSeconds = accessTokenLifetimeSeconds + (refreshToken === undefined ? 0 : absolute) + graceSeconds;
  await insertGrant(queries, tenant.id, grant, lifetimeSeconds);
  if (refreshToken !== undefined)
    await insertFirstRefreshToken(queries, tenant.id, {
      tokenHash: hashSecret(refreshToken),
      grantId: grant.id,
      lifetimeSeconds: Math.min(idle, absolute),
    });
  await insertAuditEvent(queries, tenant.id, nowMs, {
    type: 'grant.created',
    requestId,
    actor: `client:${grant.clientId}`,
    target: `grant:${grant.id}`,
    data: { user_id: grant.userId, scope: grant.scope, ...from },
  });
}
