// A SCIM caller for tests: a server on one database, a token with chosen scopes for the tenant's Management API, and the
// requests a provisioning client makes.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createThing } from '../../src/administration/kinds.ts';
import { registered } from '../../src/administration/registered.ts';
import { hashSecret } from '../../src/crypto/secret-hash.ts';
import { scimTokenPrefix } from '../../src/domain/people/scim-token.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { randomSecret, uuidV7 } from '../../src/platform/random.ts';
import { listClients } from '../../src/storage/registry/clients/clients.ts';
import { insertScimToken } from '../../src/storage/registry/scim-tokens.ts';
import { mintAccessToken } from '../../src/tokens/access-token.ts';
import { type DatabaseName, databases } from './databases.ts';
import { startTestServer, type TestServer, type TestServerOptions } from './server.ts';

export type Json = Record<string, unknown>;

export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const enterpriseSchema = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
export const customSchema = 'urn:ietf:params:scim:schemas:extension:custom:2.0:User';
export const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

export interface ScimResult {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

export interface ScimCaller {
  readonly server: TestServer;
  readonly base: string;
  readonly token: string;
  /** Whose directory it is; undefined: the tenant's. */
  readonly organization: string | undefined;
  /** The raw response. */
  readonly fetch: (method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) => Promise<Response>;
  /** The response with its JSON; an empty body is {}. */
  readonly call: (method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) => Promise<ScimResult>;
  /** Creates a user named so, with a primary work email, and gives the resource. */
  readonly newUser: (name: string, more?: Json) => Promise<Json & { readonly id: string }>;
  readonly newGroup: (name: string, memberIds?: readonly string[]) => Promise<Json & { readonly id: string }>;
  readonly close: () => Promise<void>;
}

export interface TokenOptions {
  readonly scope?: string;
  readonly audience?: string;
  readonly lifetimeSeconds?: number;
}

/** An access token of the root tenant's first client. */
export async function mintScimToken(server: TestServer, { scope, audience, lifetimeSeconds }: TokenOptions = {}): Promise<string> {
  const { services } = server.gatehouse;
  const tenant = await rootTenant(server);
  const [client] = await services.database.read(tenant.id, (queries) => listClients(queries, tenant.id, { after: '', limit: 1 }));
  const minted = await mintAccessToken(tenant, await services.keyRings.of(tenant.id), services.clock, {
    clientId: client!.clientId,
    sub: client!.clientId,
    audience: audience ?? tenant.managementApi,
    scope: scope ?? 'scim:read scim:write',
    lifetimeSeconds: lifetimeSeconds ?? 3600,
  });
  return minted.token;
}

export async function rootTenant(server: TestServer): Promise<Tenant> {
  const tenant = await server.gatehouse.services.tenants.bySlug('main');
  assert.ok(tenant !== undefined);
  return tenant;
}

/** Whose directory is called: what holds of a tenant's holds of an organisation's. */
export const directories = ['tenant', 'organization'] as const;
export type DirectoryName = (typeof directories)[number];

/** Each directory on each database. */
export const scimPlaces = databases.flatMap((database) => directories.map((directory) => ({ database, directory })));

export async function startScim(
  database: DatabaseName,
  options: TestServerOptions = {},
  directory: DirectoryName = 'tenant',
): Promise<ScimCaller> {
  const server = await startTestServer(database, options);
  if (directory === 'tenant') return scimCaller(server, await mintScimToken(server));
  return organizationCaller(server, await makeOrganization(server, 'acme'));
}

/** An organisation of the root tenant, with nobody in it; gives its id. */
export async function makeOrganization(server: TestServer, name: string): Promise<string> {
  const { services } = server.gatehouse;
  const tenant = await rootTenant(server);
  const acting = { tenant, by: { actor: 'operator', requestId: randomUUID(), require: () => undefined } };
  const made = await createThing(registered.organization, services, acting, { name });
  assert.ok(made.ok);
  return made.thing.id;
}

/** Calls a running server as the directory of an organisation, by a token made for it. */
export async function organizationCaller(server: TestServer, organization: string): Promise<ScimCaller> {
  const { database, clock } = server.gatehouse.services;
  const tenant = await rootTenant(server);
  const token = `${scimTokenPrefix}${randomSecret()}`;
  const made = { name: 'directory', token_hash: hashSecret(token), created_by: 'operator', organization_id: organization };
  await database.write(tenant.id, (queries) =>
    insertScimToken(queries, tenant.id, { id: uuidV7(clock.nowMs()), ...made, lifetimeMs: undefined }),
  );
  return scimCaller(server, token, organization);
}

/** Calls a running server with a token. */
export function scimCaller(server: TestServer, token: string, organization?: string): ScimCaller {
  const base = server.url + (organization === undefined ? '/scim/v2' : `/v1/scim/organizations/${organization}`);
  const send: ScimCaller['fetch'] = (method, path, body, headers = {}) =>
    fetch(base + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/scim+json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const call: ScimCaller['call'] = async (method, path, body, headers) => {
    const response = await send(method, path, body, headers);
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
  };
  const created = async (path: string, body: Json): Promise<Json & { readonly id: string }> => {
    const result = await call('POST', path, body);
    assert.equal(result.status, 201, JSON.stringify(result.body));
    return result.body as Json & { readonly id: string };
  };
  return {
    server,
    base,
    token,
    organization,
    fetch: send,
    call,
    newUser: (name, more = {}) => created('/Users', { ...userBody(name), ...more }),
    newGroup: (name, memberIds = []) =>
      created('/Groups', { schemas: [groupSchema], displayName: name, members: memberIds.map((value) => ({ value })) }),
    close: () => server.close(),
  };
}

export function userBody(name: string): Json {
  return { schemas: [userSchema], userName: name, emails: [{ value: `${name}@example.com`, type: 'work', primary: true }] };
}

export function patchBody(...operations: readonly Json[]): Json {
  return { schemas: [patchSchema], Operations: operations };
}
