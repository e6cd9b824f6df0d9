// The account page as a client of its own tenant. Its tokens are for the issuer alone: it reads and writes as the person who
// is signed in, never through an API.
import { accountClientId } from '../domain/client/own-clients.ts';
import type { FirstPartyApp } from './first-party-app.ts';

export const accountApp: FirstPartyApp = {
  name: 'account',
  clientId: accountClientId,
  scopes: ['openid', 'profile', 'offline_access'],
  resourceOf: () => undefined,
};
