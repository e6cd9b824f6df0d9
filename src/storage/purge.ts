// Rows whose time is over leave in small batches (R8), so that no table grows with traffic that is past.
// The registry says per table which column ends a row's life and how long it is kept after that; a new table with an
// expiry adds its line here. The job visits a few tenants per turn.
import { sql } from 'kysely';
import { refusalRowsPerTenantMax } from '../contract/limits.ts';
import type { TenantId } from '../domain/ids.ts';
import type { Job } from '../platform/jobs.ts';
import { randomId } from '../platform/random.ts';
import { purgeDeliveries } from './deliveries.ts';
import type { Database, Dialect, Queries } from './engine/database.ts';
import { databaseNowMs } from './engine/instance.ts';
import { holdLease } from './engine/lease.ts';
import { forgetCustomValues } from './people/user-writer.ts';
import { deleteRefusalsUpTo, findRefusalBehind, refusalTypes } from './records/refusal-rows.ts';
import { dropCustomAttribute, listDeletedAttributes } from './registry/custom-attributes.ts';
import { listTenants } from './registry/tenants.ts';
import type { Schema } from './schema.ts';

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

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** Replay sets outlive what they guard by more than any clock of ours may be off, because `exp` is judged by process clocks. */
const replayMs = 2 * hourMs;

/** Clients that nobody registered and nobody has tokens of. */
const idleStrangers = `origin IN ('document', 'open')
  AND NOT EXISTS (SELECT 1 FROM grants g WHERE g.tenant_id = clients.tenant_id AND g.client_id = clients.client_id)`;

// biome-ignore format: a table, one row a line
export const expiring: readonly Expiring[] = [
  { table: 'refresh_tokens', column: 'expires_at', key: 'token_hash', keptMs: dayMs },
  { table: 'authorization_codes', column: 'expires_at', key: 'code_hash', keptMs: dayMs }, // a code used again still ends its grant
  { table: 'grants', column: 'expires_at', key: 'id', keptMs: dayMs },
  { table: 'revoked_tokens', column: 'expires_at', key: 'jti', keptMs: replayMs },
  { table: 'pushed_requests', column: 'expires_at', key: 'reference_hash', keptMs: 5 * minuteMs }, // a reload in the middle of a sign-in finds it
  { table: 'client_assertions', column: 'expires_at', key: 'jti_hash', keptMs: replayMs },
  { table: 'ciba_requests', column: 'expires_at', key: 'auth_req_id_hash', keptMs: dayMs }, // polls still hear expired_token
  { table: 'device_authorizations', column: 'expires_at', key: 'device_code_hash', keptMs: dayMs }, // polls still hear expired_token
  { table: 'initial_access_tokens', column: 'expires_at', key: 'id', keptMs: 30 * dayMs }, // the console shows what became of them
  { table: 'scim_tokens', column: 'expires_at', key: 'id', keptMs: 30 * dayMs }, // the same
  { table: 'dpop_proofs', column: 'expires_at', key: 'proof_hash', keptMs: replayMs },
  { table: 'login_transactions', column: 'expires_at', key: 'id', keptMs: hourMs },
  { table: 'sso_sessions', column: 'expires_at', key: 'id', keptMs: dayMs },
  { table: 'external_logins', column: 'expires_at', key: 'state_hash', keptMs: hourMs },
  { table: 'approvals', column: 'expires_at', key: 'id', keptMs: dayMs }, // polls still hear expired_token
  { table: 'pins', column: 'expires_at', key: 'id', keptMs: hourMs },
  { table: 'pin_mailboxes', column: 'expires_at', key: 'mail_key', keptMs: 0 },
  { table: 'pin_failures', column: 'expires_at', key: 'mail_key', keptMs: 0 },
  { table: 'sign_in_tries', column: 'expires_at', key: 'id', keptMs: 0 }, // with its lines
  { table: 'sign_in_openings', column: 'expires_at', key: 'user_id', keptMs: 0 },
  { table: 'device_requests', column: 'expires_at', key: 'digest', keptMs: replayMs },
  { table: 'device_registrations', column: 'purge_at', key: 'id', keptMs: 0 },
  { table: 'attestation_challenges', column: 'expires_at', key: 'challenge', keptMs: hourMs },
  { table: 'passkey_challenges', column: 'expires_at', key: 'subject', keptMs: 0 },
  { table: 'enrollment_tokens', column: 'expires_at', key: 'token_hash', keptMs: 7 * dayMs }, // a late scan still hears token_expired
  { table: 'sent_forms', column: 'expires_at', key: 'form_hash', keptMs: 0 },
  { table: 'console_tasks', column: 'expires_at', key: 'id', keptMs: 0 }, // with their items
  { table: 'first_steps', column: 'expires_at', key: 'id', keptMs: 0, where: 'proven_at = 0' },
  { table: 'operator_entries', column: 'expires_at', key: 'id', keptMs: 0 },
  { table: 'setup_tokens', column: 'expires_at', key: 'token_hash', keptMs: dayMs },
  { table: 'invitations', column: 'expires_at', key: 'id', keptMs: 30 * dayMs }, // the console shows what became of them
  { table: 'organization_invitations', column: 'expires_at', key: 'id', keptMs: 30 * dayMs }, // the same
  { table: 'organization_setup_links', column: 'expires_at', key: 'id', keptMs: 30 * dayMs }, // the same
  { table: 'saml_sessions', column: 'expires_at', key: 'session_hash', keptMs: hourMs },
  { table: 'saml_request_ids', column: 'expires_at', key: 'request_hash', keptMs: replayMs },
  { table: 'audit_events', column: 'created_at', key: 'id', keptMs: 30 * dayMs, where: refusalTypes },
  { table: 'audit_events', column: 'created_at', key: 'id', keptMs: 400 * dayMs },
  { table: 'clients', column: 'expires_at', key: 'client_id', keptMs: 0, where: idleStrangers },
  { table: 'webhook_deliveries', column: 'expires_at', key: 'id', keptMs: 0 },
  { table: 'email_changes', column: 'created_at', key: 'user_id', keptMs: 30 * dayMs },
  { table: 'activity_counts', column: 'hour_at', key: 'id', keptMs: 40 * dayMs },
];

const everyMs = 10_000;
const tenantsPerTurn = 25;
const rowsPerBatch = 500;
const batchesPerTurnMax = 200;

/** Longer than a turn waits; another node takes over after it. */
const leaseMs = 30_000;
/** Finding out how many refusals a tenant has reads an entry of an index for each. */
const refusalsEveryMs = 600_000;

/** The background job `purge`, run by one node of all; each turn continues after the tenant the last one ended with. */
export function createPurgeJob(database: Database, refusalRowsMax = refusalRowsPerTenantMax): Job {
  const holder = randomId();
  let afterSlug = '';
  const refusalsAt = new Map<TenantId, number>();
  return {
    name: 'purge',
    everyMs,
    run: async (signal) => {
      const tenants = await database.system(async (queries) => {
        if (!(await holdLease(queries, 'purge', holder, leaseMs))) return [];
        await purgeDeliveries(queries, rowsPerBatch);
        return listTenants(queries, { afterSlug, limit: tenantsPerTurn });
      });
      if (tenants.length === 0) return;
      afterSlug = tenants.length < tenantsPerTurn ? '' : tenants.at(-1)!.slug;
      const ids = tenants.filter(({ moving }) => moving === null).map(({ tenant_id: tenant }) => tenant);
      for (const { tenant, clear } of (await database.readEach(ids, findDue)).flat())
        await inBatches(signal, () => database.write(tenant, (queries) => clear(queries, database.dialect)));
      const counted = ids.filter((tenant) => performance.now() >= (refusalsAt.get(tenant) ?? 0));
      for (const tenant of counted) refusalsAt.set(tenant, performance.now() + refusalsEveryMs);
      if (counted.length > 0) await purgeRefusals(database, counted, refusalRowsMax, signal);
    },
  };
}

interface Due {
  readonly tenant: TenantId;
  /** Clears a batch away; gives how many rows. */
  readonly clear: (queries: Queries, dialect: Dialect) => Promise<number>;
}

async function findDue(queries: Queries, tenant: TenantId): Promise<readonly Due[]> {
  const found: Due[] = [];
  for (const entry of expiring)
    if (await isDue(queries, tenant, entry)) found.push({ tenant, clear: (writes) => deleteBatch(writes, tenant, entry) });
  for (const id of await listDeletedAttributes(queries, tenant))
    found.push({ tenant, clear: (writes, dialect) => emptyAttribute(writes, dialect, tenant, id) });
  return found;
}

/** Takes a deleted attribute from people; the attribute itself goes last, so that a turn that stops is continued. */
async function emptyAttribute(queries: Queries, dialect: Dialect, tenant: TenantId, id: string): Promise<number> {
  const forgotten = await forgetCustomValues(queries, dialect, tenant, id, rowsPerBatch);
  if (forgotten < rowsPerBatch) await dropCustomAttribute(queries, tenant, id);
  return forgotten;
}

/** Each batch is its own transaction, so that others get their turn; `deleteSome` gives how many rows it deleted. */
async function inBatches(signal: AbortSignal, deleteSome: () => Promise<number>): Promise<void> {
  for (let batch = 0; batch < batchesPerTurnMax && !signal.aborted; batch += 1) {
    if ((await deleteSome()) < rowsPerBatch) return;
    await new Promise((done) => setImmediate(done));
  }
}

/** A tenant keeps its newest refusals, so that who makes many for days fills no disk. */
async function purgeRefusals(database: Database, tenants: readonly TenantId[], rowsMax: number, signal: AbortSignal): Promise<void> {
  const oldest = await database.readEach(tenants, (queries, tenant) => findRefusalBehind(queries, tenant, rowsMax));
  for (const [index, tenant] of tenants.entries()) {
    const id = oldest[index];
    if (id === undefined) continue;
    await inBatches(signal, () => database.write(tenant, (queries) => deleteRefusalsUpTo(queries, tenant, id, rowsPerBatch)));
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
