// The console as a client of its own tenant: allowed the Management API and its capabilities.
import { capabilities } from '../../domain/capabilities.ts';
import type { ClientId } from '../../domain/ids.ts';
import type { OwnApp } from '../own-app/own-app.ts';

export const consoleApp: OwnApp = {
  name: 'console',
  clientId: 'gatehouse-console' as ClientId, // a fixed id of ours
  scopes: ['openid', 'profile', 'offline_access', ...capabilities],
  resourceOf: (tenant) => tenant.managementApi,
};
