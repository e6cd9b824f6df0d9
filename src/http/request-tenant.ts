// The tenant behind the name a request gives: a custom domain that is nobody's belongs to the root tenant.
import { rootTenantSlug, type Tenant } from '../domain/tenant.ts';
import type { Services } from './services.ts';
import type { TenantName } from './tenant-name.ts';

export async function findTenant({ tenants }: Services, name: TenantName): Promise<Tenant | undefined> {
  if (name.kind === 'slug') return tenants.bySlug(name.slug);
  return (await tenants.byDomain(name.origin)) ?? (await tenants.bySlug(rootTenantSlug));
}

/** What findTenant would give, if it is known without waiting. */
export function peekTenant({ tenants }: Services, name: TenantName): { readonly tenant: Tenant | undefined } | undefined {
  if (name.kind === 'slug') return tenants.peekSlug(name.slug);
  const own = tenants.peekDomain(name.origin);
  return own !== undefined && own.tenant === undefined ? tenants.peekSlug(rootTenantSlug) : own;
}
