// What the console can list, create, change and delete: one entry per resource of the Management API, from which every
// page of it is made. Adding a resource is one entry here and one line in console-page.ts.
import { tokenEndpointAuthMethods } from '../../domain/client.ts';
import { rootTenantSlug } from '../../domain/tenant.ts';
import type { Html } from '../../platform/html.ts';
import { code, created, enabled, text } from './cells.ts';
import { badge } from './console-page.ts';
import type { FormField } from './form-field.ts';

type Json = Readonly<Record<string, unknown>>;

export interface ResourceAction {
  readonly name: string;
  /** Path below the resource. */
  readonly path: string;
  /** True when the action makes sense for this one. */
  readonly applies?: (json: Json) => boolean;
  /** What happens, asked before it is done. */
  readonly confirm?: string;
  /** A change of the resource instead of a call on the path. */
  readonly patch?: Json;
}

export interface ConsoleResource {
  /** Path in the API and below /console. */
  readonly path: string;
  readonly singular: string;
  /** What such a thing is for, while there is none. */
  readonly about: string;
  /** What the search of the list looks at. */
  readonly searchHint: string;
  readonly idField: string;
  readonly titleOf: (json: Json) => string;
  readonly columns: readonly (readonly [head: string, cell: (json: Json) => Html | string])[];
  readonly fields: readonly FormField[];
  /** What a form for a new one starts with. */
  readonly initial: Json;
  readonly actions?: readonly ResourceAction[];
  /** Further pages of one thing: path below it, and name. */
  readonly tabs?: readonly (readonly [path: string, name: string])[];
  /** Further pages of the list, below /console. */
  readonly links?: readonly (readonly [path: string, name: string])[];
  /** What the detail page shows beside the fields. */
  readonly facts?: readonly (readonly [name: string, cell: (json: Json) => Html | string])[];
  /** What a deletion does. */
  readonly deletion?: string;
  /** What must be typed before a deletion. */
  readonly typeToDelete?: (json: Json) => string;
  readonly canDelete?: (json: Json) => boolean;
  /** True: of the deployment, and so in the console of the root tenant alone. */
  readonly ofDeployment?: boolean;
  /** Members of a creation's answer that are shown once. */
  readonly shownOnce?: readonly string[];
  /** Where those members are when they are not at the top. */
  readonly toOnce?: (json: Json) => Json;
  /** Turns what the form says into what the API takes, and back. */
  readonly toApi?: (json: Json) => Json;
  readonly toForm?: (json: Json) => Json;
}

const identityScopes = ['openid', 'profile', 'email', 'phone', 'address', 'offline_access', 'groups'];

const clientFields: readonly FormField[] = [
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
];

const clients: ConsoleResource = {
  path: '/clients',
  singular: 'Client',
  about: 'An application people sign in to, or a program that calls an API.',
  searchHint: 'A part of the name, or a client id',
  idField: 'client_id',
  titleOf: (json) => text(json['name']),
  columns: [
    ['Client id', (json) => code(json['client_id'])],
    ['Type', (json) => text(json['type'])],
    ['Authentication', (json) => text(json['token_endpoint_auth_method'])],
    ['State', enabled],
  ],
  tabs: [['/access', 'Access']],
  facts: [created],
  fields: clientFields,
  initial: {
    type: 'confidential',
    token_endpoint_auth_method: 'client_secret_basic',
    grant_types: ['authorization_code', 'refresh_token'],
    scopes: ['openid', 'profile', 'email', 'offline_access'],
    access_policy: 'everyone',
    enabled: true,
  },
  actions: [
    {
      name: 'Make a new secret',
      path: '/secret',
      confirm: 'The secret the client has now stops working at once. The new one is shown once.',
      applies: (json) => text(json['token_endpoint_auth_method']).startsWith('client_secret'),
    },
  ],
  deletion: 'This cannot be undone. Its grants and tokens end at once, and nobody signs in to it any more.',
  shownOnce: ['client_secret'],
};

const resources: ConsoleResource = {
  path: '/resources',
  singular: 'Resource',
  about: 'An API of yours: an audience that clients may request tokens for, with its scopes.',
  searchHint: 'A part of the name or identifier',
  idField: 'id',
  titleOf: (json) => text(json['name']),
  columns: [['Identifier', (json) => code(json['identifier'])], created],
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
  about: 'People who sign in. Create them here, or let a directory provision them by SCIM.',
  searchHint: 'Start of a user name or email',
  idField: 'id',
  titleOf: (json) => text(json['display_name'] ?? json['user_name'] ?? json['id']),
  columns: [
    ['User name', (json) => text(json['user_name'])],
    ['Email', (json) => emailsOf(json)[0] ?? ''],
    ['State', (json) => badge(text(json['state']), json['state'] === 'active' ? 'good' : 'bad')],
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
    {
      name: 'Suspend',
      path: '/suspend',
      confirm: 'Every session of this person ends, and their devices stop working until they are activated again.',
      applies: (json) => json['state'] === 'active',
    },
    { name: 'Activate', path: '/activate', applies: (json) => json['state'] === 'suspended' },
  ],
  tabs: [
    ['/devices', 'Devices'],
    ['/passkeys', 'Passkeys'],
    ['/sessions', 'Sessions'],
  ],
  facts: [['From', (json) => text(json['origin'])], created],
  deletion: 'This cannot be undone. Sessions, devices, passkeys and memberships end at once; the name and emails are free again.',
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
  about: 'People taken together, for access to applications and for the groups claim.',
  searchHint: 'Start of the display name',
  idField: 'id',
  titleOf: (json) => text(json['display_name']),
  columns: [['From', (json) => text(json['origin'])], created],
  tabs: [['/members', 'Members']],
  deletion: 'This cannot be undone. Memberships and assignments of the group end; its members stay.',
  fields: [{ path: 'display_name', label: 'Display name', kind: 'text', required: true }],
  initial: {},
};

const serviceProviders: ConsoleResource = {
  path: '/service-providers',
  singular: 'Service provider',
  about: 'An application people sign in to by SAML. Its metadata says all that is needed.',
  searchHint: 'A part of the name or entity ID',
  links: [['/service-providers/import', 'Import metadata']],
  tabs: [['/access', 'Access']],
  facts: [created],
  deletion: 'This cannot be undone. Sign-ins under way are refused.',
  idField: 'id',
  titleOf: (json) => text(json['name'] ?? json['entity_id']),
  columns: [
    ['Entity ID', (json) => code(json['entity_id'])],
    ['State', enabled],
  ],
  fields: [
    { path: 'entity_id', label: 'Entity ID', kind: 'text', required: true, onlyNew: true },
    { path: 'name', label: 'Name', kind: 'text', hint: 'Shown to people when they sign in.' },
    {
      path: 'acs',
      label: 'Assertion consumer services',
      kind: 'json',
      hint: '[{"url": "https://sp.example/acs", "index": 0, "default": true}]',
    },
    { path: 'attribute_map', label: 'Attributes', kind: 'json', hint: '{"user_name": "uid", "emails": "mail", "groups": "memberOf"}' },
    { path: 'signing_keys', label: 'Signing keys', kind: 'json', hint: 'At most two certificates or public keys as PEM, in a list.' },
    { path: 'require_signed_requests', label: 'Requests must be signed', kind: 'checkbox' },
    { path: 'idp_initiated_allowed', label: 'IdP-initiated sign-in allowed', kind: 'checkbox' },
    { path: 'access_policy', label: 'Who may use it', kind: 'select', options: ['everyone', 'assigned'] },
    { path: 'enabled', label: 'Enabled', kind: 'checkbox' },
  ],
  initial: { acs: [], signing_keys: [], attribute_map: {}, access_policy: 'everyone', enabled: true },
};

const tenants: ConsoleResource = {
  path: '/tenants',
  singular: 'Tenant',
  about: 'A directory of its own: people, clients and keys that no other tenant sees.',
  searchHint: 'Start of the slug',
  idField: 'id',
  titleOf: (json) => text(json['name']),
  columns: [['Slug', (json) => code(json['slug'])], ['Base URL', (json) => code(json['base_url'])], ['State', enabled], created],
  facts: [['Base URL', (json) => code(json['base_url'])], ['State', enabled], created],
  fields: [
    {
      path: 'slug',
      label: 'Slug',
      kind: 'text',
      required: true,
      onlyNew: true,
      hint: 'Lower-case letters, digits and hyphens. Part of its base URL; it never changes.',
    },
    { path: 'name', label: 'Name', kind: 'text', required: true, hint: 'Shown to people when they sign in.' },
    { path: 'domain', label: 'Custom domain', kind: 'text', hint: 'https://login.acme.example. It becomes the issuer. Empty: none.' },
  ],
  initial: {},
  actions: [
    {
      name: 'Disable',
      path: '/disable',
      patch: { enabled: false },
      confirm: 'Every endpoint of the tenant answers 404 until it is enabled again. Nothing is deleted.',
      applies: (json) => json['enabled'] === true && json['slug'] !== rootTenantSlug,
    },
    { name: 'Enable', path: '/enable', patch: { enabled: true }, applies: (json) => json['enabled'] === false },
    { name: 'Invite an administrator', path: '/invitations', applies: (json) => json['enabled'] === true },
  ],
  shownOnce: ['client_id', 'client_secret', 'setup_url'],
  toOnce: (json) => ({ ...json, ...((json['admin_client'] ?? {}) as Json) }), // the API's shape
  deletion: 'Its people, clients, keys and history are deleted for good. This cannot be undone.',
  typeToDelete: (json) => text(json['slug']),
  canDelete: (json) => json['slug'] !== rootTenantSlug,
  ofDeployment: true,
};

export const consoleResources: readonly ConsoleResource[] = [clients, resources, users, groups, serviceProviders, tenants];
/** The resource whose path that is; the paths are ours. */
export function consoleResource(path: string): ConsoleResource {
  const found = consoleResources.find((resource) => resource.path === path);
  if (found === undefined) throw new Error(`no console resource ${path}`);
  return found;
}
