// ID tokens (OpenID Connect Core 2) and the half-hashes that tie other tokens to them.
import { hash } from 'node:crypto';
import type { KeyRing } from '../crypto/key-ring.ts';
import { type ParsedJwt, parseJwt, signJwt, verifyJwt } from '../crypto/signing/jwt.ts';
import { signingAlgorithms } from '../crypto/signing/signing.ts';
import type { SigningAlg } from '../domain/client/client.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { type Clock, nowSeconds } from '../platform/clock.ts';

interface IdTokenInput {
  /** The algorithm the client registered. */
  readonly alg: SigningAlg;
  readonly clientId: string;
  readonly sub: string;
  readonly sid: string;
  readonly authTimeSeconds: number;
  readonly acr: string | undefined;
  readonly amr: readonly string[];
  readonly nonce: string | undefined;
  /** The access token issued beside it, for at_hash. */
  readonly accessToken: string;
  /** Claims of the person that rules or the request put here; those of the protocol come first. */
  readonly userClaims?: Readonly<Record<string, unknown>>;
  /** Claims of a profile, e.g. CIBA's auth_req_id and rt_hash. */
  readonly extraClaims?: Readonly<Record<string, string>>;
}

/** Signs an ID token with the tenant's current key of the client's algorithm. */
export async function mintIdToken(tenant: Tenant, keys: KeyRing, clock: Clock, input: IdTokenInput): Promise<string> {
  const key = keys.signing(input.alg);
  if (key === undefined) throw new Error(`tenant ${tenant.slug} has no current ${input.alg} key`);
  const iat = nowSeconds(clock);
  return signJwt(key, 'JWT', {
    ...input.userClaims,
    iss: tenant.baseUrl,
    sub: input.sub,
    aud: input.clientId,
    azp: input.clientId,
    iat,
    exp: iat + tenant.settings.id_token_lifetime_seconds,
    auth_time: input.authTimeSeconds,
    nonce: input.nonce,
    acr: input.acr,
    amr: input.amr,
    at_hash: halfHash(input.alg, input.accessToken),
    sid: input.sid,
    token_use: 'id',
    ...input.extraClaims,
  });
}

/** Left half of the hash of a token, base64url, by the hash of the ID token's algorithm (OpenID Connect Core 3.1.3.6). */
export function halfHash(alg: SigningAlg, token: string): string {
  const digest = hash(signingAlgorithms[alg].halfHash, token, 'buffer');
  return digest.subarray(0, digest.length / 2).toString('base64url');
}

export interface IdTokenHint {
  readonly sub: string;
  readonly clientId: string;
  readonly sid: string;
  readonly expiresAtSeconds: number;
}

type IdTokenHintFailure = 'malformed' | 'unknown_key' | 'bad_signature' | 'wrong_issuer' | 'not_an_id_token';

/** Verifies an id_token_hint: one of our ID tokens, signature and issuer checked, expired ones accepted. */
export function verifyIdTokenHint(
  tenant: Tenant,
  keys: KeyRing,
  hint: string,
): Outcome<{ readonly hint: IdTokenHint }, IdTokenHintFailure> {
  const jwt = parseJwt(hint);
  if (jwt === undefined) return fail('malformed');
  const { kid } = jwt.header;
  const key = typeof kid === 'string' ? keys.verification(kid) : undefined;
  if (key === undefined) return fail('unknown_key');
  if (!verifyJwt(jwt, key, 'JWT')) return fail(isOtherToken(jwt) ? 'not_an_id_token' : 'bad_signature');
  if (jwt.claims['iss'] !== tenant.baseUrl) return fail('wrong_issuer');
  if (jwt.claims['token_use'] !== 'id') return fail('not_an_id_token');
  // Signed by us as an ID token: mintIdToken wrote these members.
  const { sub, aud, sid, exp } = jwt.claims as { sub: string; aud: string; sid: string; exp: number };
  return { ok: true, hint: { sub, clientId: aud, sid, expiresAtSeconds: exp } };
}

const isOtherToken = (jwt: ParsedJwt): boolean => jwt.header['typ'] !== 'JWT';
