// Callers of the Management API that may do some things: a machine with these capabilities, a person whose token has them.
import type { UserId } from '../../src/domain/ids.ts';
import { createClient } from './fixtures.ts';
import { issueTokens } from './issued-tokens.ts';
import { clientCredentialsToken, type Managed, managedWith } from './management.ts';
import type { TestServer } from './server.ts';

export async function machineWith(tenant: Managed, scopes: readonly string[]): Promise<Managed> {
  const client = await tenant.make<{ client_id: string; client_secret: string }>('POST', '/clients', {
    name: 'Machine',
    type: 'confidential',
    token_endpoint_auth_method: 'client_secret_post',
    grant_types: ['client_credentials'],
    scopes,
  });
  return managedWith(await clientCredentialsToken(tenant.baseUrl, client.client_id, client.client_secret), tenant);
}

/** A person signed in to a client of the tenant; the roles they hold are another matter. */
export async function personWith(server: TestServer, tenant: Managed, userId: string, scopes: readonly string[]): Promise<Managed> {
  const { services } = server.gatehouse;
  const stored = (await services.tenants.bySlug(tenant.slug))!;
  const client = await createClient(services, stored);
  const wanted = { audience: tenant.managementApi, scope: scopes.join(' ') };
  const { accessToken } = await issueTokens(services, stored, client, userId as UserId, wanted);
  return managedWith(accessToken, tenant);
}
