// The tenant behind the name a request gives. A custom domain has one tenant and no others below `/t/`; a Host that is nobody's
// domain is as good as ours. Anybody can invent names: what cannot be a slug is not looked up, and an address that asks for names
// that nobody has may do so a few times a second.
import { tenantLookUpsPerSecond } from '../contract/limits.ts';
import type { Envelope } from '../contract/row.ts';
import { isSlug, rootTenantSlug, type Tenant } from '../domain/tenant/tenant.ts';
import type { Clock } from '../platform/clock.ts';
import { createTokenBuckets } from '../platform/token-buckets.ts';
import type { LookUp } from '../storage/registry/tenant-directory.ts';
import { rateLimited } from './budgets/rate-limits.ts';
import { addressBlock } from './client-address.ts';
import type { Parts } from './services.ts';
import type { TenantName } from './tenant-name.ts';

export async function findTenant({ tenants }: Parts<'tenants'>, name: TenantName, lookUp: LookUp): Promise<Tenant | undefined> {
  if (name.kind === 'host') {
    const own = await tenants.byDomain(name.origin, lookUp);
    if (own !== undefined) return name.slug === undefined ? own : undefined;
  }
  const slug = name.slug ?? rootTenantSlug;
  return isSlug(slug) ? tenants.bySlug(slug, lookUp) : undefined;
}

/** What findTenant would give, if it is known without waiting: from memory that is young, or at most `ageMsMax` old. */
export function peekTenant(
  { tenants }: Parts<'tenants'>,
  name: TenantName,
  ageMsMax?: number,
): { readonly tenant: Tenant | undefined } | undefined {
  if (name.kind === 'host') {
    const own = tenants.peekDomain(name.origin, ageMsMax);
    if (own === undefined) return undefined;
    if (own.tenant !== undefined) return name.slug === undefined ? own : { tenant: undefined };
  }
  const slug = name.slug ?? rootTenantSlug;
  return isSlug(slug) ? tenants.peekSlug(slug, ageMsMax) : { tenant: undefined };
}

/** Lets a look-up for an address through, or throws 429 in the envelope. */
export type AdmitLookUp = (address: string, envelope: Envelope) => () => void;

/** Address blocks remembered; each has a limit of its own. */
const blocksMax = 10_000;

/** The limit on look-ups of unknown names: common to all surfaces of a process. */
export function createLookUpLimit(clock: Clock): AdmitLookUp {
  const buckets = createTokenBuckets({ burst: tenantLookUpsPerSecond, refillMs: 1000 / tenantLookUpsPerSecond, keysMax: blocksMax });
  return (address, envelope) => {
    const block = addressBlock(address);
    const waitMs = buckets.take(block, clock.nowMs());
    if (waitMs > 0) throw rateLimited(envelope, 'unknown_tenant_names', Math.max(1, Math.ceil(waitMs / 1000)));
    return () => buckets.giveBack(block);
  };
}
