// The limit on failed client authentications per address (contract 7.19, client_auth_failures_per_ip). Only failures count;
// once they are spent, every attempt of the address is refused until the period ends. A success asks no shared counter:
// this process remembers which addresses are spent, and learns it at the latest from their next failure.

import type { Tenant } from '../domain/tenant.ts';
import { addressBlock } from '../http/client-address.ts';
import { enforceRateLimit, refuseWhenSpent } from '../http/rate-limits.ts';
import type { Services } from '../http/services.ts';
import type { RateLimiter } from '../platform/rate-limit.ts';

const limit = 'client_auth_failures_per_ip';
const spentMax = 10_000;
/** Addresses known to be spent, and until when (epoch milliseconds), per limiter. */
const spentBy = new WeakMap<RateLimiter, Map<string, number>>();

/** False when this process knows of no address that spent its failures. */
export const anyAddressSpent = ({ rateLimiter }: Services): boolean => (spentBy.get(rateLimiter)?.size ?? 0) > 0;

/** Throws 429 when this process knows that the address spent its failures. */
export async function refuseSpentAddress(services: Services, tenant: Tenant, address: string): Promise<void> {
  const spent = spentBy.get(services.rateLimiter);
  if (spent === undefined) return;
  const key = `${tenant.id} ${addressBlock(address)}`;
  const untilMs = spent.get(key);
  if (untilMs === undefined) return;
  if (untilMs > services.clock.nowMs()) await refuseWhenSpent(services.rateLimiter, tenant, 'oauth', limit, addressBlock(address));
  spent.delete(key);
}

/** Counts one failure; throws 429 instead of letting the caller answer when the limit was spent before it. */
export async function countFailure(services: Services, tenant: Tenant, address: string): Promise<void> {
  const setting = tenant.settings.rate_limits[limit];
  if (setting === null) return;
  const block = addressBlock(address);
  try {
    await enforceRateLimit(services.rateLimiter, tenant, 'oauth', limit, block);
  } catch (error) {
    rememberSpent(services, `${tenant.id} ${block}`, setting.period_seconds);
    throw error;
  }
  const wait = await services.rateLimiter.isExceeded(`${tenant.id}:${limit}`, block, {
    limit: setting.limit,
    periodSeconds: setting.period_seconds,
  });
  if (wait !== undefined) rememberSpent(services, `${tenant.id} ${block}`, wait);
}

function rememberSpent(services: Services, key: string, seconds: number): void {
  let spent = spentBy.get(services.rateLimiter);
  if (spent === undefined) {
    spent = new Map();
    spentBy.set(services.rateLimiter, spent);
  }
  if (spent.size >= spentMax) spent.delete(spent.keys().next().value!);
  spent.set(key, services.clock.nowMs() + seconds * 1000);
}
