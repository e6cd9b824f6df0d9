// The kinds of applications people think in, and what follows from each for a client; every value can be changed afterwards. Used by
// `client create --kind` and the console's wizard.

import { cibaGrantType, codeGrantType, deviceCodeGrantType, machineGrantType, refreshGrantType } from '../oidc/grant-types.ts';
import type { ClientChange } from './client.ts';

export interface ClientKind {
  readonly label: string;
  readonly about: string;
  /** What the wizard asks beside the name; absent: the wizard does not offer the kind. */
  readonly asks?: 'addresses' | 'capabilities' | 'nothing';
  readonly values: ClientChange;
}

/** What applications that sign people in usually ask for. */
export const signInScopes = ['openid', 'profile', 'email', 'offline_access'];
/**
 * What forms and guides start with for an application that signs people in: one whose connection broke asks again within seconds, and hears
 * itself what is wrong with its request. The API's defaults are neither.
 */
export const signingIn = {
  grant_types: [codeGrantType, refreshGrantType],
  scopes: signInScopes,
  refresh_reuse_leeway_seconds: 30,
  authorize_error_delivery: 'redirect',
} as const;
/** In a browser or on a phone nothing can be kept secret. */
const withoutSecret = { type: 'public', token_endpoint_auth_method: 'none', ...signingIn } as const;

export const clientKinds = {
  web: { label: 'Web', about: 'Pages made on a server: Next.js, Express, FastAPI, Go, Spring.', asks: 'addresses', values: signingIn },
  spa: {
    label: 'Single-page',
    about: 'A program in the browser without a server of its own: React.',
    asks: 'addresses',
    values: withoutSecret,
  },
  mobile: { label: 'Mobile', about: 'An app on phones or computers.', asks: 'addresses', values: withoutSecret },
  machine: {
    label: 'Machine',
    about: 'A program that manages this tenant, or provisions people by SCIM. Nobody signs in.',
    asks: 'capabilities',
    values: { grant_types: [machineGrantType], scopes: [] },
  },
  ciba: {
    label: 'CIBA',
    about: 'Signs people in on their phone without a browser: a call centre, a till.',
    asks: 'nothing',
    values: { grant_types: [cibaGrantType], scopes: ['openid', 'profile'], backchannel_token_delivery_mode: 'poll' },
  },
  device: {
    label: 'Device',
    about: 'A television or a tool without a browser.',
    values: { ...withoutSecret, grant_types: [deviceCodeGrantType, refreshGrantType] },
  },
} as const satisfies Readonly<Record<string, ClientKind>>;

export const isClientKind = (name: string | null): name is keyof typeof clientKinds => name !== null && Object.hasOwn(clientKinds, name);
