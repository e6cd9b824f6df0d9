// Statistics of PostgreSQL's planner while very many rows arrive at once. Until autovacuum runs ANALYZE on a table, a minute later, the planner
// takes one tenant's rows for few: it finds one user by reading the tenant, and PostgreSQL's own check of a foreign key does the same, so
// that what arrives in that minute is quadratic. Only the owner of a table may ANALYZE it, so the migrator makes a function of the owner
// that the service may call. Reasons: docs/decisions/0043-statistics-from-the-first-second.md.
import { sql } from 'kysely';
import type { Job } from '../../platform/jobs.ts';
import type { Database, Queries } from './database.ts';
import { serviceRole } from './service-role.ts';

const name = 'public.gatehouse_learn_tables()';
/** Of the owner's tables those that have four times the pages of their last ANALYZE, and four pages at least; one that is being analyzed is passed over. */
const body = ` DECLARE grown regclass;
BEGIN
  FOR grown IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relowner = current_user::regrole
    AND pg_relation_size(oid) >= 4 * greatest(relpages, 1) * current_setting('block_size')::bigint
  LOOP EXECUTE format('ANALYZE (SKIP_LOCKED) %s', grown); END LOOP;
END `;

/** Makes the function; repeats safely. Called by the migrator on PostgreSQL. */
export async function prepareTableStatistics(queries: Queries): Promise<void> {
  const run = async (statement: string): Promise<void> => void (await sql.raw(statement).execute(queries));
  await run(
    `CREATE OR REPLACE FUNCTION ${name} RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$${body}$$`,
  );
  await run(`REVOKE ALL ON FUNCTION ${name} FROM PUBLIC`);
  await run(`GRANT EXECUTE ON FUNCTION ${name} TO ${serviceRole}`);
}

/** True when the function is the one this release makes. */
export async function areStatisticsPrepared(queries: Queries): Promise<boolean> {
  const { rows } = await sql<{ body: string; granted: boolean }>`
    SELECT prosrc AS body, has_function_privilege(r.oid, p.oid, 'EXECUTE') AS granted
    FROM pg_proc p, pg_roles r WHERE p.oid = to_regprocedure(${name}) AND r.rolname = ${serviceRole}`.execute(queries);
  return rows[0]?.granted === true && rows[0].body === body;
}

/** Runs ANALYZE on the tables that have grown; does nothing on the embedded database, and on one that has no such function yet. */
async function analyzeGrownTables(database: Database): Promise<void> {
  if (database.dialect !== 'postgres') return;
  await database.system(async (queries) => {
    const { rows } = await sql<{ found: boolean }>`SELECT to_regprocedure(${name}) IS NOT NULL AS found`.execute(queries);
    if (rows[0]?.found === true) await sql.raw(`SELECT ${name}`).execute(queries);
  });
}

const lookEveryMs = 1000;

interface StatisticsKeeper {
  /** Something was committed. */
  readonly note: () => void;
  /** Looks whether tables have grown, when something was committed; run in every process. */
  readonly job: Job;
}

export function createStatisticsKeeper(database: Database): StatisticsKeeper {
  let hasNews = false;
  return {
    note: () => {
      hasNews = true;
    },
    job: {
      name: 'planner-statistics',
      everyMs: lookEveryMs,
      run: async () => {
        if (!hasNews) return;
        hasNews = false;
        await analyzeGrownTables(database);
      },
    },
  };
}

const rowsBetweenLooks = 500;

/** To be told how many rows a run has written so far: looks now and then whether tables have grown. */
export function analyzeAsTablesGrow(database: Database): (rows: number) => Promise<void> {
  let lookAt = rowsBetweenLooks;
  return async (rows) => {
    if (rows < lookAt) return;
    lookAt = rows + rowsBetweenLooks;
    await analyzeGrownTables(database);
  };
}
