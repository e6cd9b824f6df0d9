// A tenant to measure with, made through the system API as any operator would.
import type { GatehouseProcess } from './process.ts';

export interface BenchTenant {
  readonly id: string;
  readonly baseUrl: string;
  readonly managementApi: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Creates a tenant whose rate limits do not get in the way of a load. */
export async function createTenant(gatehouse: GatehouseProcess, slug = 'bench'): Promise<BenchTenant> {
  const created = await call(`${gatehouse.url}/v1/system/tenants`, gatehouse.operatorToken, 'POST', { slug, name: 'Bench' });
  const {
    id,
    base_url: baseUrl,
    management_api: managementApi,
    admin_client: admin,
  } = created as {
    id: string;
    base_url: string;
    management_api: string;
    admin_client: { client_id: string; client_secret: string };
  };
  return { id, baseUrl, managementApi, clientId: admin.client_id, clientSecret: admin.client_secret };
}

/** A JSON call with a bearer token; throws with the answer when it is not a success. */
export async function call(url: string, token: string, method: string, body?: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** A management token of the tenant. */
export async function managementToken(tenant: BenchTenant): Promise<string> {
  const response = await fetch(`${tenant.baseUrl}/v1/idp/oidc/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id: tenant.clientId, client_secret: tenant.clientSecret }),
  });
  const { access_token: token } = (await response.json()) as { access_token: string };
  return token;
}
