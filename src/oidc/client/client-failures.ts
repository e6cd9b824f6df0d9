// The limit on failed client authentications (contract 7.19, client_auth_failures_per_ip). Credentials are verified first and right
// ones always pass: secrets have 256 bits, so the limit guards our processor and logs, not them. Failures of an address block count
// together, whatever client they name: a counter a known client would answer otherwise than one for the rest, and tell which exist
// (contract 7.11). Who shares an address with a misconfigured client loses nothing: right credentials are never refused.
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { enforceRateLimit } from '../../http/budgets/rate-limits.ts';
import { addressBlock } from '../../http/client-address.ts';
import type { RateLimiter } from '../../platform/rate-limit.ts';

/** Counts one failure; throws 429 when the limit was spent before it. */
export async function countFailure(rateLimiter: RateLimiter, tenant: Tenant, address: string): Promise<void> {
  await enforceRateLimit(rateLimiter, tenant, 'oauth', 'client_auth_failures_per_ip', addressBlock(address));
}
