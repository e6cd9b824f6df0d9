// Two mirrored tenants, every route of the management API with ids: a foreign id is answered exactly as an unknown one, and
// nothing of the other tenant changes. A new route without ids here fails the test.
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { addImage } from '../../src/administration/appearance/images.ts';
import type { LdapDirectoryId, UserId } from '../../src/domain/ids.ts';
import { managementEndpoints } from '../../src/management/endpoints.ts';
import { writeLinks } from '../../src/storage/records/directory-links.ts';
import { findClient } from '../../src/storage/registry/clients/clients.ts';
import { insertExternalIdentity } from '../../src/storage/sign-in/external-identities.ts';
import { databases } from '../support/databases.ts';
import { enrolledPhone } from '../support/enrolled-phone.ts';
import { issueTokens } from '../support/issued-tokens.ts';
import { createTestClient, createTestTenant, createTestUser, type Managed } from '../support/management.ts';
import { givePasskey } from '../support/passkeys.ts';
import { createPhone } from '../support/phone.ts';
import { pngOf } from '../support/pictures.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { makeReceiver } from '../support/ssf.ts';

/** The ids of everything a tenant has, by the parameter names of the routes. */
interface Ids {
  readonly [resource: string]: Readonly<Record<string, string>>;
}

const unknownUuid = (): string => randomUUID();
const unknownIds: Ids = {
  clients: { id: randomBytes(16).toString('base64url'), assignment_id: unknownUuid() },
  resources: { id: unknownUuid(), assignment_id: unknownUuid() },
  'workload-issuers': { id: unknownUuid() },
  'scim-tokens': { id: unknownUuid() },
  'organization-roles': { name: 'unknown-role' },
  organizations: {
    id: unknownUuid(),
    user_id: unknownUuid(),
    token_id: unknownUuid(),
    invitation_id: unknownUuid(),
    link_id: unknownUuid(),
  },
  users: {
    id: unknownUuid(),
    session_id: unknownUuid(),
    passkey_id: unknownUuid(),
    identity_id: unknownUuid(),
    invitation_id: unknownUuid(),
    recovery_id: unknownUuid(),
  },
  'identity-providers': { id: unknownUuid() },
  webhooks: { id: unknownUuid(), delivery_id: unknownUuid() },
  'ssf-streams': { id: unknownUuid() },
  connectors: { id: unknownUuid(), link_id: unknownUuid() },
  directories: { id: unknownUuid(), link_id: unknownUuid() },
  'initial-access-tokens': { id: unknownUuid() },
  'custom-attributes': { id: unknownUuid() },
  hooks: { id: unknownUuid() },
  images: { sha256: randomBytes(32).toString('hex') },
  groups: { id: unknownUuid(), user_id: unknownUuid() },
  devices: { id: unknownUuid(), key_id: unknownUuid() },
  'service-providers': { id: unknownUuid(), assignment_id: unknownUuid() },
  events: { request_id: randomBytes(16).toString('base64url') },
  tenants: { id: unknownUuid() },
  roles: { name: 'unknown' },
};

const tokenBody = { name: 'Okta', expires_in_days: 1 };

async function fill(server: TestServer, tenant: Managed): Promise<Ids> {
  const { services } = server.gatehouse;
  const client = await createTestClient(tenant, { access_policy: 'assigned' });
  const user = await createTestUser(tenant, 'mirrored@example.com');
  const group = await tenant.make('POST', '/groups', { display_name: 'Mirrored' });
  await tenant.make('POST', `/groups/${group['id']}/members`, { user_id: user.id });
  const resource = await tenant.make('POST', '/resources', { identifier: 'https://api.example', name: 'API' });
  const provider = await tenant.make('POST', '/service-providers', {
    entity_id: 'https://sp.example',
    acs: [{ url: 'https://sp.example/acs' }],
  });
  const assigned = await tenant.make('POST', `/clients/${client.client_id}/assignments`, { user_id: user.id });
  const admitted = await tenant.make('POST', `/service-providers/${provider['id']}/assignments`, { user_id: user.id });
  const issuer = await tenant.make('POST', '/workload-issuers', { name: 'Platform', issuer: 'https://ci.example' });
  await tenant.make('POST', '/organization-roles', { name: `approver-${tenant.slug}` });
  const organization = await tenant.make('POST', '/organizations', { name: 'globex' });
  await tenant.make('PUT', `/organizations/${organization['id']}/members/${user.id}`, { roles: [`approver-${tenant.slug}`] });
  const ofOrganization = await tenant.make('POST', `/organizations/${organization['id']}/scim-tokens`, tokenBody);
  const asked = await tenant.make('POST', `/organizations/${organization['id']}/invitations`, { email: 'asked@x.example' });
  const setupLink = await tenant.make('POST', `/organizations/${organization['id']}/setup-links`);
  const reached = await tenant.make('POST', `/resources/${resource['id']}/assignments`, { user_id: user.id });
  const stored = await services.tenants.bySlug(tenant.slug);
  assert.ok(stored !== undefined);
  // The ids came from the server as text.
  const userId = user.id as UserId;
  const tokens = await issueTokens(
    services,
    stored,
    (await services.database.read(stored.id, (queries) => findClient(queries, stored.id, client.client_id)))!,
    userId,
  );
  await enrolledPhone(server, { tenant: stored.id, id: userId, email: '' }, createPhone(tenant.baseUrl, server.clock.nowMs));
  const passkey = await givePasskey(server, stored, { id: userId, email: '' });
  const devices = await tenant.make<{ items: readonly { id: string; keys: readonly { key_id: string }[] }[] }>(
    'GET',
    `/users/${user.id}/devices`,
  );
  const upstream = await tenant.make('POST', '/identity-providers', {
    ...{ alias: 'acme', kind: 'oidc', name: 'Acme', issuer: 'https://acme.example', client_id: 'x' },
  });
  const identityId = randomUUID();
  const link = { id: identityId, providerId: upstream['id'], issuer: 'https://acme.example', subject: 's', userId, email: undefined };
  await services.database.write(stored.id, (queries) => insertExternalIdentity(queries, stored.id, link as never)); // ids the server gave
  const invitation = await tenant.make('POST', `/users/${user.id}/invitations`, {});
  const recovery = await tenant.make('POST', `/users/${user.id}/recoveries`, { reason: 'Lost phone' });
  const attribute = await tenant.make('POST', '/custom-attributes', { name: 'badge', type: 'string' });
  const hook = await tenant.make('POST', '/hooks', { point: 'sign_in', url: 'https://hooks.example', on_failure: 'continue' });
  const initial = await tenant.make('POST', '/initial-access-tokens', {
    count: 1,
    expires_in_seconds: 60,
    policy: { hosts: ['app.example'], grant_types: ['authorization_code'], scopes: ['openid'] },
  });
  await tenant.make('POST', '/roles', { name: `of-${tenant.slug}` });
  const scimToken = await tenant.make('POST', '/scim-tokens', tokenBody);
  const webhook = await tenant.make('POST', '/webhooks', { url: 'https://hooks.example', types: ['group.created'] });
  const event = await tenant.call('POST', '/groups', { display_name: 'For its event' });
  const stream = await (await makeReceiver(tenant)).makeStream();
  const connector = await tenant.make('POST', '/connectors', {
    ...{ name: 'Payroll', base_url: 'https://payroll.invalid/scim', auth: { type: 'bearer', token: 'mirrored' } },
  });
  const directory = await tenant.make('POST', '/directories', {
    ...{ name: 'Corp', kind: 'openldap', url: 'ldaps://corp.invalid', bind_dn: 'cn=reader,dc=corp', bind_password: 'mirrored' },
    ...{ base_dn: 'dc=corp' },
  });
  const entry = randomUUID();
  const whose = { tenant: stored.id, directory: directory['id'] as LdapDirectoryId }; // an id of the server
  await services.database.write(stored.id, (queries) =>
    writeLinks(queries, whose, 1, [
      {
        remote_id: entry,
        kind: 'user',
        local_id: null,
        dn: 'uid=ada,dc=corp',
        dnKey: 'uid=ada,dc=corp',
        hash: null,
        state: 'conflict',
        reason: 'mirrored',
      },
    ]),
  );
  await services.jobs.runNow('feeders-catch-up');
  await services.jobs.runNow('connector-feed');
  await services.connectors.settled();
  const image = await addImage(services, stored.id, pngOf(2, 2, { color: [...randomBytes(3)] }), { actor: 'test', requestId: 'image' });
  assert.ok(image.ok);
  await services.jobs.runNow('webhook-feed');
  const { items: waiting } = await tenant.make<{ items: readonly { id: string }[] }>('GET', `/webhooks/${webhook['id']}/deliveries`);
  return {
    clients: { id: client.client_id, assignment_id: String(assigned['id']) },
    resources: { id: String(resource['id']), assignment_id: String(reached['id']) },
    'workload-issuers': { id: String(issuer['id']) },
    'organization-roles': { name: `approver-${tenant.slug}` },
    organizations: {
      id: String(organization['id']),
      user_id: user.id,
      token_id: String(ofOrganization['id']),
      invitation_id: String(asked['id']),
      link_id: String(setupLink['id']),
    },
    users: {
      id: user.id,
      session_id: tokens.grantId,
      passkey_id: passkey.id,
      identity_id: identityId,
      invitation_id: String(invitation['id']),
      recovery_id: String(recovery['id']),
    },
    'identity-providers': { id: String(upstream['id']) },
    webhooks: { id: String(webhook['id']), delivery_id: waiting[0]!.id },
    'ssf-streams': { id: stream.stream_id },
    connectors: { id: String(connector['id']), link_id: user.id },
    directories: { id: String(directory['id']), link_id: entry },
    'initial-access-tokens': { id: String(initial['id']) },
    'custom-attributes': { id: String(attribute['id']) },
    hooks: { id: String(hook['id']) },
    groups: { id: String(group['id']), user_id: user.id },
    devices: { id: devices.items[0]!.id, key_id: devices.items[0]!.keys[0]!.key_id },
    'service-providers': { id: String(provider['id']), assignment_id: String(admitted['id']) },
    events: { request_id: event.headers.get('x-request-id')! },
    tenants: { id: tenant.id },
    roles: { name: `of-${tenant.slug}` },
    'scim-tokens': { id: String(scimToken['id']) },
    images: { sha256: image.image.sha256 },
  };
}

interface Route {
  readonly method: string;
  readonly path: string;
}

const resourceOf = (path: string): string => path.split('/')[1]!;
/** What stands in these paths is a name that every tenant has. */
const named: ReadonlySet<string> = new Set(['texts', 'mails']);
const routes: readonly Route[] = managementEndpoints.filter(({ path }) => path.includes('/:') && !named.has(resourceOf(path)));
const names = (path: string): readonly string[] => [...path.matchAll(/:([a-z0-9_]+)/g)].map((match) => match[1]!);

/** The path with these ids; the parameter named `own` comes from the caller's own tenant. */
function fillIn(path: string, ids: Ids, own: Ids, keptName?: string): string {
  const resource = resourceOf(path);
  return path.replace(/:([a-z0-9_]+)/g, (_match, name: string) => {
    const id = (name === keptName ? own : ids)[resource]?.[name];
    assert.ok(id !== undefined, `${path}: the test has no ${name} of ${resource}`);
    return encodeURIComponent(id);
  });
}

/** A body that is right in itself, with ids of the caller's own tenant. */
function bodyOf({ method, path }: Route, own: Ids): unknown {
  if (method === 'PATCH') return {};
  if (method === 'PUT' && path.endsWith('/roles')) return { roles: [] };
  if (path.endsWith('/members/:user_id')) return {};
  if (method !== 'POST') return undefined;
  if (path.endsWith('/scim-tokens')) return tokenBody;
  if (path === '/organizations/:id/invitations') return { email: 'asked@x.example' };
  if (path.endsWith('/recoveries')) return { reason: 'Lost phone' };
  if (path.endsWith('/signing-keys')) return {};
  if (path === '/webhooks/:id/replay') return { state: 'dead' };
  if (path.endsWith('/status')) return { status: 'paused' };
  if (path.endsWith('/resolve')) return { action: 'ignore' };
  if (path === '/directories/:id/sync') return {};
  if (path.endsWith('/metadata-refresh/approve')) return { hosts: ['sp.example'] };
  if (path.endsWith('/assignments') || path.endsWith('/members') || path.endsWith('/provision')) return { user_id: own['users']!['id'] };
  return undefined;
}

for (const database of databases) {
  describe(`management isolation on ${database}`, () => {
    let server: TestServer;
    let own: Managed;
    let other: Managed;
    let ownIds: Ids;
    let otherIds: Ids;
    before(async () => {
      server = await startTestServer(database);
      [own, other] = [await createTestTenant(server), await createTestTenant(server)];
      ownIds = await fill(server, own);
      otherIds = await fill(server, other);
    });
    after(() => server.close());

    const snapshot = async (tenant: Managed): Promise<string> => {
      const lists = ['/clients', '/resources', '/users', '/groups', '/service-providers', '/signing-keys', '/settings'];
      // When a client was last used is written a moment after its token.
      const text = (key: string, value: unknown): unknown => (key === 'last_used_at' ? undefined : value);
      return (await Promise.all(lists.map(async (path) => JSON.stringify(await tenant.make('GET', path), text)))).join('\n');
    };
    const ask = async (route: Route, path: string): Promise<string> => {
      const response = await own.call(route.method, path, bodyOf(route, ownIds));
      const headers = [...response.headers].filter(([name]) => !['x-request-id', 'date'].includes(name));
      return JSON.stringify([response.status, headers, await response.text()]);
    };

    it('there are routes to check', () => assert.ok(routes.length >= 30, String(routes.length)));

    it('every route: a foreign id is answered as an unknown one, byte for byte', async () => {
      const before = await snapshot(other);
      for (const route of routes) {
        const foreign = await ask(route, fillIn(route.path, otherIds, ownIds));
        assert.match(foreign, /^\[404,/, `${route.method} ${route.path}`);
        assert.equal(foreign, await ask(route, fillIn(route.path, unknownIds, ownIds)), `${route.method} ${route.path}`);
        for (const name of names(route.path).slice(0, -1)) {
          const half = await ask(route, fillIn(route.path, otherIds, ownIds, name));
          assert.equal(half, await ask(route, fillIn(route.path, unknownIds, ownIds, name)), `${route.method} ${route.path}, own ${name}`);
        }
      }
      assert.equal(await snapshot(other), before);
    });

    it('ids in bodies: a foreign user or group is answered as an unknown one', async () => {
      const paths = [
        `/groups/${ownIds['groups']!['id']}/members`,
        `/clients/${ownIds['clients']!['id']}/assignments`,
        `/service-providers/${ownIds['service-providers']!['id']}/assignments`,
      ];
      for (const path of paths) {
        const answers = await Promise.all([otherIds, unknownIds].map((ids) => own.call('POST', path, { user_id: ids['users']!['id'] })));
        const [foreign, unknown] = await Promise.all(answers.map(async (answer) => [answer.status, await answer.text()]));
        assert.equal(foreign![0], 400);
        assert.deepEqual(foreign, unknown, path);
      }
    });

    it('the token of one tenant is worth nothing at another', async () => {
      for (const [tenant, token] of [
        [own, other.token],
        [other, own.token],
      ] as const) {
        const response = await fetch(`${tenant.managementApi}/users`, { headers: { authorization: `Bearer ${token}` } });
        assert.equal(response.status, 401);
      }
    });
  });
}
