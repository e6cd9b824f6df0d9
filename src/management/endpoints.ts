// Every endpoint of the management and system APIs. A resource is one file; adding it is one line here.
import type { Endpoint } from './endpoint.ts';
import { serviceProviderEndpoints } from './service-providers.ts';
import { tenantEndpoints } from './tenants.ts';

export const systemEndpoints: readonly Endpoint[] = [...tenantEndpoints];

export const managementEndpoints: readonly Endpoint[] = [...serviceProviderEndpoints];
