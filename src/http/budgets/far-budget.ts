// What strangers together may ask of a person by a rate limit (design 21, 1): several times what one address block may, more while the
// person lets them in, and a record for administrators where it is spent. Used for pushes and for mails to a phone that registers.
import type { Asking } from '../../approvals/asker.ts';
import { type Asked, reportAttack, timesFarNow } from '../../approvals/attack.ts';
import { farTimesNear } from '../../contract/limits.ts';
import type { RateLimitName } from '../../domain/tenant/settings.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Parts } from '../services.ts';
import { takeRate } from './rate-limits.ts';

export interface FarBudget {
  readonly name: RateLimitName;
  /** Whom it is of: what was typed, or the person. */
  readonly key: string;
  readonly asked: Asked;
  /** Who asks; looked up where the budget is spent. */
  readonly asking: () => Promise<Asking>;
}

/** Counts one event of all strangers; gives the seconds to wait when that was one too many. */
export async function takeFar(
  { rateLimiter: limiter, database, clock }: Parts<'clock' | 'database' | 'rateLimiter'>,
  tenant: Tenant,
  { name, key, asked, asking }: FarBudget,
): Promise<number | undefined> {
  const wait = await takeRate(limiter, tenant, name, key, farTimesNear);
  if (wait === undefined) return undefined;
  const who = await asking();
  const times = await database.read(tenant.id, (queries) => timesFarNow(queries, tenant, who.userId));
  const openedWait = times === 1 ? wait : await takeRate(limiter, tenant, name, key, farTimesNear * times);
  if (openedWait !== undefined) await database.write(tenant.id, (queries) => reportAttack(queries, { clock }, tenant, who, asked));
  return openedWait;
}
