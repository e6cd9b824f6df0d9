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

/** By the Host header and the slug of the target. The address for clients with certificates is ours as the public one is. */
export function tenantNameOf(request: NamedRequest, { publicUrl, config: { mtlsUrl } }: Parts<'config' | 'publicUrl'>): TenantName {
  const slug = request[slugOf];
  const { host } = request.headers;
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
