// Counts what happens in tenants for their overviews: collected in memory, added to the hour's rows a moment later. A process
// that dies loses the counts of its last second; nothing but charts rests on them. Called by surfaces; decides nothing.
import type { TenantId } from '../domain/ids.ts';
import type { Clock } from '../platform/clock.ts';
import type { Job } from '../platform/jobs.ts';
import { type ActivityCount, addActivity } from '../storage/activity-counts.ts';
import type { Database } from '../storage/database.ts';

export const signInActivity = 'sign_in';
export const refusalActivity = 'refusal:';

export interface ActivityRecorder {
  readonly countSignIn: (tenant: TenantId) => void;
  /** One refusal by contract row. */
  readonly countRefusal: (tenant: TenantId, row: string) => void;
  /** Writes what is waiting; readers call it first so that they see what just happened. */
  readonly flush: () => Promise<void>;
  readonly job: Job;
}

const hourMs = 3_600_000;
const flushEveryMs = 1000;
/** Names are contract rows, so only many tenants at once can reach this; what is beyond is not counted. */
const waitingMax = 20_000;

export function createActivityRecorder(database: Database, clock: Clock): ActivityRecorder {
  let waiting = new Map<TenantId, Map<string, ActivityCount>>();
  let size = 0;
  let flushing: Promise<void> = Promise.resolve();
  const count = (tenant: TenantId, name: string): void => {
    const hourAtMs = Math.floor(clock.nowMs() / hourMs) * hourMs;
    let own = waiting.get(tenant);
    if (own === undefined) {
      own = new Map();
      waiting.set(tenant, own);
    }
    const key = `${hourAtMs}:${name}`;
    const before = own.get(key);
    if (before === undefined && size >= waitingMax) return;
    if (before === undefined) size += 1;
    own.set(key, { hourAtMs, name, n: (before?.n ?? 0) + 1 });
  };
  const writeOut = async (): Promise<void> => {
    const taken = waiting;
    waiting = new Map();
    size = 0;
    for (const [tenant, counts] of taken) await database.write(tenant, (queries) => addActivity(queries, tenant, [...counts.values()]));
  };
  const flush = (): Promise<void> => {
    flushing = flushing.catch(() => undefined).then(writeOut);
    return flushing;
  };
  return {
    countSignIn: (tenant) => count(tenant, signInActivity),
    countRefusal: (tenant, row) => count(tenant, `${refusalActivity}${row}`),
    flush,
    job: { name: 'activity', everyMs: flushEveryMs, run: () => (size === 0 ? Promise.resolve() : flush()) },
  };
}
