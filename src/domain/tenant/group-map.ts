// Which group of tenants has which tenant, from what each group says that it has: what a router in front is told. Pure. Names come
// from tenants and from deployments elsewhere: only what is a slug or a DNS name gets into a map.
import { isDnsName } from './host-name.ts';
import { isSlug, rootTenantSlug } from './tenant.ts';

/** A tenant as the system API shows it. */
export interface ListedTenant {
  readonly id: string;
  readonly slug: string;
  readonly domain: string | null;
  readonly base_url: string;
  /** `to`: closed because it moves away; `from`: being built of another group's bundle. */
  readonly moving: 'to' | 'from' | null;
}

interface ListedGroup {
  readonly name: string;
  readonly tenants: readonly ListedTenant[];
}

export interface GroupMap {
  /** Where everything else goes: the first group. */
  readonly fallback: string;
  /** The group of a host name, for every domain. */
  readonly hosts: ReadonlyMap<string, string>;
  /** The group of a slug, where it is not the first. */
  readonly slugs: ReadonlyMap<string, string>;
  /** Domains that no request can name. */
  readonly leftOut: readonly string[];
}

/** Why there is no map, as what was expected, what was found and what to do. */
export class GroupMapFault extends Error {}

interface Place {
  readonly group: string;
  readonly tenant: ListedTenant;
}

/** The map; the first group is the one that everything else goes to. @throws GroupMapFault where two groups have one name */
export function mapGroups(groups: readonly ListedGroup[]): GroupMap {
  const places = placesOf(groups);
  const fallback = groups[0]!.name; // a map is made of one group or more
  const hosts = new Map<string, Place>();
  const leftOut: string[] = [];
  const publicHosts = new Set(
    [...places.values()].filter(({ tenant }) => tenant.domain === null).map(({ tenant }) => hostOf(tenant.base_url)),
  );
  for (const place of places.values()) {
    const { domain, slug } = place.tenant;
    if (domain === null) continue;
    const host = hostOf(domain);
    if (host === undefined) leftOut.push(domain);
    else if (publicHosts.has(host) && slug !== rootTenantSlug)
      throw new GroupMapFault(
        `expected domains other than the public URL, found ${host} at tenant ${slug} of ${place.group}. Take it off there`,
      );
    else addHost(hosts, host, place);
  }
  return {
    fallback,
    hosts: new Map([...hosts].map(([host, { group }]) => [host, group])),
    slugs: new Map(
      [...places].filter(([slug, { group }]) => slug !== rootTenantSlug && group !== fallback).map(([slug, { group }]) => [slug, group]),
    ),
    leftOut,
  };
}

/** Each slug with its group. Every group has a root tenant of its own, of which that of the first one is served. */
function placesOf(groups: readonly ListedGroup[]): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  for (const [index, { name, tenants }] of groups.entries())
    for (const tenant of tenants) {
      if (tenant.moving === 'from' || (tenant.slug === rootTenantSlug && index > 0)) continue;
      if (!isSlug(tenant.slug)) throw new GroupMapFault(`expected slugs, found ${JSON.stringify(tenant.slug)} at ${name}`);
      const before = places.get(tenant.slug);
      const place = { group: name, tenant };
      places.set(tenant.slug, before === undefined ? place : theOneServed(before, place));
    }
  return places;
}

/** A tenant that has moved is still there, closed, where it came from. */
function theOneServed(left: Place, right: Place): Place {
  const { slug } = left.tenant;
  const both = `${left.group} and ${right.group}`;
  if (left.tenant.id !== right.tenant.id)
    throw new GroupMapFault(
      `expected one tenant ${slug}, found two of this name, at ${both}. Delete one, or make it again with another slug`,
    );
  if (left.tenant.moving === null && right.tenant.moving === null)
    throw new GroupMapFault(`expected tenant ${slug} to be open in one group, found it open at ${both}. Delete it where it came from`);
  return right.tenant.moving === null ? right : left;
}

/** Routers choose by host name, whatever the port. */
function addHost(hosts: Map<string, Place>, host: string, place: Place): void {
  const before = hosts.get(host);
  if (before !== undefined && before.group !== place.group)
    throw new GroupMapFault(
      `expected the domain ${host} at one group, found it at tenant ${before.tenant.slug} of ${before.group} and tenant ${place.tenant.slug} of ${place.group}. Take it off at one`,
    );
  hosts.set(host, place);
}

/** The host name of an origin; undefined where no request could name it. */
function hostOf(origin: string): string | undefined {
  const host = URL.parse(origin)?.hostname;
  return host !== undefined && isDnsName(host) ? host : undefined;
}
