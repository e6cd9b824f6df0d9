// What `/identity-providers` shows beside the fields of another provider (design 14, 2): what to register there, and how its domains are
// proven, which may be looked up.
import Type from 'typebox';
import { checkDomains, proofsOf } from '../../administration/provider-domains.ts';
import { registered } from '../../administration/registered.ts';
import type { IdentityProviderId } from '../../domain/ids.ts';
import type { identityProviderFields } from '../../domain/sign-in/identity-provider.ts';
import { spEntityId } from '../../federation/saml/sp-metadata.ts';
import { withoutOwnKey } from '../../storage/people/own-keys.ts';
import { listProvenDomains } from '../../storage/registry/provider-domains.ts';
import { listLinkedAdministrators } from '../../storage/sign-in/external-identities.ts';
import { byOf, type Endpoint, endpoint, isoTime, notFound } from '../endpoint.ts';
import { answerOf, type Besides, jsonOf, loadThing } from '../kind-endpoints.ts';
import { dateTime, nullable } from '../schemas.ts';

export const besideProvider: Besides<typeof identityProviderFields, IdentityProviderId> = {
  properties: {
    callback_uri: Type.String({ description: 'what to register at the provider' }),
    backchannel_logout_uri: Type.String({ description: 'where it may tell that somebody signed out there' }),
    sp_metadata_uri: nullable(
      Type.String({ description: 'our SAML metadata, to upload at the provider; its address is our entityID there' }),
    ),
    domain_proofs: Type.Array(
      Type.Object({
        domain: Type.String(),
        name: Type.String({ description: 'where the TXT record stands' }),
        value: Type.String({ description: 'its text' }),
        proven_at: nullable(dateTime),
      }),
    ),
  },
  load: async (queries, tenant) => {
    const proven = await listProvenDomains(queries, tenant.id);
    return {
      json: (provider) => {
        const callback = `${tenant.baseUrl}/login/callback/${provider.alias}`;
        return {
          callback_uri: callback,
          backchannel_logout_uri: `${callback}/logout`,
          sp_metadata_uri: provider.kind === 'saml' ? spEntityId(callback) : null,
          domain_proofs: proofsOf(tenant.id, provider, proven).map(({ provenAtMs, ...record }) => ({
            ...record,
            proven_at: provenAtMs === undefined ? null : isoTime(provenAtMs),
          })),
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
      if (!(await checkDomains(services, tenant.id, provider, byOf(call)))) throw notFound('unknown_identity_provider');
      const json = await jsonOf(registered.identity_provider, besideProvider, call);
      return json(await loadThing(registered.identity_provider, call)); // as it is now
    },
  }),
];
