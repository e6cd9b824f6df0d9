// Configuration (tenants, clients, keys, providers) held in memory, absent entries included, so that a known and an unknown
// client cost the same. A change acts at once in the process that made it and within half a second on every other,
// because each process polls the epochs that configuration writes bump. Token, user and one-time state is never cached.
import type { TenantId } from '../domain/ids.ts';
import type { Job } from '../platform/jobs.ts';
import type { Database, Queries } from './database.ts';
import { bumpConfigEpoch, listRecentConfigEpochs } from './instance.ts';

export interface ConfigCache {
  /** The cached value, loading it in a read of the tenant when absent. Absent values (undefined) are remembered too. */
  readonly get: <T>(tenant: TenantId, key: string, load: (queries: Queries) => Promise<T>) => Promise<T>;
  /** The value if it is cached now, without waiting. */
  readonly peek: <T>(tenant: TenantId, key: string) => { readonly value: T } | undefined;
  /** One transaction that changes configuration: bumps the tenant's epoch and forgets what is cached after the commit. */
  readonly write: <T>(tenant: TenantId, work: (queries: Queries) => Promise<T>) => Promise<T>;
  readonly forget: (tenant: TenantId) => void;
  /** Called with the tenant whenever its configuration was forgotten. */
  readonly onForget: (listener: (tenant: TenantId) => void) => void;
  /** The job that notices other processes' changes. */
  readonly pollJob: Job;
}

const entriesPerTenantMax = 20_000;
const pollEveryMs = 400;
/** Epochs of the last 30 s are compared at each poll, so a commit that took that long is still noticed. */
const epochWindowMs = 30_000;

export function createConfigCache(database: Database): ConfigCache {
  const values = new Map<TenantId, Map<string, { readonly value: unknown }>>();
  const generations = new Map<TenantId, number>();
  const seen = new Map<TenantId, number>();
  const listeners: ((tenant: TenantId) => void)[] = [];
  const forget = (tenant: TenantId): void => {
    values.delete(tenant);
    generations.set(tenant, (generations.get(tenant) ?? 0) + 1);
    for (const listener of listeners) listener(tenant);
  };
  const store = (tenant: TenantId, key: string, value: unknown): void => {
    let entries = values.get(tenant);
    if (entries === undefined) {
      entries = new Map();
      values.set(tenant, entries);
    }
    if (entries.size >= entriesPerTenantMax) entries.delete(entries.keys().next().value!);
    entries.set(key, { value });
  };
  const peek = <T>(tenant: TenantId, key: string): { readonly value: T } | undefined =>
    values.get(tenant)?.get(key) as { readonly value: T } | undefined; // each key prefix belongs to one loader
  return {
    peek,
    get: async <T>(tenant: TenantId, key: string, load: (queries: Queries) => Promise<T>): Promise<T> => {
      const cached = peek<T>(tenant, key);
      if (cached !== undefined) return cached.value;
      const generation = generations.get(tenant) ?? 0;
      const value = await database.read(tenant, load);
      // A value read before a change must not be kept after it.
      if ((generations.get(tenant) ?? 0) === generation) store(tenant, key, value);
      return value;
    },
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
    pollJob: {
      name: 'config-epochs',
      everyMs: pollEveryMs,
      run: async () => {
        const epochs = await database.systemRead((queries) => listRecentConfigEpochs(queries, epochWindowMs));
        for (const { tenant_id: tenant, version } of epochs) {
          if (seen.get(tenant) === version) continue;
          seen.set(tenant, version);
          forget(tenant);
        }
      },
    },
  };
}
