// The outbox of CIBA pings and pushes: which request of which tenant is due when. Rows name things and hold no secret, so that
// one job can read them across tenants; what is sent lives with the request. A row is written in the transaction of the state
// change it tells about and goes when the delivery is over.
import { sql } from 'kysely';
import type { ApprovalId, TenantId } from '../domain/ids.ts';
import type { Queries } from './database.ts';
import { databaseNowMs } from './instance.ts';

export interface CibaDeliveryTable {
  tenant_id: TenantId;
  request_id: string;
  due_at: number;
  attempts: number;
}

/** Schedules a push request's own end, so that `expired_token` is pushed even when nobody decides. */
export async function scheduleCibaExpiry(queries: Queries, tenant: TenantId, requestId: string, lifetimeSeconds: number): Promise<void> {
  await queries
    .insertInto('ciba_deliveries')
    .values({
      tenant_id: tenant,
      request_id: requestId,
      due_at: sql<number>`${databaseNowMs} + ${lifetimeSeconds * 1000}`,
      attempts: 0,
    })
    .execute();
}

/** Makes the delivery of a decided approval due now, in the transaction of the decision. Polling clients are told nothing. */
export async function queueCibaDelivery(queries: Queries, tenant: TenantId, approvalId: ApprovalId): Promise<void> {
  const request = await queries
    .selectFrom('ciba_requests')
    .select(['id', 'delivery_mode'])
    .where('tenant_id', '=', tenant)
    .where('approval_id', '=', approvalId)
    .executeTakeFirst();
  if (request === undefined || request.delivery_mode === 'poll') return;
  await queries
    .insertInto('ciba_deliveries')
    .values({ tenant_id: tenant, request_id: request.id, due_at: databaseNowMs, attempts: 0 })
    .onConflict((on) => on.columns(['tenant_id', 'request_id']).doUpdateSet({ due_at: databaseNowMs }))
    .execute();
}

/** True when a delivery is due; reads only, so that an idle job costs nothing. */
export async function hasDueCibaDeliveries(queries: Queries): Promise<boolean> {
  const row = await queries
    .selectFrom('ciba_deliveries')
    .select('request_id')
    .where('due_at', '<=', databaseNowMs)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Takes up to `limit` due deliveries, hiding each from other processes for `leaseMs`; one whose sender dies comes back after it. */
export async function claimCibaDeliveries(queries: Queries, limit: number, leaseMs: number): Promise<readonly CibaDeliveryTable[]> {
  return queries
    .updateTable('ciba_deliveries')
    .set((eb) => ({ attempts: eb('attempts', '+', 1), due_at: sql<number>`${databaseNowMs} + ${leaseMs}` }))
    .where('request_id', 'in', (eb) =>
      eb.selectFrom('ciba_deliveries').select('request_id').where('due_at', '<=', databaseNowMs).orderBy('due_at').limit(limit),
    )
    .where('due_at', '<=', databaseNowMs)
    .returningAll()
    .execute();
}

/** Puts a delivery off until a time in epoch milliseconds of the database's clock. `attempts` starts anew when given. */
export async function deferCibaDelivery(
  queries: Queries,
  delivery: Pick<CibaDeliveryTable, 'tenant_id' | 'request_id'>,
  dueAtMs: number,
  attempts?: number,
): Promise<void> {
  await queries
    .updateTable('ciba_deliveries')
    .set({ due_at: dueAtMs, ...(attempts === undefined ? {} : { attempts }) })
    .where('tenant_id', '=', delivery.tenant_id)
    .where('request_id', '=', delivery.request_id)
    .execute();
}

export async function deleteCibaDelivery(queries: Queries, tenant: TenantId, requestId: string): Promise<void> {
  await queries.deleteFrom('ciba_deliveries').where('tenant_id', '=', tenant).where('request_id', '=', requestId).execute();
}
