// Writers of one resource queue in this process before they take a connection: on PostgreSQL those that wait for a row
// lock would each hold a connection, and a hundred writers of one user would leave nobody else any. Called by the SCIM writes.
import type { TenantId } from '../../domain/ids.ts';
import { type Database, type Queries, StorageUnavailable } from './database.ts';

/** Writers of one resource that may wait at a time; more are refused at once. */
const waitingWritersMax = 1000;

interface WriteQueue {
  waiting: number;
  last: Promise<unknown>;
}

const queuesOf = new WeakMap<Database, Map<string, WriteQueue>>();

/** `Database.write` for work that locks this resource's row first; in order of arrival. The embedded database orders writers itself. */
export function queueWrite<T>(database: Database, tenant: TenantId, id: string, work: (queries: Queries) => Promise<T>): Promise<T> {
  if (database.dialect === 'sqlite') return database.write(tenant, work);
  return enqueue(queuesFor(database), `${tenant} ${id}`, () => database.write(tenant, work));
}

function queuesFor(database: Database): Map<string, WriteQueue> {
  const known = queuesOf.get(database);
  if (known !== undefined) return known;
  const queues = new Map<string, WriteQueue>();
  queuesOf.set(database, queues);
  return queues;
}

async function enqueue<T>(queues: Map<string, WriteQueue>, key: string, work: () => Promise<T>): Promise<T> {
  const queue = queues.get(key) ?? { waiting: 0, last: Promise.resolve() };
  if (queue.waiting >= waitingWritersMax) throw new StorageUnavailable('too many writers of one resource');
  queues.set(key, queue);
  queue.waiting += 1;
  const mine = queue.last.then(work);
  queue.last = mine.catch(() => undefined);
  try {
    return await mine;
  } finally {
    queue.waiting -= 1;
    if (queue.waiting === 0) queues.delete(key);
  }
}
