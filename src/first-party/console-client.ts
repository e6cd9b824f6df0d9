// The console as a client of its own tenant: allowed the Management API and its capabilities.

import { consoleClientId } from '../domain/client/own-clients.ts';
import { capabilities } from '../domain/people/capabilities.ts';
import type { FirstPartyApp } from './first-party-app.ts';

export const consoleApp: FirstPartyApp = {
  name: 'console',
  clientId: consoleClientId,
  scopes: ['openid', 'profile', 'offline_access', ...capabilities],
  resourceOf: (tenant) => tenant.managementApi,
};
