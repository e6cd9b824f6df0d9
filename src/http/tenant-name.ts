// How a request names its tenant: `/t/<slug>` in front of the path, or the Host of a custom domain, else the root tenant.
// The prefix is taken off before routing, so every surface declares its paths once, relative to base_url.
import type { IncomingMessage } from 'node:http';
import { rootTenantSlug } from '../domain/tenant.ts';

export type TenantName = { readonly kind: 'slug'; readonly slug: string } | { readonly kind: 'host'; readonly origin: string };

/** The slug is kept on the request itself: a WeakMap with an entry a request makes every garbage collection slower. */
const slugOf = Symbol('tenant slug');
type NamedRequest = IncomingMessage & { [slugOf]?: string };

const prefix = /^\/t\/([^/?]{0,200})(?=[/?]|$)/;
/** What `/t/main` is read as: the root tenant has one address only. */
const noTenant = ' ';

/** Takes `/t/<slug>` off a request target and remembers the slug. Used as Fastify's rewriteUrl. */
export function takeTenantPrefix(request: NamedRequest): string {
  const target = request.url ?? '/';
  if (!target.startsWith('/t/')) return target;
  const match = prefix.exec(target);
  if (match === null) return target;
  request[slugOf] = match[1] === rootTenantSlug ? noTenant : match[1]!;
  const rest = target.slice(match[0].length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** The request target below the tenant's base_url exactly as it was sent, path and query. */
export const rawTargetOf = (request: IncomingMessage): string => request.url ?? '/';

const hosts = new Map<string, string>();

export function tenantNameOf(request: NamedRequest, publicUrl: string): TenantName {
  const slug = request[slugOf];
  if (slug !== undefined) return { kind: 'slug', slug };
  const host = request.headers.host;
  let publicHost = hosts.get(publicUrl);
  if (publicHost === undefined) {
    publicHost = new URL(publicUrl).host;
    hosts.set(publicUrl, publicHost);
  }
  if (host === undefined || host === publicHost) return { kind: 'slug', slug: rootTenantSlug };
  return { kind: 'host', origin: `https://${host.toLowerCase()}` };
}
