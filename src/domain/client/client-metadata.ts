// A client in the words of RFC 7591 and OpenID Connect Registration, from and to the fields of ours (client.ts). What is not named
// here is ignored, as RFC 7591 2 asks. Pure.

import { defaultsOf, type FieldFault, type Json, toJson } from '../field.ts';
import { type Client, type ClientChange, clientFields, shownAuthMethod } from './client.ts';
import { tlsClientAuthFields } from './tls-client-auth.ts';
import { federatedMethod } from './workload.ts';

/** Our field of each metadata value that is the same but for its name. */
const fieldOf: Readonly<Record<string, string>> = {
  client_name: 'name',
  token_endpoint_auth_method: 'token_endpoint_auth_method',
  jwks: 'jwks',
  jwks_uri: 'jwks_uri',
  redirect_uris: 'redirect_uris',
  post_logout_redirect_uris: 'post_logout_redirect_uris',
  grant_types: 'grant_types',
  require_pushed_authorization_requests: clientFields.requirePar.name,
  dpop_bound_access_tokens: 'dpop_bound_access_tokens',
  require_signed_request_object: 'require_signed_request_object',
  ...Object.fromEntries(Object.values(tlsClientAuthFields).map(({ name }) => [name, name])),
  id_token_signed_response_alg: 'id_token_signed_response_alg',
  backchannel_token_delivery_mode: 'backchannel_token_delivery_mode',
  backchannel_client_notification_endpoint: 'backchannel_client_notification_endpoint',
  backchannel_logout_uri: 'backchannel_logout_uri',
  logo_uri: 'logo_uri',
};
const metadataNames: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(fieldOf).map(([name, own]) => [own, name])),
  scopes: 'scope',
  type: 'token_endpoint_auth_method',
};

/** What a client calls one of our fields. */
export const metadataNameOf = (fieldName: string): string => metadataNames[fieldName] ?? fieldName;

const defaults = defaultsOf(clientFields);
const nameless = 'Registered client';

/** The registration that metadata asks for, whole: what it does not name has its default, `scopes` those of the policy. */
export function changeOfMetadata(
  metadata: Json,
  scopes: readonly string[],
): { readonly ok: true; readonly change: ClientChange } | { readonly ok: false; readonly fault: FieldFault } {
  const { response_types: responseTypes, subject_type: subjectType, scope } = metadata;
  if (isGiven(responseTypes) && !(Array.isArray(responseTypes) && responseTypes.every((type) => type === 'code')))
    return { ok: false, fault: { field: 'response_types', text: 'may hold code only' } };
  if (isGiven(subjectType) && subjectType !== 'public') return { ok: false, fault: { field: 'subject_type', text: 'must be public' } };
  // What it is known by then, an administrator registers.
  if (metadata['token_endpoint_auth_method'] === federatedMethod)
    return { ok: false, fault: { field: 'token_endpoint_auth_method', text: 'must be one that the metadata of this server offers' } };
  if (isGiven(scope) && typeof scope !== 'string') return { ok: false, fault: { field: 'scopes', text: 'must be a text' } };
  const values = Object.entries(fieldOf).map(([name, own]) => [own, isGiven(metadata[name]) ? metadata[name] : defaults[own]]);
  const change = {
    ...Object.fromEntries(values),
    name: isGiven(metadata['client_name']) ? metadata['client_name'] : nameless,
    type: metadata['token_endpoint_auth_method'] === 'none' ? 'public' : 'confidential',
    scopes: typeof scope === 'string' ? scope.split(' ').filter((one) => one !== '') : scopes,
    [clientFields.requirePkce.name]: true,
  } as ClientChange; // its shape is checked by the schema of the fields
  return { ok: true, change };
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/** What is registered, in the client's words; values that are absent are left out. */
export function metadataOfClient(client: Client): Json {
  const json = { ...toJson(clientFields, client), token_endpoint_auth_method: shownAuthMethod(client.tokenEndpointAuthMethod) };
  const values = Object.entries(fieldOf).map(([name, own]) => [name, (json as Json)[own]] as const);
  return {
    ...Object.fromEntries(values.filter(([, value]) => value !== null)),
    response_types: client.redirectUris.length === 0 ? [] : ['code'],
    scope: client.scopes.join(' '),
  };
}

/** What makes a client stricter, and is an administrator's to take back. */
const narrowing = [
  'requirePar',
  'requireSignedRequestObject',
  'requireConsent',
  'dpopBoundAccessTokens',
  'tlsClientCertificateBoundAccessTokens',
] as const;

/** What is stricter than the client asks for, and is so already, stays so. */
export const keepNarrowed = (client: Client, change: ClientChange): ClientChange => ({
  ...change,
  ...Object.fromEntries(narrowing.filter((key) => client[key]).map((key) => [clientFields[key].name, true])),
});
