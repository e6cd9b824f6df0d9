// Identity assertions of other providers (draft-ietf-oauth-identity-assertion-authz-grant 4.4.1; design 18, part 5): what a provider that the
// tenant trusts with it says of one of its people to a client of both. Nothing but `typ` and `iss` is read before the signature is verified.
import type { Cause } from '../../contract/contract-error.ts';
import { assertionPublicKeyAlgs } from '../../crypto/assertion-algorithms.ts';
import { isTyped, type ParsedJwt, parseJwt } from '../../crypto/signing/jwt.ts';
import type { Client } from '../../domain/client/client.ts';
import { sameResource } from '../../domain/client/resource.ts';
import { subjectFault } from '../../domain/sign-in/external-identity.ts';
import { type IdentityProvider, issuersOf } from '../../domain/sign-in/identity-provider.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { NamedClaims } from '../../federation/openid-identity.ts';
import type { Parts } from '../../http/services.ts';
import { nowSeconds } from '../../platform/clock.ts';
import type { ConfigCache } from '../../storage/engine/config/config-cache.ts';
import { listCachedCrossApp } from '../../storage/registry/identity-providers.ts';
import { findOnceFault, findUnsigned, verifyNothing } from './client-assertion.ts';
import { type ClientKeysDeps, issuerKeys } from './client-keys.ts';

/** How metadata name the grant. */
export const identityAssertionProfile = 'urn:ietf:params:oauth:grant-profile:id-jag';

type CrossAppDeps = ClientKeysDeps & Parts<'cache'>;

/** What was verified, for one use. */
export interface CrossAppAssertion {
  readonly provider: IdentityProvider;
  readonly claims: NamedClaims;
  /** What tells it from every other one. */
  readonly key: string;
  readonly expiresAtMs: number;
}

/** The assertion, where it is of this type. */
export function readCrossApp(text: string | undefined): ParsedJwt | undefined {
  const jwt = text === undefined ? undefined : parseJwt(text);
  return jwt !== undefined && isTyped(jwt.header['typ'], ['oauth-id-jag+jwt']) ? jwt : undefined;
}

/** Providers whose assertions a tenant takes. */
export const listCrossAppProviders = (cache: ConfigCache, tenant: Tenant, ageMsMax?: number): Promise<readonly IdentityProvider[]> =>
  listCachedCrossApp(cache, tenant.id, ageMsMax);

/** Verifies an assertion that a client shows; why it is none. */
export async function verifyCrossApp(
  services: CrossAppDeps,
  tenant: Tenant,
  client: Client,
  jwt: ParsedJwt,
): Promise<CrossAppAssertion | Cause> {
  const { iss } = jwt.claims;
  const named = (await listCrossAppProviders(services.cache, tenant)).filter((one) => issuersOf(one).some((issuer) => issuer === iss));
  const [provider] = named;
  // A provider takes no assertion of its own making (8.3).
  if (provider === undefined || named.length > 1 || iss === tenant.baseUrl || typeof iss !== 'string') {
    await verifyNothing();
    return { reason: named.length > 1 ? 'assertion_of_several_providers' : 'assertion_of_no_provider', received: String(iss) };
  }
  const from = { issuer: iss, keys: { discovery: true } } as const;
  const fault =
    (await findUnsigned(jwt, assertionPublicKeyAlgs, (sought) => issuerKeys(services, tenant.id, from, sought))) ??
    findAudienceFault(tenant, client, jwt) ??
    findOnceFault(nowSeconds(services.clock), jwt);
  if (fault !== undefined) return fault;
  const { sub, jti, exp, iat } = jwt.claims as { sub: unknown; jti: string; exp: number; iat: unknown }; // findOnceFault checked the two
  const reason = typeof sub === 'string' ? subjectFault(sub) : 'subject_missing';
  if (reason !== undefined || typeof sub !== 'string') return { reason: `assertion_${reason}`, received: typeof sub };
  if (iat === undefined) return { reason: 'assertion_iat', received: 'undefined' };
  const key = JSON.stringify([provider.id, iss, jti]);
  return { provider, claims: { ...jwt.claims, iss, sub }, key, expiresAtMs: Math.ceil(exp * 1000) };
}

/** One audience, us, and one client, who shows it: whoever else got hold of it has nothing. */
function findAudienceFault({ baseUrl }: Tenant, { clientId }: Client, { claims }: ParsedJwt): Cause | undefined {
  const { aud, client_id: named } = claims;
  const only: unknown = Array.isArray(aud) && aud.length === 1 ? aud[0] : aud;
  if (typeof only !== 'string' || !sameResource(only, baseUrl))
    return { reason: 'assertion_aud', received: JSON.stringify(aud), expected: baseUrl };
  return named === clientId ? undefined : { reason: 'assertion_of_another_client', received: String(named), expected: clientId };
}
