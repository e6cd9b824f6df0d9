// How a request names its tenant: by the Host of a custom domain, else `/t/<slug>` in front of the path, else the root tenant.
// The prefix is taken off before routing, so every surface declares its paths once, relative to base_url.
import type { IncomingMessage } from 'node:http';
import { isHost } from '../domain/tenant/host-name.ts';
import { rootTenantSlug } from '../domain/tenant/tenant.ts';
import type { Parts } from './services.ts';

export type TenantName =
  | { readonly kind: 'slug'; readonly slug: string }
  /** A Host that is not ours: a custom domain, below which there is no `/t/`, or nobody's, where the slug counts. */
  | { readonly kind: 'host'; readonly origin: string; readonly slug: string | undefined };

/** The slug is kept on the request itself: a WeakMap with an entry a request makes every garbage collection slower. */
const slugOf = Symbol('tenant slug');
type NamedRequest = IncomingMessage & { [slugOf]?: string };

const prefix = /^\/t\/([^/?]{0,200})(?=[/?]|$)/;
/** What `/t/main` is read as: the root tenant has one address only. */
const noTenant = ' ';

/** Takes `/t/<slug>` off a request target and remembers the slug. Used as Fastify's rewriteUrl. */
export function takeTenantPrefix(request: NamedRequest): string {
  const target = originForm(request);
  const match = target.startsWith('/t/') ? prefix.exec(target) : null;
  if (match === null) return target;
  request[slugOf] = match[1] === rootTenantSlug ? noTenant : match[1]!;
  const rest = target.slice(match[0].length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

const absoluteForm = /^https?:\/\/([^/?#]*)(.*)$/i;

/** RFC 9112 3.2.2: the authority of an absolute target replaces Host. Gives the target without it. */
function originForm(request: NamedRequest): string {
  const target = request.url ?? '/';
  if (target.startsWith('/')) return target;
  const match = absoluteForm.exec(target);
  if (match === null) return target;
  request.headers.host = match[1]!;
  return match[2]!.startsWith('/') ? match[2]! : `/${match[2]}`;
}

/** The request target below the tenant's base_url exactly as it was sent, path and query. */
export const rawTargetOf = (request: IncomingMessage): string => request.url ?? '/';

const hosts = new Map<string, string>();

/** By the Host header and the slug of the target. */
export const tenantNameOf = (request: NamedRequest, services: Parts<'config' | 'publicUrl'>): TenantName =>
  nameOf(services, request.headers.host, request[slugOf]);

/** Where the slug is of paths that routers see: discovery has its own before it (RFC 8414 3.1). */
const placeInPath = /^(?:\/\.well-known\/[a-z-]+)?\/t\/([^/?]{0,200})(?=[/?]|$)/;

/** The tenant of a request that somebody tells of, by its Host and its path as it was sent. */
export function toldTenantName(services: Parts<'config' | 'publicUrl'>, host: string | undefined, path: string): TenantName {
  const slug = placeInPath.exec(path)?.[1];
  return nameOf(services, host, slug === rootTenantSlug ? noTenant : slug);
}

/** The address for clients with certificates is ours as the public one is. */
function nameOf(
  { publicUrl, config: { mtlsUrl } }: Parts<'config' | 'publicUrl'>,
  host: string | undefined,
  slug: string | undefined,
): TenantName {
  const isOurs = host === hostOf(publicUrl) || (mtlsUrl !== undefined && host === hostOf(mtlsUrl));
  if (host === undefined || isOurs || !isHost(host)) return { kind: 'slug', slug: slug ?? rootTenantSlug };
  return { kind: 'host', origin: `https://${host.toLowerCase()}`, slug };
}

function hostOf(url: string): string {
  let host = hosts.get(url);
  if (host === undefined) {
    host = new URL(url).host;
    hosts.set(url, host);
  }
  return host;
}
