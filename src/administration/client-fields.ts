// The rules of a client's registration (design 02, /clients): from the API's fields to the domain's Client, or the first field
// that is wrong. Shapes (types, lengths, choices) were checked before; what depends on more than one field is checked here.
import { createPublicKey, type JsonWebKey } from 'node:crypto';
import type { Client, ClientType, DeliveryMode, RegisteredAuthMethod, SigningAlg, TokenEndpointAuthMethod } from '../domain/client.ts';
import { audienceFault, calledUriFault, redirectUriFault } from './client-uris.ts';

/** The writable fields of a client by their names in the API; absent ones stay as they are, null clears. */
export interface ClientFields {
  readonly name?: string;
  readonly type?: ClientType;
  readonly token_endpoint_auth_method?: TokenEndpointAuthMethod;
  readonly jwks?: { readonly keys: readonly Readonly<Record<string, unknown>>[] } | null;
  readonly jwks_uri?: string | null;
  readonly redirect_uris?: readonly string[];
  readonly post_logout_redirect_uris?: readonly string[];
  readonly grant_types?: readonly string[];
  readonly scopes?: readonly string[];
  readonly resources?: readonly string[];
  readonly require_pkce?: boolean;
  readonly require_par?: boolean;
  readonly require_consent?: boolean;
  readonly authorize_error_delivery?: 'direct' | 'redirect';
  readonly id_token_signed_response_alg?: SigningAlg;
  readonly backchannel_token_delivery_mode?: DeliveryMode | null;
  readonly backchannel_client_notification_endpoint?: string | null;
  readonly backchannel_logout_uri?: string | null;
  readonly access_policy?: 'everyone' | 'assigned';
  readonly refresh_reuse_leeway_seconds?: number;
  readonly logo_uri?: string | null;
  readonly enabled?: boolean;
}

export const cibaGrantType = 'urn:openid:params:grant-type:ciba';
export const clientGrantTypes = ['authorization_code', 'refresh_token', 'client_credentials', cibaGrantType] as const;

export interface FieldFault {
  readonly field: string;
  readonly text: string;
}

/** Everything of a client but its secret. */
export type Registration = Omit<Client, 'secretHash' | 'secretEncrypted' | 'createdAtMs' | 'updatedAtMs'>;

/** Lays the fields over what is registered (or the defaults) and checks the whole. */
export function registrationOf(
  fields: ClientFields,
  before: Registration | undefined,
  clientId: Client['clientId'],
): { readonly ok: true; readonly registration: Registration } | { readonly ok: false; readonly fault: FieldFault } {
  const registration = overlay(fields, before, clientId);
  const fault = faultOf(registration, fields);
  return fault === undefined ? { ok: true, registration } : { ok: false, fault };
}

function overlay(fields: ClientFields, before: Registration | undefined, clientId: Client['clientId']): Registration {
  const type = fields.type ?? before?.type ?? 'confidential';
  const grantTypes = distinct(fields.grant_types ?? before?.grantTypes ?? ['authorization_code']);
  const usesCiba = grantTypes.includes(cibaGrantType);
  return {
    clientId,
    name: fields.name ?? before?.name ?? '',
    type,
    tokenEndpointAuthMethod: methodOf(fields, before, type),
    jwks: given(fields.jwks, before?.jwks),
    jwksUri: given(fields.jwks_uri, before?.jwksUri),
    redirectUris: distinct(fields.redirect_uris ?? before?.redirectUris ?? []),
    postLogoutRedirectUris: distinct(fields.post_logout_redirect_uris ?? before?.postLogoutRedirectUris ?? []),
    grantTypes,
    scopes: distinct(fields.scopes ?? before?.scopes ?? []),
    resources: distinct(fields.resources ?? before?.resources ?? []),
    requirePkce: fields.require_pkce ?? before?.requirePkce ?? true,
    requirePar: fields.require_par ?? before?.requirePar ?? false,
    requireConsent: fields.require_consent ?? before?.requireConsent ?? false,
    authorizeErrorDelivery: fields.authorize_error_delivery ?? before?.authorizeErrorDelivery ?? 'direct',
    idTokenSignedResponseAlg: fields.id_token_signed_response_alg ?? before?.idTokenSignedResponseAlg ?? 'RS256',
    backchannelTokenDeliveryMode:
      given(fields.backchannel_token_delivery_mode, before?.backchannelTokenDeliveryMode) ?? (usesCiba ? 'poll' : undefined),
    backchannelClientNotificationEndpoint: given(
      fields.backchannel_client_notification_endpoint,
      before?.backchannelClientNotificationEndpoint,
    ),
    backchannelLogoutUri: given(fields.backchannel_logout_uri, before?.backchannelLogoutUri),
    accessPolicy: fields.access_policy ?? before?.accessPolicy ?? 'everyone',
    refreshReuseLeewaySeconds: fields.refresh_reuse_leeway_seconds ?? before?.refreshReuseLeewaySeconds ?? 0,
    logoUri: given(fields.logo_uri, before?.logoUri),
    enabled: fields.enabled ?? before?.enabled ?? true,
  };
}

/** A change of type brings the method that goes with it, unless one is named. */
function methodOf(fields: ClientFields, before: Registration | undefined, type: ClientType): RegisteredAuthMethod {
  if (fields.token_endpoint_auth_method !== undefined) return fields.token_endpoint_auth_method;
  if (before !== undefined && before.type === type) return before.tokenEndpointAuthMethod;
  return type === 'public' ? 'none' : 'client_secret_basic';
}

const distinct = (values: readonly string[]): readonly string[] => [...new Set(values)];
const given = <Value>(field: Value | null | undefined, before: Value | undefined): Value | undefined =>
  field === undefined ? before : (field ?? undefined);

function faultOf(client: Registration, fields: ClientFields): FieldFault | undefined {
  return (
    nameFault(client) ??
    authenticationFault(client) ??
    uriFault(client) ??
    grantFault(client) ??
    scopeFault(client) ??
    keysFault(client, fields)
  );
}

function nameFault(client: Registration): FieldFault | undefined {
  return client.name.trim() === '' ? { field: 'name', text: 'is required' } : undefined;
}

function authenticationFault(client: Registration): FieldFault | undefined {
  const { type, tokenEndpointAuthMethod: method } = client;
  if ((type === 'public') !== (method === 'none'))
    return { field: 'token_endpoint_auth_method', text: 'must be none for public clients, and only for them' };
  if (client.jwks !== undefined && client.jwksUri !== undefined) return { field: 'jwks_uri', text: 'may not be given together with jwks' };
  if (method === 'private_key_jwt' && client.jwks === undefined && client.jwksUri === undefined)
    return { field: 'jwks', text: 'or jwks_uri is required for private_key_jwt' };
  if (type === 'public' && !client.requirePkce) return { field: 'require_pkce', text: 'may be false for confidential clients only' };
  return undefined;
}

function uriFault(client: Registration): FieldFault | undefined {
  for (const [field, uris] of [
    ['redirect_uris', client.redirectUris],
    ['post_logout_redirect_uris', client.postLogoutRedirectUris],
  ] as const) {
    for (const uri of uris) {
      const text = redirectUriFault(uri, client.type === 'public');
      if (text !== undefined) return { field, text };
    }
  }
  for (const [field, uri] of [
    ['jwks_uri', client.jwksUri],
    ['backchannel_client_notification_endpoint', client.backchannelClientNotificationEndpoint],
    ['backchannel_logout_uri', client.backchannelLogoutUri],
    ['logo_uri', client.logoUri],
  ] as const) {
    const text = uri === undefined ? undefined : calledUriFault(uri);
    if (text !== undefined) return { field, text };
  }
  const text = client.resources.map(audienceFault).find((fault) => fault !== undefined);
  return text === undefined ? undefined : { field: 'resources', text };
}

function grantFault(client: Registration): FieldFault | undefined {
  const { grantTypes, backchannelTokenDeliveryMode: mode } = client;
  const usesCiba = grantTypes.includes(cibaGrantType);
  if (client.type === 'public') {
    const forbidden = [cibaGrantType, 'client_credentials'].find((grant) => grantTypes.includes(grant));
    if (forbidden !== undefined) return { field: 'grant_types', text: `may hold ${forbidden} for confidential clients only` };
  }
  if (mode !== undefined && !usesCiba) return { field: 'backchannel_token_delivery_mode', text: `needs ${cibaGrantType} in grant_types` };
  if ((mode === 'ping' || mode === 'push') && client.backchannelClientNotificationEndpoint === undefined)
    return { field: 'backchannel_client_notification_endpoint', text: `is required for ${mode} delivery` };
  return undefined;
}

function scopeFault(client: Registration): FieldFault | undefined {
  // RFC 6749 3.3: scope-token
  const bad = client.scopes.some((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope));
  return bad ? { field: 'scopes', text: 'must hold scope names without spaces, quotes and backslashes' } : undefined;
}

const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/** Public keys only, that this build can verify with; checked when they are given. */
function keysFault(client: Registration, fields: ClientFields): FieldFault | undefined {
  if (fields.jwks === undefined || fields.jwks === null || client.jwks === undefined) return undefined;
  for (const key of client.jwks.keys) {
    if (privateMembers.some((member) => Object.hasOwn(key, member))) return { field: 'jwks', text: 'must hold public keys only' };
    const text = publicKeyFault(key);
    if (text !== undefined) return { field: 'jwks', text };
  }
  return undefined;
}

function publicKeyFault(jwk: Readonly<Record<string, unknown>>): string | undefined {
  try {
    const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
    const { modulusLength } = key.asymmetricKeyDetails ?? {};
    return key.asymmetricKeyType === 'rsa' && (modulusLength ?? 0) < 2048 ? 'must hold RSA keys of 2048 bits or more' : undefined;
  } catch {
    return 'must hold EC, OKP or RSA public keys (RFC 7517)';
  }
}
