// Work of many items in one process beside everybody else's (design 21, 3): it takes turns, one of a tenant and two of a process at a time,
// and lets the event loop turn between its items. Who comes meanwhile waits for a while, a few of a tenant.
import {
  longWorkPerProcessMax,
  longWorkPerTenantMax,
  longWorkTurnMsMax,
  longWorkWaitingPerTenantMax,
  longWorkWaitMsMax,
} from '../../contract/limits.ts';
import { createPace, type Pace } from './pace.ts';
import { createTurns } from './turns.ts';

/** `busy`: no turn came, or as many of the tenant wait as may; `gone`: nobody was there any more when it came. */
export type Turn<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: 'busy' | 'gone' };

export interface LongWork {
  /**
   * Does work in a turn of the tenant's.
   * @param isGone whether nobody waits for it any more: asked when the turn has come
   */
  readonly take: <T>(tenant: string, isGone: () => boolean, work: (pace: Pace) => Promise<T>) => Promise<Turn<T>>;
}

/** What has the turns of a server. */
export interface LongWorkTurns {
  readonly longWork: LongWork;
}

/** Its pace, where it needs no turn: it is short, or in nobody's way. */
export const paceOfLongWork = (): Pace => createPace(longWorkTurnMsMax);

export function createLongWork(): LongWork {
  const ofTenants = createTurns(longWorkPerTenantMax);
  const ofProcess = createTurns(longWorkPerProcessMax);
  const present = new Map<string, number>();
  const busy = { ok: false, reason: 'busy' } as const;
  const wait: LongWork['take'] = async (tenant, isGone, work) => {
    const until = AbortSignal.timeout(longWorkWaitMsMax);
    const giveBack = await ofTenants.take(tenant, until);
    if (giveBack === undefined) return busy;
    try {
      const giveProcessBack = await ofProcess.take('process', until);
      if (giveProcessBack === undefined) return busy;
      try {
        return isGone() ? { ok: false, reason: 'gone' } : { ok: true, value: await work(paceOfLongWork()) };
      } finally {
        giveProcessBack();
      }
    } finally {
      giveBack();
    }
  };
  return {
    take: async (tenant, isGone, work) => {
      const before = present.get(tenant) ?? 0;
      if (before >= longWorkPerTenantMax + longWorkWaitingPerTenantMax) return busy;
      present.set(tenant, before + 1);
      try {
        return await wait(tenant, isGone, work);
      } finally {
        const left = present.get(tenant)! - 1;
        if (left === 0) present.delete(tenant);
        else present.set(tenant, left);
      }
    },
  };
}
