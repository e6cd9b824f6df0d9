// The outbox of back-channel logouts: grants that ended and whose client wants to be told. Rows name things and hold no secret, so
// that one job can read them across tenants. Written in the transaction that ends the grant; gone when the client was told.
import { sql } from 'kysely';
import type { GrantId, SsoSessionId, TenantId, UserId } from '../../domain/ids.ts';
import { noteQueued } from '../engine/after-commit.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface LogoutNoticeTable {
  tenant_id: TenantId;
  grant_id: GrantId;
  /** Where it goes; empty in rows of release 0.1.0. */
  lane: string;
  due_at: number;
  attempts: number;
}

export type LogoutNotice = Readonly<LogoutNoticeTable>;

/** Queues a notice for each live grant meant whose client registered a back-channel logout address. Call before ending them. */
export async function queueLogoutNotices(
  queries: Queries,
  tenant: TenantId,
  meant: { readonly grantId: GrantId } | { readonly userId: UserId } | { readonly ssoSessionIds: readonly SsoSessionId[] },
): Promise<void> {
  const { numInsertedOrUpdatedRows } = await queries
    .insertInto('logout_notices')
    .columns(['tenant_id', 'grant_id', 'lane', 'due_at', 'attempts'])
    .expression((eb) => {
      const live = eb
        .selectFrom('grants as g')
        .innerJoin('clients as c', (join) => join.onRef('c.tenant_id', '=', 'g.tenant_id').onRef('c.client_id', '=', 'g.client_id'))
        .select([
          'g.tenant_id',
          'g.id',
          sql<string>`c.backchannel_logout_uri`.as('lane'),
          databaseNowMs.as('due_at'),
          sql<number>`0`.as('attempts'),
        ])
        .where('g.tenant_id', '=', tenant)
        .where('g.revoked_at', 'is', null)
        .where('c.backchannel_logout_uri', 'is not', null);
      if ('ssoSessionIds' in meant) return live.where('g.sso_session_id', 'in', meant.ssoSessionIds);
      return 'grantId' in meant ? live.where('g.id', '=', meant.grantId) : live.where('g.user_id', '=', meant.userId);
    })
    .onConflict((on) => on.columns(['tenant_id', 'grant_id']).doNothing())
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows !== 0n) noteQueued(queries);
}
