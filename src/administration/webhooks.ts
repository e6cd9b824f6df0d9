// Webhooks, as the Management API and documents handle them: registration, change, another secret, deletion. Secrets are made and sealed
// here; who registers or rotates sees one, once.
import { webhooksPerTenantMax } from '../contract/limits.ts';
import { type Webhook, type WebhookChange, type WebhookValues, webhookFields } from '../domain/extending/webhook.ts';
import { type FieldFault, overlay, valueFault } from '../domain/field.ts';
import type { TenantId, WebhookId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import { uuidV7 } from '../platform/random.ts';
import type { Queries } from '../storage/engine/database.ts';
import { findFeedEnd } from '../storage/records/event-feed.ts';
import { resumeDeliveries } from '../storage/records/webhook-deliveries.ts';
import {
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  rotateWebhookSecret,
  updateWebhook,
} from '../storage/registry/webhooks.ts';
import { makeWebhookSecret, sealWebhookSecret } from '../tokens/webhook-secret.ts';
import { type Administration, type By, recordAct } from './administration.ts';
import { unlessTaken } from './taken.ts';

type Store = Pick<Administration, 'cache' | 'clock' | 'database' | 'encryption'>;
type Refused = { readonly ok: false; readonly reason: 'invalid'; readonly fault: FieldFault };
type Made = { readonly webhook: Webhook; readonly secret: string };

/** Registers a webhook, which reads what happens from now on. Its secret is given this once. */
export async function createWebhook(
  store: Store,
  tenant: TenantId,
  given: WebhookChange,
  by: By,
): Promise<Outcome<Made, 'taken' | 'too_many'> | Refused> {
  const fault = valueFault(webhookFields, given);
  if (fault !== undefined) return { ok: false, reason: 'invalid', fault };
  const id = uuidV7(store.clock.nowMs()) as WebhookId; // made here
  const secret = makeWebhookSecret();
  await findFeedEnd(store.database, tenant);
  return store.cache.write(tenant, async (queries) => {
    if ((await listWebhooks(queries, tenant, { after: '', limit: webhooksPerTenantMax })).length >= webhooksPerTenantMax)
      return fail('too_many');
    const webhook = await addWebhook(queries, store, tenant, { id, values: overlay(webhookFields, { ...given, secret }) }, by);
    return webhook === undefined ? fail('taken') : { ok: true, webhook, secret };
  });
}

/** Stores a webhook, its secret clear, with its audit record; undefined when its address is taken. */
export async function addWebhook(
  queries: Queries,
  store: Pick<Store, 'clock' | 'encryption'>,
  tenant: TenantId,
  { id, values }: { readonly id: WebhookId; readonly values: WebhookValues },
  by: By,
): Promise<Webhook | undefined> {
  const secret = sealWebhookSecret(store.encryption, tenant, id, values.secret ?? makeWebhookSecret());
  const webhook = await insertWebhook(queries, tenant, id, { ...values, secret });
  if (webhook !== undefined)
    await recordAct(queries, store, tenant, by, { type: 'webhook.created', target: `webhook:${id}`, data: { url: webhook.url } });
  return webhook;
}

/** Changes a webhook by the fields given. */
export async function changeWebhook(
  store: Store,
  tenant: TenantId,
  id: string,
  given: WebhookChange,
  by: By,
): Promise<Outcome<{ readonly webhook: Webhook }, 'unknown' | 'taken'> | Refused> {
  const fault = valueFault(webhookFields, given);
  if (fault !== undefined) return { ok: false, reason: 'invalid', fault };
  const done = await unlessTaken('url', () =>
    store.cache.write(tenant, async (queries) => {
      const before = await findWebhook(queries, tenant, { id });
      return before && replaceWebhook(queries, store, tenant, { before, values: overlay(webhookFields, given, before), fields: given }, by);
    }),
  );
  if (!done.ok) return fail('taken');
  return done.value === undefined ? fail('unknown') : { ok: true, webhook: done.value };
}

/** Writes the values of a webhook, its secret sealed, with the audit record; what waited for one that is enabled goes on. */
export async function replaceWebhook(
  queries: Queries,
  store: Pick<Store, 'clock'>,
  tenant: TenantId,
  { before, values, fields }: { readonly before: Webhook; readonly values: WebhookValues; readonly fields: object },
  by: By,
): Promise<Webhook | undefined> {
  const webhook = await updateWebhook(queries, tenant, before.id, values);
  if (values.enabled && !before.enabled) await resumeDeliveries(queries, tenant, before.id);
  const data = { fields: Object.keys(fields) };
  await recordAct(queries, store, tenant, by, { type: 'webhook.updated', target: `webhook:${before.id}`, data });
  return webhook;
}

/** Another secret, given this once; the one before signs too for a day. Undefined: no such webhook. */
export async function rotateSecret(store: Store, tenant: TenantId, id: string, by: By): Promise<Made | undefined> {
  const secret = makeWebhookSecret();
  return store.cache.write(tenant, async (queries) => {
    const sealed = sealWebhookSecret(store.encryption, tenant, id, secret);
    const webhook = await rotateWebhookSecret(queries, tenant, id as WebhookId, sealed); // a look-up key, not yet known to be an id
    if (webhook === undefined) return undefined;
    await recordAct(queries, store, tenant, by, { type: 'webhook.secret_rotated', target: `webhook:${id}` });
    return { webhook, secret };
  });
}

/** Deletes a webhook with its deliveries; false when there is none. */
export async function removeWebhook(queries: Queries, store: Pick<Store, 'clock'>, tenant: TenantId, id: string, by: By): Promise<boolean> {
  const before = await findWebhook(queries, tenant, { id });
  if (before === undefined || !(await deleteWebhook(queries, tenant, id))) return false;
  await recordAct(queries, store, tenant, by, { type: 'webhook.deleted', target: `webhook:${id}`, data: { url: before.url } });
  return true;
}
