// What a webhook receives (Standard Webhooks 1.0): the event as the feed shows it, its id and the time as headers, and a signature of each
// secret that is in force.
import type { Webhook as Signer } from 'standardwebhooks';
import { feedEventOf } from '../audit/feed-event.ts';
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import type { Webhook } from '../domain/extending/webhook.ts';
import type { TenantId } from '../domain/ids.ts';
import { uuidV7 } from '../platform/random.ts';
import type { NumberedEvent } from '../storage/records/event-feed.ts';
import type { NewDelivery } from '../storage/records/webhook-deliveries.ts';
import { openSecret } from '../tokens/kind-secret.ts';

/** The delivery of an event. The same event has the same body, however often it is sent. */
export function deliveryOf(row: NumberedEvent, nowMs: number): NewDelivery {
  const { seq, id: eventId, type, timestamp, data } = feedEventOf(row);
  return { id: uuidV7(nowMs), eventId, seq, type, body: JSON.stringify({ seq, type, timestamp, data }) };
}

interface Signers {
  readonly current: Signer;
  readonly previous: Signer | undefined;
}

/** Their secrets are opened once for each version of a webhook. */
const signers = new WeakMap<Webhook, Signers>();

async function openSigners(encryption: KeyEncryption, tenant: TenantId, webhook: Webhook): Promise<Signers> {
  const { id, secret = '', previousSecret } = webhook; // one that is stored has a secret
  const { Webhook: Loaded } = await import('standardwebhooks'); // with the first webhook
  const open = (sealed: string): Signer => new Loaded(openSecret(encryption, { table: 'webhooks', tenant, id }, sealed));
  const opened = { current: open(secret), previous: previousSecret === undefined ? undefined : open(previousSecret) };
  signers.set(webhook, opened);
  return opened;
}

/** The headers of one attempt at `nowMs`; while a secret is being replaced both sign. */
export async function signedHeaders(
  encryption: KeyEncryption,
  tenant: TenantId,
  webhook: Webhook,
  { eventId, body }: { readonly eventId: string; readonly body: string },
  nowMs: number,
): Promise<Readonly<Record<string, string>>> {
  const { current, previous } = signers.get(webhook) ?? (await openSigners(encryption, tenant, webhook));
  const inForce = previous !== undefined && nowMs < (webhook.previousUntilMs ?? 0) ? [current, previous] : [current];
  return {
    'content-type': 'application/json',
    'webhook-id': eventId,
    'webhook-timestamp': String(Math.floor(nowMs / 1000)),
    'webhook-signature': inForce.map((signer) => signer.sign(eventId, new Date(nowMs), body)).join(' '),
  };
}
