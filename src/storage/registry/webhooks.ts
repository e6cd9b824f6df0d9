// Webhooks: rows to and from the domain's Webhook, and how far each has read in the feed. Secrets are stored as they are given here:
// sealed by tokens/webhook-secret.ts.
import { sql } from 'kysely';
import { type DisabledReason, type Webhook, type WebhookValues, webhookFields } from '../../domain/extending/webhook.ts';
import type { TenantId, WebhookId } from '../../domain/ids.ts';
import type { ConfigCache } from '../engine/config-cache.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import type { Page } from '../engine/matching-rows.ts';
import { fromRow, type RowOf, toRow } from '../engine/row-codec.ts';

export interface WebhookTable extends RowOf<typeof webhookFields> {
  tenant_id: TenantId;
  id: WebhookId;
  previous_secret: string | null;
  previous_until: number | null;
  failing_since: number | null;
  disabled_reason: DisabledReason | null;
  created_at: number;
  updated_at: number;
}

export interface WebhookPositionTable {
  tenant_id: TenantId;
  webhook_id: WebhookId;
  position: number;
}

/** More than a tenant may have. */
const allRows = 1000;
/** How long the secret before signs too. */
const overlapMs = 24 * 3_600_000;

/** Every webhook of a tenant, from memory where nothing changed. */
export const listCachedWebhooks = (cache: ConfigCache, tenant: TenantId): Promise<readonly Webhook[]> =>
  cache.get(tenant, 'webhooks', (queries) => listWebhooks(queries, tenant, { after: '', limit: allRows }));

export async function findWebhook(
  queries: Queries,
  tenant: TenantId,
  by: { readonly id: string } | { readonly url: string },
): Promise<Webhook | undefined> {
  const select = queries.selectFrom('webhooks').selectAll().where('tenant_id', '=', tenant);
  const row = await ('id' in by
    ? select.where('id', '=', by.id as WebhookId) // a look-up key, not yet known to be an id
    : select.where('url', '=', by.url)
  ).executeTakeFirst();
  return row && webhookFromRow(row);
}

/** A page of webhooks in order of their ids. */
export async function listWebhooks(queries: Queries, tenant: TenantId, page: Page): Promise<readonly Webhook[]> {
  const rows = await queries
    .selectFrom('webhooks')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('id', '>', page.after as WebhookId)
    .orderBy('id')
    .limit(page.limit)
    .execute();
  return rows.map(webhookFromRow);
}

/** Inserts a webhook that reads what comes after the last number of the feed; undefined when its address is taken. */
export async function insertWebhook(
  queries: Queries,
  tenant: TenantId,
  id: WebhookId,
  values: WebhookValues,
): Promise<Webhook | undefined> {
  const row = await queries
    .insertInto('webhooks')
    .values({ ...toRow(webhookFields, values), tenant_id: tenant, id, created_at: databaseNowMs, updated_at: databaseNowMs })
    .onConflict((on) => on.columns(['tenant_id', 'url']).doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const position = sql<number>`coalesce((SELECT last_seq FROM event_feeds WHERE tenant_id = ${tenant} LIMIT 1), 0)`;
  await queries.insertInto('webhook_positions').values({ tenant_id: tenant, webhook_id: id, position }).execute();
  await queries.updateTable('tenants').set({ has_webhooks: 1 }).where('tenant_id', '=', tenant).where('has_webhooks', '=', 0).execute();
  return webhookFromRow(row);
}

/** Writes every value; one that is enabled is no longer failing. Throws a unique violation for a taken address. */
export async function updateWebhook(
  queries: Queries,
  tenant: TenantId,
  id: WebhookId,
  values: WebhookValues,
): Promise<Webhook | undefined> {
  const row = await queries
    .updateTable('webhooks')
    .set({ ...toRow(webhookFields, values), updated_at: databaseNowMs })
    .$if(values.enabled, (update) => update.set({ failing_since: null, disabled_reason: null }))
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return row && webhookFromRow(row);
}

/** Gives a webhook another secret, sealed; the one before signs too for a day. */
export async function rotateWebhookSecret(queries: Queries, tenant: TenantId, id: WebhookId, sealed: string): Promise<Webhook | undefined> {
  const row = await queries
    .updateTable('webhooks')
    .set((eb) => ({
      previous_secret: eb.ref('secret'),
      previous_until: sql<number>`${databaseNowMs} + ${overlapMs}`,
      secret: sealed,
      updated_at: databaseNowMs,
    }))
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return row && webhookFromRow(row);
}

/** Disables a webhook that is enabled; false when it is not. */
export async function disableWebhook(queries: Queries, tenant: TenantId, id: WebhookId, reason: DisabledReason): Promise<boolean> {
  const rows = await queries
    .updateTable('webhooks')
    .set({ enabled: 0, disabled_reason: reason, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where('enabled', '=', 1)
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** Deletes a webhook with its deliveries. */
export async function deleteWebhook(queries: Queries, tenant: TenantId, id: string): Promise<boolean> {
  const rows = await queries
    .deleteFrom('webhooks')
    .where('tenant_id', '=', tenant)
    .where('id', '=', id as WebhookId) // a look-up key, not yet known to be an id
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** Notes that a delivery failed; gives for how many milliseconds none has succeeded. Only the first failure writes. */
export async function noteWebhookFailure(queries: Queries, tenant: TenantId, id: WebhookId): Promise<number> {
  const row = await queries
    .selectFrom('webhooks')
    .select(sql<number | null>`${databaseNowMs} - failing_since`.as('ms'))
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .executeTakeFirst();
  if (row?.ms === null)
    await queries
      .updateTable('webhooks')
      .set({ failing_since: databaseNowMs })
      .where('tenant_id', '=', tenant)
      .where('id', '=', id)
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

/** The tenants that have, or had, webhooks. */
export async function listTenantsWithWebhooks(queries: Queries): Promise<readonly TenantId[]> {
  const rows = await queries.selectFrom('tenants').select('tenant_id').where('has_webhooks', '=', 1).execute();
  return rows.map(({ tenant_id: tenant }) => tenant);
}

const webhookFromRow = (row: WebhookTable): Webhook => ({
  id: row.id,
  ...fromRow(webhookFields, row),
  previousSecret: row.previous_secret ?? undefined,
  previousUntilMs: row.previous_until ?? undefined,
  failingSinceMs: row.failing_since ?? undefined,
  disabledReason: row.disabled_reason ?? undefined,
  createdAtMs: row.created_at,
  updatedAtMs: row.updated_at,
});
