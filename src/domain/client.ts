// An OAuth client as registered (design 02, /clients). Pure data and predicates.
import type { ClientId } from './ids.ts';

export const tokenEndpointAuthMethods = [
  'client_secret_basic',
  'client_secret_post',
  'client_secret_jwt',
  'private_key_jwt',
  'none',
] as const;
export type TokenEndpointAuthMethod = (typeof tokenEndpointAuthMethods)[number];
/** What a tenant's admin client is registered for: the secret in either carrier (design 02, system API). Nobody can ask for it. */
export const adminClientAuthMethod = 'client_secret_basic_or_post';
export type RegisteredAuthMethod = TokenEndpointAuthMethod | typeof adminClientAuthMethod;

/** The method as the Management API names it. */
export const shownAuthMethod = (registered: RegisteredAuthMethod): TokenEndpointAuthMethod =>
  registered === adminClientAuthMethod ? 'client_secret_basic' : registered;

/** True when a client registered for one method may use the other. */
export function acceptsAuthMethod(registered: RegisteredAuthMethod, used: TokenEndpointAuthMethod): boolean {
  return registered === adminClientAuthMethod ? used === 'client_secret_basic' || used === 'client_secret_post' : registered === used;
}

export type ClientType = 'confidential' | 'public';
export type DeliveryMode = 'poll' | 'ping' | 'push';
export type SigningAlg = 'ES256' | 'RS256' | 'EdDSA';

export interface Client {
  readonly clientId: ClientId;
  readonly name: string;
  readonly type: ClientType;
  readonly tokenEndpointAuthMethod: RegisteredAuthMethod;
  /** SHA-256 of the secret, base64url; for the methods that send it. */
  readonly secretHash: string | undefined;
  /** The secret itself under the master key; for client_secret_jwt only. */
  readonly secretEncrypted: string | undefined;
  readonly jwks: { readonly keys: readonly Readonly<Record<string, unknown>>[] } | undefined;
  readonly jwksUri: string | undefined;
  readonly redirectUris: readonly string[];
  readonly postLogoutRedirectUris: readonly string[];
  readonly grantTypes: readonly string[];
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
  readonly requirePkce: boolean;
  readonly requirePar: boolean;
  readonly requireConsent: boolean;
  readonly authorizeErrorDelivery: 'direct' | 'redirect';
  readonly idTokenSignedResponseAlg: SigningAlg;
  readonly backchannelTokenDeliveryMode: DeliveryMode | undefined;
  readonly backchannelClientNotificationEndpoint: string | undefined;
  /** Told when a session of the client ends (OpenID Connect Back-Channel Logout). */
  readonly backchannelLogoutUri: string | undefined;
  readonly accessPolicy: 'everyone' | 'assigned';
  readonly refreshReuseLeewaySeconds: number;
  readonly logoUri: string | undefined;
  readonly enabled: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export const isConfidential = (client: Client): boolean => client.type === 'confidential';

/** A confidential client with nothing registered yet; callers lay over it what theirs has. */
export function plainClient(clientId: ClientId, name: string, nowMs: number): Client {
  return {
    clientId,
    name,
    type: 'confidential',
    tokenEndpointAuthMethod: 'client_secret_basic',
    secretHash: undefined,
    secretEncrypted: undefined,
    jwks: undefined,
    jwksUri: undefined,
    redirectUris: [],
    postLogoutRedirectUris: [],
    grantTypes: [],
    scopes: [],
    resources: [],
    requirePkce: true,
    requirePar: false,
    requireConsent: false,
    authorizeErrorDelivery: 'direct',
    idTokenSignedResponseAlg: 'RS256',
    backchannelTokenDeliveryMode: undefined,
    backchannelClientNotificationEndpoint: undefined,
    backchannelLogoutUri: undefined,
    accessPolicy: 'everyone',
    refreshReuseLeewaySeconds: 0,
    logoUri: undefined,
    enabled: true,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}
