// The console as a client of its own tenant: allowed the Management API and its capabilities.
import { capabilities } from '../../domain/capabilities.ts';
import { consoleClientId } from '../../domain/own-clients.ts';
import type { FirstPartyApp } from '../first-party/first-party-app.ts';

export const consoleApp: FirstPartyApp = {
  name: 'console',
  clientId: consoleClientId,
  scopes: ['openid', 'profile', 'offline_access', ...capabilities],
  resourceOf: (tenant) => tenant.managementApi,
};
