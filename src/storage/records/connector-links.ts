// What each person and group is at the target of a connector: the id there, a hash of what was sent, and what is to be done. A link is due
// at a time, marked again while somebody has it in hand, and claimed for a while, so that one process at a time talks about a person.
import { type Generated, sql } from 'kysely';
import type { ConnectorId, TenantId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { idAmong } from '../engine/rows/id-list.ts';
import type { Page } from '../engine/rows/matching-rows.ts';
import { type LinkCounts, sumLinks } from './link-counts.ts';

/** `off`: no longer provisioned, and told so. */
export const linkStates = ['pending', 'linked', 'conflict', 'failed', 'ignored', 'off'] as const;
type LinkState = (typeof linkStates)[number];
export type LinkKind = 'user' | 'group';

export interface ConnectorLinkTable {
  tenant_id: TenantId;
  connector_id: ConnectorId;
  /** Of the user or the group. */
  local_id: string;
  kind: LinkKind;
  remote_id: string | null;
  hash: string | null;
  /** JSON: the attributes that were sent. */
  sent_paths: string | null;
  state: LinkState;
  /** Counts how often it was marked. */
  mark: Generated<number>;
  due_at: number | null;
  claimed_until: Generated<number>;
  attempts: Generated<number>;
  /** 1: its account is to end, and waits for the others of the run; 2: may end. */
  leaving: Generated<number>;
  left_at: number | null;
  /** 1: somebody said that it is to be made, whatever is there. */
  creates: Generated<number>;
  reason: string | null;
  request: string | null;
  answer: string | null;
  seen_at: number | null;
  created_at: number;
  updated_at: number;
}

export type ConnectorLink = Readonly<{
  [Column in keyof ConnectorLinkTable]: ConnectorLinkTable[Column] extends Generated<infer V> ? V : ConnectorLinkTable[Column];
}>;

/** A connector of a tenant. */
export interface Whose {
  readonly tenant: TenantId;
  readonly connector: ConnectorId;
}

const claimMs = 60_000;
/** Whether nothing is to be done: nobody wants it, or a person says first which account it is. Who has one goes on to be told of, to the end. */
export const isLeftAlone = ({ state, remote_id: remoteId }: ConnectorLink): boolean =>
  state === 'ignored' || (state === 'conflict' && remoteId === null);
const isWorked = sql<boolean>`connector_links.state <> 'ignored' AND (connector_links.state <> 'conflict' OR connector_links.remote_id IS NOT NULL)`;
const again = { due_at: databaseNowMs, attempts: 0, leaving: 0, mark: sql<number>`connector_links.mark + 1` };

/** Marks people or groups, with links or without. */
export async function markLinks(queries: Queries, { tenant, connector }: Whose, kind: LinkKind, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const row = { tenant_id: tenant, connector_id: connector, kind, state: 'pending' as const };
  const times = { due_at: databaseNowMs, created_at: databaseNowMs, updated_at: databaseNowMs };
  await queries
    .insertInto('connector_links')
    .values(ids.map((id) => ({ ...row, ...times, local_id: id })))
    .onConflict((on) => on.columns(['tenant_id', 'connector_id', 'local_id']).doUpdateSet(again).where(isWorked))
    .execute();
}

/** Marks the links there are: every one, those in one state, or some. */
export async function markKnown(
  queries: Queries,
  { tenant, connector }: Whose,
  only: { readonly state?: LinkState; readonly ids?: readonly string[] } = {},
): Promise<void> {
  await queries
    .updateTable('connector_links')
    .set(again)
    .where('tenant_id', '=', tenant)
    .where('connector_id', '=', connector)
    .where(isWorked)
    .$if(only.state !== undefined, (update) => update.where('state', '=', only.state!))
    .$if(only.ids !== undefined, (update) => update.where(idAmong(queries, 'local_id', only.ids!)))
    .execute();
}

/** Marks links whose account at the target is not what was sent. */
export async function markDifferent(queries: Queries, { tenant, connector }: Whose, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await queries
    .updateTable('connector_links')
    .set({ ...again, hash: null })
    .where('tenant_id', '=', tenant)
    .where('connector_id', '=', connector)
    .where(idAmong(queries, 'local_id', ids))
    .where(isWorked)
    .execute();
}

/** Marks the pushed groups that somebody is in, because they have an account only now. */
export async function markGroupsOf(queries: Queries, { tenant, connector }: Whose, userId: string): Promise<void> {
  await queries
    .updateTable('connector_links')
    .set(again)
    .where('tenant_id', '=', tenant)
    .where('connector_id', '=', connector)
    .where('kind', '=', 'group')
    .where(isWorked)
    .where('local_id', 'in', (eb) =>
      eb
        .selectFrom('group_members')
        .select('group_id')
        .where('tenant_id', '=', tenant)
        .where('user_id', '=', userId as never),
    )
    .execute();
}

/** Takes due links for a minute; of nobody else's. */
export async function claimLinks(
  queries: Queries,
  { tenant, connector }: Whose,
  wanted: { readonly kind: LinkKind; readonly limit: number } | { readonly id: string },
): Promise<readonly ConnectorLink[]> {
  const due =
    'id' in wanted
      ? sql`local_id = ${wanted.id}`
      : sql`local_id IN (SELECT local_id FROM connector_links WHERE tenant_id = ${tenant} AND connector_id = ${connector} AND kind = ${wanted.kind}
          AND due_at <= ${databaseNowMs} AND claimed_until < ${databaseNowMs} ORDER BY due_at, local_id LIMIT ${wanted.limit})`;
  const { rows } =
    await sql<ConnectorLink>`UPDATE connector_links SET claimed_until = ${databaseNowMs} + ${claimMs}, attempts = attempts + 1
    WHERE tenant_id = ${tenant} AND connector_id = ${connector} AND ${due} AND claimed_until < ${databaseNowMs} AND (${isWorked}) RETURNING *`.execute(
      queries,
    );
  return rows;
}

/** What became of a claimed link. */
export interface Settled
  extends Partial<Pick<ConnectorLink, 'remote_id' | 'hash' | 'sent_paths' | 'state' | 'leaving' | 'creates' | 'attempts'>> {
  readonly reason?: string | null;
  readonly request?: string | null;
  readonly answer?: string | null;
  /** After which it is tried again; without it, when it is marked again. */
  readonly againInMs?: number | undefined;
}

/** Writes what became of a link that is in hand, and lets it go. One that was marked meanwhile is due again. */
export async function settleLink(queries: Queries, link: ConnectorLink, { againInMs, attempts = 0, ...change }: Settled): Promise<void> {
  const dueAt = againInMs === undefined ? sql<number | null>`NULL` : sql<number | null>`${databaseNowMs} + ${againInMs}`;
  await queries
    .updateTable('connector_links')
    .set({
      ...change,
      due_at: sql<number | null>`CASE WHEN mark = ${link.mark} THEN ${dueAt} ELSE ${databaseNowMs} END`,
      claimed_until: 0,
      attempts,
      updated_at: databaseNowMs,
    })
    .where('tenant_id', '=', link.tenant_id)
    .where('connector_id', '=', link.connector_id)
    .where('local_id', '=', link.local_id)
    .execute();
}

/** Changes a link that is in hand and stays there for another minute. */
export async function keepLink(
  queries: Queries,
  link: ConnectorLink,
  change: Partial<Pick<ConnectorLink, 'remote_id' | 'hash' | 'creates' | 'state'>> = {},
): Promise<void> {
  await queries
    .updateTable('connector_links')
    .set({ ...change, claimed_until: sql<number>`${databaseNowMs} + ${claimMs}` })
    .where('tenant_id', '=', link.tenant_id)
    .where('connector_id', '=', link.connector_id)
    .where('local_id', '=', link.local_id)
    .execute();
}

/** Forgets a link; one that was marked meanwhile stays and is due. */
export async function dropLink(queries: Queries, link: ConnectorLink): Promise<void> {
  const rows = await queries
    .deleteFrom('connector_links')
    .where('tenant_id', '=', link.tenant_id)
    .where('connector_id', '=', link.connector_id)
    .where('local_id', '=', link.local_id)
    .where('mark', '=', link.mark)
    .returning('local_id')
    .execute();
  if (rows.length === 0) await settleLink(queries, link, { remote_id: null, hash: null, sent_paths: null, state: 'pending' });
}

export async function findLink(queries: Queries, { tenant, connector }: Whose, id: string): Promise<ConnectorLink | undefined> {
  return queries
    .selectFrom('connector_links')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('connector_id', '=', connector)
    .where('local_id', '=', id)
    .executeTakeFirst();
}

const linksOf = (queries: Queries, { tenant, connector }: Whose) =>
  queries.selectFrom('connector_links').selectAll().where('tenant_id', '=', tenant).where('connector_id', '=', connector);

/** The links of these people or groups. */
export async function listLinksOf(queries: Queries, whose: Whose, ids: readonly string[]): Promise<readonly ConnectorLink[]> {
  return linksOf(queries, whose)
    .where(idAmong(queries, 'local_id', ids))
    .execute();
}

/** The links to these ids at the target. */
export async function listLinksTo(
  queries: Queries,
  whose: Whose,
  kind: LinkKind,
  remoteIds: readonly string[],
): Promise<readonly ConnectorLink[]> {
  return linksOf(queries, whose)
    .where('kind', '=', kind)
    .where(idAmong(queries, 'remote_id', remoteIds))
    .execute();
}

/** A page of links in the order of their ids. */
export async function listLinks(
  queries: Queries,
  { tenant, connector }: Whose,
  { state, kind, ...page }: Page & { readonly state?: LinkState | undefined; readonly kind?: LinkKind },
): Promise<readonly ConnectorLink[]> {
  return queries
    .selectFrom('connector_links')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('connector_id', '=', connector)
    .where('local_id', '>', page.after)
    .$if(state !== undefined, (select) => select.where('state', '=', state!))
    .$if(kind !== undefined, (select) => select.where('kind', '=', kind!))
    .orderBy('local_id')
    .limit(page.limit)
    .execute();
}

interface ConnectorLinkCounts extends LinkCounts<LinkState> {
  /** To be gone through. */
  readonly due: number;
  /** People whose account is to end, who wait. */
  readonly held: number;
}

/** How many links there are, by what they are. */
export async function countLinks(queries: Queries, { tenant, connector }: Whose): Promise<ConnectorLinkCounts> {
  const rows = await queries
    .selectFrom('connector_links')
    .select([
      'state',
      'kind',
      sql<number>`count(*)`.as('count'),
      sql<number>`count(due_at)`.as('due'),
      sql<number>`sum(CASE WHEN leaving = 1 THEN 1 ELSE 0 END)`.as('held'),
    ])
    .where('tenant_id', '=', tenant)
    .where('connector_id', '=', connector)
    .groupBy(['state', 'kind'])
    .execute();
  const { counts, sum } = sumLinks(linkStates, rows);
  return { ...counts, due: sum((row) => Number(row.due)), held: sum((row) => Number(row.held)) };
}

/** People whose accounts are to end and wait; those that a run ended since a time; and those who have accounts. */
export async function countLeaving(
  queries: Queries,
  { tenant, connector }: Whose,
  sinceMs: number,
): Promise<{ readonly held: number; readonly ended: number; readonly linked: number }> {
  const row = await queries
    .selectFrom('connector_links')
    .select([
      sql<number>`sum(CASE WHEN leaving = 1 THEN 1 ELSE 0 END)`.as('held'),
      sql<number>`sum(CASE WHEN left_at > ${sinceMs} THEN 1 ELSE 0 END)`.as('ended'),
      sql<number>`sum(CASE WHEN state IN ('linked', 'failed') THEN 1 ELSE 0 END)`.as('linked'),
    ])
    .where('tenant_id', '=', tenant)
    .where('connector_id', '=', connector)
    .where('kind', '=', 'user')
    .executeTakeFirst();
  return { held: Number(row?.held ?? 0), ended: Number(row?.ended ?? 0), linked: Number(row?.linked ?? 0) };
}

/** True while something is due, or in hand. */
export async function hasDueLinks(queries: Queries, { tenant, connector }: Whose, kind?: LinkKind): Promise<boolean> {
  const row = await queries
    .selectFrom('connector_links')
    .select('local_id')
    .where('tenant_id', '=', tenant)
    .where('connector_id', '=', connector)
    .where('due_at', '<=', databaseNowMs)
    .$if(kind !== undefined, (select) => select.where('kind', '=', kind!))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Lets every account end that waits; gives how many. */
export async function releaseLeaving(queries: Queries, { tenant, connector }: Whose): Promise<number> {
  const rows = await queries
    .updateTable('connector_links')
    .set({ leaving: 2, due_at: databaseNowMs, left_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('connector_id', '=', connector)
    .where('leaving', '=', 1)
    .returning('local_id')
    .execute();
  return rows.length;
}

/** Those of links that a person may settle. */
export const resolvableStates: readonly LinkState[] = ['conflict', 'failed', 'ignored'];

/** Says what a link is that waits for a person: undefined when none does, or it is in hand, as whoever has it would write over what is said. */
export async function resolveLink(
  queries: Queries,
  { tenant, connector }: Whose,
  id: string,
  change: Pick<Settled, 'remote_id' | 'state' | 'creates'>,
): Promise<ConnectorLink | undefined> {
  const dueAt = change.state === 'ignored' ? null : databaseNowMs;
  return queries
    .updateTable('connector_links')
    .set({
      ...change,
      hash: null,
      reason: null,
      request: null,
      answer: null,
      attempts: 0,
      mark: sql<number>`mark + 1`,
      due_at: dueAt,
      updated_at: databaseNowMs,
    })
    .where('tenant_id', '=', tenant)
    .where('connector_id', '=', connector)
    .where('local_id', '=', id)
    .where('state', 'in', resolvableStates)
    .where('claimed_until', '<', databaseNowMs)
    .returningAll()
    .executeTakeFirst();
}

/** Notes which accounts were seen at the target. */
export async function noteSeen(queries: Queries, { tenant, connector }: Whose, ids: readonly string[], atMs: number): Promise<void> {
  await queries
    .updateTable('connector_links')
    .set({ seen_at: atMs })
    .where('tenant_id', '=', tenant)
    .where('connector_id', '=', connector)
    .where(idAmong(queries, 'local_id', ids))
    .execute();
}

/** Marks people whose account was not seen since a time, so that it is looked for. */
export async function markUnseen(queries: Queries, { tenant, connector }: Whose, sinceMs: number): Promise<void> {
  await queries
    .updateTable('connector_links')
    .set({ ...again, hash: null })
    .where('tenant_id', '=', tenant)
    .where('connector_id', '=', connector)
    .where('kind', '=', 'user')
    .where('state', '=', 'linked')
    .where((eb) => eb.or([eb('seen_at', 'is', null), eb('seen_at', '<', sinceMs)]))
    .execute();
}
