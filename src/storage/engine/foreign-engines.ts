// Engines that speak PostgreSQL's protocol and are none: what keeps tenants apart and codes single here they do otherwise, or not at all
// (docs/databases.md). Asked before a migration, a command and a start.
import { sql } from 'kysely';
import type { Queries } from './database.ts';

/** What `version()` says of each. */
const engines: readonly (readonly [RegExp, string])[] = [
  [/-YB-/, 'YugabyteDB'],
  [/CockroachDB/, 'CockroachDB'],
  [/Greenplum/, 'Greenplum'],
  [/Redshift/, 'Amazon Redshift'],
  [/Materialize/, 'Materialize'],
  [/GaussDB/i, 'GaussDB'],
];

/** The name of an engine by what `version()` says, when it is none of ours. */
export function foreignEngineOf(version: string): string | undefined {
  const named = engines.find(([pattern]) => pattern.test(version))?.[1];
  return named ?? (/^PostgreSQL \d/.test(version) ? undefined : version.slice(0, 80));
}

/** What is wrong with the engine, in words; undefined for PostgreSQL. */
export async function findEngineFault(queries: Queries): Promise<string | undefined> {
  const { rows } = await sql<{ version: string; jobs: boolean }>`
    SELECT version() AS version, to_regclass('sys.jobs') IS NOT NULL AS jobs`.execute(queries);
  const { version, jobs } = rows[0]!;
  const name = foreignEngineOf(version) ?? (jobs ? 'Aurora DSQL' : (await hasCitus(queries)) ? 'Citus' : undefined);
  return name === undefined ? undefined : `expected PostgreSQL, found ${name}, on which Gatehouse is not safe: see docs/databases.md`;
}

async function hasCitus(queries: Queries): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS found`.execute(
    queries,
  );
  return rows[0]?.found === true;
}
