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

/** A request target without `/t/<slug>`, and the slug; undefined when there is none. */
export function splitTenantPrefix(target: string): { readonly slug: string | undefined; readonly url: string } {
  const match = target.startsWith('/t/') ? prefix.exec(target) : null;
  if (match === null) return { slug: undefined, url: target };
  const slug = match[1] === rootTenantSlug ? noTenant : match[1]!;
  const rest = target.slice(match[0].length);
  return { slug, url: rest.startsWith('/') ? rest : `/${rest}` };
}

/** Takes `/t/<slug>` off a request target and remembers the slug. Used as Fastify's rewriteUrl. */
export function takeTenantPrefix(request: NamedRequest): string {
  const { slug, url } = splitTenantPrefix(request.url ?? '/');
  if (slug !== undefined) request[slugOf] = slug;
  return url;
}

/** The request target below the tenant's base_url exactly as it was sent, path and query. */
export const rawTargetOf = (request: IncomingMessage): string => request.url ?? '/';

const hosts = new Map<string, string>();

export const tenantNameOf = (request: NamedRequest, publicUrl: string): TenantName =>
  tenantNameFrom(request[slugOf], request.headers.host, publicUrl);

/** By the slug of the target, else by the Host header. */
export function tenantNameFrom(slug: string | undefined, host: string | undefined, publicUrl: string): TenantName {
  if (slug !== undefined) return { kind: 'slug', slug };
  let publicHost = hosts.get(publicUrl);
  if (publicHost === undefined) {
    publicHost = new URL(publicUrl).host;
    hosts.set(publicUrl, publicHost);
  }
  if (host === undefined || host === publicHost) return { kind: 'slug', slug: rootTenantSlug };
  return { kind: 'host', origin: `https://${host.toLowerCase()}` };
}
