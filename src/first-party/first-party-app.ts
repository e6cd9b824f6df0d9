// Our first-party applications as clients of the tenant they belong to: public, PKCE, registered the first time somebody opens them and
// again when the tenant's base URL changed. Used by the console and the account page; decides nothing about pages.
import { type Client, clientFields, plainClient } from '../domain/client/client.ts';
import { toJson } from '../domain/field.ts';
import type { ClientId } from '../domain/ids.ts';
import { codeGrantType, refreshGrantType } from '../domain/oidc/grant-types.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Parts } from '../http/services.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { findCachedClient, findClient, insertClientOnce, updateClient } from '../storage/registry/clients/clients.ts';

export interface FirstPartyApp {
  /** Path below base_url without the slash; part of the names of its cookies. */
  readonly name: 'console' | 'account' | 'try';
  /** Fixed, unlike the ids of other clients, so that an operator recognises it in the audit trail. */
  readonly clientId: ClientId;
  readonly scopes: readonly string[];
  /** The resource audience its tokens are for, beside the issuer. */
  readonly resourceOf: (tenant: Tenant) => string | undefined;
}

export const callbackOf = (app: FirstPartyApp, tenant: Tenant): string => `${tenant.baseUrl}/${app.name}/callback`;

/** Path of a page of the application as the browser asks for it. */
export const appPath = (app: FirstPartyApp, tenant: Tenant, path: string): string =>
  `${new URL(tenant.baseUrl).pathname.replace(/\/$/, '')}/${app.name}${path}`;

/** Path of a request below the application. */
export const appPathOf = (app: FirstPartyApp, { pathname }: URL): string => pathname.slice(app.name.length + 1);

/** Two tabs may refresh at the same moment; within this they get the same successor. */
const refreshLeewaySeconds = 15;

/** Makes sure the application is registered as it must be. Costs a cached look-up when it is. */
export async function ensureAppClient(
  { cache, clock }: Parts<'cache' | 'clock'>,
  app: FirstPartyApp,
  tenant: Tenant,
  requestId: string,
): Promise<void> {
  const wanted = clientOf(app, tenant, clock.nowMs());
  if (isAsWanted(await findCachedClient(cache, tenant.id, app.clientId), wanted)) return;
  await cache.write(tenant.id, async (queries) => {
    const found = await findClient(queries, tenant.id, app.clientId);
    if (isAsWanted(found, wanted)) return;
    const isOurs =
      found === undefined ? await insertClientOnce(queries, tenant.id, wanted) : await updateClient(queries, tenant.id, wanted);
    if (!isOurs) return;
    await insertAuditEvent(queries, tenant.id, clock.nowMs(), {
      type: 'client.registered',
      actor: 'system',
      target: `client:${app.clientId}`,
      requestId,
    });
  });
}

/** Whole: earlier releases let administrators change it. */
function isAsWanted(client: Client | undefined, wanted: Client): boolean {
  return client !== undefined && JSON.stringify(toJson(clientFields, client)) === JSON.stringify(toJson(clientFields, wanted));
}

function clientOf(app: FirstPartyApp, tenant: Tenant, nowMs: number): Client {
  const resource = app.resourceOf(tenant);
  return {
    ...plainClient(app.clientId, `${tenant.name} ${app.name}`, nowMs),
    type: 'public',
    tokenEndpointAuthMethod: 'none',
    redirectUris: [callbackOf(app, tenant)],
    grantTypes: [codeGrantType, refreshGrantType],
    scopes: app.scopes,
    resources: resource === undefined ? [] : [resource],
    authorizeErrorDelivery: 'redirect',
    idTokenSignedResponseAlg: 'ES256',
    refreshReuseLeewaySeconds: refreshLeewaySeconds,
  };
}
