// Every endpoint of the management and system APIs. A resource is one file; adding it is one line here.
import { clientEndpoints } from './clients.ts';
import { deviceEndpoints } from './devices.ts';
import type { Endpoint } from './endpoint.ts';
import { groupEndpoints } from './groups.ts';
import { serviceProviderEndpoints } from './service-providers.ts';
import { tenantEndpoints } from './tenants.ts';
import { userEndpoints } from './users.ts';

export const systemEndpoints: readonly Endpoint[] = [...tenantEndpoints];

export const managementEndpoints: readonly Endpoint[] = [
  ...clientEndpoints,
  ...userEndpoints,
  ...groupEndpoints,
  ...serviceProviderEndpoints,
  ...deviceEndpoints,
];
