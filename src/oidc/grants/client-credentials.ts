// client_credentials: a client acts for itself on the Management API of its tenant (contract 5). Nothing is read or written
// per request: what it may have is in its registration.
import { capabilitiesOf } from '../scopes.ts';
import type { TokenGrant } from './grant.ts';

export const clientCredentialsGrant: TokenGrant = {
  grantType: 'client_credentials',
  allowsPublicClients: false,
  repeatsNonce: false,
  examine: ({ client, tenant }) => ({
    grant: undefined,
    scopes: capabilitiesOf(client),
    resource: tenant.managementApi,
    refusal: 'client.invalid_client',
    userState: undefined,
    redeem: undefined,
  }),
};
