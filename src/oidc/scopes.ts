// Scopes and audiences of requests: reading them, and what a client may have of them (contract 5, RFC 8707).
// Used by authorize, PAR, bc-authorize and the token endpoint, which each answer with their own row.
import { scopeCharsMax } from '../contract/limits.ts';
import type { Client } from '../domain/client/client.ts';
import { type Capability, capabilities } from '../domain/people/capabilities.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
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

/** The audiences a request names, each once: `resource` (RFC 8707) and `audience` mean the same. */
export function requestedAudiences(parameters: RequestParameters): readonly string[] {
  const resources = parameters.getAll('resource');
  const audiences = parameters.getAll('audience');
  if (resources.length + audiences.length < 2) return resources.length === 1 ? resources : audiences;
  return [...new Set([...resources, ...audiences])];
}

/** Value of `aud`: the resource, the issuer beside it when UserInfo must accept the token, the issuer alone without a resource. */
export function audienceOf(tenant: Tenant, scopes: readonly string[], resource: string | undefined): string | readonly string[] {
  if (resource === undefined) return tenant.baseUrl;
  return scopes.includes('openid') ? [resource, tenant.baseUrl] : resource;
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
