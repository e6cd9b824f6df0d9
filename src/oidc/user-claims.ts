// What tokens and UserInfo say about a person: the rules of domain/mappings, those of the tenant and those of the client, applied to
// what is read of the person. Nothing is read where no rule says anything.
import { tellSpills } from '../audit/mapping-spills.ts';
import type { Client } from '../domain/client/client.ts';
import type { UserId } from '../domain/ids.ts';
import { type CompiledRules, layRules } from '../domain/mappings/apply.ts';
import { claimNames, claimRulesOf, claimsOf, claimsRoom, scopeOfClaim, shownRules } from '../domain/mappings/claims.ts';
import type { MappedPerson } from '../domain/mappings/paths.ts';
import type { ClaimPlace } from '../domain/mappings/rule.ts';
import { claimsWithin } from '../domain/oidc/requested-claims.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Parts } from '../http/services.ts';
import type { Queries } from '../storage/engine/database.ts';
import type { Grant } from '../storage/oidc/grants.ts';
import { findMappedPerson } from '../storage/people/mapped-person.ts';

type Claims = Readonly<Record<string, unknown>>;

const ofTenants = new WeakMap<Tenant, CompiledRules>();
const ofClients = new WeakMap<Client, { readonly below: CompiledRules; readonly rules: CompiledRules }>();

function rulesOfTenant(tenant: Tenant): CompiledRules {
  const known = ofTenants.get(tenant);
  if (known !== undefined) return known;
  const rules = claimRulesOf(tenant.customAttributes, tenant.mappings.oidc);
  ofTenants.set(tenant, rules);
  return rules;
}

/** The rules of a client, compiled once for each registration of it; of a client that is gone those of the tenant. */
export function rulesOfClient(tenant: Tenant, client: Client | undefined): CompiledRules {
  const below = rulesOfTenant(tenant);
  if (client === undefined || client.mappings.length === 0) return below;
  const known = ofClients.get(client);
  if (known?.below === below) return known.rules;
  const rules = layRules(below, client.mappings);
  ofClients.set(client, { below, rules });
  return rules;
}

/** The claims a tenant's people may have. */
export const claimsSupported = (tenant: Tenant): readonly string[] => claimNames(rulesOfTenant(tenant));

/** The scope that shows a claim to a client; undefined for a claim that nobody has. */
export const scopeOf = (tenant: Tenant, client: Client, claim: string): string | undefined =>
  scopeOfClaim(rulesOfClient(tenant, client), claim);

/** The person with what the rules need; undefined for an unknown one. */
export const findPerson = (queries: Queries, tenant: Tenant, userId: UserId, rules: CompiledRules) =>
  findMappedPerson(queries, tenant.id, userId, tenant.customAttributes, new Set(rules.flatMap(({ sources }) => sources)));

interface Asking {
  readonly place: ClaimPlace;
  readonly rules: CompiledRules;
  readonly clientId: string;
  readonly person: MappedPerson | undefined;
  readonly acr: string | undefined;
  readonly requestId: string | undefined;
}

/** What rules say in one place; administrators hear of those that would have said too much. */
export async function claimsFor(services: Parts<'clock' | 'database'>, tenant: Tenant, asking: Asking): Promise<Claims> {
  const { place, rules, clientId, person, acr, requestId } = asking;
  if (rules.length === 0) return {};
  const { claims, spilled } = claimsOf(rules, { person, clientId, tenantSlug: tenant.slug, acr });
  const about = { target: `client:${clientId}`, place, bytesMax: claimsRoom.bytesMax };
  await tellSpills(services, tenant, { ...about, userId: person?.user.id, requestId, spilled });
  return claims;
}

interface TokenClaims {
  readonly idToken: Claims;
  readonly accessToken: Claims;
}

const noClaims: TokenClaims = { idToken: {}, accessToken: {} };

/** What the tokens of one answer say of the person; of a client that acts for itself what needs no person. */
export async function claimsForTokens(
  services: Parts<'clock' | 'database'>,
  tenant: Tenant,
  client: Client,
  {
    grant,
    scopes,
    requestId,
  }: { readonly grant: Grant | undefined; readonly scopes: readonly string[]; readonly requestId: string | undefined },
): Promise<TokenClaims> {
  const all = rulesOfClient(tenant, client);
  const inAccessToken = shownRules(all, 'access_token', scopes);
  const asked = Object.keys(claimsWithin(grant?.claims?.id_token, client.scopes));
  const inIdToken = grant === undefined || !scopes.includes('openid') ? [] : shownRules(all, 'id_token', scopes, asked);
  if (inAccessToken.length + inIdToken.length === 0) return noClaims;
  const person =
    grant === undefined
      ? undefined
      : await services.database.read(tenant.id, (queries) => findPerson(queries, tenant, grant.userId, [...inAccessToken, ...inIdToken]));
  const about = { clientId: client.clientId, person, acr: grant?.acr, requestId };
  return {
    accessToken: await claimsFor(services, tenant, { ...about, place: 'access_token', rules: inAccessToken }),
    idToken: await claimsFor(services, tenant, { ...about, place: 'id_token', rules: inIdToken }),
  };
}
