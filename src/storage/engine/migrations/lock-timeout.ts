// Steps of a migration beside traffic: a step waits half a second for its locks, so that those who wait behind it wait no longer,
// then gives way and tries again. When it never gets them it says who is in the way.
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database, Queries } from '../database.ts';

/** How long a step is tried, in milliseconds. */
export const stepRetryMs = 5 * 60_000;
const lockTimeoutMs = 500;
const restMsMin = 200;
const restMsMax = 1000;
const lookEveryMs = 100;

/** Runs a step in a transaction of its own; on PostgreSQL until it gets its locks. @throws Error that names who holds them */
export async function retryOnLockTimeout<T>(
  database: Database,
  what: string,
  work: (queries: Queries) => Promise<T>,
  retryMs: number,
): Promise<T> {
  if (database.dialect === 'sqlite') return database.system(work);
  const startedAt = performance.now();
  for (;;) {
    const sight: Sight = { blocker: undefined };
    try {
      return await database.system((queries) => withShortWaits(database, queries, work, sight));
    } catch (error) {
      if (!isLockFault(error)) throw error;
      if (performance.now() - startedAt > retryMs) throw blockedError(what, retryMs, sight.blocker, error);
    }
    await wait(restMsMin + Math.random() * (restMsMax - restMsMin));
  }
}

interface Sight {
  blocker: Blocker | undefined;
}

interface Blocker {
  readonly pid: number;
  readonly user: string;
  readonly application: string;
  readonly state: string;
  readonly seconds: number;
  readonly query: string;
}

async function withShortWaits<T>(database: Database, queries: Queries, work: (queries: Queries) => Promise<T>, sight: Sight): Promise<T> {
  await sql.raw(`SET LOCAL lock_timeout = ${lockTimeoutMs}`).execute(queries);
  const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(queries);
  const look = async (): Promise<void> => {
    sight.blocker = (await database.watch((watching) => findBlocker(watching, rows[0]!.pid))) ?? sight.blocker;
  };
  const timer = setInterval(() => void look().catch(() => undefined), lookEveryMs); // it only serves the message
  try {
    return await work(queries);
  } finally {
    clearInterval(timer);
  }
}

async function findBlocker(queries: Queries, pid: number): Promise<Blocker | undefined> {
  const { rows } = await sql<Blocker>`
    SELECT pid, usename AS user, application_name AS application, state, extract(epoch FROM now() - xact_start)::int AS seconds, left(query, 80) AS query
    FROM pg_stat_activity WHERE pid = ANY(pg_blocking_pids(${pid})) ORDER BY xact_start LIMIT 1`.execute(queries);
  return rows[0];
}

/** lock_not_available and deadlock_detected; and of the roles, which all databases of a server share: another migrator makes them at this moment. */
const contended: ReadonlySet<unknown> = new Set(['55P03', '40P01', '23505', '42710', '42704', 'XX000']);

/** Of an error of PostgreSQL itself: whether trying again may help. */
export const isContended = (error: unknown): boolean => contended.has((error as { code?: unknown } | undefined)?.code);

/** The same of what a transaction of ours throws. */
export const isLockFault = (error: unknown): boolean => error instanceof Error && isContended(error.cause);

function blockedError(what: string, retryMs: number, blocker: Blocker | undefined, cause: unknown): Error {
  const { pid, user, application, state, seconds, query } = blocker ?? unknownBlocker;
  return new Error(
    `${what}: expected its locks within ${Math.round(retryMs / 1000)} s, found session ${pid} (user ${user}, application "${application}", ${state}, in a transaction for ${seconds} s: ${query}) in the way. End it with SELECT pg_terminate_backend(${pid}), or wait for its end; then again: gatehouse migrate`,
    { cause },
  );
}

const unknownBlocker: Blocker = { pid: 0, user: 'unknown', application: '', state: 'unknown', seconds: 0, query: 'unknown' };
