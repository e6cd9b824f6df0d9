// A tenant's audit records as a feed: each has a number, dense, that no later one goes below. Ids cannot serve as a place in it, since a
// transaction that began earlier may commit later. A record gets its number after its commit, from whoever reads the feed next, one
// reader at a time: where nobody reads nothing is spent, and no job has to know which tenants have news.
import { sql } from 'kysely';
import type { TenantId } from '../../domain/ids.ts';
import type { Database, Dialect, Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { idIn } from '../engine/rows/id-list.ts';
import { isOfTypes, refusalSummaryType, type StoredAuditEvent } from './audit-events.ts';

export interface EventFeedTable {
  tenant_id: TenantId;
  last_seq: number;
}

interface FeedQuery {
  /** The number after which to begin; 0 at the start. */
  readonly after: number;
  /** Types, or beginnings such as `user.*`; empty: all. */
  readonly types: readonly string[];
  readonly limit: number;
}

export type NumberedEvent = StoredAuditEvent & { readonly seq: number };

export interface FeedPage {
  readonly rows: readonly NumberedEvent[];
  /** What to ask `after` next. */
  readonly next: number;
}

const numberedAtOnce = 1000;
/** Numbers looked at by one statement, when few of them are of the types asked for. */
const scannedAtOnce = 10_000;
const roundsMax = 20;
/** A summary of refusals grows until its minute is over. */
const summaryEndsMs = 120_000;

/** A page of the feed; undefined when `after` is beyond its end. A page may be empty and `next` still go on. */
export async function readFeed(database: Database, tenant: TenantId, query: FeedQuery): Promise<FeedPage | undefined> {
  let { after } = query;
  for (let round = 1; ; round += 1) {
    const { page, hasNews } = await database.read(tenant, async (queries) => ({
      page: await readPage(queries, tenant, { ...query, after }),
      hasNews: (await listUnnumbered(queries, tenant, 1)).length > 0,
    }));
    const isFound = page !== undefined && page.rows.length > 0;
    const goesOn = hasNews || (page !== undefined && page.next > after);
    if (isFound || !goesOn || round === roundsMax) return page;
    if (hasNews) await database.write(tenant, (queries) => numberEvents(queries, database.dialect, tenant));
    after = page?.next ?? after;
  }
}

/** The numbered records of a time, oldest first. */
export async function listEventsBetween(
  queries: Queries,
  tenant: TenantId,
  {
    fromMs,
    toMs,
    types,
    limit,
  }: { readonly fromMs: number; readonly toMs: number; readonly types: readonly string[]; readonly limit: number },
): Promise<readonly NumberedEvent[]> {
  let wanted = queries
    .selectFrom('audit_events')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('created_at', '>=', fromMs)
    .where('created_at', '<', toMs)
    .where('seq', 'is not', null);
  if (types.length > 0) wanted = wanted.where(isOfTypes(types));
  return (await wanted.orderBy('created_at').limit(limit).execute()) as readonly NumberedEvent[]; // the condition on seq
}

/** The number of the last record there is. */
export async function findFeedEnd(database: Database, tenant: TenantId): Promise<number> {
  while ((await database.write(tenant, (queries) => numberEvents(queries, database.dialect, tenant))) === numberedAtOnce);
  return database.read(tenant, (queries) => findLast(queries, tenant));
}

/** Numbers committed records, oldest first; gives how many. */
async function numberEvents(queries: Queries, dialect: Dialect, tenant: TenantId): Promise<number> {
  const { last_seq: last } = await queries
    .insertInto('event_feeds')
    .values({ tenant_id: tenant, last_seq: 0 })
    .onConflict((on) => on.column('tenant_id').doUpdateSet((eb) => ({ last_seq: eb.ref('event_feeds.last_seq') }))) // locks its row
    .returning('last_seq')
    .executeTakeFirstOrThrow();
  const ids = await listUnnumbered(queries, tenant, numberedAtOnce, dialect === 'postgres');
  if (ids.length === 0) return 0;
  await sql`UPDATE audit_events SET seq = numbered.place FROM
    (SELECT id, ${last} + row_number() OVER (ORDER BY id) AS place FROM audit_events WHERE tenant_id = ${tenant} AND ${idIn(dialect, 'id', ids)}) AS numbered
    WHERE audit_events.tenant_id = ${tenant} AND audit_events.id = numbered.id`.execute(queries);
  await queries
    .updateTable('event_feeds')
    .set({ last_seq: last + ids.length })
    .where('tenant_id', '=', tenant)
    .execute();
  return ids.length;
}

/** @param isLocking keeps them from being purged before they have their numbers, which would leave holes */
async function listUnnumbered(queries: Queries, tenant: TenantId, limit: number, isLocking = false): Promise<readonly string[]> {
  const listed = queries
    .selectFrom('audit_events')
    .select('id')
    .where('tenant_id', '=', tenant)
    .where('seq', 'is', null)
    .where((eb) => eb.or([eb('type', '<>', refusalSummaryType), eb('created_at', '<', sql<number>`${databaseNowMs} - ${summaryEndsMs}`)]))
    .orderBy('id')
    .limit(limit);
  const rows = await (isLocking ? listed.forUpdate() : listed).execute();
  return rows.map(({ id }) => id);
}

async function readPage(queries: Queries, tenant: TenantId, { after, types, limit }: FeedQuery): Promise<FeedPage | undefined> {
  const last = await findLast(queries, tenant);
  if (after > last) return undefined;
  const upTo = Math.min(last, after + scannedAtOnce);
  let wanted = queries
    .selectFrom('audit_events')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('seq', '>', after)
    .where('seq', '<=', upTo);
  if (types.length > 0) wanted = wanted.where(isOfTypes(types));
  const rows = (await wanted.orderBy('seq').limit(limit).execute()) as readonly NumberedEvent[]; // the condition on seq
  return { rows, next: rows.length === limit ? rows.at(-1)!.seq : upTo };
}

async function findLast(queries: Queries, tenant: TenantId): Promise<number> {
  const row = await queries.selectFrom('event_feeds').select('last_seq').where('tenant_id', '=', tenant).executeTakeFirst();
  return row?.last_seq ?? 0;
}
