// Connectors in the console: the list, the form with how one signs in by fields, and its tabs, which are in the other files here.
import { authMembersOf, authTypes, secretMemberOf } from '../../domain/extending/connector.ts';
import { kinds } from '../../domain/kinds.ts';
import { machineGrantType } from '../../domain/oidc/grant-types.ts';
import type { FormField } from '../../first-party/form-field.ts';
import { code, created } from '../cells.ts';
import { badge } from '../console-page.ts';
import { pagesOfKind } from '../frame/kind-pages.ts';
import type { ConsoleResource } from '../frame/resource.ts';

type Json = Readonly<Record<string, unknown>>;

const signIns = {
  bearer: { label: 'A token' },
  basic: { label: 'A user name and a password' },
  [machineGrantType]: { label: 'Client credentials (OAuth 2.0)' },
} as const;
const signInFields: readonly FormField[] = [
  { path: 'auth.type', label: 'How it signs in', kind: 'select', options: authTypes, optionLabels: signIns },
  {
    path: 'auth.secret',
    label: 'Secret',
    kind: 'password',
    hint: 'The token, the password, or the client secret. It is never shown; left empty, what is stored stays.',
  },
  { path: 'auth.username', label: 'User name', kind: 'text', hint: 'With a password.' },
  { path: 'auth.token_url', label: 'Token endpoint', kind: 'text', hint: 'With client credentials, as the next two.' },
  { path: 'auth.client_id', label: 'Client ID', kind: 'text' },
  { path: 'auth.scope', label: 'Scope', kind: 'text' },
].map((field) => ({ ...field, tab: 'Signing in' }) as FormField); // rows of the table above

/** How it signs in, asked for in parts; who is provisioned, and how, comes after it. */
const pages = pagesOfKind(kinds.connector);
const fields = pages.fields.flatMap((field): readonly FormField[] => {
  if (field.path === 'auth') return signInFields;
  return ['name', 'enabled', 'base_url'].includes(field.path) ? [field] : [{ ...field, tab: 'Who and what' }];
});

/** Of how it signs in only what its kind has: other inputs may hold what was typed before. */
function toApi({ auth: given, ...json }: Json): Json {
  const { secret, ...auth } = (given ?? {}) as Json; // of the form
  const type = authTypes.find((one) => one === auth['type']);
  if (type === undefined) return { ...json, ...(given !== undefined && { auth }) }; // the API's to refuse
  const known = authMembersOf(type);
  const kept = Object.entries(auth).filter(([name, value]) => name === 'type' || (known.includes(name) && value !== null));
  return { ...json, auth: { ...Object.fromEntries(kept), ...(secret !== undefined && { [secretMemberOf(type)]: secret }) } };
}

export const connectors: ConsoleResource = {
  ...pages,
  columns: [
    ['SCIM service', (json) => code(json['base_url'])],
    ['Who', (json) => (json['users'] === 'all' ? 'everybody' : 'members of its groups')],
    ['State', (json) => (json['enabled'] === true ? badge('enabled', 'good') : badge('paused', 'plain'))],
  ],
  tabs: [
    ['/status', 'Where it stands'],
    ['/links', 'Accounts'],
    ['/plan', 'Plan'],
    ['/rules', 'Attributes'],
  ],
  facts: [created],
  fields,
  toApi,
};
