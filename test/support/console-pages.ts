// A tenant with one of everything the console shows, every text of it given by the caller, and the addresses of all pages and
// forms of the console with the ids in them.
import { randomUUID } from 'node:crypto';
import type { UserId } from '../../src/domain/ids.ts';
import { userNameFault } from '../../src/domain/people/user-name.ts';
import { findClient } from '../../src/storage/registry/clients/clients.ts';
import { insertExternalIdentity } from '../../src/storage/sign-in/external-identities.ts';
import { addConnector, addDirectory, addHook, addStream } from './console-fillings.ts';
import { enrolledPhone } from './enrolled-phone.ts';
import { issueTokens } from './issued-tokens.ts';
import type { Json, Managed } from './management.ts';
import { insertTestPasskey } from './passkeys.ts';
import { createPhone } from './phone.ts';
import type { TestServer } from './server.ts';

export interface ConsoleIds {
  readonly client: string;
  readonly resource: string;
  readonly issuer: string;
  readonly user: string;
  readonly group: string;
  readonly organization: string;
  readonly organizationRole: string;
  readonly organizationInvitation: string;
  readonly setupLink: string;
  readonly attribute: string;
  readonly provider: string;
  readonly upstream: string;
  readonly hook: string;
  readonly webhook: string;
  readonly stream: string;
  readonly connector: string;
  readonly directory: string;
  readonly entry: string;
  readonly link: string;
  readonly device: string;
  readonly key: string;
  readonly passkey: string;
  readonly session: string;
  readonly clientAssignment: string;
  readonly providerAssignment: string;
}

/** What of a text may be in a user name. */
const nameable = (text: string): string => [...text].filter((character) => userNameFault(character) === undefined).join('');

/** Makes one of everything; `text` is every name, `unique` keeps identifiers apart. */
export async function fillTenant(server: TestServer, tenant: Managed, text: string, unique = '1'): Promise<ConsoleIds> {
  const { services } = server.gatehouse;
  const id = async (path: string, body: Json, name = 'id'): Promise<string> => String((await tenant.make('POST', path, body))[name]);
  const clientBody = { name: text, type: 'confidential', token_endpoint_auth_method: 'client_secret_basic', access_policy: 'assigned' };
  const client = await id('/clients', clientBody, 'client_id');
  const resource = await id('/resources', {
    name: text,
    identifier: `https://${unique}.api.example`,
    scopes: [{ name: 'orders:read', description: text }],
  });
  const issuer = await id('/workload-issuers', { name: text, issuer: `https://${unique}.ci.example` });
  const name = `extra_${unique.toLowerCase().replaceAll(/\W/g, '')}`;
  const attribute = await id('/custom-attributes', { name, label: text });
  const user = await id('/users', {
    user_name: `${nameable(text)}${unique}`,
    display_name: text,
    title: text,
    custom: { [name]: text },
    locale: text,
    name: { given_name: text, family_name: text },
    emails: [{ value: `person${unique}@x.example`, primary: true, display: text }],
  });
  const group = await id('/groups', { display_name: `${text}${unique}` });
  const slug = `o${unique.toLowerCase().replaceAll(/[^a-z0-9]/g, '')}-${tenant.slug}`;
  await tenant.make('POST', '/organization-roles', { name: slug, description: text });
  const organization = await id('/organizations', { name: slug, display_name: text, metadata: { note: text } });
  await tenant.make('PUT', `/organizations/${organization}/members/${user}`, { roles: [slug] });
  const invited = { email: `${slug}@invited.example`, roles: [slug], mail: false };
  const organizationInvitation = await id(`/organizations/${organization}/invitations`, invited);
  const setupLink = await id(`/organizations/${organization}/setup-links`, {});
  const provider = await id('/service-providers', {
    name: text,
    entity_id: `https://${unique}.sp.example`,
    acs: [{ url: 'https://sp.example/acs' }],
  });
  await tenant.make('PUT', '/mappings/oidc', { rules: [{ to: 'note', value: text, only: { contains: [text] }, default: text }] });
  const hook = await addHook(server, tenant, text);
  const { items: webhooks } = await tenant.make<{ items: readonly Json[] }>('GET', '/webhooks'); // a tenant has 20
  const webhook = webhooks[0] === undefined ? await id('/webhooks', { url: 'https://webhooks.example' }) : String(webhooks[0]['id']);
  const stream = await addStream(server, tenant, client, text);
  const connector = await addConnector(tenant, text);
  const { directory, entry: entryId } = await addDirectory(server, tenant, text, unique);
  const upstream = await id('/identity-providers', {
    ...{ alias: `acme-${unique.toLowerCase().replaceAll(/[^a-z0-9]/g, '')}`, name: text, kind: 'oidc' },
    ...{ issuer: 'https://acme.example', client_id: text, client_secret: text, attribute_map: { [text]: 'title' } },
  });
  await tenant.make('POST', `/groups/${group}/members`, { user_id: user });
  const clientAssignment = await id(`/clients/${client}/assignments`, { user_id: user });
  await tenant.make('POST', `/clients/${client}/assignments`, { group_id: group });
  const providerAssignment = await id(`/service-providers/${provider}/assignments`, { group_id: group });
  const stored = await services.tenants.bySlug(tenant.slug);
  if (stored === undefined) throw new Error('expected the tenant, found none');
  const userId = user as UserId; // the server's id
  await enrolledPhone(server, { tenant: stored.id, id: userId, email: '' }, createPhone(tenant.baseUrl, server.clock.nowMs));
  const registered = await services.database.read(stored.id, (queries) => findClient(queries, stored.id, client));
  const { grantId } = await issueTokens(services, stored, registered!, userId);
  const passkey = await insertTestPasskey(server, stored, { id: userId, email: '' });
  if (!passkey.ok) throw new Error(`expected a passkey, found ${passkey.reason}`);
  const link = randomUUID();
  const identity = { id: link, providerId: upstream, issuer: 'https://acme.example', subject: text, userId, email: text };
  await services.database.write(stored.id, (queries) => insertExternalIdentity(queries, stored.id, identity as never)); // ids the server gave
  const named = { name: text };
  await services.database.write(stored.id, async (queries) => {
    await queries.updateTable('passkeys').set(named).where('tenant_id', '=', stored.id).where('id', '=', passkey.passkey.id).execute();
    await queries
      .updateTable('devices')
      .set({ ...named, model: text, os_version: text, app_version: text })
      .where('tenant_id', '=', stored.id)
      .where('user_id', '=', userId)
      .execute();
  });
  type Device = { readonly id: string; readonly keys: readonly { readonly key_id: string }[] };
  const { items } = await tenant.make<{ items: readonly Device[] }>('GET', `/users/${user}/devices`);
  return {
    client,
    resource,
    issuer,
    user,
    group,
    organization,
    organizationRole: slug,
    organizationInvitation,
    setupLink,
    attribute,
    provider,
    upstream,
    hook,
    webhook,
    stream,
    connector,
    directory,
    entry: entryId,
    link,
    device: items[0]!.id,
    key: items[0]!.keys[0]!.key_id,
    passkey: passkey.passkey.id,
    session: grantId,
    clientAssignment,
    providerAssignment,
  };
}

/** The page without the one script of the console, which holds no `<`; more than that one stay. */
export const withoutOwnScript = (page: string): string =>
  page.replace(/<script nonce="[A-Za-z0-9_-]+">\(\(\)=>\{[^<]*\}\)\(\);<\/script>/, '');

export const plainPages: readonly string[] = [
  '',
  '?days=1',
  '?days=30',
  '/clients',
  '/clients/new',
  '/clients/new?kind=web',
  '/clients/new?kind=machine',
  '/clients/new?kind=all',
  '/clients/machine',
  '/clients/machine?platform=kubernetes',
  '/clients/machine?platform=key',
  '/initial-access-tokens',
  '/initial-access-tokens/new',
  '/resources',
  '/workload-issuers',
  '/resources/new',
  '/resources/mcp-server',
  '/workload-issuers/new',
  '/users',
  '/users/new',
  '/users/invite',
  '/users/invited',
  '/users/invited?state=expired',
  '/users/spreadsheet',
  '/groups',
  '/groups/new',
  '/organizations',
  '/organizations/new',
  '/organization-roles',
  '/organization-roles/new',
  '/administrators',
  '/administrators/new',
  '/roles',
  '/roles/new',
  '/roles/support',
  '/custom-attributes',
  '/custom-attributes/new',
  '/service-providers',
  '/service-providers/new',
  '/service-providers/import',
  '/identity-providers',
  '/identity-providers/new',
  '/identity-providers/new?preset=microsoft',
  '/identity-providers/new?preset=saml',
  '/identity-providers/by-hand?preset=microsoft',
  '/mappings',
  '/mappings?kind=saml',
  '/mappings?kind=inbound&said=given_name+%3D+Ada',
  '/hooks',
  '/hooks/new',
  '/webhooks',
  '/webhooks/new',
  '/security-events',
  '/client-hosts',
  '/connectors',
  '/connectors/new',
  '/directories',
  '/directories/new',
  '/scim',
  '/branding',
  '/languages',
  '/languages/de?step=pin',
  '/mail',
  '/mail/approval/en',
  '/domain',
  '/push',
  '/signing-keys',
  '/settings',
  '/settings/sign-in',
  '/settings/sessions',
  '/settings/tokens',
  '/settings/phones',
  '/settings/limits',
  '/settings/mail',
  '/search?q=e',
  '/search?q=nobody-of-that-name',
  '/events',
  '/events?type=user.*&from=2026-01-01',
  '/sign-ins',
  '/sign-ins?name=e&ip=127.0.0.1',
  '/explain',
  '/users?search=nobody-of-that-name',
  '/users?origin=console&sort=-created_at&size=50',
];

/** Pages of one thing. */
export const pagesOf = (ids: ConsoleIds): readonly string[] => [
  `/clients/${ids.client}`,
  `/clients/${ids.client}/credentials`,
  `/clients/${ids.client}/sign-in`,
  `/clients/${ids.client}/tokens`,
  `/clients/${ids.client}/logout`,
  `/clients/${ids.client}/start`,
  `/clients/${ids.client}/access`,
  `/clients/${ids.client}/activity`,
  `/resources/${ids.resource}`,
  `/resources/${ids.resource}/start`,
  `/workload-issuers/${ids.issuer}`,
  `/identity-providers/${ids.upstream}/try`,
  `/users/${ids.user}`,
  `/users/${ids.user}/edit`,
  `/users/${ids.user}/devices`,
  `/users/${ids.user}/activity`,
  `/users/${ids.user}/sign-ins`,
  `/users/${ids.user}/passkeys`,
  `/users/${ids.user}/external-identities`,
  `/users/${ids.user}/sessions`,
  `/users/${ids.user}/browser-sessions`,
  `/groups/${ids.group}`,
  `/groups/${ids.group}/members`,
  `/organizations/${ids.organization}`,
  `/organizations/${ids.organization}/members`,
  `/organizations/${ids.organization}/directory`,
  `/organizations/${ids.organization}/provider`,
  `/organizations/${ids.organization}/domains`,
  `/organizations/${ids.organization}/sign-in`,
  `/organizations/${ids.organization}/invitations`,
  `/organizations/${ids.organization}/invitations?state=all`,
  `/organizations/${ids.organization}/setup-links`,
  `/organizations/${ids.organization}/activity`,
  `/organizations/${ids.organization}/view`,
  `/organizations/${ids.organization}/view/invitations`,
  `/organizations/${ids.organization}/view/sign-ins`,
  `/organizations/${ids.organization}/view/setup`,
  `/organizations/${ids.organization}/members/${ids.user}/roles`,
  `/organization-roles/${ids.organizationRole}`,
  `/custom-attributes/${ids.attribute}`,
  `/mappings?kind=oidc&target=${ids.client}&person=${ids.user}`,
  `/service-providers/${ids.provider}`,
  `/service-providers/${ids.provider}/access`,
  `/service-providers/${ids.provider}/handover`,
  `/service-providers/${ids.provider}/activity`,
  `/service-providers/${ids.provider}/metadata`,
  `/identity-providers/${ids.upstream}`,
  `/hooks/${ids.hook}`,
  `/webhooks/${ids.webhook}`,
  `/webhooks/${ids.webhook}/deliveries`,
  `/webhooks/${ids.webhook}/deliveries?state=dead`,
  `/connectors/${ids.connector}`,
  `/connectors/${ids.connector}/status`,
  `/connectors/${ids.connector}/links`,
  `/connectors/${ids.connector}/plan`,
  `/directories/${ids.directory}`,
  `/directories/${ids.directory}/status`,
  `/directories/${ids.directory}/links`,
  `/directories/${ids.directory}/links?state=conflict&entry=${ids.entry}&find=e`,
  `/directories/${ids.directory}/plan`,
  `/directories/${ids.directory}/test`,
  `/directories/${ids.directory}/rules`,
];

/** Forms that ask before they act, by the ids of what they act on. */
export const askingForms = (ids: ConsoleIds): readonly string[] => [
  `/clients/${ids.client}/secret`,
  `/clients/${ids.client}/delete`,
  `/clients/${ids.client}/access/${ids.clientAssignment}/remove`,
  `/resources/${ids.resource}/delete`,
  `/workload-issuers/${ids.issuer}/delete`,
  `/users/${ids.user}/suspend`,
  `/users/${ids.user}/delete`,
  `/users/${ids.user}/devices/${ids.device}/revoke`,
  `/users/${ids.user}/devices/${ids.device}/keys/${ids.key}/revoke`,
  `/users/${ids.user}/passkeys/${ids.passkey}/revoke`,
  `/users/${ids.user}/external-identities/${ids.link}/remove`,
  `/users/${ids.user}/sessions/${ids.session}/end`,
  `/users/${ids.user}/sessions/end`,
  `/groups/${ids.group}/delete`,
  `/groups/${ids.group}/members/${ids.user}/remove`,
  `/organizations/${ids.organization}/delete`,
  `/organizations/${ids.organization}/members/${ids.user}/remove`,
  `/organizations/${ids.organization}/invitations/${ids.organizationInvitation}/withdraw`,
  `/organizations/${ids.organization}/setup-links/${ids.setupLink}/revoke`,
  `/organization-roles/${ids.organizationRole}/delete`,
  `/custom-attributes/${ids.attribute}/delete`,
  `/service-providers/${ids.provider}/delete`,
  `/service-providers/${ids.provider}/access/${ids.providerAssignment}/remove`,
  `/service-providers/${ids.provider}/metadata/rotate`,
  `/service-providers/${ids.provider}/metadata/approve`,
  `/identity-providers/${ids.upstream}/delete`,
  `/hooks/${ids.hook}/secret`,
  `/hooks/${ids.hook}/delete`,
  `/webhooks/${ids.webhook}/secret`,
  `/webhooks/${ids.webhook}/disable`,
  `/webhooks/${ids.webhook}/delete`,
  `/security-events/${ids.stream}/delete`,
  `/connectors/${ids.connector}/status/approve`,
  `/connectors/${ids.connector}/delete`,
  `/directories/${ids.directory}/status/approve`,
  `/directories/${ids.directory}/delete`,
];

/** The other forms below ids. */
export const actingForms = (ids: ConsoleIds): readonly string[] => [
  `/clients/${ids.client}`,
  `/clients/${ids.client}/credentials`,
  `/clients/${ids.client}/sign-in`,
  `/clients/${ids.client}/tokens`,
  `/clients/${ids.client}/logout`,
  `/clients/${ids.client}/access`,
  `/resources/${ids.resource}`,
  `/resources/${ids.resource}/start`,
  `/workload-issuers/${ids.issuer}`,
  `/users/${ids.user}/edit`,
  `/users/${ids.user}/activate`,
  `/users/${ids.user}/enrollments`,
  `/groups/${ids.group}`,
  `/groups/${ids.group}/members`,
  `/organizations/${ids.organization}`,
  `/organizations/${ids.organization}/members`,
  `/organizations/${ids.organization}/members/${ids.user}/roles`,
  `/organizations/${ids.organization}/provider`,
  `/organizations/${ids.organization}/domains`,
  `/organizations/${ids.organization}/sign-in`,
  `/organizations/${ids.organization}/check-domains`,
  `/organizations/${ids.organization}/invitations`,
  `/organizations/${ids.organization}/setup-links`,
  `/organization-roles/${ids.organizationRole}`,
  `/custom-attributes/${ids.attribute}`,
  `/service-providers/${ids.provider}`,
  `/service-providers/${ids.provider}/access`,
  `/service-providers/${ids.provider}/metadata/key`,
  `/service-providers/${ids.provider}/metadata/refresh`,
  `/identity-providers/${ids.upstream}`,
  `/hooks/${ids.hook}`,
  `/webhooks/${ids.webhook}`,
  `/webhooks/${ids.webhook}/test`,
  `/security-events/${ids.stream}/pause`,
  `/security-events/${ids.stream}/verify`,
  `/connectors/${ids.connector}`,
  `/connectors/${ids.connector}/status/sync`,
  `/connectors/${ids.connector}/links/${ids.user}/resolve`,
  `/directories/${ids.directory}`,
  `/directories/${ids.directory}/status/sync`,
  `/directories/${ids.directory}/plan`,
  `/directories/${ids.directory}/test`,
  `/directories/${ids.directory}/rules`,
  `/directories/${ids.directory}/rules/remove`,
  `/directories/${ids.directory}/links/${ids.entry}/resolve`,
  `/webhooks/${ids.webhook}/deliveries/replay`,
];
