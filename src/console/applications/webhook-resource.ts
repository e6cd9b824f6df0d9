// Webhooks in the console: the list, the form with the types of events to tick, trial, secrets, off and on. Deliveries are in
// webhook-deliveries.ts.
import { eventTypes } from '../../contract/events.ts';
import { kinds } from '../../domain/kinds.ts';
import type { FormField } from '../../first-party/form-field.ts';
import { type Html, html } from '../../platform/html.ts';
import { eventNamed, eventWords, families, kindName } from '../activity/event-words.ts';
import { created, text } from '../cells.ts';
import { badge, shownTime } from '../console-page.ts';
import { pagesOfKind, secretAction } from '../frame/kind-pages.ts';
import type { ConsoleResource } from '../frame/resource.ts';

type Json = Readonly<Record<string, unknown>>;

const isEnabled = (json: Json): boolean => json['enabled'] === true;

const whyDisabled: Readonly<Record<string, string>> = { gone: 'it answered 410', failing: 'it failed for five days' };

const stateOf = (json: Json) =>
  isEnabled(json)
    ? badge('enabled', 'good')
    : badge(['disabled', whyDisabled[text(json['disabled_reason'])]].filter(Boolean).join(': '), 'bad');

/** What it gets, shortened. */
function typesOf(json: Json): Html | string {
  const types = json['types'] as readonly string[]; // the API's shape
  if (types.length === 0) return 'every event';
  const shown = types.length > 4 ? types.slice(0, 3) : types;
  return html`${shown.map((type, at) => html`${at > 0 && ', '}${eventNamed(type)}`)}${types.length > shown.length && ` and ${types.length - shown.length} more`}`;
}

const ticked = (field: FormField): FormField => ({
  ...field,
  kind: 'grouped',
  options: families.flatMap(([, types]) => types),
  // Hundreds on one page: what follows a comma is in the reference.
  optionLabels: Object.fromEntries([
    ...Object.keys(eventTypes).map((type) => [type, { label: eventWords(type).split(', ', 1)[0]! }]),
    ...families.map(([family]) => [family, { label: kindName(family) }]),
  ]),
  hint: 'None ticked: every event, refusals too.',
});

const pages = pagesOfKind(kinds.webhook);

export const webhooks: ConsoleResource = {
  ...pages,
  columns: [
    ['Gets', typesOf],
    ['State', stateOf],
    ['Failing since', (json) => shownTime(json['failing_since'])],
  ],
  tabs: [['/deliveries', 'Deliveries']],
  facts: [
    ['State', stateOf],
    ['Failing since', (json) => shownTime(json['failing_since']) || 'not failing'],
    ['Both secrets sign until', (json) => shownTime(json['previous_secret_until']) || 'one secret signs'],
    created,
  ],
  fields: pages.fields.map((field) => (field.path === 'types' ? ticked(field) : field)),
  actions: [
    {
      name: 'Send a test event',
      done: 'gets a test event in a moment: Deliveries shows what came back',
      path: '/test',
      applies: isEnabled,
    },
    secretAction(kinds.webhook),
    {
      name: 'Disable',
      done: 'is disabled',
      path: '/disable',
      patch: { enabled: false },
      confirm: 'Events wait until it is enabled again, for thirty days at most.',
      applies: isEnabled,
    },
    {
      name: 'Enable',
      done: 'is enabled: what waited is posted',
      path: '/enable',
      patch: { enabled: true },
      applies: (json) => !isEnabled(json),
    },
  ],
};
