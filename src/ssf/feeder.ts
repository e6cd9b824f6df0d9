// Turns events into security event tokens: each enabled stream reads the feed of its tenant from its own position, and whoever moves that
// position on keeps the tokens of what was read, in one transaction. Paused streams do not read: the feed keeps what happens. A stream
// that has taken nothing for seven days is paused. When it looks is deliveries/feeder.ts.
import { streamBacklogMax } from '../contract/limits.ts';
import { createFeeder, type Feeder } from '../deliveries/feeder.ts';
import type { Client } from '../domain/client/client.ts';
import { deliveredEvents, type SsfStream } from '../domain/extending/ssf-stream.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { findDevice } from '../storage/device/devices.ts';
import type { ConfigCache } from '../storage/engine/config/config-cache.ts';
import type { Database, Queries } from '../storage/engine/database.ts';
import { findEmailChange } from '../storage/people/email-changes.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { type NumberedEvent, readFeed } from '../storage/records/event-feed.ts';
import { addSsfEvents, countWaitingSets, type NewSsfEvent, queueStream, unacknowledgedMs } from '../storage/records/ssf-events.ts';
import { findCachedClient } from '../storage/registry/clients/clients.ts';
import { isSubjectRemoved } from '../storage/registry/extending/ssf-removed-subjects.ts';
import {
  findStreamPosition,
  listCachedStreams,
  listTenantsWithStreams,
  moveStream,
  setStreamStatus,
} from '../storage/registry/extending/ssf-streams.ts';
import type { TenantDirectory } from '../storage/registry/tenant-directory.ts';
import { mayBeToldOf, mayReceive } from './audience.ts';
import { type Derived, derive, sourcesOf } from './derivation.ts';
import { type SubjectId, tokenOf } from './security-event-token.ts';
import { streamUpdated } from './stream-events.ts';

export interface StreamFeederDeps {
  readonly database: Database;
  readonly cache: ConfigCache;
  readonly clock: Clock;
  readonly log: Log;
  readonly tenants: () => TenantDirectory;
}

const eventsAtOnce = 200;
/** Of a stream, before other tenants have their turn. */
const pagesPerTurn = 5;
const unacknowledgedMsMax = 7 * 24 * 3_600_000;

/** A stream to be told, and who receives it. */
interface Told {
  readonly tenant: Tenant;
  readonly stream: SsfStream;
  readonly client: Client;
}

export const createStreamFeeder = (deps: StreamFeederDeps): Feeder =>
  createFeeder(deps.log, {
    name: 'ssf',
    listTenants: listTenantsWithStreams,
    feed: async (tenantId) => {
      const streams = (await listCachedStreams(deps.cache, tenantId)).filter(({ status }) => status === 'enabled');
      const tenant = streams.length === 0 ? undefined : await deps.tenants().byId(tenantId);
      if (tenant?.enabled !== true || tenant.isMoving) return false;
      let goesOn = false;
      for (const stream of streams) {
        const client = await findCachedClient(deps.cache, tenantId, stream.clientId);
        if (mayReceive(client) && (await feedStream(deps, { tenant, stream, client }))) goesOn = true;
      }
      return goesOn;
    },
  });

/** Moves a stream on by some pages; true when there may be more. */
async function feedStream(deps: StreamFeederDeps, told: Told): Promise<boolean> {
  const { database, clock } = deps;
  const { tenant, stream } = told;
  const types = sourcesOf(deliveredEvents(stream));
  for (let turn = 0; turn < pagesPerTurn; turn += 1) {
    const { from, waiting, silentMs } = await database.read(tenant.id, async (queries) => ({
      from: await findStreamPosition(queries, tenant.id, stream.id),
      waiting: await countWaitingSets(queries, tenant.id, stream.id, { limit: streamBacklogMax }),
      silentMs: await unacknowledgedMs(queries, tenant.id, stream.id),
    }));
    if (silentMs >= unacknowledgedMsMax) return pause(deps, told);
    if (waiting > 0 && turn === 0 && stream.method === 'push')
      await database.write(tenant.id, (queries) => queueStream(queries, tenant.id, stream.id)); // it may have left the queue as the last of them came
    if (from === undefined || types.length === 0 || waiting >= streamBacklogMax) return false;
    const limit = Math.min(eventsAtOnce, streamBacklogMax - waiting);
    const page = await readFeed(database, tenant.id, { after: from, types, limit });
    if (page === undefined || page.next === from) return false;
    const tokens = await database.read(tenant.id, (queries) => tokensOf(queries, told, page.rows, clock.nowMs()));
    await database.write(tenant.id, async (queries) => {
      if (!(await moveStream(queries, tenant.id, stream.id, { from, to: page.next }))) return;
      await addSsfEvents(queries, tenant.id, stream.id, tokens);
      if (tokens.length > 0 && stream.method === 'push') await queueStream(queries, tenant.id, stream.id);
    });
  }
  return true;
}

/** Pauses a stream whose receiver takes nothing, and tells it so: that alone goes to a paused stream. */
async function pause({ cache, clock }: StreamFeederDeps, { tenant, stream }: Told): Promise<false> {
  const reason = 'Nothing was acknowledged for seven days.';
  await cache.write(tenant.id, async (queries) => {
    if (!(await setStreamStatus(queries, tenant.id, stream.id, { from: ['enabled'], status: 'paused', reason }))) return;
    await addSsfEvents(queries, tenant.id, stream.id, [streamUpdated(tenant, stream, { status: 'paused', reason }, clock.nowMs())]);
    if (stream.method === 'push') await queueStream(queries, tenant.id, stream.id);
    await insertAuditEvent(queries, tenant.id, clock.nowMs(), {
      type: 'ssf_stream.paused',
      actor: 'system',
      target: `ssf_stream:${stream.id}`,
      reason: 'unacknowledged',
      data: { client: stream.clientId },
    });
  });
  return false;
}

async function tokensOf(queries: Queries, told: Told, rows: readonly NumberedEvent[], nowMs: number): Promise<readonly NewSsfEvent[]> {
  const tokens: NewSsfEvent[] = [];
  for (const row of rows) {
    const derived = derive(row);
    const found = derived && (await subjectOf(queries, told, derived));
    if (derived === undefined || found === undefined) continue;
    const { type, event } = derived;
    const facts = { type, subject: found.subject, event: { ...event, ...found.more }, txn: row.request_id ?? row.id, seq: row.seq };
    tokens.push(tokenOf(told.tenant, told.stream, facts, nowMs));
  }
  return tokens;
}

/** Of whom it is, as the receiver knows them; undefined where it may not know, or nobody can say any more. */
async function subjectOf(
  queries: Queries,
  { tenant, client, stream }: Told,
  { userId, deviceId, client: only, receivers, notTold, emailVersion }: Derived,
): Promise<{ readonly subject: SubjectId; readonly more?: Readonly<Record<string, unknown>> } | undefined> {
  const user = userId ?? (deviceId === undefined ? undefined : (await findDevice(queries, tenant.id, deviceId))?.user_id);
  if (user === undefined || (only !== undefined && only !== client.clientId)) return undefined;
  const isInside = receivers?.includes(client.clientId) === true || (await mayBeToldOf(queries, tenant.id, client, user));
  if (!isInside || notTold?.includes(client.clientId) === true) return undefined;
  if (await isSubjectRemoved(queries, tenant.id, { stream: stream.id, user })) return undefined;
  if (emailVersion === undefined) return { subject: { format: 'iss_sub', iss: tenant.baseUrl, sub: user } };
  const change = await findEmailChange(queries, tenant.id, user, emailVersion);
  if (change === undefined || change.before === null) return undefined;
  return { subject: { format: 'email', email: change.before }, more: change.after === null ? {} : { 'new-value': change.after } };
}
