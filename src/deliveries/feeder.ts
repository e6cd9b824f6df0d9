// Looks where there is news: events of a tenant that a process has committed are read at most every 200 ms, or as their reader says,
// and what another process left behind when it died, or a command wrote, is found by going through all tenants concerned now and then.
// What is read for whom, and what follows, is its owner's: webhooks, streams of security events, connectors.
import type { TenantId } from '../domain/ids.ts';
import type { Job } from '../platform/jobs.ts';
import type { Log } from '../platform/log.ts';
import type { Database, Queries } from '../storage/engine/database.ts';

export interface Feeder {
  /** Events of a tenant were committed. */
  readonly note: (tenant: TenantId) => void;
  /** Run in every process. */
  readonly job: Job;
  /** Notes all tenants it may have something to do for. */
  readonly catchUp: (queries: Queries) => Promise<void>;
}

interface FeederWork {
  /** Its job is `<name>-feed`. */
  readonly name: string;
  /** How often news are looked at; absent: every 200 ms. */
  readonly everyMs?: number;
  /** All tenants it may have something to do for. */
  readonly listTenants: (queries: Queries) => Promise<readonly TenantId[]>;
  /** Reads on for a tenant; true when there may be more. */
  readonly feed: (tenant: TenantId) => Promise<boolean>;
}

const everyMsElse = 200;
const catchUpEveryMs = 10_000;
/** What a node that ended left waits no longer than this for the one that comes after it. */
const firstCatchUpMs = 1000;

export function createFeeder(log: Log, work: FeederWork): Feeder {
  const { name, everyMs = everyMsElse, listTenants, feed } = work;
  const noted = new Set<TenantId>();
  const feedTenant = async (tenant: TenantId): Promise<boolean> => {
    try {
      return await feed(tenant);
    } catch (error) {
      log.error({ err: error, tenant, feeder: name }, 'events could not be queued'); // the next look through all tenants tries again
      return false;
    }
  };
  return {
    note: (tenant) => void noted.add(tenant),
    job: {
      name: `${name}-feed`,
      everyMs,
      run: async (signal) => {
        const tenants = [...noted];
        noted.clear();
        for (const tenant of tenants) {
          if (signal.aborted) return;
          if (await feedTenant(tenant)) noted.add(tenant);
        }
      },
    },
    catchUp: async (queries) => {
      for (const tenant of await listTenants(queries)) noted.add(tenant);
    },
  };
}

/** Run in one process of a node: all feeders look in one transaction, because idle nodes ask little. */
export const createCatchUpJob = (database: Database, feeders: readonly Feeder[]): Job => ({
  name: 'feeders-catch-up',
  everyMs: catchUpEveryMs,
  firstMs: firstCatchUpMs,
  run: () =>
    database.systemRead(async (queries) => {
      for (const { catchUp } of feeders) await catchUp(queries);
    }),
});
