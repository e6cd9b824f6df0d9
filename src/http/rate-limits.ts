// Applies a tenant's rate limit and throws contract 7.19 in the envelope of the surface.
import { reject } from '../contract/contract-error.ts';
import type { Envelope } from '../contract/row.ts';
import type { RateLimitName } from '../domain/settings.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { RateLimiter } from '../platform/rate-limit.ts';

/** Counts one event of the limit under `key`; throws 429 `rate_limited` when it is exceeded. A limit set to null is off. */
export async function enforceRateLimit(
  limiter: RateLimiter,
  tenant: Tenant,
  envelope: Envelope,
  name: RateLimitName,
  key: string,
): Promise<void> {
  const setting = tenant.settings.rate_limits[name];
  if (setting === null) return;
  const waitSeconds = await limiter.take(`${tenant.id}:${name}`, key, { limit: setting.limit, periodSeconds: setting.period_seconds });
  if (waitSeconds !== undefined) throw rateLimited(envelope, name, waitSeconds);
}

/** Refuses when the limit is already spent, without counting: for limits that count failures only. */
export async function refuseWhenSpent(
  limiter: RateLimiter,
  tenant: Tenant,
  envelope: Envelope,
  name: RateLimitName,
  key: string,
): Promise<void> {
  const setting = tenant.settings.rate_limits[name];
  if (setting === null) return;
  const waitSeconds = await limiter.isExceeded(`${tenant.id}:${name}`, key, {
    limit: setting.limit,
    periodSeconds: setting.period_seconds,
  });
  if (waitSeconds !== undefined) throw rateLimited(envelope, name, waitSeconds);
}

function rateLimited(envelope: Envelope, name: RateLimitName, waitSeconds: number): Error {
  return reject(
    `${envelope}.rate_limited`,
    { reason: 'rate_limited', expected: name },
    { retryAfterSeconds: waitSeconds, fields: { retry_after_seconds: waitSeconds } },
  );
}
