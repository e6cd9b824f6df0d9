// Writers of one resource take turns in this process before they take a connection: on PostgreSQL those that wait for a row
// lock would each hold a connection, and a hundred writers of one user would leave nobody else any. Called by the SCIM writes.
import type { TenantId } from '../domain/ids.ts';
import { type Database, type Queries, StorageUnavailable } from './database.ts';

/** Writers of one resource that may wait at a time; more are refused at once. */
export const waitingWritersMax = 1000;

interface Line {
  waiting: number;
  last: Promise<unknown>;
}

const linesOf = new WeakMap<Database, Map<string, Line>>();

/** `Database.write` for work that locks this resource's row first; in order of arrival. The embedded database orders writers itself. */
export function writeInTurn<T>(database: Database, tenant: TenantId, id: string, work: (queries: Queries) => Promise<T>): Promise<T> {
  if (database.dialect === 'sqlite') return database.write(tenant, work);
  return inTurn(linesFor(database), `${tenant} ${id}`, () => database.write(tenant, work));
}

function linesFor(database: Database): Map<string, Line> {
  const known = linesOf.get(database);
  if (known !== undefined) return known;
  const lines = new Map<string, Line>();
  linesOf.set(database, lines);
  return lines;
}

async function inTurn<T>(lines: Map<string, Line>, key: string, work: () => Promise<T>): Promise<T> {
  const line = lines.get(key) ?? { waiting: 0, last: Promise.resolve() };
  if (line.waiting >= waitingWritersMax) throw new StorageUnavailable('too many writers of one resource');
  lines.set(key, line);
  line.waiting += 1;
  const mine = line.last.then(work);
  line.last = mine.catch(() => undefined);
  try {
    return await mine;
  } finally {
    line.waiting -= 1;
    if (line.waiting === 0) lines.delete(key);
  }
}
