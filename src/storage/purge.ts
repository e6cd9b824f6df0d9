// Rows whose time is over leave in small batches (R8), so that no table grows with traffic that is past.
// The registry says per table which column ends a row's life and how long it is kept after that; a new table with an
// expiry adds its line here. The job visits a few tenants per turn.
import { sql } from 'kysely';
import type { TenantId } from '../domain/ids.ts';
import type { Job } from '../platform/jobs.ts';
import type { Database, Queries } from './database.ts';
import { databaseNowMs } from './instance.ts';
import { purgeOutboxMessages } from './outbox-messages.ts';
import type { Schema } from './schema.ts';
import { listTenants } from './tenants.ts';

export interface Expiring {
  readonly table: keyof Schema;
  /** Epoch milliseconds after which the row means nothing; indexed behind tenant_id. */
  readonly column: string;
  /** The rest of the primary key, behind tenant_id. */
  readonly key: string;
  /** Milliseconds the row stays after that. */
  readonly keptMs: number;
  /** Only these rows. */
  readonly where?: string;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Replay sets outlive what they guard by more than any clock of ours may be off, because `exp` is judged by process clocks. */
const replayMs = 2 * hourMs;

// biome-ignore format: a table, one row a line
export const expiring: readonly Expiring[] = [
  { table: 'refresh_tokens', column: 'expires_at', key: 'token_hash', keptMs: dayMs },
  { table: 'authorization_codes', column: 'expires_at', key: 'code_hash', keptMs: dayMs }, // a code used again still ends its grant
  { table: 'grants', column: 'expires_at', key: 'id', keptMs: dayMs },
  { table: 'revoked_tokens', column: 'expires_at', key: 'jti', keptMs: replayMs },
  { table: 'pushed_requests', column: 'expires_at', key: 'reference_hash', keptMs: hourMs },
  { table: 'client_assertions', column: 'expires_at', key: 'jti_hash', keptMs: replayMs },
  { table: 'ciba_requests', column: 'expires_at', key: 'auth_req_id_hash', keptMs: dayMs }, // polls still hear expired_token
  { table: 'dpop_proofs', column: 'expires_at', key: 'proof_hash', keptMs: replayMs },
  { table: 'login_transactions', column: 'expires_at', key: 'id', keptMs: hourMs },
  { table: 'approvals', column: 'expires_at', key: 'id', keptMs: dayMs }, // polls still hear expired_token
  { table: 'pins', column: 'expires_at', key: 'id', keptMs: hourMs },
  { table: 'pin_mailboxes', column: 'expires_at', key: 'mail_key', keptMs: 0 },
  { table: 'device_requests', column: 'expires_at', key: 'digest', keptMs: replayMs },
  { table: 'device_registrations', column: 'purge_at', key: 'id', keptMs: 0 },
  { table: 'attestation_challenges', column: 'expires_at', key: 'challenge', keptMs: hourMs },
  { table: 'passkey_challenges', column: 'expires_at', key: 'subject', keptMs: 0 },
  { table: 'enrollment_tokens', column: 'expires_at', key: 'token_hash', keptMs: 7 * dayMs }, // a late scan still hears token_expired
  { table: 'setup_tokens', column: 'expires_at', key: 'token_hash', keptMs: dayMs },
  { table: 'saml_sessions', column: 'expires_at', key: 'session_hash', keptMs: hourMs },
  { table: 'saml_request_ids', column: 'expires_at', key: 'request_hash', keptMs: replayMs },
  { table: 'audit_events', column: 'created_at', key: 'id', keptMs: 30 * dayMs, where: "type = 'refusal'" },
  { table: 'audit_events', column: 'created_at', key: 'id', keptMs: 400 * dayMs },
  { table: 'activity_counts', column: 'hour_at', key: 'id', keptMs: 40 * dayMs },
];

const everyMs = 10_000;
const tenantsPerTurn = 25;
const rowsPerBatch = 500;
const batchesPerTurnMax = 200;

/** The background job `purge`; each turn continues after the tenant the last one ended with. */
export function createPurgeJob(database: Database): Job {
  let afterSlug = '';
  return {
    name: 'purge',
    everyMs,
    run: async (signal) => {
      await database.system((queries) => purgeOutboxMessages(queries, rowsPerBatch));
      const tenants = await database.systemRead((queries) => listTenants(queries, { afterSlug, limit: tenantsPerTurn }));
      afterSlug = tenants.length < tenantsPerTurn ? '' : tenants.at(-1)!.slug;
      for (const { tenant_id: tenant } of tenants) {
        if (signal.aborted) return;
        await purgeTenant(database, tenant, signal);
      }
    },
  };
}

/** Deletes what is over in one tenant, batch by batch, each its own transaction, so that others get their turn. */
async function purgeTenant(database: Database, tenant: TenantId, signal: AbortSignal): Promise<void> {
  const due = await database.read(tenant, async (queries) => {
    const found: Expiring[] = [];
    for (const entry of expiring) if (await isDue(queries, tenant, entry)) found.push(entry);
    return found;
  });
  for (const entry of due) {
    for (let batch = 0; batch < batchesPerTurnMax && !signal.aborted; batch += 1) {
      const deleted = await database.write(tenant, (queries) => deleteBatch(queries, tenant, entry));
      if (deleted < rowsPerBatch) break;
      await new Promise((done) => setImmediate(done));
    }
  }
}

async function isDue(queries: Queries, tenant: TenantId, entry: Expiring): Promise<boolean> {
  const { rows } = await sql`SELECT 1 FROM ${sql.table(entry.table)} WHERE ${isOver(tenant, entry)} LIMIT 1`.execute(queries);
  return rows.length > 0;
}

async function deleteBatch(queries: Queries, tenant: TenantId, entry: Expiring): Promise<number> {
  const table = sql.table(entry.table);
  const key = sql.ref(entry.key);
  const result = await sql`DELETE FROM ${table} WHERE ${isOver(tenant, entry)} AND ${key} IN
    (SELECT ${key} FROM ${table} WHERE ${isOver(tenant, entry)} LIMIT ${rowsPerBatch})`.execute(queries);
  return Number(result.numAffectedRows ?? 0n);
}

function isOver(tenant: TenantId, { column, keptMs, where }: Expiring): ReturnType<typeof sql> {
  const only = where === undefined ? sql`` : sql` AND ${sql.raw(where)}`;
  return sql`tenant_id = ${tenant} AND ${sql.ref(column)} < ${databaseNowMs} - ${keptMs}${only}`;
}
