// Identity assertions (draft-ietf-oauth-identity-assertion-authz-grant 3.1): what we say of a person to the server of another company, for one
// client of both. Signed as ID tokens are, and never taken by us: another type, another audience.
import type { KeyRing } from '../crypto/key-ring.ts';
import { signJwt } from '../crypto/signing/jwt.ts';
import type { SigningAlg } from '../domain/client/client.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { type Clock, nowSeconds } from '../platform/clock.ts';
import { randomId } from '../platform/random.ts';

export const identityAssertionSeconds = 300;

interface IdentityAssertionInput {
  readonly alg: SigningAlg;
  readonly sub: string;
  /** Issuer of the other server. */
  readonly audience: string;
  /** The client as the other server knows it. */
  readonly clientId: string;
  readonly resource: string;
  readonly scope: string;
  readonly authTimeSeconds: number;
  readonly acr: string | undefined;
  readonly amr: readonly string[];
  /** The email of the person, where the client may know it. */
  readonly userClaims: Readonly<Record<string, unknown>>;
}

/** Signs an identity assertion. */
export async function mintIdentityAssertion(tenant: Tenant, keys: KeyRing, clock: Clock, input: IdentityAssertionInput): Promise<string> {
  const key = keys.signing(input.alg);
  if (key === undefined) throw new Error(`tenant ${tenant.slug} has no current ${input.alg} key`);
  const iat = nowSeconds(clock);
  return signJwt(key, 'oauth-id-jag+jwt', {
    ...input.userClaims,
    iss: tenant.baseUrl,
    sub: input.sub,
    aud: input.audience,
    client_id: input.clientId,
    jti: randomId(),
    iat,
    exp: iat + identityAssertionSeconds,
    resource: input.resource,
    scope: input.scope,
    auth_time: input.authTimeSeconds,
    acr: input.acr,
    amr: input.amr,
  });
}
