// What most black-box tests start with: a tenant made through the system API, a management token, clients and users.
import assert from 'node:assert/strict';
import { decodeJwt } from 'jose';
import { operatorToken, type TestServer } from './server.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface Managed {
  readonly id: string;
  readonly slug: string;
  /** Issuer, and the base of every path. */
  readonly baseUrl: string;
  readonly managementApi: string;
  readonly adminClientId: string;
  readonly adminClientSecret: string;
  /** A management token with every capability, as it was issued first. */
  readonly token: string;
  /** Calls the management API with that token, or one issued since where time has passed; `path` as in `/users`. */
  readonly call: (method: string, path: string, body?: unknown) => Promise<Response>;
  /** The same, asserting success and giving the JSON. */
  readonly make: <T = Json>(method: string, path: string, body?: unknown) => Promise<T>;
}

let made = 0;

/** Creates a tenant and gets a management token for it. `settings` are PATCHed in. */
export async function createTestTenant(
  server: Pick<TestServer, 'url' | 'clock'>,
  options: { readonly slug?: string; readonly settings?: Json } = {},
): Promise<Managed> {
  made += 1;
  const slug = options.slug ?? `t${made}`;
  const created = await jsonOf(await callSystem(server, 'POST', '/tenants', { slug, name: `Tenant ${slug}` }), 201);
  const admin = created['admin_client'] as { readonly client_id: string; readonly client_secret: string };
  const baseUrl = String(created['base_url']);
  const tenant = {
    id: String(created['id']),
    slug,
    baseUrl,
    managementApi: String(created['management_api']),
    adminClientId: admin.client_id,
    adminClientSecret: admin.client_secret,
  };
  const current = await lastingToken(server, tenant);
  const managed = { ...managedBy(current, tenant), token: await current() };
  if (options.settings !== undefined) await managed.make('PATCH', '/settings', options.settings);
  return managed;
}

/** A call of the system API with the operator token. */
export function callSystem(
  server: Pick<TestServer, 'url'>,
  method: string,
  path: string,
  body?: unknown,
  token: string = operatorToken,
): Promise<Response> {
  return callJson(`${server.url}/v1/system${path}`, token, method, body);
}

/** Gets a token by client_credentials; `scope` absent means every scope of the client. */
export async function clientCredentialsToken(baseUrl: string, clientId: string, clientSecret: string, scope?: string): Promise<string> {
  const response = await fetch(`${baseUrl}/v1/idp/oidc/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
      ...(scope === undefined ? {} : { scope }),
    }),
  });
  const { access_token: token } = await jsonOf<{ access_token: string }>(response, 200);
  return token;
}

/** The same tenant with another token. */
export function managedWith(token: string, tenant: ManagedTenant): Managed {
  return { ...managedBy(() => Promise.resolve(token), tenant), token };
}

type ManagedTenant = Omit<Managed, 'token' | 'call' | 'make'>;

/**
 * Gives the admin client's token, a new one once half of the last one's time is over: tests move the clock, and those that share a process
 * wait for one another. Where none is to be had any more, the last one stays.
 */
async function lastingToken(server: Pick<TestServer, 'clock'>, tenant: ManagedTenant): Promise<() => Promise<string>> {
  const issue = async () => {
    const token = await clientCredentialsToken(tenant.baseUrl, tenant.adminClientId, tenant.adminClientSecret);
    const { iat, exp } = decodeJwt(token);
    return { token, staleMs: ((iat! + exp!) / 2) * 1000 };
  };
  let last = await issue();
  return async () => {
    if (server.clock.nowMs() >= last.staleMs) last = await issue().catch(() => last);
    return last.token;
  };
}

function managedBy(bearer: () => Promise<string>, tenant: ManagedTenant): Omit<Managed, 'token'> {
  const call: Managed['call'] = async (method, path, body) => callJson(`${tenant.managementApi}${path}`, await bearer(), method, body);
  const make = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await call(method, path, body);
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${response.ok ? '' : await response.clone().text()}`);
    const text = await response.text();
    return (text === '' ? undefined : JSON.parse(text)) as T; // the caller names the shape it expects
  };
  return { ...tenant, call, make };
}

/** A confidential client for the code flow, or what `fields` make of it. Gives the answer, `client_secret` included. */
export function createTestClient(
  tenant: Managed,
  fields: Json = {},
): Promise<Json & { readonly client_id: string; readonly client_secret: string }> {
  return tenant.make('POST', '/clients', {
    name: 'Test client',
    type: 'confidential',
    token_endpoint_auth_method: 'client_secret_basic',
    redirect_uris: ['https://client.example/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    scopes: ['openid', 'profile', 'email', 'offline_access'],
    ...fields,
  });
}

/** A user with a name and a primary email. */
export function createTestUser(tenant: Managed, email: string, fields: Json = {}): Promise<Json & { readonly id: string }> {
  return tenant.make('POST', '/users', { user_name: email, emails: [{ value: email, primary: true }], ...fields });
}

/** A JSON call with a bearer token. */
export function callJson(url: string, token: string | undefined, method: string, body?: unknown): Promise<Response> {
  return fetch(url, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** The JSON of an answer with the expected status. */
export async function jsonOf<T = Json>(response: Response, status: number): Promise<T> {
  const text = await response.text();
  assert.equal(response.status, status, text);
  return (text === '' ? undefined : JSON.parse(text)) as T; // the caller names the shape it expects
}
