// The account page as a client of its own tenant. Its tokens are for the issuer alone: it reads and writes as the person who
// is signed in, never through an API.
import type { ClientId } from '../../domain/ids.ts';
import type { FirstPartyApp } from '../first-party/first-party-app.ts';

export const accountApp: FirstPartyApp = {
  name: 'account',
  clientId: 'gatehouse-account' as ClientId, // a fixed id of ours
  scopes: ['openid', 'profile', 'offline_access'],
  resourceOf: () => undefined,
};
