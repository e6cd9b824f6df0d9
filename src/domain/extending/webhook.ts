// A webhook as registered (design 16, 2): the table of its fields, and which events are its own. Pure. The signing secret is a value of
// the table that only documents carry: it is made by us, sealed by whoever writes it, and shown once.
import { type EventType, eventTypes } from '../../contract/events.ts';
import { feedTypesMax, nameCharsMax, urlCharsMax } from '../../contract/limits.ts';
import { calledUriFault } from '../client/client-uris.ts';
import { type ChangeOf, field, flag, type Kind, list, text, type ValuesOf } from '../field.ts';
import type { WebhookId } from '../ids.ts';

const secret: Kind<string, string> = { ...text(nameCharsMax), input: 'none' };

// biome-ignore format: a field a line or two
export const webhookFields = {
  url: field('url', text(urlCharsMax), { required: true, label: 'Address', check: calledUriFault,
    help: 'Where events are posted to; https. Private addresses need GATEHOUSE_EGRESS_ALLOW.' }),
  types: field('types', list(text(nameCharsMax), feedTypesMax), { default: [], label: 'Types of events', check: typesFault,
    help: 'One a line: user.created, or user.* for all of a kind; none: every event.' }),
  enabled: field('enabled', flag, { default: true, label: 'Enabled', help: 'While it is not, events wait, for thirty days at most.' }),
  secret: field('secret', secret, { write: 'never', label: 'Signing secret', check: secretFault }),
} as const;

export type WebhookValues = ValuesOf<typeof webhookFields>;
export type WebhookChange = ChangeOf<typeof webhookFields>;

export interface Webhook extends WebhookValues {
  readonly id: WebhookId;
  /** The secret before, sealed; it signs too until then, in epoch milliseconds. */
  readonly previousSecret: string | undefined;
  readonly previousUntilMs: number | undefined;
  /** Since when no delivery has succeeded, when the last one failed. */
  readonly failingSinceMs: number | undefined;
  /** Why we disabled it. */
  readonly disabledReason: DisabledReason | undefined;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** The endpoint said 410, or has failed for too long. */
export type DisabledReason = 'gone' | 'failing';

const known: readonly EventType[] = Object.keys(eventTypes) as EventType[];
const secretPrefix = 'whsec_';

/** True when a type of the list is that one, or a beginning of it; the empty list is all. */
export const wants = (types: readonly string[], type: string): boolean =>
  types.length === 0 || types.some((one) => (one.endsWith('.*') ? type.startsWith(one.slice(0, -1)) : one === type));

/** The secret as receivers take it. */
export const secretText = (bytes: Uint8Array): string => `${secretPrefix}${Buffer.from(bytes).toString('base64')}`;

function typesFault(types: readonly string[]): string | undefined {
  const unknown = types.find((one) => !known.some((type) => wants([one], type)));
  return unknown === undefined ? undefined : `must hold types of events such as user.created or user.*; ${unknown} is none`;
}

/** Standard Webhooks: 24 to 64 bytes in base64 behind a prefix. */
function secretFault(given: string): string | undefined {
  const bytes = Buffer.from(given.slice(secretPrefix.length), 'base64');
  return given.startsWith(secretPrefix) && secretText(bytes) === given && bytes.length >= 24 && bytes.length <= 64
    ? undefined
    : 'must be whsec_ and 24 to 64 bytes in base64';
}
