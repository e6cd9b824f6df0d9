// A tenant as the rest of the house sees it.
import type { TenantId } from './ids.ts';
import type { Settings } from './settings.ts';

export interface Tenant {
  readonly id: TenantId;
  readonly slug: string;
  readonly name: string;
  /** Custom domain with scheme, e.g. `https://login.acme.example`, or undefined. */
  readonly domain: string | undefined;
  readonly enabled: boolean;
  /** Issuer and base of every path, byte for byte (design 02). */
  readonly baseUrl: string;
  /** The audience of the management API and SCIM. */
  readonly managementApi: string;
  readonly settings: Settings;
}

/** The slug of the tenant at the root of the public URL. */
export const rootTenantSlug = 'main';

/** Where the deployment keeps the hash of the system API's bearer token. */
export const operatorTokenKey = 'operator_token_hash';

/** Where the deployment keeps the public URL it was last served at, for commands beside it. */
export const publicUrlKey = 'public_url';

/** base_url of a tenant: its domain, else the public URL for the root tenant, else `<public-url>/t/<slug>`. */
export function baseUrlOf(publicUrl: string, slug: string, domain: string | null | undefined): string {
  if (domain) return domain;
  return slug === rootTenantSlug ? publicUrl : `${publicUrl}/t/${slug}`;
}
