// What `profile: "fapi2"` asks of a client (FAPI 2.0 Security Profile 5.3, design 14, 5): what it sets where a registration is
// silent, what contradicts it, and the bounds other parts keep for such a client. Pure; client.ts owns the fields.
import type { Json } from '../field.ts';
import { certificateMethods } from './tls-client-auth.ts';

/** The values the profile speaks of. */
interface ProfiledClient {
  readonly profile: string | undefined;
  readonly type: string;
  readonly tokenEndpointAuthMethod: string;
  readonly requirePar: boolean;
  readonly requirePkce: boolean;
  readonly authorizeErrorDelivery: string;
  readonly idTokenSignedResponseAlg: string;
  readonly dpopBoundAccessTokens: boolean;
  readonly tlsClientCertificateBoundAccessTokens: boolean;
  readonly redirectUris: readonly string[];
  readonly jwks: object | undefined;
}

export const fapi2Profile = 'fapi2';
export const isFapi2 = ({ profile }: Pick<ProfiledClient, 'profile'>): boolean => profile === fapi2Profile;

/** FAPI 2.0 5.4: what a client of the profile signs with. */
const signingAlgs: readonly string[] = ['PS256', 'ES256', 'EdDSA'];
/** How a client of the profile may authenticate. */
const authMethods: readonly string[] = ['private_key_jwt', ...certificateMethods];
/** FAPI 2.0 5.3.2.1: a code lives at most a minute, a request_uri less than ten. */
const codeSecondsMax = 60;
const requestUriSecondsMax = 599;

/** The values a registration gets for fields it does not name. Who binds tokens to a certificate needs no DPoP. */
export const fapi2Implied = (asked: { readonly tls_client_certificate_bound_access_tokens?: boolean }) => ({
  ...implied,
  dpopBoundAccessTokens: asked.tls_client_certificate_bound_access_tokens !== true,
});

const implied = {
  tokenEndpointAuthMethod: 'private_key_jwt',
  requirePar: true,
  requirePkce: true,
  authorizeErrorDelivery: 'redirect',
  idTokenSignedResponseAlg: 'ES256',
} as const;

/** True when every access token of the client is bound to a key, whichever way. */
export const hasBoundTokens = (client: Pick<ProfiledClient, 'dpopBoundAccessTokens' | 'tlsClientCertificateBoundAccessTokens'>): boolean =>
  client.dpopBoundAccessTokens || client.tlsClientCertificateBoundAccessTokens;

/** The first value that contradicts the profile. */
export function fapi2Fault(client: ProfiledClient): { readonly key: keyof ProfiledClient; readonly text: string } | undefined {
  if (!isFapi2(client)) return undefined;
  const demands: readonly (readonly [boolean, keyof ProfiledClient, string])[] = [
    [client.type === 'confidential', 'type', 'must be confidential for the profile fapi2'],
    [
      authMethods.includes(client.tokenEndpointAuthMethod),
      'tokenEndpointAuthMethod',
      `must be ${authMethods.join(' or ')} for the profile fapi2`,
    ],
    [client.requirePar, 'requirePar', 'must be true for the profile fapi2'],
    [client.requirePkce, 'requirePkce', 'must be true for the profile fapi2'],
    [client.authorizeErrorDelivery === 'redirect', 'authorizeErrorDelivery', 'must be redirect for the profile fapi2'],
    [
      signingAlgs.includes(client.idTokenSignedResponseAlg),
      'idTokenSignedResponseAlg',
      `must be one of ${signingAlgs.join(', ')} for the profile fapi2`,
    ],
    [hasBoundTokens(client), 'dpopBoundAccessTokens', 'or tls_client_certificate_bound_access_tokens must be true for the profile fapi2'],
    [canSign(client), 'jwks', `must hold a key for ${signingAlgs.join(', ')} for the profile fapi2`],
    [client.redirectUris.every((uri) => uri.startsWith('https:')), 'redirectUris', 'must hold https URIs only for the profile fapi2'],
  ];
  const unmet = demands.find(([holds]) => !holds);
  return unmet === undefined ? undefined : { key: unmet[1], text: unmet[2] };
}

/** Whether a registered key can make a signature of the profile: RS256 keys, and curves of others, never do. */
function isUsableKey(key: unknown): boolean {
  const { kty, crv, alg, use } = (key ?? {}) as Json;
  if (use === 'enc' || (alg !== undefined && !signingAlgs.includes(String(alg)) && alg !== 'Ed25519')) return false;
  return kty === 'RSA' || (kty === 'EC' && crv === 'P-256') || (kty === 'OKP' && crv === 'Ed25519');
}

/** False for a key set with which the client could never authenticate; one at an address may change. */
function canSign({ jwks, tokenEndpointAuthMethod }: ProfiledClient): boolean {
  const keys = (jwks as Json | undefined)?.['keys'];
  return tokenEndpointAuthMethod !== 'private_key_jwt' || !Array.isArray(keys) || keys.some(isUsableKey);
}

/** Those of `algs` that the client may sign with. */
export const algsOfProfile = (client: Pick<ProfiledClient, 'profile'>, algs: readonly string[]): readonly string[] =>
  isFapi2(client) ? algs.filter((alg) => signingAlgs.includes(alg)) : algs;

/** What its access tokens are signed with, where the tenant's own choice is `alg`. */
export const accessTokenAlgOf = <Alg extends string>(client: Pick<ProfiledClient, 'profile'>, alg: Alg): Alg | 'ES256' =>
  isFapi2(client) && !signingAlgs.includes(alg) ? 'ES256' : alg;

/** Seconds a code of the client lives. */
export const codeLifetimeSeconds = (client: Pick<ProfiledClient, 'profile'>, seconds: number): number =>
  isFapi2(client) ? Math.min(seconds, codeSecondsMax) : seconds;

/** Seconds a pushed request of the client waits. */
export const pushedRequestLifetimeSeconds = (client: Pick<ProfiledClient, 'profile'>, seconds: number): number =>
  isFapi2(client) ? Math.min(seconds, requestUriSecondsMax) : seconds;
