// The root tenant of a test server, managed by a client with every capability, as other tenants are from their creation.

import { adminClientAuthMethod } from '../../src/domain/client/client.ts';
import { capabilities } from '../../src/domain/people/capabilities.ts';
import { createClient, rootTenant } from './fixtures.ts';
import { clientCredentialsToken, type Managed, managedWith } from './management.ts';
import type { TestServer } from './server.ts';

export async function manageRootTenant(server: TestServer): Promise<Managed> {
  const { services } = server.gatehouse;
  const tenant = await rootTenant(services);
  const client = await createClient(services, tenant, {
    tokenEndpointAuthMethod: adminClientAuthMethod,
    grantTypes: ['client_credentials'],
    scopes: capabilities,
    redirectUris: [],
  });
  const token = await clientCredentialsToken(tenant.baseUrl, client.clientId, client.secret);
  const { id, slug, baseUrl, managementApi } = tenant;
  return managedWith(token, { id, slug, baseUrl, managementApi, adminClientId: client.clientId, adminClientSecret: client.secret });
}
