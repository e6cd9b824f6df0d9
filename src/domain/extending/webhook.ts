// A webhook as registered (design 16, 2): the table of its fields, and which events are its own. Pure.
import { type EventRow, type EventType, eventTypes } from '../../contract/events.ts';
import { feedTypesMax, nameCharsMax, urlCharsMax, webhooksPerTenantMax } from '../../contract/limits.ts';
import { calledUriFault } from '../client/client-uris.ts';
import { choice, field, flag, list, ownField, text, time, type ValuesOf } from '../field.ts';
import type { WebhookId } from '../ids.ts';
import { defineKind, type Thing } from '../kind.ts';
import type { Capability } from '../people/capabilities.ts';
import { madeSigningSecret, secretKind, signingSecret } from './signing-secret.ts';

/** The endpoint said 410, or has failed for too long. */
const disabledReasons = ['gone', 'failing'] as const;
export type DisabledReason = (typeof disabledReasons)[number];

// biome-ignore format: a field a line or two
export const webhookFields = {
  url: field('url', text(urlCharsMax), { required: true, label: 'Address', check: calledUriFault,
    help: 'Where events are posted to; https. Private addresses need GATEHOUSE_EGRESS_ALLOW.' }),
  types: field('types', list(text(nameCharsMax), feedTypesMax), { default: [], label: 'Types of events', check: typesFault,
    help: 'One a line: user.created, or user.* for all of a kind; none: every event.' }),
  enabled: field('enabled', flag, { default: true, label: 'Enabled', help: 'While it is not, events wait, for thirty days at most.' }),
  secret: field('secret', secretKind, signingSecret),
  previousSecret: ownField('previous_secret', secretKind, { hidden: true }),
  // Why we disabled it, and since when no delivery has succeeded, when the last one failed.
  disabledReason: ownField('disabled_reason', choice(disabledReasons)),
  failingSinceMs: ownField('failing_since', time),
  previousUntilMs: ownField('previous_secret_until', time, { column: 'previous_until' }),
} as const;

type WebhookValues = ValuesOf<typeof webhookFields>;
export type Webhook = Thing<typeof webhookFields, WebhookId>;

const known: readonly EventType[] = Object.keys(eventTypes) as EventType[];

export const webhookKind = defineKind({
  noun: 'webhook',
  plural: 'webhooks',
  called: 'webhook',
  fields: webhookFields,
  key: 'id',
  unique: [['url', 'Another webhook has this address.']],
  atMost: { count: webhooksPerTenantMax, field: 'url', of: 'webhooks' },
  secret: {
    key: 'secret',
    made: {
      ...madeSigningSecret,
      description: 'whsec_…, shown once',
      rotation: {
        summary: 'Make a new secret, shown once; the old one signs too for 24 hours',
        status: 200,
        answer: 'thing',
        confirm: 'Both secrets sign for 24 hours. The new one is shown for ten minutes.',
      },
    },
  },
  // One that is enabled again, or goes elsewhere, has not failed yet.
  complete: (values, _given, before) =>
    values.enabled && (before?.enabled !== true || before.url !== values.url)
      ? { ...values, failingSinceMs: undefined, disabledReason: undefined }
      : values,
  power: { read: 'webhooks:read', write: 'webhooks:write', needs: webhookNeeds, isFreelyDeleted: true },
  searched: ({ url }) => [url],
  told: { created: ({ url }) => ({ url: toldUrl(url) }), deleted: ({ url }) => ({ url: toldUrl(url) }) },
  defaultsLeftOut: { but: [] },
  summaries: {
    create: 'Register a webhook, which gets what happens from now on; its secret is shown once',
    list: 'List webhooks, oldest first; `search` is a part of an address',
    read: 'Read a webhook',
    change: 'Change a webhook; enabled again, it gets what waited',
    remove: 'Delete a webhook with its deliveries',
  },
  pages: {
    singular: 'Webhook',
    plural: 'Webhooks',
    about: 'An address of yours that events of the tenant are posted to, signed: somebody joined, a group changed.',
    searchHint: 'A part of the address',
    title: 'url',
    deletion: 'Nothing is posted there any more, and its deliveries are gone, those that wait too.',
  },
});

/** True when a type of the list is that one, or a beginning of it; the empty list is all. */
export const wants = (types: readonly string[], type: string): boolean =>
  types.length === 0 || types.some((one) => (one.endsWith('.*') ? type.startsWith(one.slice(0, -1)) : one === type));

/** A type of event, or the beginning of some that there are: `user.created`, `user.*`. */
export const isTypeOfEvents = (text: string): boolean => known.some((type) => wants([text], type));

/** What its maker must hold, and whoever sees what was answered to these: it hands out events, and most types tell what people do. */
export function webhookNeeds({ types }: Pick<WebhookValues, 'types'>): readonly Capability[] {
  return known.some((type) => wants(types, type) && tellsOfPeople(type)) ? ['events:read', 'users:read'] : ['events:read'];
}

/** The address as events tell it: what stands behind the path may be a secret of the receiver's. */
export const toldUrl = (url: string): string => url.split(/[?#]/, 1)[0]!;

const ofPeople: readonly string[] = ['user', 'device', 'external_identity', 'login', 'grant'];
const namesOfPeople: readonly string[] = ['user', 'user_id', 'email'];

function tellsOfPeople(type: EventType): boolean {
  const { about, data }: EventRow = eventTypes[type];
  return about.some((one) => ofPeople.includes(one)) || Object.keys(data).some((name) => namesOfPeople.includes(name));
}

function typesFault(types: readonly string[]): string | undefined {
  const unknown = types.find((one) => !isTypeOfEvents(one));
  return unknown === undefined ? undefined : `must hold types of events such as user.created or user.*; ${unknown} is none`;
}
