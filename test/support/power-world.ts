// A tenant with one of everything, for the graph of power: people of each sort, things that others wrote whose names say who may read them,
// and secrets that were given for one address.
import { randomUUID } from 'node:crypto';
import type { UserId } from '../../src/domain/ids.ts';
import type { Capability } from '../../src/domain/people/capabilities.ts';
import { capabilities } from '../../src/domain/people/capabilities.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { insertExternalIdentity } from '../../src/storage/sign-in/external-identities.ts';
import { enrolledPhone } from './enrolled-phone.ts';
import { createTestClient, createTestTenant, createTestUser, type Json, type Managed } from './management.ts';
import { insertTestPasskey } from './passkeys.ts';
import { createPhone } from './phone.ts';
import { roomyRate } from './roomy-rate.ts';
import type { TestServer } from './server.ts';
import { makeReceiver } from './ssf.ts';

export interface PowerPerson {
  readonly id: string;
  readonly email: string;
  /** The capabilities of their roles. */
  readonly holds: readonly Capability[];
}

export interface PowerWorld {
  readonly tenant: Managed;
  readonly stored: Tenant;
  /** `keyed` and, where there is one, `keyless` are owners; the second has a mailbox alone. */
  readonly people: Readonly<Record<'plain' | 'keyed', PowerPerson>> & { readonly keyless?: PowerPerson };
  /** Values of path parameters by the path before them. */
  readonly targets: Readonly<Record<string, readonly string[]>>;
}

/** What stands in the name of a thing, and who may see it: whoever reads its sort, or writes it. */
export const marks: Readonly<Record<string, readonly Capability[]>> = {
  'mark-people': ['users:read', 'users:write'],
  'mark-groups': ['groups:read', 'groups:write'],
  'mark-clients': ['clients:read', 'clients:write'],
  'mark-resources': ['resources:read', 'resources:write'],
  'mark-attributes': ['settings:read', 'settings:write'],
  'mark-roles': ['administrators:read', 'administrators:write'],
  'mark-providers': ['service-providers:read', 'service-providers:write'],
  'mark-signin': ['sign-in:read', 'sign-in:write'],
  'mark-webhooks': ['webhooks:read', 'webhooks:write'],
  'mark-organizations': ['organizations:read', 'organizations:write'],
  'mark-connectors': ['connectors:read', 'connectors:write'],
  'mark-devices': ['devices:read', 'devices:write'],
  'mark-mails': ['mail:read', 'mail:write'],
  'mark-texts': ['branding:read', 'branding:write'],
};

/** Values nobody is ever shown. */
export const keptSecrets = ['kept-secret-of-provider', 'kept-secret-of-connector', 'kept-secret-of-directory'] as const;

/** @param withKeyless false: every administrator has a phone */
export async function makePowerWorld(server: TestServer, withKeyless: boolean): Promise<PowerWorld> {
  const tenant = await createTestTenant(server, {
    settings: { rate_limits: { login_starts_per_ip: roomyRate, pin_attempts_per_ip: roomyRate, device_requests_per_ip: roomyRate } },
  });
  const { services } = server.gatehouse;
  const stored = (await services.tenants.bySlug(tenant.slug))!;
  const person = async (name: string, roles: readonly string[]): Promise<PowerPerson> => {
    const email = `${name}.mark-people@${tenant.slug}.example`;
    const { id } = await createTestUser(tenant, email, { admin_roles: roles });
    return { id, email, holds: roles.length === 0 ? [] : capabilities.filter((one) => !one.startsWith('tenants:')) };
  };
  const plain = await person('plain', []);
  const keyed = await person('keyed', ['owner']);
  const keyless = withKeyless ? await person('keyless', ['owner']) : undefined;
  const subjectOf = ({ id, email }: PowerPerson) => ({ tenant: stored.id, id: id as UserId, email });
  const idOf = async (path: string, body: Json): Promise<string> => String((await tenant.make('POST', path, body))['id']);

  const phoneOf = (one: PowerPerson) =>
    enrolledPhone(server, subjectOf(one), createPhone(tenant.baseUrl, server.clock.nowMs), { platform: 'ios', name: 'mark-devices' });
  const [plainPhone, keyedPhone] = [await phoneOf(plain), await phoneOf(keyed)];
  const passkeys = await Promise.all([plain, keyed].map((one) => insertTestPasskey(server, stored, subjectOf(one))));

  // Our own pages register their clients when somebody comes.
  for (const page of ['console', 'account']) await fetch(`${tenant.baseUrl}/${page}`, { redirect: 'manual' });
  const weakClient = await createTestClient(tenant, {
    name: 'mark-clients',
    grant_types: ['client_credentials'],
    redirect_uris: [],
    scopes: [],
  });
  const strongClient = await createTestClient(tenant, {
    name: 'mark-clients strong',
    grant_types: ['client_credentials'],
    redirect_uris: [],
    scopes: keyed.holds,
  });
  const loginClient = await createTestClient(tenant, { name: 'mark-clients login', access_policy: 'assigned' });
  const receiver = await makeReceiver(tenant, { name: 'mark-clients receiver' });
  const stream = await receiver.makeStream();
  await receiver.setStatus(stream, 'paused');
  const assignment = await idOf(`/clients/${loginClient.client_id}/assignments`, { user_id: keyed.id });
  const initialToken = await idOf('/initial-access-tokens', {
    count: 1,
    expires_in_seconds: 86_400,
    policy: { hosts: ['rp.example'], grant_types: ['authorization_code'], scopes: ['openid'] },
  });
  const resource = await idOf('/resources', { identifier: 'https://mark-resources.example', name: 'mark-resources' });
  const attribute = await idOf('/custom-attributes', { name: 'code', label: 'mark-attributes', edit: 'admin' });
  await tenant.make('POST', '/roles', { name: 'mark-roles-none', description: 'mark-roles', capabilities: [] });
  await tenant.make('POST', '/roles', { name: 'mark-roles-strong', description: 'mark-roles', capabilities: keyed.holds });
  const group = await idOf('/groups', { display_name: 'mark-groups' });
  await tenant.make('POST', `/groups/${group}/members`, { user_id: plain.id });
  const held = await idOf('/groups', { display_name: 'mark-groups held' });
  await tenant.make('POST', `/groups/${held}/members`, { user_id: keyed.id });
  const invitation = await idOf(`/users/${plain.id}/invitations`, { mail: false });
  const serviceProvider = await idOf('/service-providers', {
    entity_id: 'https://mark-providers.example/saml',
    acs: [{ url: 'https://mark-providers.example/acs' }],
    name: 'mark-providers',
    signing_key: 'own',
    access_policy: 'assigned',
  });
  await tenant.make('POST', '/organization-roles', { name: 'mark-organizations', scopes: ['orders:approve'] });
  await tenant.make('POST', '/organization-roles', { name: 'mark-organizations-free' });
  const organization = await idOf('/organizations', { name: 'mark-organizations' });
  await tenant.make('PUT', `/organizations/${organization}/members/${plain.id}`, { roles: ['mark-organizations'] });
  const asked = await idOf(`/organizations/${organization}/invitations`, { email: 'asked@mark-people.example', mail: false });
  const setupLink = await idOf(`/organizations/${organization}/setup-links`, {});
  const issuer = await idOf('/workload-issuers', { name: 'Platform', issuer: 'https://mark-clients.example/ci' });
  const resourceAssignment = await idOf(`/resources/${resource}/assignments`, { user_id: keyed.id });
  const spAssignment = await idOf(`/service-providers/${serviceProvider}/assignments`, { user_id: keyed.id });
  const provider = (alias: string) =>
    idOf('/identity-providers', {
      ...{ alias, kind: 'oidc', name: 'mark-signin', issuer: `https://${alias}.mark-signin.example`, client_id: 'gatehouse' },
      ...{ client_secret: keptSecrets[0], trust_email: true, create_users: true },
    });
  const providers = [await provider('lone'), await provider('linked')] as const;
  const linked = [plain, keyed, ...(keyless === undefined ? [] : [keyless])];
  const links = linked.map(({ id, email }) => ({ id: randomUUID(), userId: id, email, subject: `${id} there` }));
  await services.database.write(stored.id, async (queries) => {
    for (const link of links) {
      const identity = { ...link, providerId: providers[1], issuer: 'https://linked.mark-signin.example' };
      await insertExternalIdentity(queries, stored.id, identity as never); // ids the server gave
    }
  });
  const hook = await idOf('/hooks', { point: 'sign_in', url: 'https://mark-signin.example/hook', on_failure: 'continue' });
  const webhook = await idOf('/webhooks', { url: 'https://mark-webhooks.example/in', types: ['user.*'], enabled: false });
  const connector = (fields: Json) =>
    idOf('/connectors', {
      ...{ name: 'mark-connectors', enabled: false, base_url: 'https://mark-connectors.example/scim' },
      ...{ auth: { type: 'bearer', token: keptSecrets[1] }, ...fields },
    });
  const connectors = [await connector({}), await connector({ name: 'mark-connectors groups', groups: ['mark-groups'] })];
  const directory = await idOf('/directories', {
    ...{ name: 'mark-connectors', enabled: false, kind: 'openldap', url: 'ldaps://mark-connectors.example', base_dn: 'dc=mark' },
    ...{ bind_dn: 'cn=reader,dc=mark', bind_password: keptSecrets[2] },
  });
  const picture = await idOfPicture(tenant);
  await tenant.make('PUT', '/branding/draft', { accent: '#1d4ed8' });
  await tenant.make('PUT', '/texts/en/draft', { identify: { title: 'mark-texts' } });
  await tenant.make('POST', '/texts/en/publish');
  await tenant.make('PUT', '/texts/en/draft', { identify: { title: 'mark-texts 2' } });
  await tenant.make('PUT', '/mails/pin/en/draft', { subject: 'mark-mails', body: '{{code}}' });
  await tenant.make('POST', '/mails/pin/en/publish');
  await tenant.make('PUT', '/mails/pin/en/draft', { subject: 'mark-mails 2', body: '{{code}}' });

  const everybody = [plain.id, keyed.id, ...(keyless === undefined ? [] : [keyless.id])];
  return {
    tenant,
    stored,
    people: { plain, keyed, ...(keyless === undefined ? {} : { keyless }) },
    targets: {
      '/clients/': [weakClient.client_id, loginClient.client_id, strongClient.client_id, 'gatehouse-account'],
      '/initial-access-tokens/': [initialToken],
      '/ssf-streams/': [stream.stream_id],
      '/resources/': [resource],
      '/workload-issuers/': [issuer],
      '/organization-roles/': ['mark-organizations', 'mark-organizations-free'],
      '/organizations/': [organization],
      '/custom-attributes/': [attribute],
      '/roles/': ['mark-roles-none', 'mark-roles-strong', 'owner'],
      '/users/': everybody,
      '/groups/': [group, held],
      '/members/': everybody,
      '/devices/': [plainPhone.deviceId, keyedPhone.deviceId],
      '/passkeys/': passkeys.flatMap((one) => (one.ok ? [one.passkey.id] : [])),
      '/invitations/': [invitation, asked],
      '/setup-links/': [setupLink],
      '/external-identities/': links.map(({ id }) => id),
      '/service-providers/': [serviceProvider],
      '/assignments/': [assignment, spAssignment, resourceAssignment],
      '/identity-providers/': providers,
      '/hooks/': [hook],
      '/webhooks/': [webhook],
      '/connectors/': connectors,
      '/directories/': [directory],
      '/images/': [picture],
      '/texts/': ['en'],
      '/mails/': ['pin'],
      '/mails/pin/': ['en'],
    },
  };
}

async function idOfPicture(tenant: Managed): Promise<string> {
  const { pngOf } = await import('./pictures.ts');
  const response = await fetch(`${tenant.managementApi}/images`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant.token}`, 'content-type': 'image/png' },
    body: new Uint8Array(pngOf(4, 4)),
  });
  return String(((await response.json()) as Json)['sha256']);
}
