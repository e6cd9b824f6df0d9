// Applies a tenant's rate limit and throws contract 7.19 in the envelope of the surface.
import { reject } from '../../contract/contract-error.ts';
import type { Envelope } from '../../contract/row.ts';
import type { RateLimitName } from '../../domain/tenant/settings.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { RateLimit, RateLimiter } from '../../platform/rate-limit.ts';

/** Counts one event of the limit under `key`; throws 429 `rate_limited` when it is exceeded. A limit set to null is off. */
export async function enforceRateLimit(
  limiter: RateLimiter,
  tenant: Tenant,
  envelope: Envelope,
  name: RateLimitName,
  key: string,
): Promise<void> {
  const waitSeconds = await takeRate(limiter, tenant, name, key);
  if (waitSeconds !== undefined) throw rateLimited(envelope, name, waitSeconds);
}

/** Counts one event of so many times the limit; gives the seconds to wait when that was one too many. */
export async function takeRate(
  limiter: RateLimiter,
  tenant: Tenant,
  name: RateLimitName,
  key: string,
  times = 1,
): Promise<number | undefined> {
  const limit = limitOf(tenant, name);
  return limit && limiter.take(`${tenant.id}:${name}`, key, { ...limit, limit: limit.limit * times });
}

/** Counts one event of a limit that no tenant sets; gives the seconds to wait when that was one too many. */
export async function takeFixedRate(
  limiter: RateLimiter,
  tenant: Tenant,
  name: string,
  key: string,
  limit: RateLimit,
): Promise<number | undefined> {
  return tenant.areLimitsLifted ? undefined : limiter.take(`${tenant.id}:${name}`, key, limit);
}

/** Takes back one event of the limit that turned out not to count. */
export async function giveBack(limiter: RateLimiter, tenant: Tenant, name: RateLimitName, key: string): Promise<void> {
  const limit = limitOf(tenant, name);
  if (limit !== undefined) await limiter.giveBack(`${tenant.id}:${name}`, key, limit);
}

function limitOf(tenant: Tenant, name: RateLimitName): RateLimit | undefined {
  if (tenant.areLimitsLifted) return undefined;
  const setting = tenant.settings.rate_limits[name];
  return setting === null ? undefined : { limit: setting.limit, periodSeconds: setting.period_seconds };
}

/** 429 for a limit; `name` is shown in the audit trail only. */
export function rateLimited(envelope: Envelope, name: string, waitSeconds: number): Error {
  return reject(
    `${envelope}.rate_limited`,
    { reason: 'rate_limited', expected: name },
    { retryAfterSeconds: waitSeconds, fields: { retry_after_seconds: waitSeconds } },
  );
}
