// What the console can list, create, change and delete: one entry per resource of the Management API, from which every
// page of it is made. Adding a resource is one entry here and one line in console-page.ts.

import { defaultsOf } from '../domain/field.ts';
import { pathOfKind } from '../domain/kind.ts';
import { allKinds, kinds } from '../domain/kinds.ts';
import { groupFields } from '../domain/people/group.ts';
import { defaultRelease } from '../domain/saml/saml-attribute-names.ts';
import { tenantPlaceholder } from '../domain/sign-in/identity-provider.ts';
import { rootTenantSlug, tenantFields } from '../domain/tenant/tenant.ts';
import { formOf } from '../first-party/form-field.ts';
import { type Html, html } from '../platform/html.ts';
import { clients, initialAccessTokens } from './applications/client-resource.ts';
import { hooks } from './applications/hook-resource.ts';
import { webhooks } from './applications/webhook-resource.ts';
import { workloadIssuers } from './applications/workload-issuer-resource.ts';
import { code, created, enabled, groupOrigin, lastSignIn, text } from './cells.ts';
import { connectors } from './connectors/connector-resource.ts';
import { badge } from './console-page.ts';
import { directories } from './directories/directory-resource.ts';
import { pagesOfKind } from './frame/kind-pages.ts';
import type { ConsoleResource } from './frame/resource.ts';
import { canEnter, enterButton } from './operators/operator-visit.ts';
import { checkDomains, domainProofs } from './people/domain-proofs.ts';
import { organizationRoles, organizations } from './people/organization-resource.ts';
import { roles } from './people/role-resource.ts';
import { users } from './people/user-resource.ts';

type Json = Readonly<Record<string, unknown>>;

const resources: ConsoleResource = {
  ...pagesOfKind(kinds.resource),
  columns: [
    ['Identifier', (json) => code(json['identifier'])],
    ['Programs', (json) => (json['clients'] === 'any' ? badge('any', 'good') : 'listed')],
    created,
  ],
  guided: ['/resources/mcp-server', 'An MCP server', 'asks for name and address, the rest follows.'],
  tabs: [
    ['/access', 'Access'],
    ['/start', 'In your server'],
  ],
};

const attributes: ConsoleResource = {
  ...pagesOfKind(kinds.custom_attribute),
  columns: [
    ['Label', (json) => text(json['label'])],
    ['Type', (json) => `${text(json['type'])}${json['list'] === true ? ', several' : ''}${json['unique'] === true ? ', unique' : ''}`],
    ['Written by', (json) => text(json['edit'])],
    ['Claim', (json) => text(json['claim'])],
  ],
};

const groups: ConsoleResource = {
  path: '/groups',
  singular: 'Group',
  plural: 'Groups',
  about: 'People taken together, for access to applications and for the groups claim.',
  searchHint: 'Any part of the name',
  idField: 'id',
  titleOf: (json) => text(json['display_name']),
  columns: [['From', groupOrigin], created],
  tabs: [['/members', 'Members']],
  holds: '/members',
  deletion: 'You can’t undo this. Memberships and assignments of the group end; its members stay.',
  fields: formOf(groupFields),
  initial: {},
};

// What to give the provider in return: relative, because the tenant's address is before the console's.
function idpMetadataLink({ id }: Json): Html {
  const path = `v1/idp/saml/metadata/${encodeURIComponent(String(id))}`;
  return html`<a href="../../${path}">${path}</a>`;
}

const serviceProviders: ConsoleResource = {
  ...pagesOfKind(kinds.service_provider),
  links: [['/service-providers/import', 'Import metadata']],
  guided: ['/service-providers/import', 'Import its metadata', 'by address, file or text, and fill nothing in.'],
  madeAt: '/handover',
  tabs: [
    ['/handover', 'Give them these'],
    ['/metadata', 'Metadata and keys'],
    ['/access', 'Access'],
    ['/activity', 'Activity'],
  ],
  facts: [['Our metadata for it', idpMetadataLink], lastSignIn, created],
  columns: [['Entity ID', (json) => code(json['entity_id'])], ['State', enabled], lastSignIn],
  holds: '/assignments',
  initial: { ...defaultsOf(kinds.service_provider.fields), acs: [], attribute_map: defaultRelease },
};

const providers: ConsoleResource = {
  ...pagesOfKind(kinds.identity_provider),
  columns: [
    ['Alias', (json) => code(json['alias'])],
    ['Kind', (json) => text(json['kind'])],
    ['State', enabled],
  ],
  tabs: [['/try', 'Try it']],
  facts: [
    ['Callback address, for the provider', (json) => code(json['callback_uri'])],
    [
      'Our metadata, for SAML',
      (json) =>
        json['sp_metadata_uri'] === null
          ? 'not SAML'
          : html`<a href="${text(json['sp_metadata_uri'])}">${text(json['sp_metadata_uri'])}</a>`,
    ],
    ['Proof of its domains', domainProofs],
    created,
  ],
  actions: [checkDomains],
  presets: [
    {
      name: 'google',
      label: 'Google',
      initial: { alias: 'google', kind: 'oidc', name: 'Google', issuer: 'https://accounts.google.com', trust_email: true },
    },
    {
      name: 'microsoft',
      label: 'Microsoft',
      initial: {
        alias: 'microsoft',
        kind: 'oidc',
        name: 'Microsoft',
        issuer: `https://login.microsoftonline.com/${tenantPlaceholder}/v2.0`,
      },
    },
    { name: 'github', label: 'GitHub', initial: { alias: 'github', kind: 'github', name: 'GitHub', trust_email: true } },
    { name: 'oidc', label: 'Any OpenID provider', initial: { kind: 'oidc' } },
    { name: 'saml', label: 'Any SAML provider', initial: { kind: 'saml' } },
  ],
};

const tenants: ConsoleResource = {
  path: '/tenants',
  singular: 'Tenant',
  plural: 'Tenants',
  about: 'An identity provider of its own: people, applications and keys that no other tenant sees.',
  searchHint: 'A part of the name or slug',
  idField: 'id',
  titleOf: (json) => text(json['name']),
  rowAction: ['Enter', enterButton],
  columns: [['Slug', (json) => code(json['slug'])], ['Base URL', (json) => code(json['base_url'])], ['State', enabled], created],
  facts: [['Base URL', (json) => code(json['base_url'])], ['State', enabled], created],
  fields: formOf(tenantFields),
  initial: {},
  actions: [
    { name: 'Enter', done: 'was entered', path: '/enter', applies: canEnter },
    {
      name: 'Disable',
      done: 'is disabled',
      path: '/disable',
      patch: { enabled: false },
      confirm: 'Every endpoint of the tenant answers 404 until it is enabled again. Nothing is deleted.',
      applies: (json) => json['enabled'] === true && json['slug'] !== rootTenantSlug,
    },
    { name: 'Enable', done: 'is enabled', path: '/enable', patch: { enabled: true }, applies: (json) => json['enabled'] === false },
    { name: 'Invite an administrator', done: 'has an invitation', path: '/invitations', applies: (json) => json['enabled'] === true },
  ],
  shownOnce: ['client_id', 'client_secret', 'setup_url'],
  toOnce: (json) => ({ ...json, ...((json['admin_client'] ?? {}) as Json) }), // the API's shape
  deletion: 'Its people, applications, keys and history are deleted for good. You can’t undo this.',
  typeToDelete: (json) => text(json['slug']),
  canDelete: (json) => json['slug'] !== rootTenantSlug,
  ofDeployment: true,
};

const placed: readonly ConsoleResource[] = [
  roles,
  clients,
  initialAccessTokens,
  resources,
  users,
  groups,
  organizations,
  organizationRoles,
  attributes,
  serviceProviders,
  providers,
  hooks,
  webhooks,
  connectors,
  directories,
  tenants,
  workloadIssuers,
];
const others = allKinds.filter((kind) => !placed.some(({ path }) => path === pathOfKind(kind)));

export const consoleResources: readonly ConsoleResource[] = [...placed, ...others.map(pagesOfKind)];

/** The resource whose path that is; the paths are ours. */
export function consoleResource(path: string): ConsoleResource {
  const found = consoleResources.find((resource) => resource.path === path);
  if (found === undefined) throw new Error(`no console resource ${path}`);
  return found;
}
