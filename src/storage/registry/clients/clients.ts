// OAuth clients: rows to and from the domain's Client.

import { sql } from 'kysely';
import { documentIdCharsMax } from '../../../contract/limits.ts';
import { type Client, clientFields } from '../../../domain/client/client.ts';
import { idleStrangerMs, mayBeStranger, type Origin, strangerAmong, unusedStrangerMs } from '../../../domain/client/stranger.ts';
import type { ClientId, TenantId } from '../../../domain/ids.ts';
import type { ConfigCache } from '../../engine/config/config-cache.ts';
import type { Queries } from '../../engine/database.ts';
import { databaseNowMs } from '../../engine/instance.ts';
import type { Page } from '../../engine/rows/matching-rows.ts';
import { fromRow, type RowOf, toRow } from '../../engine/rows/row-codec.ts';
import { statement } from '../../engine/statement.ts';
import { forgetSignIns } from '../last-sign-ins.ts';
import { listOpenResources } from './resources.ts';
import { writeWorkloads } from './workloads.ts';

export interface ClientTable extends RowOf<typeof clientFields> {
  tenant_id: TenantId;
  client_id: ClientId;
  secret_hash: string | null;
  secret_encrypted: string | null;
  /** document | open; null for what somebody registered. */
  origin: string | null;
  /** When one that nobody registered goes, unless somebody has tokens of it. */
  expires_at: number | null;
  created_by: string | null;
  secret_by: string | null;
  secret_at: number | null;
  created_at: number;
  updated_at: number;
}

/** RFC 6749 appendix A.1 (VSCHAR), within the length of any id of ours. What does not match names no client and no cache entry. */
export const clientIdSyntax = /^[\x20-\x7e]{1,128}$/;
const cacheKey = (clientId: string): string => `client:${clientId}`;

/** The registered client, or undefined. Reads the database only for an id this process has not seen since the last change. */
export async function findCachedClient(cache: ConfigCache, tenant: TenantId, clientId: string): Promise<Client | undefined> {
  if (mayBeStranger(clientId)) return findPossibleStranger(cache, tenant, clientId);
  const known = peekClient(cache, tenant, clientId);
  if (known !== undefined) return known.value;
  return cache.get(tenant, cacheKey(clientId), (queries) => findClient(queries, tenant, clientId));
}

/** A client that somebody or nobody registered, with what strangers may have here now; the latter is gone while no resource is open. */
async function findPossibleStranger(cache: ConfigCache, tenant: TenantId, clientId: string): Promise<Client | undefined> {
  if (clientId.length > documentIdCharsMax) return undefined;
  const client = await cache.read(tenant, (queries) => findClient(queries, tenant, clientId));
  return client?.origin === undefined ? client : strangerAmong(client, await listOpenResources(cache, tenant));
}

/** What findCachedClient would give, if it is known without waiting. */
export function peekClient(cache: ConfigCache, tenant: TenantId, clientId: string): { readonly value: Client | undefined } | undefined {
  if (mayBeStranger(clientId)) return undefined;
  if (!clientIdSyntax.test(clientId)) return { value: undefined };
  return cache.peek<Client | undefined>(tenant, cacheKey(clientId));
}

/** Looks a client up and reads next to nothing, so that finding it costs what not finding it costs. */
export async function touchClient(queries: Queries, tenant: TenantId, clientId: string): Promise<void> {
  await queries
    .selectFrom('clients')
    .select('enabled')
    .where('tenant_id', '=', tenant)
    .where('client_id', '=', clientId as ClientId) // a look-up key, not yet known to be an id
    .executeTakeFirst();
}

export async function findClient(queries: Queries, tenant: TenantId, clientId: string): Promise<Client | undefined> {
  const { rows } = await selectClient(queries, { tenant, client: clientId as ClientId }); // a look-up key, not yet known to be an id
  return rows[0] === undefined ? undefined : clientFromRow(rows[0]);
}

/** The same, so that nobody else writes it before the transaction ends. */
export async function holdClient(queries: Queries, tenant: TenantId, clientId: string): Promise<Client | undefined> {
  const row = await queries
    .updateTable('clients')
    .set((eb) => ({ updated_at: eb.ref('updated_at') }))
    .where('tenant_id', '=', tenant)
    .where('client_id', '=', clientId as ClientId) // a look-up key, not yet known to be an id
    .returningAll()
    .executeTakeFirst();
  return row && clientFromRow(row);
}

const selectClient = statement((queries, { tenant, client }: { readonly tenant: TenantId; readonly client: ClientId }) =>
  queries.selectFrom('clients').selectAll().where('tenant_id', '=', tenant).where('client_id', '=', client),
);

/** A page of clients in client_id order, after the given id. */
export async function listClients(queries: Queries, tenant: TenantId, page: Page): Promise<readonly Client[]> {
  const rows = await queries
    .selectFrom('clients')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('client_id', '>', page.after as ClientId)
    .orderBy('client_id')
    .limit(page.limit)
    .execute();
  return rows.map(clientFromRow);
}

/** The same of those that nobody registered. */
export async function listStrangers(queries: Queries, tenant: TenantId, origin: Origin, page: Page): Promise<readonly Client[]> {
  const rows = await queries
    .selectFrom('clients')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('origin', '=', origin)
    .where('client_id', '>', page.after as ClientId)
    .orderBy('client_id')
    .limit(page.limit)
    .execute();
  return rows.map(clientFromRow);
}

/** Clients that sign in by what an actor made or gave last, by client_id. Nobody signs in by a method that proves nothing. */
export async function listClientsKnownTo(queries: Queries, tenant: TenantId, actor: string): Promise<readonly Client[]> {
  const rows = await queries
    .selectFrom('clients')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('secret_by', '=', actor)
    .where('token_endpoint_auth_method', '<>', 'none')
    .orderBy('client_id')
    .execute();
  return rows.map(clientFromRow);
}

/** Inserts a client whose id was made for it. */
export async function insertClient(queries: Queries, tenant: TenantId, client: Client): Promise<void> {
  await insertion(queries, tenant, client).execute();
  await writeWorkloads(queries, tenant, client, false);
}

/** Inserts a client of a fixed id. False when another request did so a moment ago. */
export async function insertClientOnce(queries: Queries, tenant: TenantId, client: Client): Promise<boolean> {
  const rows = await insertion(queries, tenant, client)
    .onConflict((on) => on.columns(['tenant_id', 'client_id']).doNothing())
    .returning('client_id')
    .execute();
  return rows.length === 1;
}

const insertion = (queries: Queries, tenant: TenantId, client: Client) =>
  queries.insertInto('clients').values({ ...clientToRow(tenant, client), created_at: databaseNowMs, updated_at: databaseNowMs });

/** Replaces every registered value of a client. Gives false when there is no such client. */
export async function updateClient(queries: Queries, tenant: TenantId, client: Client): Promise<boolean> {
  const { created_at: _created, ...values } = clientToRow(tenant, client);
  const rows = await queries
    .updateTable('clients')
    .set({ ...values, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('client_id', '=', client.clientId)
    .returning('client_id')
    .execute();
  if (rows.length !== 1) return false;
  await writeWorkloads(queries, tenant, client, true);
  return true;
}

/** Inserts one that nobody registered, for as long as nobody uses it; false where it is there, or there are so many. */
export async function insertStranger(queries: Queries, tenant: TenantId, client: Client, atMost?: number): Promise<boolean> {
  if (atMost !== undefined && (await countOpen(queries, tenant, atMost)) >= atMost) return false;
  const expiresAt = sql<number>`${databaseNowMs} + ${unusedStrangerMs}`;
  const rows = await queries
    .insertInto('clients')
    .values({ ...clientToRow(tenant, client), created_at: databaseNowMs, updated_at: databaseNowMs, expires_at: expiresAt })
    .onConflict((on) => on.columns(['tenant_id', 'client_id']).doNothing())
    .returning('client_id')
    .execute();
  return rows.length === 1;
}

async function countOpen(queries: Queries, tenant: TenantId, atMost: number): Promise<number> {
  const some = queries.selectFrom('clients').select('client_id').where('tenant_id', '=', tenant).where('origin', '=', 'open').limit(atMost);
  const { count } = await queries
    .selectFrom(some.as('some'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Keeps one that nobody registered for as long as it may be idle: a person let it in. */
export async function keepStranger(queries: Queries, tenant: TenantId, clientId: ClientId): Promise<void> {
  await queries
    .updateTable('clients')
    .set({ expires_at: sql<number>`${databaseNowMs} + ${idleStrangerMs}` })
    .where('tenant_id', '=', tenant)
    .where('client_id', '=', clientId)
    .where('origin', 'is not', null)
    .execute();
}

/** Deletes a client; its grants, codes and tokens go by foreign key. */
export async function deleteClient(queries: Queries, tenant: TenantId, clientId: ClientId): Promise<boolean> {
  await forgetSignIns(queries, tenant, 'client', clientId);
  const rows = await queries
    .deleteFrom('clients')
    .where('tenant_id', '=', tenant)
    .where('client_id', '=', clientId)
    .returning('client_id')
    .execute();
  return rows.length === 1;
}

function clientFromRow(row: ClientTable): Client {
  return {
    clientId: row.client_id,
    ...fromRow(clientFields, row),
    secretHash: row.secret_hash ?? undefined,
    secretEncrypted: row.secret_encrypted ?? undefined,
    origin: (row.origin ?? undefined) as Client['origin'], // written from one
    createdBy: row.created_by ?? undefined,
    secretBy: row.secret_by === null ? undefined : { actor: row.secret_by, atMs: row.secret_at ?? row.created_at },
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
  };
}

function clientToRow(tenant: TenantId, client: Client): Omit<ClientTable, 'expires_at'> {
  return {
    tenant_id: tenant,
    client_id: client.clientId,
    ...toRow(clientFields, client),
    secret_hash: client.secretHash ?? null,
    secret_encrypted: client.secretEncrypted ?? null,
    origin: client.origin ?? null,
    created_by: client.createdBy ?? null,
    secret_by: client.secretBy?.actor ?? null,
    secret_at: client.secretBy?.atMs ?? null,
    created_at: client.createdAtMs,
    updated_at: client.updatedAtMs,
  };
}
