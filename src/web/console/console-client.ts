// The console as a client of its own tenant: public, PKCE, allowed the Management API and its capabilities. Registered the
// first time somebody opens the console, and again when the tenant's base URL changed.
import { capabilities } from '../../domain/capabilities.ts';
import { type Client, plainClient } from '../../domain/client.ts';
import type { ClientId } from '../../domain/ids.ts';
import type { Tenant } from '../../domain/tenant.ts';
import type { Services } from '../../http/services.ts';
import { insertAuditEvent } from '../../storage/audit-events.ts';
import { findCachedClient, findClient, insertClient, updateClient } from '../../storage/clients.ts';

/** Fixed, unlike the ids of other clients, so that an operator recognises it in the audit trail. */
export const consoleClientId = 'gatehouse-console' as ClientId;
export const consoleScopes: readonly string[] = ['openid', 'profile', 'offline_access', ...capabilities];

export const callbackOf = (tenant: Tenant): string => `${tenant.baseUrl}/console/callback`;

/** Two tabs may refresh at the same moment; within this they get the same successor. */
const refreshLeewaySeconds = 15;

/** Makes sure the client is registered as it must be. Costs a cached look-up when it is. */
export async function ensureConsoleClient({ cache, clock }: Services, tenant: Tenant, requestId: string): Promise<void> {
  const wanted = consoleClient(tenant, clock.nowMs());
  if (isAsWanted(await findCachedClient(cache, tenant.id, consoleClientId), wanted)) return;
  await cache.write(tenant.id, async (queries) => {
    const found = await findClient(queries, tenant.id, consoleClientId);
    if (isAsWanted(found, wanted)) return;
    if (found === undefined) await insertClient(queries, tenant.id, wanted);
    else await updateClient(queries, tenant.id, wanted);
    await insertAuditEvent(queries, tenant.id, clock.nowMs(), {
      type: 'client.registered',
      actor: 'system',
      target: `client:${consoleClientId}`,
      requestId,
    });
  });
}

function isAsWanted(client: Client | undefined, wanted: Client): boolean {
  return (
    client?.enabled === true &&
    client.redirectUris.join() === wanted.redirectUris.join() &&
    client.resources.join() === wanted.resources.join() &&
    client.scopes.join() === wanted.scopes.join()
  );
}

function consoleClient(tenant: Tenant, nowMs: number): Client {
  return {
    ...plainClient(consoleClientId, `${tenant.name} console`, nowMs),
    type: 'public',
    tokenEndpointAuthMethod: 'none',
    redirectUris: [callbackOf(tenant)],
    grantTypes: ['authorization_code', 'refresh_token'],
    scopes: consoleScopes,
    resources: [tenant.managementApi],
    authorizeErrorDelivery: 'redirect',
    idTokenSignedResponseAlg: 'ES256',
    refreshReuseLeewaySeconds: refreshLeewaySeconds,
  };
}
