// `/webhooks/{id}/deliveries`: what was posted, what came back, and what is posted again: one delivery, dead ones, or the events of a time.
import Type from 'typebox';
import { registered } from '../../administration/registered.ts';
import { webhookReplayMax } from '../../contract/limits.ts';
import { type Webhook, wants, webhookNeeds } from '../../domain/extending/webhook.ts';
import { auditRow, upsertAuditEvents } from '../../storage/records/audit-events.ts';
import { listEventsBetween } from '../../storage/records/event-feed.ts';
import {
  type DeliveryFilter,
  deliveryStates,
  type ListedDelivery,
  listDeliveries,
  queueDeliveries,
  replayDeliveries,
} from '../../storage/records/webhook-deliveries.ts';
import { deliveryOf } from '../../webhooks/message.ts';
import { audit, type Call, conflict, type Endpoint, endpoint, invalidField, isoTime, type Json, notFound } from '../endpoint.ts';
import { loadThing } from '../kind-endpoints.ts';
import { listOf, pageOf } from '../paging.ts';
import { closed, dateTime, listAnswer, nullable, oneOf, pageQuery } from '../schemas.ts';

const number = nullable(Type.Integer());
const word = nullable(Type.String());
const deliveryAnswer = Type.Object({
  id: Type.String(),
  event_id: Type.String({ description: 'webhook-id of every attempt' }),
  seq: Type.Integer(),
  type: Type.String(),
  state: oneOf(deliveryStates),
  attempts: Type.Integer(),
  status: number,
  reason: word,
  answer: nullable(
    Type.String({
      description:
        'the first 1024 bytes, which may say what was sent; null for callers who may not read that: `events:read`, and `users:read` where the type tells of people',
    }),
  ),
  duration_ms: number,
  attempted_at: nullable(dateTime),
  next_attempt_at: nullable(dateTime),
  created_at: dateTime,
});
const replayed = Type.Object({ replayed: Type.Integer() });

export const webhookDeliveryEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/webhooks/:id/deliveries',
    capability: 'webhooks:read',
    summary: 'List deliveries, newest first: those that wait, delivered ones for a day, dead ones for 30',
    query: closed({ ...pageQuery.properties, state: Type.Optional(oneOf(deliveryStates)) }),
    answer: listAnswer(deliveryAnswer),
    status: 200,
    handle: async (call) => {
      const page = pageOf(call.query);
      const webhook = await loadThing(registered.webhook, call);
      const rows = await list(call, webhook, { state: call.query.state, before: page.after, limit: page.limit + 1 });
      return listOf(
        page,
        rows,
        (row) => row.id,
        (row) => deliveryToJson(call, row),
      );
    },
  }),
  endpoint({
    method: 'POST',
    path: '/webhooks/:id/deliveries/:delivery_id/replay',
    capability: 'webhooks:write',
    summary: 'Deliver an event again, under the same webhook-id',
    answer: deliveryAnswer,
    status: 200,
    handle: async (call) => {
      const { services, tenant, params } = call;
      const webhook = await loadEnabled(call);
      const id = params['delivery_id']!;
      await services.database.write(tenant.id, async (queries) => {
        if ((await replayDeliveries(queries, tenant.id, webhook.id, { id })) === 0) throw notFound('unknown_delivery');
        await audit(call, queries, { type: 'webhook.replayed', target: `webhook:${webhook.id}`, data: { count: 1, delivery: id } });
      });
      const [row] = await list(call, webhook, { id, before: '', limit: 1 });
      if (row === undefined) throw notFound('unknown_delivery');
      return deliveryToJson(call, row);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/webhooks/:id/replay',
    capability: 'webhooks:write',
    summary: 'Deliver again: `{"state": "dead"}`, or the events of a time, `from` inclusive and `to` exclusive',
    body: closed({
      state: Type.Optional(Type.Literal('dead')),
      from: Type.Optional(Type.String({ minLength: 1, maxLength: 40 })),
      to: Type.Optional(Type.String({ minLength: 1, maxLength: 40 })),
    }),
    answer: replayed,
    status: 200,
    handle: async (call) => {
      const { state, from, to } = call.body;
      const isOfTime = state === undefined && from !== undefined && to !== undefined;
      const isOfDead = state !== undefined && from === undefined && to === undefined;
      if (!isOfTime && !isOfDead) throw invalidField('state', 'The body must hold either state, or from and to.');
      return { replayed: isOfTime ? await replayTime(call, timeOf('from', from), timeOf('to', to)) : await replayDead(call) };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/webhooks/:id/test',
    capability: 'webhooks:write',
    summary: 'Deliver an event webhook.tested to this webhook, whatever its types',
    answer: Type.Object({ event_id: Type.String() }),
    status: 200,
    handle: async (call) => {
      const { services, tenant, actor, requestId } = call;
      const webhook = await loadEnabled(call);
      const event = { type: 'webhook.tested', actor, requestId, target: `webhook:${webhook.id}` } as const;
      const row = auditRow(tenant.id, services.clock.nowMs(), event);
      await services.database.write(tenant.id, (queries) => upsertAuditEvents(queries, [row]));
      return { event_id: row.id };
    },
  }),
];

type WebhookCall = Call<unknown, unknown>;

async function loadEnabled(call: WebhookCall): Promise<Webhook> {
  const webhook = await loadThing(registered.webhook, call);
  if (!webhook.enabled) throw conflict('enabled', 'The webhook is disabled. Enable it first.');
  return webhook;
}

const list = ({ services, tenant }: WebhookCall, webhook: Webhook, filter: DeliveryFilter): Promise<readonly ListedDelivery[]> =>
  services.database.read(tenant.id, (queries) => listDeliveries(queries, tenant.id, webhook.id, filter));

async function replayDead(call: WebhookCall): Promise<number> {
  const { services, tenant } = call;
  const webhook = await loadEnabled(call);
  return services.database.write(tenant.id, async (queries) => {
    const count = await replayDeliveries(queries, tenant.id, webhook.id, { dead: webhookReplayMax });
    await audit(call, queries, { type: 'webhook.replayed', target: `webhook:${webhook.id}`, data: { count, state: 'dead' } });
    return count;
  });
}

const eventsAtOnce = 500;

/** The events of a time that the webhook asks for. All of them are counted before the first one is queued. */
async function replayTime(call: WebhookCall, fromMs: number, toMs: number): Promise<number> {
  const { services, tenant } = call;
  const webhook = await loadEnabled(call);
  const between = await services.database.read(tenant.id, (queries) =>
    listEventsBetween(queries, tenant.id, { fromMs, toMs, types: webhook.types, limit: webhookReplayMax + 1 }),
  );
  if (between.length > webhookReplayMax)
    throw invalidField('to', `The time holds more than ${webhookReplayMax} events. Replay a shorter one.`);
  const events = between.filter(({ type }) => type !== 'webhook.tested' && wants(webhook.types, type));
  for (let start = 0; start < events.length; start += eventsAtOnce)
    await services.database.write(tenant.id, async (queries) => {
      const deliveries = events.slice(start, start + eventsAtOnce).map((event) => deliveryOf(event, services.clock.nowMs()));
      await queueDeliveries(queries, tenant.id, webhook.id, deliveries, true);
    });
  const data = { count: events.length, from: isoTime(fromMs), to: isoTime(toMs) };
  await services.database.write(tenant.id, (queries) =>
    audit(call, queries, { type: 'webhook.replayed', target: `webhook:${webhook.id}`, data }),
  );
  return events.length;
}

function timeOf(name: string, text: string | undefined): number {
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text ?? '') ? Date.parse(text!) : Number.NaN;
  if (Number.isNaN(ms)) throw invalidField(name, 'This field must be a time such as 2026-01-31T12:00:00Z.', text);
  return ms;
}

const deliveryToJson = ({ scopes }: Pick<WebhookCall, 'scopes'>, row: ListedDelivery): Json => ({
  id: row.id,
  event_id: row.event_id,
  seq: row.seq,
  type: row.type,
  state: row.state,
  attempts: row.attempts,
  status: row.status,
  reason: row.reason,
  answer: webhookNeeds({ types: [row.type] }).every((one) => scopes.includes(one)) ? row.answer : null,
  duration_ms: row.duration_ms,
  attempted_at: row.attempted_at === null ? null : isoTime(row.attempted_at),
  next_attempt_at: row.state !== 'waiting' || row.due_at === null ? null : isoTime(row.due_at),
  created_at: isoTime(row.created_at),
});
