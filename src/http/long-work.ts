// Long work of a request (platform/turns/long-work.ts): who finds no turn is refused with when to come back, and the refusal is recorded.
import { reject } from '../contract/contract-error.ts';
import { longWorkRetrySeconds } from '../contract/limits.ts';
import type { Envelope } from '../contract/row.ts';
import type { TenantId } from '../domain/ids.ts';
import type { LongWorkTurns } from '../platform/turns/long-work.ts';
import type { Pace } from '../platform/turns/pace.ts';

export interface Waiting {
  readonly envelope: Envelope;
  readonly tenant: TenantId;
  /** Whether nobody waits for the answer any more. */
  readonly isGone: () => boolean;
}

/** Does the work in a turn of the tenant's. @throws the envelope's `unavailable` when none came, or nobody is there who waited for it */
export async function inTurn<T>(
  { longWork }: LongWorkTurns,
  { envelope, tenant, isGone }: Waiting,
  work: (pace: Pace) => Promise<T>,
): Promise<T> {
  const turn = await longWork.take(tenant, isGone, work);
  if (turn.ok) return turn.value;
  throw reject(`${envelope}.unavailable`, `long_work_${turn.reason}`, { retryAfterSeconds: longWorkRetrySeconds });
}
