// The pages of people: their form with what the tenant adds to it, and what can be done with them.
import { type UserAttribute, userAttributes } from '../../../domain/people/user-attributes.ts';
import { customForm, typedCustom } from '../../first-party/custom-form.ts';
import type { FormField } from '../../first-party/form-field.ts';
import { created, lastSignIn, text } from '../cells.ts';
import { badge } from '../console-page.ts';
import type { ConsoleResource } from '../frame/resource.ts';

type Json = Readonly<Record<string, unknown>>;

/** What most people have; the other attributes stand in parts below. */
const basicPaths: ReadonlySet<string> = new Set(['display_name', 'name.given_name', 'name.family_name', 'title', 'locale']);
const personField = ({ path, about }: UserAttribute, tab?: string): FormField => ({
  path,
  label: about.label,
  kind: 'text',
  ...(tab === undefined ? {} : { tab }),
});

export const users: ConsoleResource = {
  path: '/users',
  singular: 'Person',
  plural: 'People',
  about: 'People who sign in. Invite them, or let a directory provision them by SCIM.',
  isNamed: true,
  searchHint: 'Any part of a name or email',
  primary: ['/users/invite', 'Invite people'],
  idField: 'id',
  titleOf: (json) => text(json['display_name'] ?? json['user_name'] ?? json['id']),
  columns: [
    ['User name', (json) => text(json['user_name'])],
    ['Email', (json) => emailsOf(json)[0] ?? ''],
    ['State', (json) => badge(text(json['state']), json['state'] === 'active' ? 'good' : 'bad')],
    ['Role', (json) => text(json['role'])],
    lastSignIn,
    ['From', (json) => text(json['origin'])],
  ],
  fields: [
    { path: 'user_name', label: 'User name', kind: 'text', required: true },
    { path: 'email_list', apiPath: 'emails', label: 'Emails', kind: 'lines', hint: 'One a line; the first is the primary one.' },
    ...userAttributes.filter(({ path }) => basicPaths.has(path)).map((one) => personField(one)),
    { path: 'role', label: 'Role', kind: 'select', options: ['user', 'admin'], hint: 'Administrators may use this console.' },
    ...userAttributes
      .filter(({ path }) => path !== 'user_name' && !basicPaths.has(path))
      .map((one) => personField(one, one.path.startsWith('enterprise.') ? 'Organization' : 'Profile')),
  ],
  initial: { role: 'user', emails: [] },
  actions: [
    {
      name: 'Suspend',
      path: '/suspend',
      done: 'is suspended',
      endsSessions: true,
      confirm: 'Their devices stop working until the person is activated again.',
      applies: (json) => json['state'] === 'active',
    },
    { name: 'Activate', done: 'is active', path: '/activate', applies: (json) => json['state'] === 'suspended' },
  ],
  tabs: [
    ['/roles', 'Roles'],
    ['/invitations', 'Invitations'],
    ['/devices', 'Devices'],
    ['/passkeys', 'Passkeys'],
    ['/recoveries', 'Lost phone'],
    ['/external-identities', 'Elsewhere'],
    ['/sessions', 'Sessions'],
    ['/browser-sessions', 'Browsers'],
    ['/activity', 'Activity'],
  ],
  facts: [['From', (json) => text(json['origin'])], lastSignIn, created],
  deletion: 'This cannot be undone. Sessions, devices, passkeys and memberships end at once; the name and emails are free again.',
  toApi: ({ email_list: list, ...json }) => ({
    ...json,
    emails: (list as readonly string[]).map((value, index) => ({ value, primary: index === 0 })),
  }), // a `lines` field
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
function emailsOf(json: Json): readonly string[] {
  const emails = (json['emails'] ?? []) as readonly { value: string; primary?: boolean }[]; // the API's shape
  return emails.toSorted((left, right) => Number(right.primary === true) - Number(left.primary === true)).map((email) => email.value);
}
