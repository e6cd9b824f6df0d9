// Webhooks in a document. A secret travels clear, and only when asked for; a document that says nothing of it leaves the known one alone,
// and a webhook made without one gets its own, which nobody has seen: a rotation shows one.
import Type from 'typebox';
import { type Webhook, type WebhookChange, webhookFields } from '../../../domain/extending/webhook.ts';
import { overlay, toJson, valueFault } from '../../../domain/field.ts';
import type { WebhookId } from '../../../domain/ids.ts';
import { uuidV7 } from '../../../platform/random.ts';
import { ValueTaken } from '../../../storage/engine/unique-violation.ts';
import { findFeedEnd } from '../../../storage/records/event-feed.ts';
import { findWebhook, listWebhooks } from '../../../storage/registry/webhooks.ts';
import { openWebhookSecret, sealWebhookSecret } from '../../../tokens/webhook-secret.ts';
import { closed, creationOf } from '../../schema-pieces.ts';
import { addWebhook, removeWebhook, replaceWebhook } from '../../webhooks.ts';
import { compact, faultAt, type Json, type Kind, pageRows, type Session, type Stored } from '../document.ts';
import { uuid } from './uuid.ts';

const schema = closed({ id: Type.Optional(uuid), ...creationOf(webhookFields).properties });

export const webhookKind: Kind = {
  section: 'webhooks',
  noun: 'webhook',
  schema,
  uniqueField: 'url',
  isConfiguration: true,
  examine: (_session, declared) => {
    const { id, ...item } = declared.value as WebhookChange & { readonly id?: string }; // checked by the schema
    const fault = valueFault(webhookFields, item);
    if (fault !== undefined) {
      const found = fault.field === 'secret' ? 'another text' : item[fault.field as keyof typeof item];
      throw faultAt(declared, [fault.field], `a value that ${fault.text}`, found);
    }
    const values = overlay(webhookFields, item);
    return { id, title: values.url, fields: fieldsOf(toJson(webhookFields, values)), declared };
  },
  newId: ({ administration }) => uuidV7(administration.clock.nowMs()),
  find: async (queries, session, items) =>
    Promise.all(
      items.map(async ({ id, title, fields }) => {
        const named = await findWebhook(queries, session.tenant.id, { url: title });
        const webhook = id === undefined ? named : await findWebhook(queries, session.tenant.id, { id });
        if (id !== undefined && named !== undefined && named.id !== id) return { conflict: `url is in use by webhook ${named.id}` };
        if (webhook === undefined) return { stored: undefined };
        const stored = storedOf(session, webhook);
        const { secret: _clear, ...known } = stored.fields;
        return { stored: fields['secret'] === undefined ? { ...stored, fields: known } : stored };
      }),
    ),
  prepare: async ({ administration, tenant }) => void (await findFeedEnd(administration.database, tenant.id)),
  create: async (queries, { administration, tenant, by }, items) => {
    for (const { id, desired } of items) {
      const made = { id: id as WebhookId, values: overlay(webhookFields, desired.fields) }; // made for it
      if ((await addWebhook(queries, administration, tenant.id, made, by)) === undefined) throw new ValueTaken('url');
    }
  },
  update: async (queries, { administration, tenant, by }, items) => {
    for (const { stored, desired, changed } of items) {
      const before = await findWebhook(queries, tenant.id, { id: stored.id });
      if (before === undefined) continue;
      const given = overlay(webhookFields, desired.fields);
      const secret =
        given.secret === undefined ? before.secret : sealWebhookSecret(administration.encryption, tenant.id, before.id, given.secret);
      const fields = Object.fromEntries([...changed].map((name) => [name, true]));
      await replaceWebhook(queries, administration, tenant.id, { before, values: { ...given, secret }, fields }, by);
    }
  },
  page: async (queries, session, after) =>
    (await listWebhooks(queries, session.tenant.id, { after, limit: pageRows })).map((webhook) => storedOf(session, webhook)),
  remove: async (queries, { administration, tenant, by }, { id }) => {
    await removeWebhook(queries, administration, tenant.id, id, by);
  },
  write: (_session, { id, fields }, withSecrets) => {
    const { secret, enabled, ...plain } = fields;
    return compact({ id, ...plain, enabled: enabled === false ? false : undefined, secret: withSecrets ? secret : undefined });
  },
};

const fieldsOf = (fields: Json): Json => compact({ ...fields });

function storedOf({ administration, tenant }: Session, webhook: Webhook): Stored {
  const { secret } = webhook;
  const clear = secret === undefined ? undefined : openWebhookSecret(administration.encryption, tenant.id, webhook.id, secret);
  return { id: webhook.id, title: webhook.url, fields: fieldsOf({ ...toJson(webhookFields, webhook), secret: clear }) };
}
