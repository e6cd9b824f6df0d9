// What is told once a day, whoever sees it first: remembered by this process, for each tenant apart, so that one with much to tell
// takes nothing from its neighbours. Whatever a tenant has beyond its share is not told that day.
import type { TenantId } from '../../domain/ids.ts';

const dayMs = 86_400_000;

interface DailyClaims {
  /** True for the first who asks on that day, while the tenant has room. */
  readonly claim: (tenant: TenantId, key: string, nowMs: number) => boolean;
  /** It was not told after all. */
  readonly release: (tenant: TenantId, key: string) => void;
}

export function createDailyClaims(perTenantMax: number): DailyClaims {
  const claimed = new Map<TenantId, Set<string>>();
  let today = 0;
  return {
    claim: (tenant, key, nowMs) => {
      const day = Math.floor(nowMs / dayMs);
      if (day !== today) claimed.clear();
      today = day;
      const keys = claimed.get(tenant) ?? new Set();
      if (keys.has(key) || keys.size >= perTenantMax) return false;
      claimed.set(tenant, keys.add(key));
      return true;
    },
    release: (tenant, key) => void claimed.get(tenant)?.delete(key),
  };
}
