// What the account page reads of one person, a page at a time: devices, sessions, recent activity. Every query names the tenant
// and the user, so that ids of anybody else find nothing.
import { sql } from 'kysely';
import type { ClientId, DeviceId, GrantId, ServiceProviderId, TenantId, UserId } from '../../domain/ids.ts';
import type { Device } from '../device/devices.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import type { StoredAuditEvent } from '../records/audit-events.ts';

/** Lists here go by ids that sort by time: `before` is the last id of the page before, empty at the start. */
interface OwnPage {
  readonly before: string;
  readonly limit: number;
}

/** The active devices of a person in the order they were added. */
export function listOwnDevices(
  queries: Queries,
  tenant: TenantId,
  user: UserId,
  page: { readonly offset: number; readonly limit: number },
): Promise<readonly Device[]> {
  return queries
    .selectFrom('devices')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('state', '=', 'active')
    .orderBy('created_at')
    .orderBy('id')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
}

/** An active device of a person. */
export function findOwnDevice(queries: Queries, tenant: TenantId, user: UserId, id: string): Promise<Device | undefined> {
  return queries
    .selectFrom('devices')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('id', '=', id as DeviceId) // a look-up key
    .where('state', '=', 'active')
    .executeTakeFirst();
}

/** Renames an active device of a person; false when they have none of that id. */
export async function renameOwnDevice(queries: Queries, tenant: TenantId, user: UserId, id: string, name: string): Promise<boolean> {
  const rows = await queries
    .updateTable('devices')
    .set({ name })
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('id', '=', id as DeviceId) // a look-up key
    .where('state', '=', 'active')
    .returning('id')
    .execute();
  return rows.length === 1;
}

export interface OwnSession {
  readonly id: GrantId;
  readonly client_id: ClientId;
  readonly client_name: string;
  /** See ClientTable. */
  readonly origin: string | null;
  /** JSON. */
  readonly redirect_uris: string;
  readonly resource: string | null;
  readonly created_at: number;
  readonly amr: string;
  readonly acr: string | null;
  /** When a token was last issued from it. */
  readonly used_at: number;
}

/**
 * What a person is signed in to, newest first: grants with a refresh token in force, or young enough for an access token to be.
 * `accessLifetimeMs` is how long one may live.
 */
export function listOwnSessions(
  queries: Queries,
  tenant: TenantId,
  user: UserId,
  page: OwnPage & { readonly accessLifetimeMs: number },
): Promise<readonly OwnSession[]> {
  let query = queries
    .selectFrom('grants as g')
    .innerJoin('clients as c', (join) => join.onRef('c.tenant_id', '=', 'g.tenant_id').onRef('c.client_id', '=', 'g.client_id'))
    .select(['g.id', 'g.client_id', 'c.name as client_name', 'c.origin', 'c.redirect_uris', 'g.resource', 'g.created_at', 'g.amr', 'g.acr'])
    .select(({ fn, selectFrom, val }) =>
      fn
        .coalesce(
          selectFrom('refresh_tokens as t')
            .select(({ fn: inner }) => inner.max('t.created_at').as('at'))
            .whereRef('t.tenant_id', '=', 'g.tenant_id')
            .whereRef('t.grant_id', '=', 'g.id'),
          'g.created_at',
          val(0),
        )
        .as('used_at'),
    )
    .where('g.tenant_id', '=', tenant)
    .where('g.user_id', '=', user)
    .where('g.revoked_at', 'is', null)
    .where('g.expires_at', '>', databaseNowMs)
    .where(({ or, eb, exists, selectFrom }) =>
      or([
        eb('g.created_at', '>', sql<number>`gatehouse_now_ms() - ${page.accessLifetimeMs}`),
        exists(
          selectFrom('refresh_tokens as l')
            .select('l.grant_id')
            .whereRef('l.tenant_id', '=', 'g.tenant_id')
            .whereRef('l.grant_id', '=', 'g.id')
            .where('l.used_at', 'is', null)
            .where('l.expires_at', '>', databaseNowMs),
        ),
      ]),
    )
    .orderBy('g.id', 'desc')
    .limit(page.limit);
  if (page.before !== '') query = query.where('g.id', '<', page.before as GrantId); // a cursor
  return query.execute();
}

/** Audit records about a person of these types, newest first. */
export function listOwnActivity(
  queries: Queries,
  tenant: TenantId,
  user: UserId,
  page: OwnPage & { readonly types: readonly string[] },
): Promise<readonly StoredAuditEvent[]> {
  let query = queries
    .selectFrom('audit_events')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('type', 'in', page.types)
    .orderBy('id', 'desc')
    .limit(page.limit);
  if (page.before !== '') query = query.where('id', '<', page.before);
  return query.execute();
}

/** Names of the applications that records point at, by target (`client:<id>`, `service_provider:<id>`). */
export async function findTargetNames(
  queries: Queries,
  tenant: TenantId,
  targets: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const idsOf = (kind: string): readonly string[] => [
    ...new Set(targets.filter((target) => target.startsWith(`${kind}:`)).map((target) => target.slice(kind.length + 1))),
  ];
  const names = new Map<string, string>();
  const clients = idsOf('client') as readonly ClientId[]; // look-up keys
  if (clients.length > 0)
    for (const row of await queries
      .selectFrom('clients')
      .select(['client_id', 'name'])
      .where('tenant_id', '=', tenant)
      .where('client_id', 'in', clients)
      .execute())
      names.set(`client:${row.client_id}`, row.name);
  const providers = idsOf('service_provider') as readonly ServiceProviderId[]; // look-up keys
  if (providers.length > 0)
    for (const row of await queries
      .selectFrom('service_providers')
      .select(['id', 'name'])
      .where('tenant_id', '=', tenant)
      .where('id', 'in', providers)
      .execute())
      names.set(`service_provider:${row.id}`, row.name);
  return names;
}
