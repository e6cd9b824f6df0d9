// Contract 7.8: RP-initiated logout. Every failure is one answer; success ends the grant behind the hint and no other.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Services } from '../../src/http/services.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { exchange, type Form, formBody, issueCode, refresh, type Tokens, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`7.8 logout on ${database}`, () => {
    let server: TestServer;
    let services: Services;
    let tenant: Tenant;
    let client: TestClient;
    let user: TestUser;
    before(async () => {
      server = await startTestServer(database);
      services = server.gatehouse.services;
      tenant = await rootTenant(services);
      client = await createClient(services, tenant);
      user = await createUser(services, tenant);
    });
    after(() => server.close());

    const signedOut = 'https://rp.example/signed-out';
    const signIn = async (by = client): Promise<Tokens> => tokensOf(await exchange(tenant, by, await issueCode(server, tenant, by, user)));
    const get = (form: Form, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
      fetch(`${tenant.baseUrl}/v1/idp/oidc/logout?${formBody(form)}`, { redirect: 'manual', headers });
    const post = (form: Form): Promise<Response> =>
      fetch(`${tenant.baseUrl}/v1/idp/oidc/logout`, { method: 'POST', redirect: 'manual', body: formBody(form) });
    const userInfo = (token: string): Promise<Response> =>
      fetch(`${tenant.baseUrl}/v1/idp/oidc/userinfo`, { headers: { authorization: `Bearer ${token}` } });

    it('a NUL in the target is refused before anybody looks whose tenant it is, for programs and for browsers', async () => {
      for (const accept of ['application/json', 'text/html']) assert.equal((await get({ state: '\0' }, { accept })).status, 400, accept);
    });

    for (const [method, send] of [
      ['GET', get],
      ['POST', post],
    ] as const)
      it(`${method}: ends the grant, and redirects with state`, async () => {
        const tokens = await signIn();
        const untouched = await signIn();
        const response = await send({
          id_token_hint: tokens.id_token,
          client_id: client.clientId,
          post_logout_redirect_uri: signedOut,
          state: 'a&b',
        });
        assert.equal(response.status, 303);
        assert.equal(response.headers.get('location'), `${signedOut}?state=a%26b`);
        assert.equal(response.headers.get('cache-control'), 'no-store');
        assert.equal((await userInfo(tokens.access_token)).status, 401);
        await assertRefusal(await refresh(tenant, client, tokens.refresh_token), 'token.refresh_invalid');
        assert.equal((await userInfo(untouched.access_token)).status, 200);
        await tokensOf(await refresh(tenant, client, untouched.refresh_token));
      });
    it('without post_logout_redirect_uri: the signed-out page', async () => {
      const response = await get({ id_token_hint: (await signIn()).id_token });
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
      assert.match(response.headers.get('content-security-policy') ?? '', /^default-src 'none'/);
      assert.match(await response.text(), /id="signed-out"/);
    });
    it('without state: the bare post_logout_redirect_uri', async () => {
      const response = await get({ id_token_hint: (await signIn()).id_token, post_logout_redirect_uri: signedOut });
      assert.equal(response.headers.get('location'), signedOut);
    });
    it('an expired hint is accepted, and a second logout is no error', async () => {
      const { id_token: hint, refresh_token: token } = await signIn();
      await server.clock.advance(900_000);
      assert.equal((await get({ id_token_hint: hint })).status, 200);
      await assertRefusal(await refresh(tenant, client, token), 'token.refresh_invalid');
      assert.equal((await get({ id_token_hint: hint })).status, 200);
    });

    it('logout.invalid_request: every trigger is byte-identical, and ends nothing', async () => {
      const tokens = await signIn();
      const hint = tokens.id_token;
      const other = await createOtherTenant(services, `logout-${database}`);
      const foreign = await createClient(services, other);
      const disabled = await createClient(services, tenant);
      const disabledHint = (await signIn(disabled)).id_token;
      const deleted = await createClient(services, tenant);
      const deletedHint = (await signIn(deleted)).id_token;
      await services.cache.write(tenant.id, async (queries) => {
        await queries.updateTable('clients').set({ enabled: 0 }).where('client_id', '=', disabled.clientId).execute();
        await queries.deleteFrom('clients').where('client_id', '=', deleted.clientId).execute();
      });
      const [header, claims, signature] = (hint ?? '').split('.') as [string, string, string];
      const repeated = new URLSearchParams([
        ['id_token_hint', hint ?? ''],
        ['id_token_hint', hint ?? ''],
      ]);
      const answers: readonly Response[] = [
        await get({}),
        await get({ id_token_hint: '' }),
        await get({ id_token_hint: 'x' }),
        await get({ id_token_hint: `${header}.${claims}.${signature.slice(0, -6)}AAAAAA` }),
        await get({ id_token_hint: tokens.access_token }),
        await get({ id_token_hint: hint, client_id: 'another' }),
        await get({ id_token_hint: hint, client_id: foreign.clientId }),
        await get({ id_token_hint: disabledHint }),
        await get({ id_token_hint: deletedHint }),
        await get({ id_token_hint: hint, post_logout_redirect_uri: 'https://evil.example/' }),
        await get({ id_token_hint: hint, post_logout_redirect_uri: 'https://rp.example/callback' }),
        await get({ id_token_hint: hint, post_logout_redirect_uri: `${signedOut}/` }),
        await get({ id_token_hint: hint, post_logout_redirect_uri: signedOut, state: 's'.repeat(4097) }),
        await post({}),
        await fetch(`${tenant.baseUrl}/v1/idp/oidc/logout?${repeated}`),
        await fetch(`${other.baseUrl}/v1/idp/oidc/logout?${formBody({ id_token_hint: hint })}`),
      ];
      const bodies = new Set<string>();
      for (const answer of answers) bodies.add(await assertRefusal(answer, 'logout.invalid_request'));
      assert.deepEqual([...bodies], ['{"error":"invalid_request"}']);
      assert.equal((await userInfo(tokens.access_token)).status, 200);
    });
    it('logout.invalid_request: a page for a browser, with the same status', async () => {
      const response = await get({}, { accept: 'text/html' });
      assert.equal(response.status, 400);
      assert.match(await response.text(), /id="error">invalid_request</);
    });
  });
}
