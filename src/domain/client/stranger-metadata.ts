// What a client that nobody registered says of itself (RFC 7591's words), by its document or its registration: what of it counts, what it
// cannot have and is dropped, and what is a fault. Pure; the values of each field are checked as those of every client are.
import { jwksKeysMax, nameCharsMax, urlCharsMax } from '../../contract/limits.ts';
import type { FieldFault, Json } from '../field.ts';
import type { ClientId } from '../ids.ts';
import { codeGrantType, refreshGrantType } from '../oidc/grant-types.ts';
import { type Client, type ClientChange, type Registration, registrationOf } from './client.ts';
import { changeOfMetadata } from './client-metadata.ts';
import { documentRedirectUrisMax, type Origin, strangerRefreshLeewaySeconds } from './stranger.ts';

/** All that a stranger says which has an effect: no logo, no addresses we would call, nothing that makes it stricter for others. */
const heard = [
  'client_name',
  'token_endpoint_auth_method',
  'jwks',
  'jwks_uri',
  'redirect_uris',
  'grant_types',
  'response_types',
  'dpop_bound_access_tokens',
] as const;

/** The registration that metadata of a stranger asks for: code and refresh, PKCE, consent, errors by redirect. */
export function strangerChange(metadata: Json): ReturnType<typeof changeOfMetadata> {
  const said = Object.fromEntries(heard.flatMap((name) => (metadata[name] === undefined ? [] : [[name, metadata[name]]])));
  const { grant_types: grants, response_types: _responses, ...rest } = said;
  const asked = changeOfMetadata(rest, []);
  if (!asked.ok) return asked;
  const refreshes = !Array.isArray(grants) || grants.includes(refreshGrantType);
  return {
    ok: true,
    change: {
      ...asked.change,
      grant_types: refreshes ? [codeGrantType, refreshGrantType] : [codeGrantType],
      require_consent: true,
      authorize_error_delivery: 'redirect',
      refresh_reuse_leeway_seconds: strangerRefreshLeewaySeconds,
    },
  };
}

/** A stranger of a registration that was read, as nobody has stored it. */
export const strangerOf = (origin: Origin, registration: Registration, nowMs: number): Client => ({
  ...registration,
  origin,
  secretHash: undefined,
  secretEncrypted: undefined,
  createdAtMs: nowMs,
  updatedAtMs: nowMs,
});

const documentMethods = ['none', 'private_key_jwt'];
const secretMembers = ['client_secret', 'client_secret_expires_at'];

/** The client that a document describes (draft-ietf-oauth-client-id-metadata-document 4), or why it describes none. */
export function clientOfDocument(
  clientId: ClientId,
  text: string,
  nowMs: number,
): { readonly ok: true; readonly client: Client } | { readonly ok: false; readonly reason: string; readonly received?: string } {
  const metadata = parseObject(text);
  if (metadata === undefined) return { ok: false, reason: 'not_an_object' };
  if (metadata['client_id'] !== clientId) return { ok: false, reason: 'client_id_differs', received: String(metadata['client_id']) };
  if (secretMembers.some((name) => metadata[name] !== undefined)) return { ok: false, reason: 'secret' };
  const misshapen = shapeFault(metadata);
  if (misshapen !== undefined) return { ok: false, reason: 'malformed', received: misshapen };
  const method = methodOf(metadata);
  if (!documentMethods.includes(method)) return { ok: false, reason: 'method', received: method };
  const keys = method === 'none' ? { jwks: undefined, jwks_uri: undefined } : {};
  const name = metadata['client_name'] ?? URL.parse(clientId)?.host;
  const asked = strangerChange({ ...metadata, ...keys, client_name: name, token_endpoint_auth_method: method });
  if (!asked.ok) return { ok: false, reason: 'metadata', received: `${asked.fault.field} ${asked.fault.text}` };
  const read = registrationOf(asked.change, undefined, clientId);
  if (!read.ok) return { ok: false, reason: 'metadata', received: `${read.fault.field} ${read.fault.text}` };
  return { ok: true, client: strangerOf('document', read.registration, nowMs) };
}

function parseObject(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

/** The method it says, else the first of those it says it can that there is for it, else none. */
function methodOf(metadata: Json): string {
  const { token_endpoint_auth_method: said, token_endpoint_auth_methods_supported: can, jwks, jwks_uri: jwksUri } = metadata;
  if (said !== undefined) return String(said);
  const hasKeys = jwks !== undefined || jwksUri !== undefined;
  const usable = (Array.isArray(can) ? can : []).find((one) => one === 'none' || (one === 'private_key_jwt' && hasKeys));
  return typeof usable === 'string' ? usable : 'none';
}

const isText = (value: unknown, charsMax: number): boolean =>
  typeof value === 'string' && value !== '' && value.length <= charsMax && !/\p{Cc}/u.test(value);
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

type Shape = readonly [name: string, isShaped: (value: unknown) => boolean];
const shapes: readonly Shape[] = [
  ['client_name', (value) => isText(value, nameCharsMax)],
  ['token_endpoint_auth_method', (value) => isText(value, nameCharsMax)],
  ['jwks_uri', (value) => isText(value, urlCharsMax)],
  [
    'jwks',
    (value) => {
      const keys = isObject(value) ? (value as Json)['keys'] : undefined;
      return Array.isArray(keys) && keys.length > 0 && keys.length <= jwksKeysMax && keys.every(isObject);
    },
  ],
  ['dpop_bound_access_tokens', (value) => typeof value === 'boolean'],
];

/** The first member that has not its form. */
function shapeFault(metadata: Json): string | undefined {
  const { redirect_uris: uris } = metadata;
  const areUris =
    Array.isArray(uris) && uris.length > 0 && uris.length <= documentRedirectUrisMax && uris.every((uri) => isText(uri, urlCharsMax));
  if (!areUris) return 'redirect_uris';
  return shapes.find(([name, isShaped]) => metadata[name] !== undefined && !isShaped(metadata[name]))?.[0];
}

/** What a person let in by name and address: another one is asked about anew. */
export const identityOf = ({ name, redirectUris, tokenEndpointAuthMethod, jwks, jwksUri }: Client): Readonly<Record<string, string>> => ({
  client_name: name,
  redirect_uris: redirectUris.join(' '),
  token_endpoint_auth_method: tokenEndpointAuthMethod,
  jwks: jwks === undefined ? '' : JSON.stringify(jwks),
  jwks_uri: jwksUri ?? '',
});

/** What is wrong with the registration of one without a token beyond the rules of every client. */
export function openRegistrationFault(change: ClientChange, redirectUrisMax: number): FieldFault | undefined {
  const { redirect_uris: uris = [], token_endpoint_auth_method: method } = change;
  if (!['none', 'client_secret_basic', 'client_secret_post'].includes(String(method)))
    return { field: 'token_endpoint_auth_method', text: 'must be none, client_secret_basic or client_secret_post without a token' };
  if (uris.length === 0) return { field: 'redirect_uris', text: 'is required' };
  if (uris.length > redirectUrisMax) return { field: 'redirect_uris', text: `may hold ${redirectUrisMax} addresses without a token` };
  return uris.every((uri) => /^https?:\/\//.test(uri)) // http on loopback alone: a rule of every client
    ? undefined
    : { field: 'redirect_uris', text: 'may hold https and loopback addresses alone without a token' };
}
