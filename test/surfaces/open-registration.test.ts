// Registration without a token (design 18, part 2): by whom nobody registered, for resources that are open, with consent that shows where
// the answer goes; and all that such a client never can.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exportDocument } from '../../src/administration/declaration/export.ts';
import { openSession } from '../../src/administration/declaration/reconcile.ts';
import { openRegistrationBytesMax } from '../../src/contract/limits.ts';
import { idleStrangerMs, openRedirectUrisMax, openRegistrationsPerHourMax, unusedStrangerMs } from '../../src/domain/client/stranger.ts';
import {
  allow,
  authorize,
  loopbackUri,
  mcp,
  openTenant,
  personOf,
  redeem,
  register,
  signIn,
  toConsent,
  tokenRequest,
} from '../support/agents.ts';
import { databases } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createTestTenant, type Json, jsonOf, type Managed } from '../support/management.ts';
import { decodeJwt, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const metadata = { client_name: 'My agent', redirect_uris: [loopbackUri], token_endpoint_auth_method: 'none' };

for (const database of databases) {
  describe(`registration without a token on ${database}`, () => {
    let server: TestServer;
    let managed: Managed;
    before(async () => {
      server = await startTestServer(database);
      managed = await openTenant(server);
    });
    after(() => server.close());

    const registered = async (more: Json = {}, at = managed): Promise<Json & { client_id: string }> =>
      jsonOf(await register(at, { ...metadata, ...more }), 201);

    it('register.invalid_token: while no resource is open, and with any token that is none', async () => {
      const closed = await createTestTenant(server, { settings: { extra_grants: ['registration'] } });
      await assertRefusal(await register(closed, metadata), 'register.invalid_token');
      await assertRefusal(await register(managed, metadata, { authorization: 'Bearer x' }), 'register.invalid_token');
      await assertRefusal(await register(managed, metadata, { authorization: 'Basic eA==' }), 'register.invalid_token');
    });
    it('what it gets is code and refresh, without a token to manage itself; what it cannot have is dropped', async () => {
      const made = await registered({
        grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
        logo_uri: 'https://x.example/a.png',
      });
      assert.match(made.client_id, /^open\./);
      assert.deepEqual(made['grant_types'], ['authorization_code', 'refresh_token']);
      assert.equal(made['scope'], 'openid profile email offline_access tools admin');
      for (const name of ['registration_access_token', 'registration_client_uri', 'client_secret', 'logo_uri'])
        assert.ok(!(name in made), name);
      const shown = await managed.make('GET', `/clients/${made.client_id}`);
      const { origin, require_consent: consent, authorize_error_delivery: errors, refresh_reuse_leeway_seconds: leeway } = shown;
      assert.deepEqual([origin, consent, errors, leeway, shown['created_by']], ['open', true, 'redirect', 30, `client:${made.client_id}`]);
      assert.equal((await registered({ token_endpoint_auth_method: 'client_secret_post' }))['client_secret_expires_at'], 0);
    });
    it('refused: other methods, schemes of apps, too many addresses, too much', async () => {
      const at = await openTenant(server);
      const uris = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `https://rp.example/${index}`);
      const text = 'x'.repeat(openRegistrationBytesMax);
      for (const [more, row] of [
        [{ token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://rp.example/jwks' }, 'register.invalid_client_metadata'],
        [{ token_endpoint_auth_method: 'client_secret_jwt' }, 'register.invalid_client_metadata'],
        [{ redirect_uris: ['com.example.app:/callback'] }, 'register.invalid_redirect_uri'],
        [{ redirect_uris: ['http://rp.example/'] }, 'register.invalid_redirect_uri'],
        [{ redirect_uris: [] }, 'register.invalid_redirect_uri'],
        [{ redirect_uris: uris(openRedirectUrisMax + 1) }, 'register.invalid_redirect_uri'],
        [{ client_name: 'x'.repeat(300) }, 'register.invalid_client_metadata'],
        [{ software_statement: text }, 'register.invalid_client_metadata'],
      ] as const)
        assert.equal(
          (await refusalOf(await register(at, { ...metadata, ...more }))).error,
          row.split('.')[1],
          JSON.stringify(more).slice(0, 80),
        );
      assert.equal((await register(at, { ...metadata, redirect_uris: uris(openRedirectUrisMax) })).status, 201);
      const room = openRegistrationBytesMax - JSON.stringify({ ...metadata, note: '' }).length;
      assert.equal((await register(at, { ...metadata, note: 'x'.repeat(room) })).status, 201);
      await refusalOf(await register(at, { ...metadata, note: 'x'.repeat(room + 1) }));
    });
    it(`429 after ${openRegistrationsPerHourMax} an hour from an address`, async () => {
      const at = await openTenant(server);
      for (let made = 0; made < openRegistrationsPerHourMax; made += 1) await registered({}, at);
      await assertRefusal(await register(at, metadata), 'oauth.rate_limited');
    });

    it('consent says what, where and by whom; the token is for that resource alone; JSON and page', async () => {
      const { client_id: id } = await registered();
      const { email } = await personOf(server, managed);
      const { login, shown } = await toConsent(server, await authorize(managed, { client_id: id }), email);
      assert.deepEqual(shown['consent'], { scopes: ['tools'], resource: mcp, client_host: null, redirect_host: null, checked: false });
      const page = await (await login.page()).text();
      for (const part of [
        '<b>Tools (mcp.example)</b>',
        'A program on this computer',
        'It calls itself “My agent”.',
        'Use its tools',
        'Your administrator has not checked it.',
      ])
        assert.ok(page.includes(part), part);
      assert.ok(!page.includes('<b>My agent</b>'));
      const tokens = await tokensOf(await redeem(managed, { client_id: id }, await allow(login)));
      const { claims } = decodeJwt(tokens.access_token);
      assert.deepEqual([claims['aud'], claims['scope'], claims['client_id'], tokens.refresh_token], [mcp, 'tools', id, undefined]);
    });
    it('to a program of this computer nothing is given unasked; to an address of the web a consent is remembered, for its resource', async () => {
      const at = await openTenant(server, { sso_session: 'browser' });
      await at.make('POST', '/resources', { identifier: 'https://other.example', name: 'Other', clients: 'any' });
      for (const [uri, asks] of [
        [loopbackUri, true],
        ['https://rp.example/callback', false],
      ] as const) {
        const { email } = await personOf(server, at);
        const { client_id: id } = await registered({ redirect_uris: [uri] }, at);
        const form = { client_id: id, redirect_uri: uri };
        const { login } = await toConsent(server, await authorize(at, form), email);
        const finished = await login.post('finish');
        const cookie = String(finished.headers.get('set-cookie')).split(';', 1)[0]!;
        assert.match(cookie, /=/);
        const isAsked = async (more: Json): Promise<boolean> => {
          const again = await authorize(at, { ...form, ...(more as Record<string, string>) }, { cookie });
          return !String(again.headers.get('location')).startsWith(uri);
        };
        assert.deepEqual([await isAsked({}), await isAsked({ resource: 'https://other.example' })], [asks, true], uri);
      }
    });
    it('whoever ends what it has is asked again before it gets more; others are not', async () => {
      const at = await openTenant(server, { sso_session: 'browser' });
      const uri = 'https://rp.example/callback';
      const { client_id: id } = await registered({ redirect_uris: [uri] }, at);
      const form = { client_id: id, redirect_uri: uri };
      const letIn = async (): Promise<{ readonly user: string; readonly isAsked: () => Promise<boolean> }> => {
        const { id: user, email } = await personOf(server, at);
        const { login } = await toConsent(server, await authorize(at, form), email);
        const finished = await login.post('finish');
        const cookie = String(finished.headers.get('set-cookie')).split(';', 1)[0]!;
        await tokensOf(await redeem(at, form, new URL(String(((await finished.json()) as Json)['redirect_to']))));
        return {
          user,
          isAsked: async () => !String((await authorize(at, form, { cookie })).headers.get('location')).startsWith(uri),
        };
      };
      const [hers, his] = [await letIn(), await letIn()];
      assert.deepEqual([await hers.isAsked(), await his.isAsked()], [false, false]);
      const { items } = await at.make<{ items: readonly Json[] }>('GET', `/users/${hers.user}/sessions`);
      assert.equal((await at.call('DELETE', `/users/${hers.user}/sessions/${items[0]!['id']}`)).status, 204);
      assert.deepEqual([await hers.isAsked(), await his.isAsked()], [true, false]);
    });
    it('it gets what is open: no listed resource, no Management API, no scope of another resource, no refresh token where that is kept back', async () => {
      const at = await openTenant(server, {}, { refresh: false });
      await at.make('POST', '/resources', { identifier: 'https://listed.example', name: 'Listed', scopes: [{ name: 'secret' }] });
      await at.make('POST', '/resources', {
        identifier: 'https://second.example',
        name: 'Second',
        clients: 'any',
        scopes: [{ name: 'second' }],
      });
      const { client_id: id } = await registered({}, at);
      const errorOf = async (more: Record<string, string>): Promise<string | null> => {
        const answer = await authorize(at, { client_id: id, ...more });
        return new URL(String(answer.headers.get('location'))).searchParams.get('error');
      };
      assert.equal(await errorOf({ resource: 'https://listed.example' }), 'invalid_target');
      assert.equal(await errorOf({ resource: at.managementApi }), 'invalid_target');
      assert.equal(await errorOf({ scope: 'secret' }), 'invalid_scope');
      assert.equal(await errorOf({ scope: 'users:read' }), 'invalid_scope');
      const { email } = await personOf(server, at);
      const tokens = await signIn(server, at, { client_id: id, scope: 'openid offline_access tools second' }, email);
      assert.deepEqual([tokens.scope, tokens.refresh_token], ['openid tools', undefined]);
      for (const grant of ['client_credentials', 'urn:openid:params:grant-type:ciba', 'urn:ietf:params:oauth:grant-type:device_code'])
        assert.ok((await tokenRequest(at, { grant_type: grant, client_id: id })).status >= 400, grant);
      const started = await fetch(`${at.baseUrl}/v1/idp/oidc/bc-authorize`, {
        method: 'POST',
        body: new URLSearchParams({ client_id: id, scope: 'openid', login_hint: email }),
      });
      assert.equal(started.status >= 400, true);
    });
    it('introspection: one with a secret sees tokens of others for open resources no more than anybody', async () => {
      const { email } = await personOf(server, managed);
      const { client_id: id } = await registered();
      const { access_token: token } = await signIn(server, managed, { client_id: id }, email);
      const spy = await registered({ token_endpoint_auth_method: 'client_secret_post' });
      const body = new URLSearchParams({ client_id: spy.client_id, client_secret: String(spy['client_secret']), token });
      const seen = await fetch(`${managed.baseUrl}/v1/idp/oidc/introspect`, { method: 'POST', body });
      assert.equal(await seen.text(), '{"active":false}');
    });
    it('a blocked host is blocked at every port and however its name ends; where trusted hosts alone are let in, no address makes one trusted', async () => {
      const at = await openTenant(server);
      const set = (hosts: Json): Promise<Json> => at.make('PATCH', '/settings', { client_hosts: hosts });
      const statusOf = async (...uris: readonly string[]): Promise<number> =>
        (await register(at, { ...metadata, redirect_uris: uris })).status;
      await set({ blocked: ['evil.example', '*.evil.example', 'shared.example:8443'] });
      for (const host of [
        'evil.example',
        'evil.example:8443',
        'evil.example.',
        'evil.example.:8443',
        'sub.evil.example.',
        'shared.example:8443',
      ])
        assert.equal(await statusOf('https://rp.example/cb', `https://${host}/cb`), 400, host);
      assert.equal(await statusOf('https://shared.example/cb'), 201);
      const { client_id: id } = await registered({ redirect_uris: ['https://good.example/cb', 'https://rp.example/cb'] }, at);
      await set({ blocked: [], trusted: ['good.example'], only_trusted: true });
      assert.equal(await statusOf('https://good.example/cb', 'https://rp.example/cb'), 400);
      await assertRefusal(await authorize(at, { client_id: id, redirect_uri: 'https://rp.example/cb' }), 'authorize.unauthorized');
    });
    it('a resource that is closed, people that are not assigned, a client that is disabled: refused from the next refresh on', async () => {
      for (const close of ['listed', 'assigned', 'disabled', 'blocked', 'kept back'] as const) {
        const at = await openTenant(server);
        const user = await personOf(server, at);
        const { client_id: id } = await registered({ redirect_uris: ['https://rp.example/callback', loopbackUri] }, at);
        const form = { client_id: id, scope: 'tools offline_access' };
        const first = await signIn(server, at, form, user.email);
        const again = (token = ''): Promise<Response> =>
          tokenRequest(at, { grant_type: 'refresh_token', client_id: id, refresh_token: token });
        const next = await tokensOf(await again(first.refresh_token));
        const { items } = await at.make<{ items: readonly Json[] }>('GET', '/resources');
        const path = `/resources/${items[0]!['id']}`;
        if (close === 'listed') await at.make('PATCH', path, { clients: 'listed' });
        else if (close === 'assigned') await at.make('PATCH', path, { unknown_access_policy: 'assigned' });
        else if (close === 'disabled') await at.make('PATCH', `/clients/${id}`, { enabled: false });
        else if (close === 'kept back') await at.make('PATCH', path, { refresh: false });
        else await at.make('PATCH', '/settings', { client_hosts: { blocked: ['*.example', 'rp.example'] } });
        const refused = await again(next.refresh_token);
        assert.ok([400, 401].includes(refused.status), close);
        if (close === 'kept back') {
          await assertRefusal(refused, 'token.invalid_scope', { text: /./ });
          await at.make('PATCH', path, { refresh: true });
          await tokensOf(await again(next.refresh_token));
        }
        if (close === 'assigned') {
          await at.make('POST', `${path}/assignments`, { user_id: user.id });
          await tokensOf(await again(next.refresh_token));
        }
      }
    });
    it('an administrator disables it, and says nothing else of it; documents do not have it', async () => {
      const { client_id: id } = await registered();
      const refused = await managed.call('PATCH', `/clients/${id}`, { redirect_uris: ['https://other.example/'] });
      await assertRefusal(refused, 'management.invalid_request', {
        text: 'Nobody registered the client: what it is, it says itself.',
        kind: 'redirect_uris',
      });
      assert.equal((await managed.call('POST', `/clients/${id}/secret`)).status, 409);
      const idsOf = async (origin: string): Promise<readonly unknown[]> =>
        (await managed.make<{ items: readonly Json[] }>('GET', `/clients?limit=200&origin=${origin}`)).items.map((one) => one['client_id']);
      const open = await idsOf('open');
      assert.ok(open.includes(id) && open.every((one) => String(one).startsWith('open.')));
      assert.deepEqual(await idsOf('document'), []);
      const { services } = server.gatehouse;
      const session = await openSession(services, (await services.tenants.bySlug(managed.slug))!, { actor: 'operator' });
      let text = '';
      for await (const part of exportDocument(session, { withSecrets: true, asJson: false })) text += part;
      assert.ok(!text.includes(id));
      assert.equal((await managed.make('PATCH', `/clients/${id}`, { enabled: false }))['enabled'], false);
      assert.equal((await authorize(managed, { client_id: id })).status, 401);
    });
    it('strangers move no epoch of the configuration', async () => {
      const epoch = async (): Promise<unknown> => {
        const id = (await server.gatehouse.services.tenants.bySlug(managed.slug))!.id;
        return server.gatehouse.services.database.systemRead((queries) =>
          queries.selectFrom('config_epochs').select('version').where('tenant_id', '=', id).executeTakeFirst(),
        );
      };
      const before = await epoch();
      const { client_id: id } = await registered();
      await authorize(managed, { client_id: id });
      assert.deepEqual(await epoch(), before);
    });
    it('one that nobody let in goes after a day; one that was used when nobody has used it for long', async () => {
      const at = await openTenant(server);
      const { client_id: unused } = await registered({}, at);
      const { client_id: used } = await registered({}, at);
      await signIn(server, at, { client_id: used }, (await personOf(server, at)).email);
      const there = async (id: string): Promise<boolean> => (await at.call('GET', `/clients/${id}`)).status === 200;
      await server.clock.advance(unusedStrangerMs - 60_000);
      assert.ok(await there(unused));
      await server.clock.advance(120_000);
      await server.gatehouse.services.jobs.runNow('purge');
      assert.deepEqual([await there(unused), await there(used)], [false, true]);
      await server.clock.advance(idleStrangerMs);
      await eventually(async () => {
        await server.gatehouse.services.jobs.runNow('purge'); // its tokens go in one turn, and it in the next
        return !(await there(used));
      });
    });
  });
}

async function refusalOf(response: Response): Promise<{ readonly error: string }> {
  const text = await response.text();
  assert.equal(response.status, 400, text);
  return JSON.parse(text) as { error: string };
}
