// Access tokens: RFC 9068 JWTs, minted without a row and verified against the tenant's keys. Revocation is looked up by
// those who must see it (UserInfo, introspection, bearer APIs), because it is the database's business, not the token's.
import { type Claims, parseJwt, signJwt, verifyJwt } from '../crypto/jwt.ts';
import type { KeyRing } from '../crypto/key-ring.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import type { Tenant } from '../domain/tenant.ts';
import { type Clock, nowSeconds } from '../platform/clock.ts';
import { randomId } from '../platform/random.ts';

export interface AccessTokenInput {
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
  /** Confirmation claim of a sender-constrained token (RFC 7800). */
  readonly cnf?: Readonly<Record<string, string>>;
}

export interface MintedToken {
  readonly token: string;
  readonly jti: string;
  readonly expiresAtSeconds: number;
}

/** Signs an access token with the tenant's current key of its configured algorithm. */
export async function mintAccessToken(tenant: Tenant, keys: KeyRing, clock: Clock, input: AccessTokenInput): Promise<MintedToken> {
  const key = keys.signing(tenant.settings.access_token_alg);
  if (key === undefined) throw new Error(`tenant ${tenant.slug} has no current ${tenant.settings.access_token_alg} key`);
  const iat = nowSeconds(clock);
  const jti = randomId();
  const exp = iat + input.lifetimeSeconds;
  const token = await signJwt(key, 'at+jwt', {
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

export type AccessTokenFailure = 'malformed' | 'wrong_token_use' | 'unknown_key' | 'bad_signature' | 'wrong_issuer' | 'expired';

/** Verifies signature, type, issuer and expiry of one of our access tokens. Does not know about revocation or audience. */
export function verifyAccessToken(
  tenant: Tenant,
  keys: KeyRing,
  clock: Clock,
  token: string,
): Outcome<{ readonly token: AccessToken }, AccessTokenFailure> {
  const jwt = parseJwt(token);
  if (jwt === undefined) return fail('malformed');
  const { kid, typ } = jwt.header;
  const key = typeof kid === 'string' ? keys.verification(kid) : undefined;
  if (key === undefined) return fail('unknown_key');
  if (!verifyJwt(jwt, key, typeof typ === 'string' ? typ : '')) return fail('bad_signature');
  const { claims } = jwt;
  if (claims['iss'] !== tenant.baseUrl) return fail('wrong_issuer');
  if (typ !== 'at+jwt' || claims['token_use'] !== 'access') return fail('wrong_token_use');
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
  if (nowSeconds(clock) >= exp) return fail('expired');
  return {
    ok: true,
    token: {
      claims,
      sub,
      clientId,
      jti,
      audience: typeof aud === 'string' ? [aud] : aud,
      scopes: scope === '' ? [] : scope.split(' '),
      sid,
      expiresAtSeconds: exp,
    },
  };
}
