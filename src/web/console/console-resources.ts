// What the console can list, create, change and delete: one entry per resource of the Management API, from which every
// page of it is made. Adding a resource is one entry here and one line in console-page.ts.
import { tokenEndpointAuthMethods } from '../../domain/client.ts';
import type { FormField } from './form-field.ts';

type Json = Readonly<Record<string, unknown>>;

export interface ResourceAction {
  readonly name: string;
  /** Path below the resource. */
  readonly path: string;
  /** True when the action makes sense for this one. */
  readonly applies?: (json: Json) => boolean;
}

export interface ConsoleResource {
  /** Path in the API and below /console. */
  readonly path: string;
  readonly singular: string;
  readonly idField: string;
  readonly titleOf: (json: Json) => string;
  readonly columns: readonly (readonly [head: string, cell: (json: Json) => string])[];
  readonly fields: readonly FormField[];
  /** What a form for a new one starts with. */
  readonly initial: Json;
  readonly actions?: readonly ResourceAction[];
  /** Members of a creation's answer that are shown once. */
  readonly shownOnce?: readonly string[];
  /** Turns what the form says into what the API takes, and back. */
  readonly toApi?: (json: Json) => Json;
  readonly toForm?: (json: Json) => Json;
}

const text = (value: unknown): string => (value === undefined || value === null ? '' : String(value));
const identityScopes = ['openid', 'profile', 'email', 'phone', 'address', 'offline_access', 'groups'];

const clients: ConsoleResource = {
  path: '/clients',
  singular: 'Client',
  idField: 'client_id',
  titleOf: (json) => text(json['name']),
  columns: [
    ['Client id', (json) => text(json['client_id'])],
    ['Type', (json) => text(json['type'])],
    ['Authentication', (json) => text(json['token_endpoint_auth_method'])],
    ['Enabled', (json) => (json['enabled'] === true ? 'yes' : 'no')],
  ],
  fields: [
    { path: 'name', label: 'Name', kind: 'text', required: true, hint: 'Shown to people when they sign in.' },
    {
      path: 'type',
      label: 'Type',
      kind: 'select',
      options: ['confidential', 'public'],
      hint: 'Public: an app or page that cannot keep a secret.',
      onlyNew: true,
    },
    {
      path: 'token_endpoint_auth_method',
      label: 'Client authentication',
      kind: 'select',
      options: tokenEndpointAuthMethods,
      onlyNew: true,
      hint: 'none for public clients.',
    },
    { path: 'redirect_uris', label: 'Redirect URIs', kind: 'lines', hint: 'One a line; compared byte for byte.' },
    { path: 'post_logout_redirect_uris', label: 'Post-logout redirect URIs', kind: 'lines' },
    {
      path: 'grant_types',
      label: 'Grants',
      kind: 'checks',
      options: ['authorization_code', 'refresh_token', 'client_credentials', 'urn:openid:params:grant-type:ciba'],
    },
    {
      path: 'scopes',
      label: 'Scopes',
      kind: 'lines',
      hint: `One a line: ${identityScopes.join(', ')}, scopes of resources, or capabilities.`,
    },
    { path: 'resources', label: 'Audiences it may request', kind: 'lines' },
    { path: 'access_policy', label: 'Who may use it', kind: 'select', options: ['everyone', 'assigned'] },
    { path: 'require_par', label: 'Authorization requests must be pushed (PAR)', kind: 'checkbox' },
    { path: 'require_consent', label: 'Ask people for consent', kind: 'checkbox' },
    { path: 'enabled', label: 'Enabled', kind: 'checkbox' },
  ],
  initial: {
    type: 'confidential',
    token_endpoint_auth_method: 'client_secret_basic',
    grant_types: ['authorization_code', 'refresh_token'],
    scopes: ['openid', 'profile', 'email', 'offline_access'],
    access_policy: 'everyone',
    enabled: true,
  },
  actions: [
    { name: 'Make a new secret', path: '/secret', applies: (json) => text(json['token_endpoint_auth_method']).startsWith('client_secret') },
  ],
  shownOnce: ['client_secret'],
};

const resources: ConsoleResource = {
  path: '/resources',
  singular: 'Resource',
  idField: 'id',
  titleOf: (json) => text(json['name']),
  columns: [['Identifier', (json) => text(json['identifier'])]],
  fields: [
    { path: 'name', label: 'Name', kind: 'text', required: true },
    { path: 'identifier', label: 'Identifier (audience URI)', kind: 'text', required: true, onlyNew: true },
    { path: 'scopes', label: 'Scopes', kind: 'json', hint: '[{"name": "orders:read", "description": "Read orders"}]' },
    { path: 'access_token_lifetime_seconds', label: 'Access token lifetime in seconds', kind: 'integer', hint: "Empty: the tenant's." },
  ],
  initial: { scopes: [] },
};

const users: ConsoleResource = {
  path: '/users',
  singular: 'User',
  idField: 'id',
  titleOf: (json) => text(json['display_name'] ?? json['user_name'] ?? json['id']),
  columns: [
    ['User name', (json) => text(json['user_name'])],
    ['Email', (json) => emailsOf(json)[0] ?? ''],
    ['State', (json) => text(json['state'])],
    ['Role', (json) => text(json['role'])],
    ['From', (json) => text(json['origin'])],
  ],
  fields: [
    { path: 'user_name', label: 'User name', kind: 'text', required: true },
    { path: 'email_list', label: 'Emails', kind: 'lines', hint: 'One a line; the first is the primary one.' },
    { path: 'display_name', label: 'Display name', kind: 'text' },
    { path: 'name.given_name', label: 'Given name', kind: 'text' },
    { path: 'name.family_name', label: 'Family name', kind: 'text' },
    { path: 'title', label: 'Title', kind: 'text' },
    { path: 'locale', label: 'Locale', kind: 'text' },
    { path: 'role', label: 'Role', kind: 'select', options: ['user', 'admin'], hint: 'Administrators may use this console.' },
  ],
  initial: { role: 'user', emails: [] },
  actions: [
    { name: 'Suspend', path: '/suspend', applies: (json) => json['state'] === 'active' },
    { name: 'Activate', path: '/activate', applies: (json) => json['state'] === 'suspended' },
    { name: 'Make an enrolment link', path: '/enrollments', applies: (json) => json['state'] === 'active' },
  ],
  shownOnce: ['qr_uri'],
  toApi: ({ email_list: list, ...json }) => ({
    ...json,
    emails: (list as readonly string[]).map((value, index) => ({ value, primary: index === 0 })),
  }), // a `lines` field
  toForm: (json) => ({ ...json, email_list: emailsOf(json) }),
};

/** Emails, the primary one first. */
function emailsOf(json: Json): readonly string[] {
  const emails = (json['emails'] ?? []) as readonly { value: string; primary?: boolean }[]; // the API's shape
  return emails.toSorted((left, right) => Number(right.primary === true) - Number(left.primary === true)).map((email) => email.value);
}

const groups: ConsoleResource = {
  path: '/groups',
  singular: 'Group',
  idField: 'id',
  titleOf: (json) => text(json['display_name']),
  columns: [['From', (json) => text(json['origin'])]],
  fields: [{ path: 'display_name', label: 'Display name', kind: 'text', required: true }],
  initial: {},
};

const serviceProviders: ConsoleResource = {
  path: '/service-providers',
  singular: 'Service provider',
  idField: 'id',
  titleOf: (json) => text(json['name'] ?? json['entity_id']),
  columns: [
    ['Entity ID', (json) => text(json['entity_id'])],
    ['Enabled', (json) => (json['enabled'] === true ? 'yes' : 'no')],
  ],
  fields: [
    { path: 'entity_id', label: 'Entity ID', kind: 'text', required: true, onlyNew: true },
    {
      path: 'acs',
      label: 'Assertion consumer services',
      kind: 'json',
      hint: '[{"url": "https://sp.example/acs", "index": 0, "default": true}]',
    },
    { path: 'attribute_map', label: 'Attributes', kind: 'json', hint: '{"user_name": "uid", "emails": "mail", "groups": "memberOf"}' },
    { path: 'idp_initiated_allowed', label: 'IdP-initiated sign-in allowed', kind: 'checkbox' },
    { path: 'access_policy', label: 'Who may use it', kind: 'select', options: ['everyone', 'assigned'] },
    { path: 'enabled', label: 'Enabled', kind: 'checkbox' },
  ],
  initial: { acs: [], attribute_map: {}, access_policy: 'everyone', enabled: true },
};

export const consoleResources: readonly ConsoleResource[] = [clients, resources, users, groups, serviceProviders];
