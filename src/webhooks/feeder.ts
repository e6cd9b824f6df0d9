// Turns events into deliveries: each webhook reads the feed of its tenant from its own position, and whoever moves that position on
// queues what was read, in one transaction. When it looks is deliveries/feeder.ts.
import { webhookBacklogMax } from '../contract/limits.ts';
import { createFeeder, type Feeder } from '../deliveries/feeder.ts';
import { type Webhook, wants } from '../domain/extending/webhook.ts';
import type { TenantId } from '../domain/ids.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { ConfigCache } from '../storage/engine/config/config-cache.ts';
import type { Database } from '../storage/engine/database.ts';
import { type NumberedEvent, readFeed } from '../storage/records/event-feed.ts';
import { countWaiting, queueDeliveries } from '../storage/records/webhook-deliveries.ts';
import { findWebhookPosition, listCachedWebhooks, listTenantsWithWebhooks, moveWebhook } from '../storage/registry/extending/webhooks.ts';
import { deliveryOf } from './message.ts';

interface FeederDeps {
  readonly database: Database;
  readonly cache: ConfigCache;
  readonly clock: Clock;
  readonly log: Log;
}

const eventsAtOnce = 200;
/** Of a webhook, before other tenants have their turn. */
const pagesPerTurn = 5;

export const createWebhookFeeder = (deps: FeederDeps): Feeder =>
  createFeeder(deps.log, {
    name: 'webhook',
    listTenants: listTenantsWithWebhooks,
    feed: async (tenant) => {
      const webhooks = (await listCachedWebhooks(deps.cache, tenant)).filter(({ enabled }) => enabled);
      let goesOn = false;
      for (const webhook of webhooks) if (await feedWebhook(deps, tenant, webhook)) goesOn = true;
      return goesOn;
    },
  });

/** Moves a webhook on by some pages; true when there may be more. */
async function feedWebhook({ database, clock }: FeederDeps, tenant: TenantId, webhook: Webhook): Promise<boolean> {
  const types = webhook.types.length === 0 ? [] : [...webhook.types, testType];
  for (let turn = 0; turn < pagesPerTurn; turn += 1) {
    const { from, waiting } = await database.read(tenant, async (queries) => ({
      from: await findWebhookPosition(queries, tenant, webhook.id),
      waiting: await countWaiting(queries, tenant, webhook.id, webhookBacklogMax),
    }));
    if (from === undefined || waiting >= webhookBacklogMax) return false;
    const limit = Math.min(eventsAtOnce, webhookBacklogMax - waiting);
    const page = await readFeed(database, tenant, { after: from, types, limit });
    if (page === undefined || page.next === from) return false;
    const deliveries = page.rows.filter((event) => isFor(webhook, event)).map((event) => deliveryOf(event, clock.nowMs()));
    await database.write(tenant, async (queries) => {
      if (await moveWebhook(queries, tenant, webhook.id, { from, to: page.next }))
        await queueDeliveries(queries, tenant, webhook.id, deliveries);
    });
  }
  return true;
}

const testType = 'webhook.tested';

/** A test is for the webhook that is tested alone. */
const isFor = ({ id, types }: Webhook, { type, target }: NumberedEvent): boolean =>
  type === testType ? target === `webhook:${id}` : wants(types, type);
