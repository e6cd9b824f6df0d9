// The grant types of the token endpoint, in the order discovery lists them: one line each. Registration, validation, discovery,
// console, command line and docs read this table; oidc/grants/handlers.ts has the handler of each.

interface GrantTypeAbout {
  readonly label: string;
  /** True when public clients may use it. */
  readonly publicClients: boolean;
  /** True when a tenant has it only after its administrator turned it on (`extra_grants`). */
  readonly isExtra?: true;
}

export const codeGrantType = 'authorization_code';
export const refreshGrantType = 'refresh_token';
export const machineGrantType = 'client_credentials';
export const cibaGrantType = 'urn:openid:params:grant-type:ciba';
export const deviceCodeGrantType = 'urn:ietf:params:oauth:grant-type:device_code';
export const jwtBearerGrantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
export const exchangeGrantType = 'urn:ietf:params:oauth:grant-type:token-exchange';

const table = {
  [codeGrantType]: { label: 'Authorization code', publicClients: true },
  [refreshGrantType]: { label: 'Refresh token', publicClients: true },
  [machineGrantType]: { label: 'Client credentials', publicClients: false },
  [cibaGrantType]: { label: 'Sign-in without a browser (CIBA)', publicClients: false },
  [deviceCodeGrantType]: { label: 'Devices without a browser', publicClients: true, isExtra: true },
  [jwtBearerGrantType]: { label: 'Assertions by a key, a platform or another provider', publicClients: false, isExtra: true },
  [exchangeGrantType]: { label: 'Token exchange', publicClients: false, isExtra: true },
} as const;

export type GrantType = keyof typeof table;
export const grantTypes: Readonly<Record<GrantType, GrantTypeAbout>> = table;
export const grantTypeNames = Object.keys(table) as readonly GrantType[];

export const isGrantType = (name: string | undefined): name is GrantType => name !== undefined && Object.hasOwn(table, name);

/** What a tenant may turn on beside what every tenant has: grants, and that clients register themselves. */
export const registrationName = 'registration';
export const extraGrantNames = [deviceCodeGrantType, jwtBearerGrantType, exchangeGrantType, registrationName] as const;
type ExtraGrant = (typeof extraGrantNames)[number];

/** Whether a tenant with these extra grants has the grant type. */
export const isOffered = (type: GrantType, extras: readonly ExtraGrant[]): boolean =>
  grantTypes[type].isExtra !== true || (extras as readonly string[]).includes(type);
