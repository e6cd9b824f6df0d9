// Work that a transaction leaves behind is begun once it is committed: whoever queues it notes so, and the database of a server wakes
// whoever does it. Nothing is woken for what was rolled back.
import type { TenantId } from '../../domain/ids.ts';
import type { Database, Queries } from './database.ts';

/** Transactions that queued something, by what they write with. */
const noted = new WeakSet<Queries>();

/** Notes, inside a transaction, that it queues something. */
export const noteQueued = (queries: Queries): void => void noted.add(queries);

/** Tenants whose audit trail a transaction adds to. */
const recorded = new WeakMap<Queries, Set<TenantId>>();

/** Notes, inside a transaction, that it writes audit records of a tenant. */
export function noteRecorded(queries: Queries, tenant: TenantId): void {
  const tenants = recorded.get(queries);
  if (tenants === undefined) recorded.set(queries, new Set([tenant]));
  else tenants.add(tenant);
}

/** The same database; after each commit `wake` is called when it queued something, `tell` with each tenant it wrote audit records of. */
export function wakingAfterCommit(
  database: Database,
  { wake, tell }: { readonly wake: () => void; readonly tell: (tenant: TenantId) => void },
): Database {
  const waking = async <T>(run: typeof database.system<T>, work: (queries: Queries) => Promise<T>): Promise<T> => {
    let isQueued = false;
    let tenants: ReadonlySet<TenantId> | undefined;
    const result = await run(async (queries) => {
      try {
        return await work(queries);
      } finally {
        isQueued = noted.delete(queries);
        tenants = recorded.get(queries);
        recorded.delete(queries);
      }
    });
    if (isQueued) wake();
    if (tenants !== undefined) for (const tenant of tenants) tell(tenant);
    return result;
  };
  return {
    ...database,
    write: (tenant, work) => waking((noting) => database.write(tenant, noting), work),
    system: (work) => waking(database.system, work),
  };
}
