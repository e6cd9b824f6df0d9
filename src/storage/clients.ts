// OAuth clients: rows to and from the domain's Client. Lists are JSON text; they are read whole and never queried.
import type { Client, RegisteredAuthMethod } from '../domain/client.ts';
import type { ClientId, TenantId } from '../domain/ids.ts';
import type { ConfigCache } from './config-cache.ts';
import type { Queries } from './database.ts';
import { databaseNowMs } from './instance.ts';
import { statement } from './statement.ts';

export interface ClientTable {
  tenant_id: TenantId;
  client_id: ClientId;
  name: string;
  type: string;
  token_endpoint_auth_method: string;
  secret_hash: string | null;
  secret_encrypted: string | null;
  jwks: string | null;
  jwks_uri: string | null;
  redirect_uris: string;
  post_logout_redirect_uris: string;
  grant_types: string;
  scopes: string;
  resources: string;
  require_pkce: number;
  require_par: number;
  require_consent: number;
  authorize_error_delivery: string;
  id_token_signed_response_alg: string;
  backchannel_token_delivery_mode: string | null;
  backchannel_client_notification_endpoint: string | null;
  backchannel_logout_uri: string | null;
  access_policy: string;
  refresh_reuse_leeway_seconds: number;
  logo_uri: string | null;
  enabled: number;
  created_at: number;
  updated_at: number;
}

/** RFC 6749 appendix A.1 (VSCHAR), within the length of any id of ours. What does not match names no client and no cache entry. */
export const clientIdSyntax = /^[\x20-\x7e]{1,128}$/;
const cacheKey = (clientId: string): string => `client:${clientId}`;

/** The registered client, or undefined. Reads the database only for an id this process has not seen since the last change. */
export async function findCachedClient(cache: ConfigCache, tenant: TenantId, clientId: string): Promise<Client | undefined> {
  const known = peekClient(cache, tenant, clientId);
  if (known !== undefined) return known.value;
  return cache.get(tenant, cacheKey(clientId), (queries) => findClient(queries, tenant, clientId));
}

/** What findCachedClient would give, if it is known without waiting. */
export function peekClient(cache: ConfigCache, tenant: TenantId, clientId: string): { readonly value: Client | undefined } | undefined {
  if (!clientIdSyntax.test(clientId)) return { value: undefined };
  return cache.peek<Client | undefined>(tenant, cacheKey(clientId));
}

/** Looks a client up and reads next to nothing, so that finding it costs what not finding it costs. */
export async function touchClient(queries: Queries, tenant: TenantId, clientId: string): Promise<void> {
  await queries
    .selectFrom('clients')
    .select('enabled')
    .where('tenant_id', '=', tenant)
    .where('client_id', '=', clientId as ClientId) // a look-up key, not yet known to be an id
    .executeTakeFirst();
}

export async function findClient(queries: Queries, tenant: TenantId, clientId: string): Promise<Client | undefined> {
  const { rows } = await selectClient(queries, { tenant, client: clientId as ClientId }); // a look-up key, not yet known to be an id
  return rows[0] === undefined ? undefined : clientFromRow(rows[0]);
}

const selectClient = statement((queries, { tenant, client }: { readonly tenant: TenantId; readonly client: ClientId }) =>
  queries.selectFrom('clients').selectAll().where('tenant_id', '=', tenant).where('client_id', '=', client),
);

/** A page of clients in client_id order, after the given id. */
export async function listClients(
  queries: Queries,
  tenant: TenantId,
  page: { readonly after: string; readonly limit: number },
): Promise<readonly Client[]> {
  const rows = await queries
    .selectFrom('clients')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('client_id', '>', page.after as ClientId)
    .orderBy('client_id')
    .limit(page.limit)
    .execute();
  return rows.map(clientFromRow);
}

/** Inserts a client whose id was made for it. */
export async function insertClient(queries: Queries, tenant: TenantId, client: Client): Promise<void> {
  await insertion(queries, tenant, client).execute();
}

/** Inserts a client of a fixed id. False when another request did so a moment ago. */
export async function insertClientOnce(queries: Queries, tenant: TenantId, client: Client): Promise<boolean> {
  const rows = await insertion(queries, tenant, client)
    .onConflict((on) => on.columns(['tenant_id', 'client_id']).doNothing())
    .returning('client_id')
    .execute();
  return rows.length === 1;
}

const insertion = (queries: Queries, tenant: TenantId, client: Client) =>
  queries.insertInto('clients').values({ ...clientToRow(tenant, client), created_at: databaseNowMs, updated_at: databaseNowMs });

/** Replaces every registered value of a client. Gives false when there is no such client. */
export async function updateClient(queries: Queries, tenant: TenantId, client: Client): Promise<boolean> {
  const { created_at: _created, ...values } = clientToRow(tenant, client);
  const rows = await queries
    .updateTable('clients')
    .set({ ...values, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('client_id', '=', client.clientId)
    .returning('client_id')
    .execute();
  return rows.length === 1;
}

/** Deletes a client; its grants, codes and tokens go by foreign key. */
export async function deleteClient(queries: Queries, tenant: TenantId, clientId: ClientId): Promise<boolean> {
  const rows = await queries
    .deleteFrom('clients')
    .where('tenant_id', '=', tenant)
    .where('client_id', '=', clientId)
    .returning('client_id')
    .execute();
  return rows.length === 1;
}

function clientFromRow(row: ClientTable): Client {
  // The unions below are checked by the table's own constraints and by validation before every write.
  return {
    clientId: row.client_id,
    name: row.name,
    type: row.type as Client['type'],
    tokenEndpointAuthMethod: row.token_endpoint_auth_method as RegisteredAuthMethod,
    secretHash: row.secret_hash ?? undefined,
    secretEncrypted: row.secret_encrypted ?? undefined,
    jwks: row.jwks === null ? undefined : JSON.parse(row.jwks),
    jwksUri: row.jwks_uri ?? undefined,
    redirectUris: JSON.parse(row.redirect_uris),
    postLogoutRedirectUris: JSON.parse(row.post_logout_redirect_uris),
    grantTypes: JSON.parse(row.grant_types),
    scopes: JSON.parse(row.scopes),
    resources: JSON.parse(row.resources),
    requirePkce: row.require_pkce === 1,
    requirePar: row.require_par === 1,
    requireConsent: row.require_consent === 1,
    authorizeErrorDelivery: row.authorize_error_delivery as Client['authorizeErrorDelivery'],
    idTokenSignedResponseAlg: row.id_token_signed_response_alg as Client['idTokenSignedResponseAlg'],
    backchannelTokenDeliveryMode: (row.backchannel_token_delivery_mode ?? undefined) as Client['backchannelTokenDeliveryMode'],
    backchannelClientNotificationEndpoint: row.backchannel_client_notification_endpoint ?? undefined,
    backchannelLogoutUri: row.backchannel_logout_uri ?? undefined,
    accessPolicy: row.access_policy as Client['accessPolicy'],
    refreshReuseLeewaySeconds: row.refresh_reuse_leeway_seconds,
    logoUri: row.logo_uri ?? undefined,
    enabled: row.enabled === 1,
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
  };
}

function clientToRow(tenant: TenantId, client: Client): ClientTable {
  return {
    tenant_id: tenant,
    client_id: client.clientId,
    name: client.name,
    type: client.type,
    token_endpoint_auth_method: client.tokenEndpointAuthMethod,
    secret_hash: client.secretHash ?? null,
    secret_encrypted: client.secretEncrypted ?? null,
    jwks: client.jwks === undefined ? null : JSON.stringify(client.jwks),
    jwks_uri: client.jwksUri ?? null,
    redirect_uris: JSON.stringify(client.redirectUris),
    post_logout_redirect_uris: JSON.stringify(client.postLogoutRedirectUris),
    grant_types: JSON.stringify(client.grantTypes),
    scopes: JSON.stringify(client.scopes),
    resources: JSON.stringify(client.resources),
    require_pkce: Number(client.requirePkce),
    require_par: Number(client.requirePar),
    require_consent: Number(client.requireConsent),
    authorize_error_delivery: client.authorizeErrorDelivery,
    id_token_signed_response_alg: client.idTokenSignedResponseAlg,
    backchannel_token_delivery_mode: client.backchannelTokenDeliveryMode ?? null,
    backchannel_client_notification_endpoint: client.backchannelClientNotificationEndpoint ?? null,
    backchannel_logout_uri: client.backchannelLogoutUri ?? null,
    access_policy: client.accessPolicy,
    refresh_reuse_leeway_seconds: client.refreshReuseLeewaySeconds,
    logo_uri: client.logoUri ?? null,
    enabled: Number(client.enabled),
    created_at: client.createdAtMs,
    updated_at: client.updatedAtMs,
  };
}
