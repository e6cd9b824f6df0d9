// The outbox of CIBA pings and pushes: which request of which tenant is due when. Rows name things and hold no secret, so that
// one job can read them across tenants; what is sent lives with the request. A row is written in the transaction of the state
// change it tells about and goes when the delivery is over.
import { sql } from 'kysely';
import type { ApprovalId, TenantId } from '../../domain/ids.ts';
import { noteQueued } from '../engine/after-commit.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface CibaDeliveryTable {
  tenant_id: TenantId;
  request_id: string;
  /** Where it goes; empty in rows of release 0.1.0. */
  lane: string;
  due_at: number;
  attempts: number;
}

export type CibaDelivery = Readonly<CibaDeliveryTable>;

/** Schedules a push request's own end, so that `expired_token` is pushed even when nobody decides. */
export async function scheduleCibaExpiry(
  queries: Queries,
  tenant: TenantId,
  requestId: string,
  endpoint: string,
  lifetimeSeconds: number,
): Promise<void> {
  await queries
    .insertInto('ciba_deliveries')
    .values({
      tenant_id: tenant,
      request_id: requestId,
      lane: endpoint,
      due_at: sql<number>`${databaseNowMs} + ${lifetimeSeconds * 1000}`,
      attempts: 0,
    })
    .execute();
}

/** Makes the delivery of a decided approval due now, in the transaction of the decision. Polling clients are told nothing. */
export async function queueCibaDelivery(queries: Queries, tenant: TenantId, approvalId: ApprovalId): Promise<void> {
  const request = await queries
    .selectFrom('ciba_requests as r')
    .innerJoin('clients as c', (join) => join.onRef('c.tenant_id', '=', 'r.tenant_id').onRef('c.client_id', '=', 'r.client_id'))
    .select(['r.id', 'r.delivery_mode', 'c.backchannel_client_notification_endpoint as endpoint'])
    .where('r.tenant_id', '=', tenant)
    .where('r.approval_id', '=', approvalId)
    .executeTakeFirst();
  if (request === undefined || request.delivery_mode === 'poll') return;
  await queries
    .insertInto('ciba_deliveries')
    .values({ tenant_id: tenant, request_id: request.id, lane: request.endpoint ?? '', due_at: databaseNowMs, attempts: 0 })
    .onConflict((on) => on.columns(['tenant_id', 'request_id']).doUpdateSet({ due_at: databaseNowMs }))
    .execute();
  noteQueued(queries);
}
