// Configuration (tenants, clients, keys, providers) held in memory, absent entries included, so that a known and an unknown
// client cost the same. A change acts at once in the process that made it and within a second on every other: nothing is
// answered from memory that the pulse (config-pulse.ts) has not confirmed lately. Token, user and one-time state is never cached.
import type { TenantId } from '../../../domain/ids.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Job } from '../../../platform/jobs.ts';
import type { Database, Queries } from '../database.ts';
import { bumpConfigEpoch } from './config-changes.ts';
import { createConfigPulse, type Waiting } from './config-pulse.ts';

export interface ConfigCache {
  /**
   * The cached value, loading it in a read of the tenant when absent. Absent values (undefined) are remembered too.
   * `ageMsMax`: how old memory may be while the database is away. @throws StorageUnavailable when it is older
   */
  readonly get: <T>(tenant: TenantId, key: string, load: (queries: Queries) => Promise<T>, ageMsMax?: number) => Promise<T>;
  /** Reads beside the memory: what strangers write is not kept there. */
  readonly read: <T>(tenant: TenantId, load: (queries: Queries) => Promise<T>) => Promise<T>;
  /** The value if it is cached and fresh now, without waiting. */
  readonly peek: <T>(tenant: TenantId, key: string) => { readonly value: T } | undefined;
  /** One transaction that changes configuration: bumps the tenant's epoch and forgets what is cached after the commit. */
  readonly write: <T>(tenant: TenantId, work: (queries: Queries) => Promise<T>) => Promise<T>;
  readonly forget: (tenant: TenantId) => void;
  /** Called with the tenant whenever its configuration was forgotten; undefined: everybody's was. */
  readonly onForget: (listener: (tenant: TenantId | undefined) => void) => void;
  /** Whether memory may be answered from now; whoever remembers configuration elsewhere asks too. */
  readonly isFresh: () => boolean;
  /** Waits until it may. @throws StorageUnavailable when it may not */
  readonly settle: (ageMsMax?: number) => Promise<void>;
  /** Of what is remembered, in milliseconds; infinite when nothing is. */
  readonly ageMs: () => number;
  /** The job that notices other processes' changes while requests come, and the one for while none do. */
  readonly pulseJob: Job;
  readonly idlePulseJob: Job;
}

const entriesPerTenantMax = 20_000;

/** @param waiting what the pulse looks for besides changes */
export function createConfigCache(database: Database, clock: Clock, waiting?: Waiting): ConfigCache {
  const values = new Map<TenantId, Map<string, { readonly value: unknown }>>();
  const listeners: ((tenant: TenantId | undefined) => void)[] = [];
  let forgotten = 0;
  const forget = (tenant: TenantId | undefined): void => {
    if (tenant === undefined) values.clear();
    else values.delete(tenant);
    forgotten += 1;
    for (const listener of listeners) listener(tenant);
  };
  const { ageMs, isFresh, settle, job, idleJob } = createConfigPulse(database, clock, forget, waiting);
  const find = <T>(tenant: TenantId, key: string): { readonly value: T } | undefined =>
    values.get(tenant)?.get(key) as { readonly value: T } | undefined; // each key prefix belongs to one loader
  const store = (tenant: TenantId, key: string, value: unknown): void => {
    let entries = values.get(tenant);
    if (entries === undefined) {
      entries = new Map();
      values.set(tenant, entries);
    }
    if (entries.size >= entriesPerTenantMax) entries.delete(entries.keys().next().value!);
    entries.set(key, { value });
  };
  return {
    peek: (tenant, key) => (isFresh() ? find(tenant, key) : undefined),
    get: async <T>(tenant: TenantId, key: string, load: (queries: Queries) => Promise<T>, ageMsMax?: number): Promise<T> => {
      if (!isFresh()) await settle(ageMsMax);
      const cached = find<T>(tenant, key);
      if (cached !== undefined) return cached.value;
      const before = forgotten;
      const value = await database.read(tenant, load);
      // A value read before a change must not be kept after it.
      if (forgotten === before) store(tenant, key, value);
      return value;
    },
    read: (tenant, load) => database.read(tenant, load),
    write: async (tenant, work) => {
      const result = await database.write(tenant, async (queries) => {
        const value = await work(queries);
        await bumpConfigEpoch(queries, tenant);
        return value;
      });
      forget(tenant);
      return result;
    },
    forget,
    onForget: (listener) => void listeners.push(listener),
    ageMs,
    isFresh,
    settle,
    pulseJob: job,
    idlePulseJob: idleJob,
  };
}
