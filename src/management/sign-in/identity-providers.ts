// What `/identity-providers` shows beside the fields of another provider (design 14, 2): what to register there, and how its domains are
// proven, which may be looked up.
import Type from 'typebox';
import { checkDomains } from '../../administration/domain-proofs.ts';
import { registered } from '../../administration/registered.ts';
import type { IdentityProviderId } from '../../domain/ids.ts';
import type { identityProviderFields } from '../../domain/sign-in/identity-provider.ts';
import { spEntityId } from '../../federation/saml/sp-metadata.ts';
import { withoutOwnKey } from '../../storage/people/own-keys.ts';
import { listProvenDomains } from '../../storage/registry/proven-domains.ts';
import { listLinkedAdministrators } from '../../storage/sign-in/external-identities.ts';
import { domainProofs, proofsToJson } from '../domain-proofs.ts';
import { byOf, type Endpoint, endpoint, notFound } from '../endpoint.ts';
import { answerOf, type Besides, jsonOf, loadThing } from '../kind-endpoints.ts';
import { nullable } from '../schemas.ts';

export const besideProvider: Besides<typeof identityProviderFields, IdentityProviderId> = {
  properties: {
    callback_uri: Type.String({ description: 'what to register at the provider' }),
    backchannel_logout_uri: Type.String({ description: 'where it may tell that somebody signed out there' }),
    sp_metadata_uri: nullable(
      Type.String({ description: 'our SAML metadata, to upload at the provider; its address is our entityID there' }),
    ),
    domain_proofs: domainProofs,
  },
  load: async (queries, tenant, providers) => {
    const named = providers.filter(({ domains }) => domains.length > 0).map(({ id }) => id);
    const proven = await listProvenDomains(queries, tenant.id, 'identity_provider', named);
    return {
      json: (provider) => {
        const callback = `${tenant.baseUrl}/login/callback/${provider.alias}`;
        return {
          callback_uri: callback,
          backchannel_logout_uri: `${callback}/logout`,
          sp_metadata_uri: provider.kind === 'saml' ? spEntityId(callback) : null,
          domain_proofs: proofsToJson(tenant.id, provider, proven),
        };
      },
    };
  },
  // Administrators whom only its word lets in, who have no key: whoever changes it can come in as them, or shut them out.
  actsOn: async (queries, { tenant, params }) =>
    withoutOwnKey(queries, tenant.id, await listLinkedAdministrators(queries, tenant.id, params['id']!)),
};

export const identityProviderEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/identity-providers/:id/check-domains',
    capability: 'sign-in:write',
    summary: 'Look the TXT records of its domains up: one that is there proves its domain, one that is gone no longer does',
    answer: answerOf(registered.identity_provider, besideProvider),
    status: 200,
    handle: async (call) => {
      const { services, tenant } = call;
      const provider = await loadThing(registered.identity_provider, call);
      const checking = { kind: 'identity_provider', owner: provider, hold: registered.identity_provider.rows.hold } as const;
      if (!(await checkDomains(services, tenant.id, checking, byOf(call)))) throw notFound('unknown_identity_provider');
      const now = await loadThing(registered.identity_provider, call);
      return (await jsonOf(registered.identity_provider, besideProvider, call, [now]))(now);
    },
  }),
];
