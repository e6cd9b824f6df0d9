// Delivers an event to a webhook: one signed POST, judged by its status alone, whose outcome is kept for the administrator. An endpoint that
// says it is gone, or takes nothing for five days, is disabled. When an attempt is made again is the row of deliveries/kinds.ts.
import type { MailDeps } from '../approvals/mailed/mail-delivery.ts';
import { webhookAnswerBytesMax } from '../contract/limits.ts';
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import type { Attempted, Carrier, Made } from '../deliveries/carrier.ts';
import { deliveryKinds } from '../deliveries/kinds.ts';
import { enabledOr, type Registry, recipientTenant } from '../deliveries/recipients.ts';
import type { DisabledReason, Webhook } from '../domain/extending/webhook.ts';
import type { TenantId } from '../domain/ids.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Outbound, OutboundResult } from '../platform/net/outbound.ts';
import type { Queries } from '../storage/engine/database.ts';
import {
  type AttemptMade,
  findDeliveries,
  type QueuedWebhookDelivery,
  recordAttempts,
  type WebhookDelivery,
} from '../storage/records/webhook-deliveries.ts';
import {
  failingMsMax,
  findWebhook,
  listCachedWebhooks,
  noteWebhookFailure,
  noteWebhookSuccess,
} from '../storage/registry/extending/webhooks.ts';
import { turnOff } from './disabling.ts';
import { signedHeaders } from './message.ts';

interface WebhookParts extends MailDeps, Registry {
  readonly database: Registry['database'];
  readonly encryption: KeyEncryption;
  readonly outbound: Outbound;
}

const responseBytesMax = 64 * 1024;
const retryAfterMsMax = 24 * 3_600_000;
/** Until somebody enables it, which makes its deliveries due; they are gone after thirty days. */
const disabledRestMs = 30 * 24 * 3_600_000;
const closedRestMs = 300_000;

/** To which webhook, as it was then, and what was made of it; nothing yet where we ourselves failed. */
interface Post {
  readonly webhook: Webhook;
  readonly made?: Posted['made'];
}

/** @param services read at each delivery, because the carrier is made before the services are whole. */
export const createWebhookCarrier =
  (services: () => WebhookParts): Carrier<QueuedWebhookDelivery> =>
  (rows) => {
    const parts = services();
    const { tenant: tenantId } = rows[0]!; // a lane is a webhook of one tenant
    const ids = rows.map(({ id }) => id);
    const loading = parts.database.read(tenantId, (queries) => findDeliveries(queries, tenantId, ids));
    loading.catch(() => undefined); // each row meets the failure itself
    const posts = new Map<string, Post>();
    return {
      prepare: async ({ id, lane }) => {
        const delivery = (await loading).get(id);
        const [tenant, webhook] = [await recipientTenant(parts, tenantId), await webhookOf(parts, tenantId, lane)];
        if (tenant === undefined || webhook === undefined || delivery === undefined) return undefined;
        if (!tenant.enabled) return { notBeforeMs: parts.clock.nowMs() + closedRestMs };
        if (!webhook.enabled) return { notBeforeMs: parts.clock.nowMs() + disabledRestMs };
        return {
          send: async (signal) => {
            posts.set(id, { webhook });
            const { attempted, made } = await post(parts, tenant, webhook, delivery, signal);
            posts.set(id, { webhook, made });
            return attempted;
          },
        };
      },
      note: (queries, tenant, all) => note(parts, queries, tenant, all, posts),
    };
  };

const webhookOf = ({ cache, database }: WebhookParts, tenant: TenantId, id: string): Promise<Webhook | undefined> =>
  enabledOr(
    listCachedWebhooks(cache, tenant).then((all) => all.find((webhook) => webhook.id === id)),
    () => database.read(tenant, (queries) => findWebhook(queries, tenant, id)),
  );

/** Notes what attempts, in their order, came to: at their deliveries, and at the webhook, which may have to be turned off. */
async function note(
  parts: WebhookParts,
  queries: Queries,
  tenantId: TenantId,
  all: readonly Made<QueuedWebhookDelivery>[],
  posts: ReadonlyMap<string, Post>,
): Promise<(() => Promise<void>) | undefined> {
  const { lane } = all[0]!.row;
  const postOf = ({ row }: Made<QueuedWebhookDelivery>): Post => posts.get(row.id)!; // each was sent
  const attempts = all.map((one) => ({ id: one.row.id, state: stateOf[one.state], attempts: one.row.attempts, ...postOf(one).made! }));
  await recordAttempts(queries, tenantId, attempts);
  if (all.some(({ attempted }) => attempted.result === 'taken')) await noteWebhookSuccess(queries, tenantId, lane);
  const last = all.at(-1)!;
  const failingMs = last.attempted.result === 'taken' ? 0 : await noteWebhookFailure(queries, tenantId, postOf(last).webhook);
  const gone = all.map(postOf).find(({ made }) => made?.status === 410);
  const reason: DisabledReason | undefined = gone !== undefined ? 'gone' : failingMs >= failingMsMax ? 'failing' : undefined;
  if (reason === undefined) return undefined;
  const { webhook } = gone ?? postOf(last);
  return async () => {
    const tenant = await parts.tenants.byId(tenantId);
    if (tenant !== undefined) await turnOff(parts, tenant, webhook, reason);
  };
}

const stateOf = { waits: 'waiting', taken: 'delivered', given_up: 'dead' } as const;

interface Posted {
  readonly attempted: Attempted;
  readonly made: Omit<AttemptMade, 'attempts'>;
}

async function post(
  { clock, encryption, outbound }: WebhookParts,
  tenant: Tenant,
  webhook: Webhook,
  { event_id: eventId, body }: WebhookDelivery,
  signal: AbortSignal,
): Promise<Posted> {
  const headers = await signedHeaders(encryption, tenant.id, webhook, { eventId, body }, clock.nowMs());
  const startedAt = performance.now();
  const { attemptMs: timeoutMs } = deliveryKinds.webhook;
  const answer = await outbound.fetch({
    url: webhook.url,
    share: tenant.id,
    method: 'POST',
    headers,
    body,
    timeoutMs,
    responseBytesMax,
    signal,
    keepsConnection: true,
  });
  const durationMs = Math.round(performance.now() - startedAt);
  const attempted = judge(answer, clock.nowMs());
  if (!answer.ok) return { attempted, made: { durationMs, status: undefined, reason: answer.reason, answer: undefined } };
  return { attempted, made: { durationMs, status: answer.status, reason: attempted.reason, answer: beginningOf(answer.body) } };
}

/** 2xx succeeds, 410 is the endpoint's last word; everything else may be otherwise next time. */
function judge(answer: OutboundResult, nowMs: number): Attempted {
  if (!answer.ok) return { result: answer.reason === 'timeout' ? 'timeout' : 'failed', reason: answer.reason };
  const { status, headers } = answer;
  if (status >= 200 && status < 300) return { result: 'taken' };
  const retryAfterMs = retryAfter(headers['retry-after'], nowMs);
  return {
    result: status === 410 ? 'refused' : 'failed',
    reason: `status_${status}`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** RFC 9110 10.2.3: seconds or a date; a day at most. */
function retryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - nowMs;
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, retryAfterMsMax) : undefined;
}

/** As text that both databases keep. */
const beginningOf = (body: string): string => Buffer.from(body).subarray(0, webhookAnswerBytesMax).toString().replaceAll('\0', '\u{fffd}');
