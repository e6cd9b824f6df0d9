// The outbox of back-channel logouts: grants that ended and whose client wants to be told. Rows name things and hold no secret, so
// that one job can read them across tenants. Written in the transaction that ends the grant; gone when the client was told.
import { sql } from 'kysely';
import type { GrantId, TenantId, UserId } from '../domain/ids.ts';
import type { Queries } from './database.ts';
import { databaseNowMs } from './instance.ts';

export interface LogoutNoticeTable {
  tenant_id: TenantId;
  grant_id: GrantId;
  due_at: number;
  attempts: number;
}

/** Queues a notice for each live grant meant whose client registered a back-channel logout address. Call before ending them. */
export async function queueLogoutNotices(
  queries: Queries,
  tenant: TenantId,
  meant: { readonly grantId: GrantId } | { readonly userId: UserId },
): Promise<void> {
  await queries
    .insertInto('logout_notices')
    .columns(['tenant_id', 'grant_id', 'due_at', 'attempts'])
    .expression((eb) => {
      const live = eb
        .selectFrom('grants as g')
        .innerJoin('clients as c', (join) => join.onRef('c.tenant_id', '=', 'g.tenant_id').onRef('c.client_id', '=', 'g.client_id'))
        .select(['g.tenant_id', 'g.id', databaseNowMs.as('due_at'), sql<number>`0`.as('attempts')])
        .where('g.tenant_id', '=', tenant)
        .where('g.revoked_at', 'is', null)
        .where('c.backchannel_logout_uri', 'is not', null);
      return 'grantId' in meant ? live.where('g.id', '=', meant.grantId) : live.where('g.user_id', '=', meant.userId);
    })
    .onConflict((on) => on.columns(['tenant_id', 'grant_id']).doNothing())
    .execute();
}

/** True when a notice is due; reads only, so that an idle job costs nothing. */
export async function hasDueLogoutNotices(queries: Queries): Promise<boolean> {
  const row = await queries
    .selectFrom('logout_notices')
    .select('grant_id')
    .where('due_at', '<=', databaseNowMs)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Takes up to `limit` due notices, hiding each from other processes for `leaseMs`; one whose sender dies comes back after it. */
export async function claimLogoutNotices(queries: Queries, limit: number, leaseMs: number): Promise<readonly LogoutNoticeTable[]> {
  return queries
    .updateTable('logout_notices')
    .set((eb) => ({ attempts: eb('attempts', '+', 1), due_at: sql<number>`${databaseNowMs} + ${leaseMs}` }))
    .where('grant_id', 'in', (eb) =>
      eb.selectFrom('logout_notices').select('grant_id').where('due_at', '<=', databaseNowMs).orderBy('due_at').limit(limit),
    )
    .where('due_at', '<=', databaseNowMs)
    .returningAll()
    .execute();
}

type NoticeKey = Pick<LogoutNoticeTable, 'tenant_id' | 'grant_id'>;

/** Puts a notice off by `waitMs`. */
export async function deferLogoutNotice(queries: Queries, notice: NoticeKey, waitMs: number): Promise<void> {
  await queries
    .updateTable('logout_notices')
    .set({ due_at: sql<number>`${databaseNowMs} + ${waitMs}` })
    .where('tenant_id', '=', notice.tenant_id)
    .where('grant_id', '=', notice.grant_id)
    .execute();
}

export async function deleteLogoutNotice(queries: Queries, notice: NoticeKey): Promise<void> {
  await queries.deleteFrom('logout_notices').where('tenant_id', '=', notice.tenant_id).where('grant_id', '=', notice.grant_id).execute();
}
