// What `/service-providers` does beside the endpoints of its kind: people are assigned to SAML service providers (design 02, 06). A change
// is configuration: it acts at once here and within a second on other nodes.
import { registered } from '../../administration/registered.ts';
import { findServiceProvider } from '../../storage/registry/service-providers.ts';
import type { Endpoint } from '../endpoint.ts';
import { assignmentEndpoints } from '../people/assignments.ts';

const { kind } = registered.service_provider;
export const besideServiceProvider = { signsIn: 'service_provider' } as const;

export const serviceProviderEndpoints: readonly Endpoint[] = assignmentEndpoints({
  kind: 'service_provider',
  path: '/service-providers',
  ...kind.power,
  exists: async (queries, tenant, id) => (await findServiceProvider(queries, tenant, id)) !== undefined,
});
