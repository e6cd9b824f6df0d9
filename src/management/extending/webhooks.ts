// `/webhooks`: where events of the tenant are posted to, signed. The fields are in domain/extending/webhook.ts; deliveries in
// webhook-deliveries.ts.
import Type from 'typebox';
import { changeOf, creationOf, propertiesOf } from '../../administration/schema-pieces.ts';
import { changeWebhook, createWebhook, removeWebhook, rotateSecret } from '../../administration/webhooks.ts';
import { webhooksPerTenantMax } from '../../contract/limits.ts';
import { type Webhook, type WebhookChange, webhookFields } from '../../domain/extending/webhook.ts';
import { type FieldFault, takenAt, toJson } from '../../domain/field.ts';
import { findWebhook, listWebhooks } from '../../storage/registry/webhooks.ts';
import { conflict, type Endpoint, endpoint, invalidField, isoTime, type Json, notFound } from '../endpoint.ts';
import { answerSearched } from '../paging.ts';
import { dateTime, listAnswer, nullable, oneOf, searchQuery } from '../schemas.ts';

const { secret: _secret, ...shown } = propertiesOf(webhookFields);
const webhookAnswer = Type.Object({
  id: Type.String(),
  ...shown,
  disabled_reason: nullable(oneOf(['gone', 'failing'])),
  failing_since: nullable(dateTime),
  previous_secret_until: nullable(dateTime),
  created_at: dateTime,
  updated_at: dateTime,
});
const withSecret = Type.Object({ ...webhookAnswer.properties, secret: Type.String({ description: 'whsec_…, shown once' }) });

export const unknownWebhook = (): Error => notFound('unknown_webhook');
const urlTaken = (): Error => conflict('url', 'Another webhook has this address.');
const invalid = ({ field, text }: FieldFault): Error => invalidField(field, `This field ${text}.`);

export const webhookEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/webhooks',
    capability: 'webhooks:write',
    summary: 'Register a webhook, which gets what happens from now on; its secret is shown once',
    body: creationOf(takenAt(webhookFields, 'create')),
    answer: withSecret,
    status: 201,
    handle: async ({ services, tenant, body, actor, requestId }) => {
      const given = body as WebhookChange; // checked by the schema of the same fields
      const created = await createWebhook(services, tenant.id, given, { actor, requestId });
      if (created.ok) return { ...webhookToJson(created.webhook), secret: created.secret };
      if (created.reason === 'invalid') throw invalid(created.fault);
      if (created.reason === 'too_many') throw invalidField('url', `A tenant has at most ${webhooksPerTenantMax} webhooks.`);
      throw urlTaken();
    },
  }),
  endpoint({
    method: 'GET',
    path: '/webhooks',
    capability: 'webhooks:read',
    summary: 'List webhooks, oldest first; `search` is a part of an address',
    query: searchQuery,
    answer: listAnswer(webhookAnswer),
    status: 200,
    handle: (call) => answerSearched(call, listWebhooks, { key: ({ id }) => id, texts: ({ url }) => [url], json: webhookToJson }),
  }),
  endpoint({
    method: 'GET',
    path: '/webhooks/:id',
    capability: 'webhooks:read',
    summary: 'Read a webhook',
    answer: webhookAnswer,
    status: 200,
    handle: async ({ services, tenant, params }) => {
      const webhook = await services.database.read(tenant.id, (queries) => findWebhook(queries, tenant.id, { id: params['id']! }));
      if (webhook === undefined) throw unknownWebhook();
      return webhookToJson(webhook);
    },
  }),
  endpoint({
    method: 'PATCH',
    path: '/webhooks/:id',
    capability: 'webhooks:write',
    summary: 'Change a webhook; enabled again, it gets what waited',
    body: changeOf(propertiesOf(takenAt(webhookFields, 'change'))),
    answer: webhookAnswer,
    status: 200,
    handle: async ({ services, tenant, params, body, actor, requestId }) => {
      const given = body as WebhookChange; // checked by the schema of the same fields
      const changed = await changeWebhook(services, tenant.id, params['id']!, given, { actor, requestId });
      if (changed.ok) return webhookToJson(changed.webhook);
      if (changed.reason === 'invalid') throw invalid(changed.fault);
      throw changed.reason === 'taken' ? urlTaken() : unknownWebhook();
    },
  }),
  endpoint({
    method: 'POST',
    path: '/webhooks/:id/secret',
    capability: 'webhooks:write',
    summary: 'Make a new secret, shown once; the old one signs too for 24 hours',
    answer: withSecret,
    status: 200,
    handle: async ({ services, tenant, params, actor, requestId }) => {
      const made = await rotateSecret(services, tenant.id, params['id']!, { actor, requestId });
      if (made === undefined) throw unknownWebhook();
      return { ...webhookToJson(made.webhook), secret: made.secret };
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/webhooks/:id',
    capability: 'webhooks:write',
    summary: 'Delete a webhook with its deliveries',
    answer: undefined,
    status: 204,
    handle: async ({ services, tenant, params, actor, requestId }) => {
      const by = { actor, requestId };
      const isDone = await services.cache.write(tenant.id, (queries) => removeWebhook(queries, services, tenant.id, params['id']!, by));
      if (!isDone) throw unknownWebhook();
    },
  }),
];

/** The webhook as the API shows it, without its secrets. */
function webhookToJson(webhook: Webhook): Json {
  const { secret: _sealed, ...fields } = toJson(webhookFields, webhook);
  const timeOf = (ms: number | undefined): string | null => (ms === undefined ? null : isoTime(ms));
  return {
    id: webhook.id,
    ...fields,
    disabled_reason: webhook.disabledReason ?? null,
    failing_since: timeOf(webhook.failingSinceMs),
    previous_secret_until: timeOf(webhook.previousUntilMs),
    created_at: isoTime(webhook.createdAtMs),
    updated_at: isoTime(webhook.updatedAtMs),
  };
}
