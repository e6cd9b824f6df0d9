// `https://host` and `https://host/` are one resource (design 18, part 1): programs write an origin in both ways. Whatever is asked for,
// the registered spelling is what is stored and minted; no two resources are the same; and nothing else becomes alike by it.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { applyDocument } from '../../src/administration/declaration/apply.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Services } from '../../src/http/services.ts';
import { cibaGrantType, decide } from '../support/ciba.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { openLogin, signInByPin } from '../support/login.ts';
import type { Json, Managed } from '../support/management.ts';
import { challenge, decodeJwt, exchange, type Form, formBody, issueCode, postAs, redirectUri, refresh, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const bare = 'https://mcp.example';
const slashed = `${bare}/`;
const atPath = 'https://api.example/orders';
const text = 'The requested audience is not available to this client.';

for (const database of databases) {
  describe(`spellings of a resource on ${database}`, () => {
    let server: TestServer;
    let services: Services;
    let tenant: Tenant;
    let managed: Managed;
    let user: TestUser;
    before(async () => {
      server = await startTestServer(database);
      services = server.gatehouse.services;
      managed = await manageRootTenant(server);
      await managed.make('PATCH', '/settings', { login_methods: ['email_pin'] });
      tenant = await rootTenant(services);
      user = await createUser(services, tenant);
    });
    after(() => server.close());

    const registered = (resources: readonly string[], changes: Parameters<typeof createClient>[2] = {}): Promise<TestClient> =>
      createClient(services, tenant, { resources, scopes: ['openid', 'offline_access', 'read'], ...changes });
    const audienceOf = (token: string): unknown => [decodeJwt(token).claims['aud']].flat()[0];
    const authorization = (client: TestClient, more: Form): Form => ({
      response_type: 'code',
      client_id: client.clientId,
      redirect_uri: redirectUri,
      scope: 'read',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...more,
    });
    const authorize = (form: Form): Promise<Response> =>
      fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize?${formBody(form)}`, { redirect: 'manual', headers: { accept: 'application/json' } });
    const tokensBy = async (client: TestClient, started: Response): Promise<string> => {
      const back = await signInByPin(server, openLogin(started), (await createUser(services, tenant)).email);
      return (await tokensOf(await exchange(tenant, client, back.searchParams.get('code')!))).access_token;
    };

    for (const [own, asked] of [
      [bare, slashed],
      [slashed, bare],
      [bare, bare],
    ] as const) {
      it(`authorize, direct and pushed: ${asked} is the registered ${own}`, async () => {
        const client = await registered([own]);
        for (const name of ['resource', 'audience']) {
          assert.equal(audienceOf(await tokensBy(client, await authorize(authorization(client, { [name]: asked })))), own);
          const pushed = await postAs(tenant, client, 'par', authorization(client, { [name]: asked }));
          const { request_uri: reference } = (await pushed.json()) as { request_uri: string };
          assert.equal(pushed.status, 201);
          const form = { client_id: client.clientId, request_uri: reference };
          assert.equal(audienceOf(await tokensBy(client, await authorize(form))), own);
        }
      });
      it(`token endpoint and refresh: ${asked} is the granted ${own}`, async () => {
        const client = await registered([own]);
        const code = await issueCode(server, tenant, client, user, { scope: 'read offline_access', resource: own });
        const first = await tokensOf(await exchange(tenant, client, code, { resource: asked }));
        assert.equal(audienceOf(first.access_token), own);
        const next = await tokensOf(await refresh(tenant, client, first.refresh_token, { resource: asked, audience: own }));
        assert.equal(audienceOf(next.access_token), own);
      });
      it(`CIBA: ${asked} is the registered ${own}`, async () => {
        const client = await registered([own], { grantTypes: [cibaGrantType], backchannelTokenDeliveryMode: 'poll' });
        const person = await createUser(services, tenant);
        const started = await postAs(tenant, client, 'bc-authorize', { scope: 'openid', login_hint: person.email, resource: asked });
        const { auth_req_id: id } = (await started.json()) as { auth_req_id: string };
        await decide(server, tenant, person, 'approve');
        const tokens = await tokensOf(await postAs(tenant, client, 'token', { grant_type: cibaGrantType, auth_req_id: id }));
        assert.equal(audienceOf(tokens.access_token), own);
      });
    }
    it('introspection: a resource server sees tokens for it, however each of them spells it', async () => {
      const client = await registered([bare]);
      const code = await issueCode(server, tenant, client, user, { scope: 'read', resource: bare });
      const { access_token: token } = await tokensOf(await exchange(tenant, client, code));
      const seenBy = async (resources: readonly string[]): Promise<unknown> =>
        ((await (await postAs(tenant, await registered(resources), 'introspect', { token })).json()) as Json)['active'];
      assert.equal(await seenBy([slashed]), true);
      for (const other of ['https://mcp.example/x', 'https://mcp.example//', 'http://mcp.example', 'https://MCP.example/'])
        assert.equal(await seenBy([other]), false, other);
    });
    it('introspection: tokens for the issuer are not seen by whoever calls it with a slash', async () => {
      const client = await registered([]);
      const { access_token: token } = await tokensOf(
        await exchange(tenant, client, await issueCode(server, tenant, client, user, { scope: 'openid' })),
      );
      assert.equal(decodeJwt(token).claims['aud'], tenant.baseUrl);
      const other = await registered([`${tenant.baseUrl}/`]);
      assert.equal(await (await postAs(tenant, other, 'introspect', { token })).text(), '{"active":false}');
    });
    it('a resource says how long its tokens live under both spellings', async () => {
      await managed.make('POST', '/resources', { identifier: 'https://short.example/', name: 'Short', access_token_lifetime_seconds: 77 });
      const client = await registered(['https://short.example']);
      const code = await issueCode(server, tenant, client, user, { scope: 'read', resource: 'https://short.example' });
      assert.equal((await tokensOf(await exchange(tenant, client, code))).expires_in, 77);
    });

    it('authorize.invalid_target: nothing else is alike', async () => {
      const client = await registered([bare, atPath, 'urn:example:api']);
      const others = [
        'https://mcp.example//',
        'http://mcp.example',
        'https://MCP.example',
        'https://mcp.example:443',
        'https://mcp.example?',
        'https://mcp.example/?',
        'https://mcp.example.',
        `${atPath}/`,
        'urn:example:api/',
      ];
      for (const resource of others)
        await assertRefusal(await authorize(authorization(client, { resource })), 'authorize.invalid_target', { text });
      const two = authorization(client, { resource: bare, audience: atPath });
      await assertRefusal(await authorize(two), 'authorize.invalid_target', { text });
      assert.equal((await authorize(authorization(client, { resource: bare, audience: slashed }))).status, 303, 'two spellings are one');
    });
    it('the Management API has one spelling', async () => {
      const machine = await createClient(services, tenant, { grantTypes: ['client_credentials'], scopes: ['users:read'] });
      const answer = await postAs(tenant, machine, 'token', { grant_type: 'client_credentials', resource: `${tenant.managementApi}/` });
      await assertRefusal(answer, 'token.invalid_target', { text });
    });

    it('/resources: the same resource twice is 409, by POST, PATCH and at once; and so is the issuer', async () => {
      const first = await managed.make('POST', '/resources', { identifier: bare, name: 'One' });
      const taken = { text: 'The identifier is in use.', kind: 'identifier' };
      await assertRefusal(await managed.call('POST', '/resources', { identifier: slashed, name: 'Two' }), 'management.conflict', taken);
      const other = await managed.make('POST', '/resources', { identifier: 'https://other.example', name: 'Other' });
      await assertRefusal(await managed.call('PATCH', `/resources/${other['id']}`, { identifier: slashed }), 'management.conflict', taken);
      const renamed = await managed.make('PATCH', `/resources/${first['id']}`, { identifier: slashed, name: 'Same' });
      assert.equal(renamed['identifier'], slashed, 'its own other spelling');
      await managed.make('POST', '/resources', { identifier: `${bare}/x`, name: 'Below' });
      const issuer = await managed.call('POST', '/resources', { identifier: `${tenant.baseUrl}/`, name: 'Issuer' });
      await assertRefusal(issuer, 'management.conflict', taken);
      const raced = await Promise.all(
        Array.from({ length: 10 }, (_, at) =>
          managed.call('POST', '/resources', { identifier: `https://race.example${at % 2 === 0 ? '' : '/'}`, name: `Race ${at}` }),
        ),
      );
      assert.deepEqual(raced.map(({ status }) => status).toSorted(), [201, ...Array.from({ length: 9 }, () => 409)]);
    });
    it('documents: the same resource as one that is there is a conflict', async () => {
      await managed.make('POST', '/resources', { identifier: 'https://there.example', name: 'There' });
      const document = ['gatehouse: 1', 'resources:', '  - { identifier: "https://there.example/", name: Again }'];
      await assert.rejects(applyDocument(services, tenant.slug, document), /identifier is in use by resource/);
      const twice = [
        'gatehouse: 1',
        'resources:',
        ...['', '/'].map((end) => `  - { identifier: "https://twice.example${end}", name: Twice }`),
      ];
      await assert.rejects(applyDocument(services, tenant.slug, twice), /identifier is in use/);
    });
  });
}
