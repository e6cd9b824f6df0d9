// client_credentials: a client acts for itself on the Management API of its tenant (contract 5). Nothing is read or written
// per request: what it may have is in its registration.
import { reject } from '../../contract/contract-error.ts';
import { capabilitiesOf } from '../scopes.ts';
import { grantNotAllowedText, type TokenGrant } from './grant.ts';

export const clientCredentialsGrant: TokenGrant = {
  repeatsNonce: false,
  denied: (cause) => reject('token.unauthorized_client', cause, { text: grantNotAllowedText }),
  examine: ({ client, tenant }) => ({
    grant: undefined,
    scopes: capabilitiesOf(client),
    resource: tenant.managementApi,
    refusal: 'client.invalid_client',
    userState: undefined,
    redeem: undefined,
  }),
};
