// Who somebody is by the claims of an OpenID provider: of ID tokens at sign-ins, and of identity assertions. Pure; whoever calls has verified
// who said them.
import type { Json } from '../domain/field.ts';
import { domainOf } from '../domain/sign-in/domain-proof.ts';
import { acrOf, type ExternalIdentity, usableEmail } from '../domain/sign-in/external-identity.ts';
import { type IdentityProvider, tenantPlaceholder } from '../domain/sign-in/identity-provider.ts';

/** The claims of somebody that a provider has named by `iss` and `sub`. */
export type NamedClaims = Json & { readonly iss: string; readonly sub: string };

export function identityIn(provider: IdentityProvider, claims: NamedClaims): Omit<ExternalIdentity, 'create' | 'always'> {
  const email = usableEmail(claims['email']);
  const sessionId = claims['sid'];
  return {
    providerId: provider.id,
    issuer: claims.iss,
    subject: claims.sub,
    email,
    emailCounts: email !== undefined && provider.trustEmail && isVerified(provider, claims),
    ownDomain: email && ownDomainOf(provider, claims, email),
    sessionId: typeof sessionId === 'string' ? sessionId : undefined,
    acr: acrOf(provider, claims['acr']),
    authTimeMs: authTimeOf(claims['auth_time']),
  };
}

/** OpenID Connect Core 2: seconds since the epoch. */
const authTimeOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.floor(value * 1000) : undefined;

/** Microsoft says of its directories' addresses whether their domain is proven (`xms_edov`), and nothing else. */
function isVerified({ issuer }: IdentityProvider, claims: Json): boolean {
  const domainProven: readonly unknown[] = [true, 1, '1', 'true'];
  if (issuer?.includes(tenantPlaceholder) === true) return domainProven.includes(claims['xms_edov']);
  return claims['email_verified'] === true;
}

/** Of the email, where it is of an organisation there: Google names that (`hd`), Microsoft says that it has proven the domain (`xms_edov`). */
function ownDomainOf(provider: IdentityProvider, claims: Json, email: string): string | undefined {
  const domain = domainOf(email);
  const isOwn = provider.issuer?.includes(tenantPlaceholder) === true ? isVerified(provider, claims) : claims['hd'] === domain;
  return isOwn ? domain : undefined;
}
