// An OAuth client as registered (design 02, /clients): the table of its fields, and what they mean together. Pure.
import { nameCharsMax, scopeNameCharsMax, scopesPerListMax, urisPerListMax, urlCharsMax } from '../../contract/limits.ts';
import {
  type ChangeOf,
  choice,
  type FieldFault,
  field,
  flag,
  type Json,
  json,
  list,
  missingField,
  overlay,
  seconds,
  text,
  type ValuesOf,
  valueFault,
} from '../field.ts';
import type { ClientId } from '../ids.ts';
import { rulesKind } from '../mappings/rule.ts';
import { rulesFault } from '../mappings/rule-faults.ts';
import { cibaGrantType, codeGrantType, grantTypeNames, grantTypes, machineGrantType, refreshGrantType } from '../oidc/grant-types.ts';
import { standardScopes } from '../oidc/standard-scopes.ts';
import { capabilities } from '../people/capabilities.ts';
import { audienceFault, calledUriFault, redirectUriFault } from './client-uris.ts';
import { crossAppFields } from './cross-app.ts';
import { fapi2Fault, fapi2Implied, fapi2Profile, hasBoundTokens } from './fapi2.ts';
import { type JwkSet, jwkSetShape, keysFault } from './jwk-set.ts';
import type { Origin } from './stranger.ts';
import { certificateFault, certificateMethods, credentialsTab, tlsClientAuthFields, tokensTab } from './tls-client-auth.ts';
import { exchangeFields } from './token-exchange.ts';
import { federatedMethod, workloadFields } from './workload.ts';

/** Those that metadata offers (RFC 8414 2), and programs may register for. */
export const tokenEndpointAuthMethods = [
  'client_secret_basic',
  'client_secret_post',
  'client_secret_jwt',
  'private_key_jwt',
  ...certificateMethods,
  'none',
] as const;
/** All that an administrator may register. */
export const clientAuthMethods = [...tokenEndpointAuthMethods, federatedMethod] as const;
export type TokenEndpointAuthMethod = (typeof clientAuthMethods)[number];
/** How a client says who it is, for people who choose it. */
export const authMethodChoices: Readonly<Record<TokenEndpointAuthMethod, { readonly label: string }>> = {
  client_secret_basic: { label: 'Secret in the header (HTTP Basic)' },
  client_secret_post: { label: 'Secret in the body' },
  client_secret_jwt: { label: 'JWT signed with the secret' },
  private_key_jwt: { label: 'JWT signed with its own key' },
  tls_client_auth: { label: 'Certificate of a CA' },
  self_signed_tls_client_auth: { label: 'Certificate of its own' },
  none: { label: 'None: a public client' },
  federated_jwt: { label: 'Token of its platform' },
};
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

/** True when the method sends or signs with a secret. */
export const usesSecret = (method: RegisteredAuthMethod): boolean => method.startsWith('client_secret');

const uri = text(urlCharsMax);
const uris = list(uri, urisPerListMax);
const jwkSet = {
  ...json<JwkSet>(jwkSetShape),
  input: 'keys',
} as const;

const { tlsClientCertificateBoundAccessTokens, ...tlsClientAuthNames } = tlsClientAuthFields;

// Parts of the form, each a page of the console; a field without one is among the settings.
const signInTab = 'Sign-in';
const logoutTab = 'Logout';
const accessTab = 'Access';

// biome-ignore format: a field a line or two
export const clientFields = {
  name: field('name', text(nameCharsMax), { required: true, label: 'Name', help: 'Shown to people when they sign in.',
    check: (name) => (name.trim() === '' ? 'is required' : undefined) }),
  type: field('type', choice(['confidential', 'public']), { default: 'confidential', label: 'Type', cli: 'type', form: 'new',
    help: 'Public: an app or page that cannot keep a secret.' }),
  tokenEndpointAuthMethod: field('token_endpoint_auth_method', choice<RegisteredAuthMethod>(clientAuthMethods, authMethodChoices), {
    default: 'client_secret_basic', label: 'How it authenticates', tab: credentialsTab, cli: 'auth-method', form: 'new', help: 'Public applications have none.' }),
  jwks: field('jwks', jwkSet, { label: 'Its public keys', tab: credentialsTab, help: 'Paste its JSON Web Key Set, or one key, as its program gives it: for JWTs it signs with its own key, signed requests, and certificates of its own (x5c).', check: keysFault }),
  jwksUri: field('jwks_uri', uri, { label: 'Address of its public keys', tab: credentialsTab, help: 'Instead of the keys themselves.',
    check: calledUriFault }),
  ...tlsClientAuthNames,
  ...workloadFields,
  redirectUris: field('redirect_uris', uris, { default: [], label: 'Redirect URIs', cli: 'redirect-uri',
    help: 'One a line; compared byte for byte.' }),
  postLogoutRedirectUris: field('post_logout_redirect_uris', uris, { default: [], label: 'Post-logout redirect URIs', tab: logoutTab,
    cli: 'post-logout-redirect-uri', help: 'One a line: where people may go after signing out.' }),
  grantTypes: field('grant_types', list(choice(grantTypeNames, grantTypes)), { default: [codeGrantType], label: 'Grants', tab: signInTab,
    cli: 'grant-type' }),
  scopes: field('scopes', list(text(scopeNameCharsMax), scopesPerListMax), { default: [], label: 'Scopes', tab: signInTab, cli: 'scope',
    help: 'One a line: openid, profile, email, phone, address, offline_access, groups, scopes of resources, or capabilities.',
    check: scopesFault }),
  resources: field('resources', uris, { default: [], label: 'Audiences it may request', tab: tokensTab, cli: 'resource',
    check: (audiences) => firstFault(audiences, audienceFault) }),
  profile: field('profile', choice([fapi2Profile]), { label: 'Security profile', tab: signInTab, cli: 'profile',
    help: 'fapi2: a key of its own or a certificate, PAR, PKCE, tokens bound by DPoP or certificate, ES256 or EdDSA, errors by redirect (FAPI 2.0 Security Profile).' }),
  requirePkce: field('require_pkce', flag, { default: true, label: 'Requests must have PKCE', tab: signInTab,
    help: 'Off for confidential applications only.' }),
  requirePar: field('require_par', flag, { default: false, label: 'Requests must be pushed (PAR)', tab: signInTab }),
  requireSignedRequestObject: field('require_signed_request_object', flag, { default: false, label: 'Requests must be signed', tab: signInTab,
    help: 'Every authorization request must be a JWT signed by one of its keys (RFC 9101).' }),
  requireConsent: field('require_consent', flag, { default: false, label: 'Ask people for consent', tab: signInTab }),
  dpopBoundAccessTokens: field('dpop_bound_access_tokens', flag, { default: false, label: 'Tokens are bound to a key (DPoP)', tab: tokensTab,
    help: 'Every token request must carry a DPoP proof (RFC 9449).' }),
  tlsClientCertificateBoundAccessTokens,
  authorizeErrorDelivery: field('authorize_error_delivery', choice(['direct', 'redirect']), { default: 'direct', tab: signInTab,
    label: 'Errors of authorization', help: 'direct: answered to the browser; redirect: sent to the redirect URI.' }),
  idTokenSignedResponseAlg: field('id_token_signed_response_alg', choice(['ES256', 'RS256', 'EdDSA']), { default: 'RS256',
    label: 'Algorithm of ID tokens', tab: tokensTab }),
  backchannelTokenDeliveryMode: field('backchannel_token_delivery_mode', choice(['poll', 'ping', 'push']), {
    label: 'CIBA delivery', tab: signInTab, help: 'How the application learns the decision.' }),
  backchannelClientNotificationEndpoint: field('backchannel_client_notification_endpoint', uri, {
    label: 'CIBA notification endpoint', tab: signInTab, help: 'Called for ping and push.', check: calledUriFault }),
  backchannelLogoutUri: field('backchannel_logout_uri', uri, { label: 'Back-channel logout URI', tab: logoutTab,
    help: 'Told when a session of the application ends (OpenID Connect Back-Channel Logout).', check: calledUriFault }),
  accessPolicy: field('access_policy', choice(['everyone', 'assigned']), { default: 'everyone', label: 'Who may use it', tab: accessTab }),
  refreshReuseLeewaySeconds: field('refresh_reuse_leeway_seconds', seconds(0, 3600), { default: 0, tab: tokensTab,
    label: 'Leeway for a refresh token used twice, in seconds',
    help: 'An application that lost the answer to a refresh gets the same one again; later uses end its tokens.' }),
  ...exchangeFields,
  ...crossAppFields,
  logoUri: field('logo_uri', uri, { label: 'Address of its logo', check: calledUriFault }),
  mappings: field('mappings', rulesKind('oidc'), { default: [], label: 'Claims', check: mappingsFault,
    help: 'Rules that make claims; they replace rules of the default table (/mappings/oidc) by `to`.' }),
  enabled: field('enabled', flag, { default: true, label: 'Enabled' }),
} as const;

type Values = ValuesOf<typeof clientFields>;
/** The JSON of a registration or change; absent fields stay as they are, null clears. */
export type ClientChange = ChangeOf<typeof clientFields>;
export type DeliveryMode = NonNullable<Values['backchannelTokenDeliveryMode']>;
export type SigningAlg = Values['idTokenSignedResponseAlg'];

export interface Client extends Values {
  readonly clientId: ClientId;
  /** SHA-256 of the secret, base64url; for the methods that send it. */
  readonly secretHash: string | undefined;
  /** The secret itself under the master key; for client_secret_jwt only. */
  readonly secretEncrypted: string | undefined;
  /** Where it comes from when nobody registered it. */
  readonly origin?: Origin | undefined;
  /** Who made it, as in the audit trail. */
  readonly createdBy?: string | undefined;
  /** Who made its secret, or gave its keys, last: they know what it signs in by. */
  readonly secretBy?: { readonly actor: string; readonly atMs: number } | undefined;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** Everything of a client but its secret. */
export interface Registration extends Values {
  readonly clientId: ClientId;
}

/** A confidential client with nothing registered yet; callers lay over it what theirs has. */
export function plainClient(clientId: ClientId, name: string, nowMs: number): Client {
  return {
    clientId,
    ...overlay(clientFields, { name, grant_types: [] }),
    secretHash: undefined,
    secretEncrypted: undefined,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}

/** Lays a change over what is registered (or the defaults) and checks the whole. Its shape was checked before. */
export function registrationOf(
  given: ClientChange,
  before: Registration | undefined,
  clientId: ClientId,
): { readonly ok: true; readonly registration: Registration } | { readonly ok: false; readonly fault: FieldFault } {
  const missing = before === undefined ? missingField(clientFields, given) : undefined;
  if (missing !== undefined) return { ok: false, fault: { field: missing, text: 'is required' } };
  const fault = valueFault(clientFields, given);
  if (fault !== undefined) return { ok: false, fault };
  const values = completeClient(given, before);
  const broken = clientRules(values);
  return broken === undefined ? { ok: true, registration: { clientId, ...values } } : { ok: false, fault: broken };
}

/** Defaults that hang on other fields: a change of type brings the method that goes with it, and CIBA polls unless told otherwise. */
function completeClient(asked: ClientChange, before: Registration | undefined): Values {
  const given: ClientChange = asked.profile === fapi2Profile ? { ...byName(fapi2Implied(asked)), ...asked } : asked;
  const values = overlay(clientFields, given as Json, before);
  const takesMethodOfType = given.token_endpoint_auth_method === undefined && values.type !== before?.type;
  const usesCiba = values.grantTypes.includes(cibaGrantType);
  return {
    ...values,
    ...(takesMethodOfType && { tokenEndpointAuthMethod: values.type === 'public' ? 'none' : 'client_secret_basic' }),
    backchannelTokenDeliveryMode: values.backchannelTokenDeliveryMode ?? (usesCiba ? 'poll' : undefined),
  };
}

/** The first rule between fields that does not hold. */
function clientRules(client: Values): FieldFault | undefined {
  return profileFault(client) ?? authenticationFault(client) ?? redirectFault(client) ?? grantFault(client);
}

function authenticationFault(client: Values): FieldFault | undefined {
  const { type, tokenEndpointAuthMethod: method } = client;
  if ((type === 'public') !== (method === 'none'))
    return { field: 'token_endpoint_auth_method', text: 'must be none for public clients, and only for them' };
  if (client.jwks !== undefined && client.jwksUri !== undefined) return { field: 'jwks_uri', text: 'may not be given together with jwks' };
  if (method === 'private_key_jwt' && client.jwks === undefined && client.jwksUri === undefined)
    return { field: 'jwks', text: 'or jwks_uri is required for private_key_jwt' };
  if (method === federatedMethod && client.workloads.length === 0)
    return { field: 'workloads', text: `must name one or more for ${federatedMethod}` };
  const certificates = certificateFault(client);
  if (certificates !== undefined) return certificates;
  if (client.requireSignedRequestObject && client.jwks === undefined && client.jwksUri === undefined)
    return { field: 'jwks', text: 'or jwks_uri is required for signed requests' };
  if (type === 'public' && !client.requirePkce) return { field: 'require_pkce', text: 'may be false for confidential clients only' };
  return undefined;
}

/** Values by the names of their fields. */
const byName = (values: Partial<Values>): ClientChange =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [clientFields[key as keyof Values].name, value])) as ClientChange; // of the same values

function profileFault(client: Values): FieldFault | undefined {
  const fault = fapi2Fault(client);
  return fault && { field: clientFields[fault.key].name, text: fault.text };
}

function redirectFault({ type, redirectUris, postLogoutRedirectUris }: Values): FieldFault | undefined {
  for (const [name, all] of Object.entries({ redirect_uris: redirectUris, post_logout_redirect_uris: postLogoutRedirectUris })) {
    const fault = firstFault(all, (one) => redirectUriFault(one, type === 'public'));
    if (fault !== undefined) return { field: name, text: fault };
  }
  return undefined;
}

function grantFault(client: Values): FieldFault | undefined {
  const { backchannelTokenDeliveryMode: mode } = client;
  const closed = (name: (typeof grantTypeNames)[number]): boolean => !grantTypes[name].publicClients && client.grantTypes.includes(name);
  const forbidden = client.type === 'public' ? grantTypeNames.findLast(closed) : undefined;
  if (forbidden !== undefined) return { field: 'grant_types', text: `may hold ${forbidden} for confidential clients only` };
  if (mode !== undefined && !client.grantTypes.includes(cibaGrantType))
    return { field: 'backchannel_token_delivery_mode', text: `needs ${cibaGrantType} in grant_types` };
  if ((mode === 'ping' || mode === 'push') && client.backchannelClientNotificationEndpoint === undefined)
    return { field: 'backchannel_client_notification_endpoint', text: `is required for ${mode} delivery` };
  if (mode === 'push' && hasBoundTokens(client))
    return { field: 'backchannel_token_delivery_mode', text: 'may not be push where tokens are bound to a key: nobody proves one' };
  return undefined;
}

/**
 * What a client is registered for and never gets: client_credentials opens the Management API alone (contract 5). Asked where somebody
 * registers a client or changes what it may have; one of before stays as it is.
 */
export function unreachableScope({ grantTypes, scopes }: Pick<Values, 'grantTypes' | 'scopes'>): FieldFault | undefined {
  if (!grantTypes.includes(machineGrantType) || grantTypes.some((type) => type !== machineGrantType && type !== refreshGrantType))
    return undefined;
  const reachable: ReadonlySet<string> = new Set([...capabilities, ...standardScopes]);
  return scopes.every((scope) => reachable.has(scope))
    ? undefined
    : {
        field: 'scopes',
        text: `may hold capabilities of the Management API only where ${machineGrantType} is the only grant: it opens no other API`,
      };
}

function firstFault(values: readonly string[], faultOf: (value: string) => string | undefined): string | undefined {
  return values.map(faultOf).find((fault) => fault !== undefined);
}

function mappingsFault(rules: readonly unknown[]): string | undefined {
  const fault = rulesFault('oidc', rules);
  return fault && `must have rules without mistakes: ${fault}`;
}

function scopesFault(scopes: readonly string[]): string | undefined {
  // RFC 6749 3.3: scope-token
  const bad = scopes.some((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope));
  return bad ? 'must hold scope names without spaces, quotes and backslashes' : undefined;
}
