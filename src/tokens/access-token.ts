// Access tokens: RFC 9068 JWTs, minted without a row and verified against the tenant's keys. Revocation is looked up by
// those who must see it (UserInfo, introspection, bearer APIs), because it is the database's business, not the token's.

import type { KeyRing } from '../crypto/key-ring.ts';
import { type Claims, parseJwt, signJwt, verifyJwt } from '../crypto/signing/jwt.ts';
import type { SigningAlg } from '../domain/client/client.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { type Clock, nowSeconds } from '../platform/clock.ts';
import { randomId } from '../platform/random.ts';

/** Who acts, and for whom it acted before (RFC 8693 4.1). */
export interface Actor {
  readonly sub: string;
  readonly act?: Actor;
}

export interface AccessTokenInput {
  /** Else the tenant's choice. */
  readonly alg?: SigningAlg;
  readonly clientId: string;
  /** The user's id, or the client's for client_credentials. */
  readonly sub: string;
  readonly audience: string | readonly string[];
  readonly scope: string;
  readonly lifetimeSeconds: number;
  /** Grant of the token; absent for client_credentials. */
  readonly sid?: string;
  readonly authTime?: number;
  readonly acr?: string | undefined;
  readonly amr?: readonly string[];
  /** Claims that mapping rules make and hooks add; those of the protocol come first. */
  readonly mappedClaims?: Readonly<Record<string, unknown>>;
  /** Confirmation claim of a sender-constrained token (RFC 7800). */
  readonly cnf?: Readonly<Record<string, string>>;
  readonly act?: Actor | undefined;
  /** Seconds since the epoch that it does not outlive, whatever its lifetime. */
  readonly notAfterSeconds?: number | undefined;
}

interface MintedToken {
  readonly token: string;
  readonly jti: string;
  readonly expiresAtSeconds: number;
}

/** Signs an access token with the tenant's current key of the algorithm. */
export async function mintAccessToken(tenant: Tenant, keys: KeyRing, clock: Clock, input: AccessTokenInput): Promise<MintedToken> {
  const alg = input.alg ?? tenant.settings.access_token_alg;
  const key = keys.signing(alg);
  if (key === undefined) throw new Error(`tenant ${tenant.slug} has no current ${alg} key`);
  const iat = nowSeconds(clock);
  const jti = randomId();
  const exp = Math.min(iat + input.lifetimeSeconds, input.notAfterSeconds ?? Number.POSITIVE_INFINITY);
  const token = await signJwt(key, 'at+jwt', {
    ...input.mappedClaims,
    iss: tenant.baseUrl,
    sub: input.sub,
    aud: input.audience,
    client_id: input.clientId,
    iat,
    exp,
    jti,
    scope: input.scope,
    token_use: 'access',
    sid: input.sid,
    auth_time: input.authTime,
    acr: input.acr,
    amr: input.amr,
    cnf: input.cnf,
    act: input.act,
  });
  return { token, jti, expiresAtSeconds: exp };
}

export interface AccessToken {
  readonly claims: Claims;
  readonly sub: string;
  readonly clientId: string;
  readonly jti: string;
  readonly audience: readonly string[];
  readonly scopes: readonly string[];
  readonly sid: string | undefined;
  readonly expiresAtSeconds: number;
}

/** The clients a token has passed through: whose it is, who acts, and who got the one it began with, by the grant where there is one. */
export function clientsOf({ clientId, sub, claims }: AccessToken, ofGrant: string | undefined): ReadonlySet<string> {
  const ids = new Set([clientId]);
  const { act } = claims as { act?: Actor }; // mintAccessToken writes it
  if (act !== undefined) ids.add(ofGrant ?? sub);
  for (let actor = act; actor !== undefined; actor = actor.act) ids.add(actor.sub);
  return ids;
}

export type AccessTokenFailure = 'malformed' | 'wrong_token_use' | 'unknown_key' | 'bad_signature' | 'wrong_issuer' | 'expired';

/** Verifies signature, type, issuer and expiry of one of our access tokens. Does not know about revocation or audience. */
export function verifyAccessToken(
  tenant: Tenant,
  keys: KeyRing,
  clock: Clock,
  token: string,
): Outcome<{ readonly token: AccessToken }, AccessTokenFailure> {
  const known = signedTokens.get(token.slice(-signatureCharsKept));
  const signed = known?.keys === keys && known.text === token ? known.outcome : verifySignedToken(keys, token);
  if (!signed.ok) return signed;
  if (signed.token.claims['iss'] !== tenant.baseUrl) return fail('wrong_issuer');
  if (nowSeconds(clock) >= signed.token.expiresAtSeconds) return fail('expired');
  return signed;
}

type SignedToken = Outcome<{ readonly token: AccessToken }, 'malformed' | 'unknown_key' | 'bad_signature' | 'wrong_token_use'>;

/**
 * Tokens of ours seen lately: whoever uses a token shows it many times, and its signature stays what it was as long as the
 * ring of keys is the same. Issuer and expiry are judged each time, revocation by the caller. Forged tokens never get here.
 */
const signedTokens = new Map<string, { readonly text: string; readonly keys: KeyRing; readonly outcome: SignedToken & { ok: true } }>();
const signedTokensMax = 5000;
/** Tokens are looked up by the end of their signature, which tells them apart as well as the whole and is hashed sooner. */
const signatureCharsKept = 43;

function verifySignedToken(keys: KeyRing, token: string): SignedToken {
  const jwt = parseJwt(token);
  if (jwt === undefined) return fail('malformed');
  const { kid, typ } = jwt.header;
  const key = typeof kid === 'string' ? keys.verification(kid) : undefined;
  if (key === undefined) return fail('unknown_key');
  if (!verifyJwt(jwt, key, typeof typ === 'string' ? typ : '')) return fail('bad_signature');
  const { claims } = jwt;
  if (typ !== 'at+jwt' || claims['token_use'] !== 'access') return fail('wrong_token_use');
  const outcome = { ok: true, token: accessTokenOf(claims) } as const;
  if (signedTokens.size >= signedTokensMax) signedTokens.delete(signedTokens.keys().next().value!);
  signedTokens.set(token.slice(-signatureCharsKept), { text: token, keys, outcome });
  return outcome;
}

function accessTokenOf(claims: Claims): AccessToken {
  // Signed by us with typ at+jwt: mintAccessToken wrote these members with these types.
  const {
    sub,
    client_id: clientId,
    jti,
    aud,
    scope,
    sid,
    exp,
  } = claims as { sub: string; client_id: string; jti: string; aud: string | string[]; scope: string; sid?: string; exp: number };
  return {
    claims,
    sub,
    clientId,
    jti,
    audience: typeof aud === 'string' ? [aud] : aud,
    scopes: scope === '' ? [] : scope.split(' '),
    sid,
    expiresAtSeconds: exp,
  };
}
