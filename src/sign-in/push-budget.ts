// What a push to a person's phones is counted by (contract 7.19, design 21, 1): a known browser by itself, whatever name is typed; strangers by their address
// block, then by all of them. Refusals are told by the name that was typed; over all names of the person no push goes out, in silence.
import { isTypedSubject, subjectKeyOf } from '../approvals/approval.ts';
import type { Asking } from '../approvals/asker.ts';
import { ownTimesNear } from '../contract/limits.ts';
import { type FarBudget, takeFar } from '../http/budgets/far-budget.ts';
import { giveBack, rateLimited, takeRate } from '../http/budgets/rate-limits.ts';
import type { Parts } from '../http/services.ts';
import type { LoginNow } from './login-view.ts';

const name = 'approvals_per_user';

/** Counts one push. True: none goes out, and the one who asks is not told. @throws management.rate_limited */
export async function takePush(
  services: Parts<'clock' | 'database' | 'rateLimiter'>,
  { tenant, row }: LoginNow,
  asking: Asking,
): Promise<boolean> {
  const { rateLimiter: limiter } = services;
  const { asker } = asking;
  const typed = row.subject_key ?? '';
  const person = subjectKeyOf(row.user_id ?? undefined, `nobody:${typed}`);
  if (!asker.isStranger) {
    const ownWait = await takeRate(limiter, tenant, name, `${asker.key}:${person}`, ownTimesNear);
    if (ownWait !== undefined) throw rateLimited('management', `${name} (own)`, ownWait);
    return false;
  }
  const nearWait = await takeRate(limiter, tenant, name, `${asker.key}:${typed}`);
  if (nearWait !== undefined) throw rateLimited('management', `${name} (near)`, nearWait);
  const far = (key: string): FarBudget => ({ name, key, asked: 'pushes', asking: async () => asking });
  const farWait = await takeFar(services, tenant, far(typed));
  if (farWait !== undefined) {
    await giveBack(limiter, tenant, name, `${asker.key}:${typed}`);
    throw rateLimited('management', `${name} (far)`, farWait);
  }
  if (!isTypedSubject(typed)) return false;
  const isNearOver = (await takeRate(limiter, tenant, name, `${asker.key}:${person}`)) !== undefined;
  return isNearOver || (await takeFar(services, tenant, far(person))) !== undefined;
}
