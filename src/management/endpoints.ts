// Every endpoint of the management and system APIs. A resource is one file; adding it is one line here.
import { clientEndpoints } from './clients.ts';
import { deviceEndpoints } from './devices.ts';
import type { Endpoint } from './endpoint.ts';
import { eventEndpoints } from './events.ts';
import { groupEndpoints } from './groups.ts';
import { outboxEndpoints } from './outbox.ts';
import { passkeyEndpoints } from './passkeys.ts';
import { resourceEndpoints } from './resources.ts';
import { serviceProviderEndpoints } from './service-providers.ts';
import { settingsEndpoints } from './settings.ts';
import { signingKeyEndpoints } from './signing-keys.ts';
import { statisticsEndpoints } from './statistics.ts';
import { tenantEndpoints } from './tenants.ts';
import { userEndpoints } from './users.ts';

export const systemEndpoints: readonly Endpoint[] = [...tenantEndpoints, ...outboxEndpoints];

export const managementEndpoints: readonly Endpoint[] = [
  ...clientEndpoints,
  ...resourceEndpoints,
  ...userEndpoints,
  ...groupEndpoints,
  ...deviceEndpoints,
  ...passkeyEndpoints,
  ...serviceProviderEndpoints,
  ...signingKeyEndpoints,
  ...settingsEndpoints,
  ...eventEndpoints,
  ...statisticsEndpoints,
  ...tenantEndpoints.map((endpoint): Endpoint => ({ ...endpoint, operatorOnly: true })),
];
