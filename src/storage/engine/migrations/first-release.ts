// Nodes of release 0.1.0 that run beside their migration: a statement they prepared before it fails on its connection for ever
// ("cached plan must not change result type"). So their connections are ended once, between two transactions, and they make new
// ones. Later releases prepare their statements anew (dialects/postgres.ts); this file goes when 0.1.0 can no longer be migrated.
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../database.ts';

/** The level of 0.1.0's schema. */
export const firstReleaseLevel = 1;
/** A connection that rested so long is hardly asked something in the moment it is ended. */
const restedMs = 100;
/** After so long those that never rest are ended too: one request each may be answered with 503. */
const patienceMs = 3000;
const lookEveryMs = 20;

/** Ends the connections made before now by the same login and application, each when it is idle. */
export async function endFirstReleaseSessions(database: Database): Promise<void> {
  const { rows } = await database.systemRead((queries) => sql<{ now: string }>`SELECT clock_timestamp()::text AS now`.execute(queries));
  const migratedAt = rows[0]!.now;
  const startedAt = performance.now();
  for (let left = 1; left > 0; ) {
    const waitedMs = performance.now() - startedAt;
    if (waitedMs > 2 * patienceMs) return; // in a long transaction: its connection is ended by 0.1.0's own limits
    left = await endIdleSessions(database, migratedAt, waitedMs < patienceMs ? restedMs : 0);
    if (left > 0) await wait(lookEveryMs);
  }
}

/** Gives how many are left. */
async function endIdleSessions(database: Database, before: string, idleMs: number): Promise<number> {
  const { rows } = await database.systemRead((queries) =>
    sql<{ ended: boolean | null }>`
      SELECT CASE WHEN state = 'idle' AND state_change < clock_timestamp() - ${idleMs} * interval '1 millisecond'
        THEN pg_terminate_backend(pid) END AS ended
      FROM pg_stat_activity
      WHERE datname = current_database() AND usename = session_user AND application_name = current_setting('application_name')
        AND backend_type = 'client backend' AND backend_start < ${before}::timestamptz AND pid <> pg_backend_pid()`.execute(queries),
  );
  return rows.filter(({ ended }) => ended === null).length;
}
