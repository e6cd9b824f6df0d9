// The pages of people: their form with what the tenant adds to it, and what can be done with them.
import { reject } from '../../contract/contract-error.ts';
import { peopleChoices } from '../../domain/people/people-list.ts';
import { type UserAttribute, userAttributes } from '../../domain/people/user-attributes.ts';
import { customForm, typedCustom } from '../../first-party/custom-form.ts';
import type { FormField } from '../../first-party/form-field.ts';
import { type Html, html } from '../../platform/html.ts';
import { created, lastSignIn, text, worded } from '../cells.ts';
import { badge, shownTime } from '../console-page.ts';
import type { Cell, ConsoleResource } from '../frame/resource.ts';

type Json = Readonly<Record<string, unknown>>;

/** What most people have; the other attributes stand in parts below. */
const basicPaths: ReadonlySet<string> = new Set(['display_name', 'name.given_name', 'name.family_name', 'title', 'locale']);
const personField = ({ path, about }: UserAttribute, tab?: string): FormField => ({
  path,
  label: about.label,
  kind: 'text',
  ...(tab === undefined ? {} : { tab }),
});

/** Strangers spent what all addresses may ask of the person. */
const underAttack = [
  'Under attack',
  ({ attacked_at: at }: Json): Html | string =>
    at === undefined
      ? 'no'
      : html`${badge('strangers', 'bad')} ${shownTime(at)}. They are refused; a known browser, a passkey, or “Let me in somewhere new” on the phone works.`,
] as const;

/** What stands on the card of a person beside their ways in. */
export const personFacts: readonly Cell[] = [lastSignIn, created, underAttack];

/** The same in a word or two. */
const originChoices = Object.fromEntries(Object.entries(peopleChoices.origin.values).map(([name, label]) => [name, { label }]));

const origins: Readonly<Record<string, string>> = {
  console: 'made here',
  scim: 'a directory, which may change what you change here',
  signup: 'signed up',
};

/** Where a person comes from, in words; of an LDAP directory with what is changed there alone. */
export function originOf({ origin, directory }: Json): string {
  const made = origins[text(origin)] ?? text(origin);
  if (directory === undefined) return made;
  const { attributes } = directory as { readonly attributes: readonly string[] }; // the API's shape
  return `an LDAP directory, where alone these change: ${attributes.map((path) => attributeLabels.get(path) ?? path).join(', ')}`;
}

const attributeLabels: ReadonlyMap<string, string> = new Map([
  ...userAttributes.map(({ path, about }) => [path, about.label] as const),
  ['emails.primary', 'primary email'],
]);

const tabs = [
  ['/roles', 'Roles'],
  ['/invitations', 'Invitations'],
  ['/devices', 'Phones'],
  ['/passkeys', 'Passkeys'],
  ['/recoveries', 'Lost phone'],
  ['/known-secrets', 'Secrets'],
  ['/external-identities', 'Elsewhere'],
  ['/sessions', 'Sessions'],
  ['/browser-sessions', 'Browsers'],
  ['/sign-ins', 'Sign-ins'],
  ['/activity', 'Activity'],
] as const;

export const users: ConsoleResource = {
  path: '/users',
  singular: 'Person',
  plural: 'People',
  about: 'People who sign in. Invite them, or let a directory provision them by SCIM.',
  isNamed: true,
  searchHint: 'Name, email or external ID',
  primary: ['/users/invite', 'Invite people'],
  links: [['/users/invited', 'Invited']],
  idField: 'id',
  titleOf: (json) => text(json['display_name'] ?? json['user_name'] ?? json['id']),
  columns: [
    ['User name', (json) => text(json['user_name']), 'user_name'],
    ['Email', (json) => emailsOf(json)[0] ?? ''],
    ['State', (json) => badge(text(json['state']), json['state'] === 'active' ? 'good' : 'bad')],
    ['Role', (json) => text(json['role'])],
    lastSignIn,
    ['From', ({ origin }) => worded(origin, originChoices)],
    created,
  ],
  fields: [
    { path: 'user_name', label: 'User name', kind: 'text', required: true },
    { path: 'email_list', apiPath: 'emails', label: 'Emails', kind: 'lines', hint: 'One a line; the first is the primary one.' },
    ...userAttributes.filter(({ path }) => basicPaths.has(path)).map((one) => personField(one)),
    ...userAttributes
      .filter(({ path }) => path !== 'user_name' && !basicPaths.has(path))
      .map((one) => personField(one, one.path.startsWith('enterprise.') ? 'Work' : 'Profile')),
  ],
  hasCard: true,
  facts: [['From', originOf]],
  initial: { emails: [] },
  actions: [
    {
      name: 'Suspend',
      path: '/suspend',
      done: 'is suspended',
      endsSessions: true,
      confirm: ({ origin, directory }) =>
        `Their phones stop working until the person is activated again. Applications whose secrets they know work on: the tab Secrets lists them, to make others.${origin === 'scim' && directory === undefined ? ' This person comes from a directory, which may bring them back: suspend them there, too.' : ''}`,
      applies: (json) => json['state'] === 'active',
    },
    { name: 'Activate', done: 'is active', path: '/activate', applies: (json) => json['state'] === 'suspended' },
  ],
  tabs,
  deletion: 'You can’t undo this. Sessions, phones, passkeys and memberships end at once; the name and emails are free again.',
  toApi: ({ email_list: list, ...json }) => {
    if (!Array.isArray(list)) throw reject('management.malformed', 'form_without_emails'); // a `lines` field: our own form always has it
    return { ...json, emails: list.map((value: string, index) => ({ value, primary: index === 0 })) };
  },
  toForm: (json) => ({ ...json, email_list: emailsOf(json) }),
  ofTenant: ({ customAttributes }) => ({
    ...users,
    fields: [...users.fields, ...customForm(customAttributes, 'Attributes')],
    toApi: (json) => {
      const given = users.toApi!(json);
      return json['custom'] === undefined ? given : { ...given, custom: typedCustom(customAttributes, json['custom'] as Json) }; // put there by its fields
    },
  }),
};

/** Emails, the primary one first. */
export function emailsOf(json: Json): readonly string[] {
  const emails = (json['emails'] ?? []) as readonly { value: string; primary?: boolean }[]; // the API's shape
  return emails.toSorted((left, right) => Number(right.primary === true) - Number(left.primary === true)).map((email) => email.value);
}
