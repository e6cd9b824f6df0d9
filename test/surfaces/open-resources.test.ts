// Resources that are open to programs nobody registered, and those that are for listed clients (design 18, part 1): what is registered of
// them, what the metadata of their issuer says, and what a request without `scope` gets.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { applyDocument } from '../../src/administration/declaration/apply.ts';
import { exportDocument } from '../../src/administration/declaration/export.ts';
import { openSession } from '../../src/administration/declaration/reconcile.ts';

import { publishedResourcesMax, publishedScopesMax, strangerScopes } from '../../src/domain/client/resource.ts';
import { standardScopes } from '../../src/domain/oidc/standard-scopes.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Services } from '../../src/http/services.ts';
import { loopbackUri, openTenant, personOf, register, signIn } from '../support/agents.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser } from '../support/fixtures.ts';
import { openLogin, signInByPin } from '../support/login.ts';
import { callJson, callSystem, clientCredentialsToken, createTestTenant, type Json, type Managed } from '../support/management.ts';
import { challenge, exchange, type Form, formBody, redirectUri, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const identifier = 'https://mcp.example/api';

for (const database of databases) {
  describe(`open and listed resources on ${database}`, () => {
    let server: TestServer;
    let services: Services;
    before(async () => {
      server = await startTestServer(database);
      services = server.gatehouse.services;
    });
    after(() => server.close());

    const fresh = (): Promise<Managed> => createTestTenant(server, { settings: { login_methods: ['email_pin'] } });
    const loaded = async ({ slug }: Managed): Promise<Tenant> => {
      const tenant = await services.tenants.bySlug(slug);
      assert.ok(tenant);
      return tenant;
    };
    const metadataOf = async ({ baseUrl }: Managed): Promise<Json> =>
      JSON.parse(await (await fetch(`${baseUrl}/.well-known/openid-configuration`)).text()) as Json;

    it('one is listed unless it says otherwise, and is shown whole', async () => {
      const managed = await fresh();
      const made = await managed.make('POST', '/resources', { identifier, name: 'MCP' });
      const { clients, refresh, unknown_access_policy: policy, documentation_uri: documentation } = made;
      assert.deepEqual([clients, refresh, policy, documentation], ['listed', true, 'everyone', null]);
      const change = {
        clients: 'any',
        refresh: false,
        unknown_access_policy: 'assigned',
        documentation_uri: 'https://docs.example/mcp',
        scopes: [{ name: 'tools', is_default: true }, { name: 'admin' }],
      };
      const changed = await managed.make('PATCH', `/resources/${made['id']}`, change);
      assert.deepEqual({ ...changed, ...change }, changed);
      for (const [name, value] of Object.entries({
        clients: 'all',
        unknown_access_policy: 'nobody',
        documentation_uri: 'http://docs.example',
        scopes: [{ name: 'a', is_default: 'yes' }],
      })) {
        const refused = await managed.call('PATCH', `/resources/${made['id']}`, { [name]: value });
        assert.equal(refused.status, 400, name);
        assert.match(String(((await refused.json()) as Json)['kind']), new RegExp(`^${name}`));
      }
    });
    it('metadata: nothing of it while every resource is listed; with an open one where programs may go and by which scopes', async () => {
      const managed = await fresh();
      const made = await managed.make('POST', '/resources', { identifier, name: 'MCP', scopes: [{ name: 'tools' }] });
      await managed.make('POST', '/resources', { identifier: 'urn:listed', name: 'Listed', scopes: [{ name: 'secret' }] });
      const before = await metadataOf(managed);
      assert.deepEqual(before['scopes_supported'], standardScopes);
      assert.ok(!('protected_resources' in before));
      await managed.make('PATCH', `/resources/${made['id']}`, { clients: 'any' });
      const open = await metadataOf(managed);
      assert.deepEqual(open['protected_resources'], [identifier]);
      assert.deepEqual([open['client_id_metadata_document_supported'], before['client_id_metadata_document_supported']], [true, undefined]);
      assert.deepEqual(open['scopes_supported'], [...strangerScopes, 'tools']);
      await managed.make('PATCH', `/resources/${made['id']}`, { clients: 'listed' });
      assert.deepEqual(await metadataOf(managed), before);
    });
    it(`metadata: at most ${publishedResourcesMax} resources and ${publishedScopesMax} scopes`, async () => {
      const managed = await fresh();
      const open = (at: number): Json => ({
        identifier: `https://r.example/${String(at).padStart(3, '0')}`,
        name: 'R',
        clients: 'any',
        scopes: [{ name: `a${at}` }, ...(at < 97 ? [{ name: `b${at}` }] : [])],
      });
      const sizes = async (): Promise<readonly number[]> => {
        const { protected_resources: resources, scopes_supported: scopes } = await metadataOf(managed);
        return [(resources as readonly string[]).length, (scopes as readonly string[]).length];
      };
      for (let at = 0; at < 98; at += 1) await managed.make('POST', '/resources', open(at));
      assert.deepEqual(await sizes(), [98, 199]);
      await managed.make('POST', '/resources', open(98));
      assert.deepEqual(await sizes(), [99, publishedScopesMax]);
      await managed.make('POST', '/resources', open(99));
      assert.deepEqual(await sizes(), [publishedResourcesMax, publishedScopesMax]);
      await managed.make('POST', '/resources', open(100));
      assert.deepEqual(await sizes(), [publishedResourcesMax, publishedScopesMax]);
    });

    it('a request without scope gets the default scopes of its resource that its client has', async () => {
      const managed = await fresh();
      const tenant = await loaded(managed);
      const scopes = [{ name: 'tools', is_default: true }, { name: 'files', is_default: true }, { name: 'admin' }];
      await managed.make('POST', '/resources', { identifier: 'https://bare.example', name: 'MCP', scopes });
      const client = await createClient(services, tenant, { resources: ['https://bare.example'], scopes: ['openid', 'tools', 'admin'] });
      const granted = async (more: Form): Promise<string> => {
        const form = { response_type: 'code', client_id: client.clientId, redirect_uri: redirectUri, code_challenge: challenge };
        const query = formBody({ ...form, code_challenge_method: 'S256', ...more });
        const started = await fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize?${query}`, { redirect: 'manual' });
        const back = await signInByPin(server, openLogin(started), (await createUser(services, tenant)).email);
        return (await tokensOf(await exchange(tenant, client, back.searchParams.get('code')!))).scope;
      };
      assert.equal(await granted({ resource: 'https://bare.example/' }), 'tools');
      assert.equal(await granted({ resource: 'https://bare.example', scope: 'admin' }), 'admin');
      assert.equal(await granted({}), '', 'without a resource there is no default');
    });

    it('programs nobody registered never open the Management API or SCIM, also where its address was another when it was registered', async () => {
      const managed = await openTenant(server);
      const admin = await personOf(server, managed);
      await managed.make('PUT', `/users/${admin.id}/roles`, { roles: ['owner'] });
      const moveTo = async (domain: string | null): Promise<void> => {
        assert.equal((await callSystem(server, 'PATCH', `/tenants/${managed.id}`, { domain })).status, 200);
      };
      const open = {
        identifier: managed.managementApi,
        name: 'Ours',
        clients: 'any',
        scopes: [{ name: 'users:read' }, { name: 'scim:read' }],
      };
      await assertRefusal(await managed.call('POST', '/resources', open), 'management.conflict', {
        kind: 'identifier',
        text: 'The identifier is in use.',
      });
      await moveTo('https://login.open-resources.example');
      const there = await clientCredentialsToken(managed.baseUrl, managed.adminClientId, managed.adminClientSecret);
      assert.equal((await callJson(`${managed.managementApi}/resources`, there, 'POST', open)).status, 201);
      await moveTo(null);
      const { client_id: id } = (await (
        await register(managed, { redirect_uris: [loopbackUri], token_endpoint_auth_method: 'none' })
      ).json()) as Json;
      const form = { client_id: String(id), resource: managed.managementApi, scope: 'users:read scim:read' };
      const { access_token: token } = await signIn(server, managed, form, admin.email);
      await assertRefusal(await callJson(`${managed.managementApi}/users`, token, 'GET'), 'management.unauthorized');
      assert.equal((await callJson(`${managed.baseUrl}/scim/v2/Users`, token, 'GET')).status, 401);
    });

    it('people are assigned to it by API and document, and go with it', async () => {
      const managed = await fresh();
      const tenant = await loaded(managed);
      const user = await createUser(services, tenant);
      const { id } = await managed.make<{ id: string }>('POST', '/resources', { identifier, name: 'MCP' });
      const at = `/resources/${id}/assignments`;
      const made = await managed.make('POST', at, { user_id: user.id });
      const again = await managed.call('POST', at, { user_id: user.id });
      await assertRefusal(again, 'management.conflict', { text: 'This is assigned already.', kind: 'user_id' });
      assert.deepEqual((await managed.make<{ items: readonly Json[] }>('GET', at)).items, [made]);
      await assertRefusal(await managed.call('GET', '/resources/nothing/assignments'), 'management.not_found');
      const lines = await exported(services, tenant);
      assert.ok(lines.includes(`resource: ${id}`), lines);
      assert.equal((await managed.call('DELETE', `${at}/${made['id']}`)).status, 204);
      const document = ['gatehouse: 1', 'assignments:', `  - { resource: "${identifier}", user: "${user.email}" }`];
      await applyDocument(services, tenant.slug, document);
      assert.equal((await managed.make<{ items: readonly Json[] }>('GET', at)).items.length, 1);
      await assert.rejects(
        applyDocument(services, tenant.slug, ['gatehouse: 1', 'assignments:', `  - { resource: "urn:none", user: "${user.email}" }`]),
        /the id or identifier of a resource/,
      );
      assert.equal((await managed.call('DELETE', `/resources/${id}`)).status, 204);
      assert.ok(!(await exported(services, tenant)).includes(id));
    });
    it('documents: an open resource is exported with what it says, and one by default as before', async () => {
      const managed = await fresh();
      const tenant = await loaded(managed);
      const document = [
        'gatehouse: 1',
        'resources:',
        `  - { identifier: "${identifier}", name: MCP, clients: any, refresh: false, unknown_access_policy: assigned, scopes: [{ name: tools, is_default: true }] }`,
        '  - { identifier: "urn:plain", name: Plain }',
      ];
      await applyDocument(services, tenant.slug, document);
      const lines = await exported(services, tenant);
      for (const part of ['clients: any', 'refresh: false', 'unknown_access_policy: assigned', 'is_default: true'])
        assert.equal(lines.split(part).length, 2, part);
    });
  });
}

async function exported(services: Services, tenant: Tenant): Promise<string> {
  let text = '';
  const session = await openSession(services, tenant, { actor: 'operator' });
  for await (const part of exportDocument(session, { withSecrets: false, asJson: false })) text += part;
  return text;
}
