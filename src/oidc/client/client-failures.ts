// The limit on failed client authentications (contract 7.19, client_auth_failures_per_ip). Credentials are verified first and right
// ones always pass: secrets have 256 bits, so the limit guards our processor and logs, not them. Failures count per client and
// address block, so that one misconfigured client behind a shared address costs nobody else anything.
import type { ClientId } from '../../domain/ids.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { addressBlock } from '../../http/client-address.ts';
import { enforceRateLimit } from '../../http/rate-limits.ts';
import type { RateLimiter } from '../../platform/rate-limit.ts';

/** Counts one failure, unknown clients under one key; throws 429 when the limit was spent before it. */
export async function countFailure(
  rateLimiter: RateLimiter,
  tenant: Tenant,
  clientId: ClientId | undefined,
  address: string,
): Promise<void> {
  const key = `${clientId ?? ''} ${addressBlock(address)}`;
  await enforceRateLimit(rateLimiter, tenant, 'oauth', 'client_auth_failures_per_ip', key);
}
