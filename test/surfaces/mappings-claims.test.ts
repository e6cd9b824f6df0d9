// What OpenID clients are told by mapping rules (design 16, section 1): ID token, UserInfo and access token, the default table and a
// client's own, refusals, the event of a rule that gives too much, and the preview. On both databases.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { scopeOf } from '../../src/oidc/user-claims.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser, rootTenant, type TestClient } from '../support/fixtures.ts';
import { type Json, jsonOf, type Managed } from '../support/management.ts';
import { decodeJwt, exchange, issueCode, refresh, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const claimsIn = (token: string): Json => decodeJwt(token).claims;

for (const database of databases) {
  describe(`mappings of claims (${database})`, () => {
    let server: TestServer;
    let managed: Managed;
    let ada: Awaited<ReturnType<typeof createUser>>;
    before(async () => {
      server = await startTestServer(database);
      managed = await manageRootTenant(server);
      await managed.make('POST', '/custom-attributes', { name: 'level', type: 'number' });
      ada = await createUser(server.gatehouse.services, await rootTenant(server.gatehouse.services), 'ada@example.com');
      await managed.make('PATCH', `/users/${ada.id}`, { custom: { level: 3 }, enterprise: { department: 'Mathematics' } });
      for (const name of ['app-admin', 'app-editor', 'other']) {
        const group = await managed.make('POST', '/groups', { display_name: name });
        await managed.make('POST', `/groups/${group['id']}/members`, { user_id: ada.id });
      }
    });
    after(() => server.close());
    const tenantNow = (): Promise<Tenant> => rootTenant(server.gatehouse.services);
    const table = (rules: readonly Json[]): Promise<Json> => managed.make('PUT', '/mappings/oidc', { rules });
    const newClient = async (mappings: readonly Json[]): Promise<TestClient> => {
      const client = await createClient(server.gatehouse.services, await tenantNow(), {});
      await managed.make('PATCH', `/clients/${client.clientId}`, { mappings });
      return client;
    };
    const signIn = async (client: TestClient, scope = 'openid profile email offline_access') => {
      const tenant = await tenantNow();
      return tokensOf(await exchange(tenant, client, await issueCode(server, tenant, client, ada, { scope })));
    };
    const userInfo = async (token: string): Promise<Json> => {
      const { baseUrl } = await tenantNow();
      return jsonOf(await fetch(`${baseUrl}/v1/idp/oidc/userinfo`, { headers: { authorization: `Bearer ${token}` } }), 200);
    };

    it('a rule speaks where `in` says and, with a scope, to whoever was granted it; without either in ID token and UserInfo', async () => {
      const client = await newClient([
        { to: 'app_roles', from: 'groups', only: { prefix: ['app-'] }, strip: 'app-', in: ['access_token'] },
        { to: 'https://example.com/department', from: 'enterprise.department' },
        { to: 'level', from: 'custom.level', in: ['id_token'], scope: 'profile' },
      ]);
      const tokens = await signIn(client);
      const [access, id] = [claimsIn(tokens.access_token), claimsIn(tokens.id_token!)];
      assert.deepEqual(access['app_roles'], ['admin', 'editor']);
      assert.deepEqual([access['level'], access['https://example.com/department']], [undefined, undefined]);
      assert.deepEqual([id['level'], id['https://example.com/department'], id['app_roles']], [3, 'Mathematics', undefined]);
      const shown = await userInfo(tokens.access_token);
      assert.deepEqual(
        [shown['https://example.com/department'], shown['level'], shown['app_roles']],
        ['Mathematics', undefined, undefined],
      );
      const narrow = await signIn(client, 'openid email');
      assert.equal(claimsIn(narrow.id_token!)['level'], undefined);
      assert.equal(claimsIn(narrow.id_token!)['https://example.com/department'], 'Mathematics');
      const again = await tokensOf(await refresh(await tenantNow(), client, tokens.refresh_token!));
      assert.deepEqual(claimsIn(again.access_token)['app_roles'], ['admin', 'editor']);
    });

    it('the default table is for every client; a client replaces a rule by `to`, and takes one away', async () => {
      await table([
        { to: 'department', from: 'enterprise.department', case: 'upper' },
        { to: 'region', value: 'eu' },
        { to: 'nickname', template: '{tenant.slug}-{client.id}', in: ['userinfo'] },
      ]);
      const plain = await newClient([]);
      const shown = await userInfo((await signIn(plain)).access_token);
      assert.deepEqual([shown['department'], shown['region'], shown['nickname']], ['MATHEMATICS', 'eu', `main-${plain.clientId}`]);
      const discovery = await jsonOf(await fetch(`${(await tenantNow()).baseUrl}/.well-known/openid-configuration`), 200);
      for (const claim of ['department', 'region', 'email', 'nickname'])
        assert.equal((discovery['claims_supported'] as readonly string[]).filter((one) => one === claim).length, 1, claim);
      const own = await newClient([
        { to: 'department', from: 'enterprise.department' },
        { to: 'region', value: null },
        { to: 'email', value: null },
      ]);
      const changed = await userInfo((await signIn(own)).access_token);
      assert.deepEqual([changed['department'], 'region' in changed, 'email' in changed], ['Mathematics', false, false]);
      assert.equal(changed['email_verified'], true);
      assert.deepEqual((await managed.make('GET', '/mappings/oidc'))['rules'], (await tenantNow()).mappings.oidc);
      await table([]);
      assert.equal('region' in (await userInfo((await signIn(plain)).access_token)), false);
    });

    it('a client that acts for itself is told what needs no person', async () => {
      const client = await newClient([
        { to: 'environment', value: 'production', in: ['access_token'] },
        { to: 'groups', from: 'groups', in: ['access_token'] },
      ]);
      await managed.make('PATCH', `/clients/${client.clientId}`, {
        grant_types: ['client_credentials'],
        scopes: ['users:read'],
        resources: [(await tenantNow()).managementApi],
      });
      const { baseUrl, managementApi } = await tenantNow();
      const form = new URLSearchParams({ grant_type: 'client_credentials', audience: managementApi, client_id: client.clientId });
      const response = await fetch(`${baseUrl}/v1/idp/oidc/token`, {
        method: 'POST',
        body: form,
        headers: { authorization: `Basic ${Buffer.from(`${client.clientId}:${client.secret}`).toString('base64')}` },
      });
      const token = claimsIn(String((await jsonOf(response, 200))['access_token']));
      assert.deepEqual([token['environment'], 'groups' in token, token['sub']], ['production', false, client.clientId]);
    });

    it('the claims parameter asks for mapped claims within the scopes, and never for those of access tokens', async () => {
      const client = await newClient([
        { to: 'department', from: 'enterprise.department', in: ['userinfo'], scope: 'phone' },
        { to: 'secret', value: 'x', in: ['access_token'] },
      ]);
      const tenant = await tenantNow();
      const registered = (await managed.make('GET', `/clients/${client.clientId}`)) as unknown as { mappings: TestClient['mappings'] };
      const scopes = ['department', 'secret', 'email'].map((claim) => scopeOf(tenant, { ...client, mappings: registered.mappings }, claim));
      assert.deepEqual(scopes, ['phone', undefined, 'email']);
    });

    const mistakes: readonly (readonly [Json, RegExp])[] = [
      [{ to: 'x', from: 'groops' }, /rule 1, from: "groops" is not known; the nearest is "groups"\.$/],
      [{ to: 'sub', from: 'user_name' }, /rule 1, to: "sub" is a claim of the protocol\.$/],
      [{ to: 'cnf', value: 'x' }, /claim of the protocol/],
      [{ to: 'x', from: 'custom.nobody' }, /"custom\.nobody" is no attribute of the tenant. Known: custom\.level\.$/],
      [{ to: 'x', from: 'groups', regex: '.*' }, /rule 1, regex: is no member of a rule here/],
    ];
    for (const [rule, text] of mistakes)
      it(`400 management.invalid_request for ${JSON.stringify(rule)}, at a client, at the default table, in a preview`, async () => {
        const { clientId } = await newClient([]);
        const client = { mappings: [rule] };
        const row = 'management.invalid_request';
        await assertRefusal(await managed.call('PATCH', `/clients/${clientId}`, client), row, { kind: 'mappings', text });
        await assertRefusal(await managed.call('POST', '/clients', { name: 'x', ...client }), row, { kind: 'mappings', text });
        await assertRefusal(await managed.call('PUT', '/mappings/oidc', { rules: [rule] }), row, { kind: 'rules', text });
        const preview = { kind: 'oidc', user_id: ada.id, rules: [rule] };
        await assertRefusal(await managed.call('POST', '/mappings/preview', preview), row, { kind: 'rules', text });
      });

    it('a rule that gives too much gives nothing, the others do, and one event says so', async () => {
      const values = Array.from({ length: 200 }, (_, at) => `v${at}`);
      await table([
        { to: 'wide', value: values, template: `${'x'.repeat(1000)}{value}` },
        { to: 'small', value: 1 },
      ]);
      const client = await createClient(server.gatehouse.services, await tenantNow(), {});
      for (const _ of [1, 2]) {
        const id = claimsIn((await signIn(client)).id_token!);
        assert.deepEqual(['wide' in id, id['small']], [false, 1]);
      }
      const { items } = (await managed.make('GET', '/events?type=mapping.too_large')) as unknown as { items: readonly Json[] };
      assert.deepEqual(
        items.map(({ target, data }) => ({ target, data })),
        [{ target: `client:${client.clientId}`, data: { to: 'wide', place: 'id_token', bytes_max: 8192, user_id: ada.id } }],
      );
      await table([]);
    });

    it('a preview tells what each rule gives and why values go, for a target and for rules that are tried', async () => {
      await table([{ to: 'department', from: 'enterprise.department' }]);
      const client = await newClient([
        { to: 'app_roles', from: 'groups', only: { prefix: ['app-'] }, strip: 'app-', values: { admin: 'root' } },
      ]);
      const preview = (body: Json): Promise<Json> => managed.make('POST', '/mappings/preview', { kind: 'oidc', user_id: ada.id, ...body });
      const ofClient = (await preview({ target: client.clientId }))['items'] as readonly Json[];
      assert.deepEqual(ofClient.slice(-2), [
        { to: 'department', values: ['Mathematics'] },
        {
          to: 'app_roles',
          values: ['root'],
          dropped: [
            { value: 'app-editor', reason: 'values' },
            { value: 'other', reason: 'prefix' },
          ],
        },
      ]);
      assert.deepEqual(ofClient[0], { to: 'name', values: ['Ada Lovelace'] });
      const tried = await preview({ target: client.clientId, rules: [{ to: 'x', value: 'y', when: { group: 'nobody' } }] });
      assert.deepEqual((tried['items'] as readonly Json[]).at(-1), { to: 'x', values: [], dropped: [{ value: null, reason: 'when' }] });
      const alone = (await preview({ rules: [{ to: 'x', from: 'custom.level' }] }))['items'] as readonly Json[];
      assert.deepEqual([alone.at(-1), alone.some(({ to }) => to === 'department')], [{ to: 'x', values: [3] }, false]);
      for (const body of [
        { kind: 'oidc', user_id: ada.id, target: 'nobody' },
        { kind: 'saml', user_id: ada.id, target: client.clientId },
        { kind: 'oidc', user_id: 'nobody' },
      ])
        await assertRefusal(await managed.call('POST', '/mappings/preview', body), 'management.not_found');
      await table([]);
    });
  });
}
