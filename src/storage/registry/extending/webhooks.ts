// Webhooks beside the rows of their kind: how far each has read in the feed, and how its deliveries do.
import { sql } from 'kysely';
import { type DisabledReason, type Webhook, webhookKind } from '../../../domain/extending/webhook.ts';
import type { TenantId, WebhookId } from '../../../domain/ids.ts';
import type { ConfigCache } from '../../engine/config/config-cache.ts';
import type { Queries } from '../../engine/database.ts';
import { databaseNowMs } from '../../engine/instance.ts';
import { rowsOf } from '../kind-rows.ts';

export interface WebhookPositionTable {
  tenant_id: TenantId;
  webhook_id: WebhookId;
  position: number;
}

const rows = rowsOf<(typeof webhookKind)['fields'], WebhookId>(webhookKind);
/** More than a tenant may have. */
const allRows = 1000;

/** Every webhook of a tenant, from memory where nothing changed. */
export const listCachedWebhooks = (cache: ConfigCache, tenant: TenantId): Promise<readonly Webhook[]> =>
  cache.get(tenant, 'webhooks', (queries) => rows.page(queries, tenant, { after: '', limit: allRows }));

export const findWebhook = rows.find;

/** Lets a new webhook read what comes after the last number of the feed. */
export async function beginWebhook(queries: Queries, tenant: TenantId, id: WebhookId): Promise<void> {
  const position = sql<number>`coalesce((SELECT last_seq FROM event_feeds WHERE tenant_id = ${tenant} LIMIT 1), 0)`;
  await queries.insertInto('webhook_positions').values({ tenant_id: tenant, webhook_id: id, position }).execute();
  await queries.updateTable('tenants').set({ has_webhooks: 1 }).where('tenant_id', '=', tenant).where('has_webhooks', '=', 0).execute();
}

/** A webhook as it was posted to. */
export type PostedWebhook = Pick<Webhook, 'id' | 'url'>;

/** An endpoint that takes nothing for so long is disabled. */
export const failingMsMax = 5 * 24 * 3_600_000;

/** Disables a webhook that is enabled and goes where it was posted to; false when it is not, or was enabled again since it failed. */
export async function disableWebhook(
  queries: Queries,
  tenant: TenantId,
  { id, url }: PostedWebhook,
  reason: DisabledReason,
): Promise<boolean> {
  const rows = await queries
    .updateTable('webhooks')
    .set({ enabled: 0, disabled_reason: reason, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where('url', '=', url)
    .where('enabled', '=', 1)
    .$if(reason === 'failing', (update) => update.where('failing_since', '<=', sql<number>`${databaseNowMs} - ${failingMsMax}`))
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** Notes that a delivery failed; gives for how many milliseconds none has succeeded where it went. Only the first failure writes. */
export async function noteWebhookFailure(queries: Queries, tenant: TenantId, { id, url }: PostedWebhook): Promise<number> {
  const row = await queries
    .selectFrom('webhooks')
    .select(sql<number | null>`${databaseNowMs} - failing_since`.as('ms'))
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where('url', '=', url)
    .executeTakeFirst();
  if (row?.ms === null)
    await queries
      .updateTable('webhooks')
      .set({ failing_since: databaseNowMs })
      .where('tenant_id', '=', tenant)
      .where('id', '=', id)
      .where('url', '=', url)
      .where('failing_since', 'is', null)
      .execute();
  return row?.ms ?? 0;
}

/** Notes that a delivery succeeded. */
export async function noteWebhookSuccess(queries: Queries, tenant: TenantId, id: WebhookId): Promise<void> {
  await queries
    .updateTable('webhooks')
    .set({ failing_since: null })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where('failing_since', 'is not', null)
    .execute();
}

/** The number of the feed up to which a webhook has read. */
export async function findWebhookPosition(queries: Queries, tenant: TenantId, id: WebhookId): Promise<number | undefined> {
  const row = await queries
    .selectFrom('webhook_positions')
    .select('position')
    .where('tenant_id', '=', tenant)
    .where('webhook_id', '=', id)
    .executeTakeFirst();
  return row?.position;
}

/** Moves a webhook on in the feed; false when somebody else has. */
export async function moveWebhook(
  queries: Queries,
  tenant: TenantId,
  id: WebhookId,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<boolean> {
  const rows = await queries
    .updateTable('webhook_positions')
    .set({ position: to })
    .where('tenant_id', '=', tenant)
    .where('webhook_id', '=', id)
    .where('position', '=', from)
    .returning('webhook_id')
    .execute();
  return rows.length === 1;
}

/** The open tenants that have, or had, webhooks. */
export async function listTenantsWithWebhooks(queries: Queries): Promise<readonly TenantId[]> {
  const rows = await queries.selectFrom('tenants').select('tenant_id').where('has_webhooks', '=', 1).where('moving', 'is', null).execute();
  return rows.map(({ tenant_id: tenant }) => tenant);
}
