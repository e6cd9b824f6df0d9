// Leases: what one process of all nodes does at a time. They save work and protect nothing: whoever holds one may be slow, and
// another takes over when its time is up.
import { sql } from 'kysely';
import type { Queries } from './database.ts';
import { databaseNowMs } from './instance.ts';

/** Takes or keeps a lease until `leaseMs` from now by the database's clock. False while another holder has it. */
export async function holdLease(queries: Queries, name: string, holder: string, leaseMs: number): Promise<boolean> {
  // Times of equal length sort as text does.
  const { rows } = await sql`INSERT INTO instance (key, value)
    VALUES (${`lease:${name}`}, CAST(${databaseNowMs} + ${sql.lit(leaseMs)} AS TEXT) || ${` ${holder}`})
    ON CONFLICT (key) DO UPDATE SET value = excluded.value
    WHERE instance.value < CAST(${databaseNowMs} AS TEXT) OR instance.value LIKE ${`% ${holder}`} RETURNING key`.execute(queries);
  return rows.length === 1;
}

/** Gives a lease back before its time, if this holder has it. */
export async function endLease(queries: Queries, name: string, holder: string): Promise<void> {
  await sql`DELETE FROM instance WHERE key = ${`lease:${name}`} AND value LIKE ${`% ${holder}`}`.execute(queries);
}
