// Scopes and audiences of requests: reading them, and what a client may have of them (contract 5, RFC 8707).
// Used by authorize, PAR, bc-authorize and the token endpoint, which each answer with their own row.
import { scopeCharsMax } from '../contract/limits.ts';
import type { Client } from '../domain/client/client.ts';
import { defaultScopes, registeredSpelling, sameResource } from '../domain/client/resource.ts';
import { strangerScopesOf } from '../domain/client/stranger.ts';
import { type Capability, capabilities } from '../domain/people/capabilities.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { ConfigCache } from '../storage/engine/config/config-cache.ts';
import { findCachedResource } from '../storage/registry/clients/resources.ts';
import type { RequestParameters } from './parameters.ts';

const scopeSyntax = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/** The scopes of a space-separated list, each once; undefined when it is not one (RFC 6749 3.3) or too long. */
export function parseScopes(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return [];
  if (text.length > scopeCharsMax || !scopeSyntax.test(text)) return undefined;
  const scopes = text.split(' ');
  return scopes.length === 1 ? scopes : [...new Set(scopes)];
}

/** The first scope that is not bound to the client, or undefined. */
export const findUnboundScope = (client: Client, scopes: readonly string[]): string | undefined =>
  scopes.find((scope) => !client.scopes.includes(scope));

/** The audiences a request names, each once: `resource` (RFC 8707) and `audience` mean the same, and so do two spellings. */
export function requestedAudiences(parameters: RequestParameters): readonly string[] {
  const resources = parameters.getAll('resource');
  const audiences = parameters.getAll('audience');
  if (resources.length + audiences.length < 2) return resources.length === 1 ? resources : audiences;
  const all = [...resources, ...audiences];
  return all.filter((one, index) => !all.slice(0, index).some((earlier) => sameResource(earlier, one)));
}

/** The audience of a request that was found allowed, as it is registered; undefined when it names none. */
export function requestedResource(client: Client, parameters: RequestParameters): string | undefined {
  const [asked] = requestedAudiences(parameters);
  return asked === undefined ? undefined : registeredSpelling(client.resources, asked);
}

/**
 * The scopes of an authorization request that was found allowed; where it names none, the default ones of its resource that the client
 * has. A client nobody registered asks for all it read of in the metadata (RFC 6749 3.3 lets us give less): it gets those of its resource.
 */
export async function wantedScopes(
  { cache }: { readonly cache: ConfigCache },
  { id: tenant }: Tenant,
  client: Client,
  parameters: RequestParameters,
): Promise<readonly string[]> {
  const named = parseScopes(parameters.get('scope')) ?? [];
  const asked = requestedResource(client, parameters);
  if (asked === undefined || (named.length > 0 && client.origin === undefined))
    return client.origin === undefined ? named : strangerScopesOf(named, undefined);
  const resource = await findCachedResource(cache, tenant, asked);
  const wanted =
    named.length > 0 || resource === undefined ? named : defaultScopes(resource).filter((scope) => client.scopes.includes(scope));
  return client.origin === undefined ? wanted : strangerScopesOf(wanted, resource);
}

/**
 * Value of `aud`: the issuer alone without a resource, else the resource alone, so that its token opens nothing else. UserInfo takes a
 * token of `openid` for the Management API too, which is ours, and for any resource where the tenant says so.
 */
export function audienceOf(tenant: Tenant, scopes: readonly string[], resource: string | undefined): string | readonly string[] {
  if (resource === undefined) return tenant.baseUrl;
  const opensUserInfo = scopes.includes('openid') && (resource === tenant.managementApi || tenant.settings.userinfo_with_resource);
  return opensUserInfo ? [resource, tenant.baseUrl] : resource;
}

const known: ReadonlySet<string> = new Set<Capability>(capabilities);
const capabilitiesByClient = new WeakMap<Client, readonly string[]>();

/** The capabilities a client may have on the Management API: those among its scopes. */
export function capabilitiesOf(client: Client): readonly string[] {
  let own = capabilitiesByClient.get(client);
  if (own === undefined) {
    own = client.scopes.filter((scope) => known.has(scope));
    capabilitiesByClient.set(client, own);
  }
  return own;
}
