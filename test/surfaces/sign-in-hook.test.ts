// Design 16, 3: the hook before a sign-in ends. OIDC by sign-in and by session, SAML, and CIBA on the phone and by mail: what is asked,
// what claims become, and what a denial and a failure are to the client, the provider and the phone. On both databases.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { openBrowser } from '../support/browser.ts';
import { cibaGrantType, reachesLoopback } from '../support/ciba.ts';
import { databases } from '../support/databases.ts';
import { enrolledPhone } from '../support/enrolled-phone.ts';
import { createClient, createUser, type TestClient, type TestUser } from '../support/fixtures.ts';
import { claims, deny, type HookReceiver, silent, startHookReceiver, verifyHookCall } from '../support/hook-receiver.ts';
import { approveByPin, openLogin, signInByPin, type TestLogin } from '../support/login.ts';
import type { Json, Managed } from '../support/management.ts';
import { callSystem } from '../support/management.ts';
import { decodeJwt, exchange, postAs, redirectUri, refresh, tokensOf } from '../support/oidc.ts';
import { createPhone } from '../support/phone.ts';
import { assertRedirectRefusal, assertRefusal } from '../support/refusal.ts';
import { assertDelivered, openSamlIdp, type SamlIdp } from '../support/saml-idp.ts';
import { buildRedirectQuery } from '../support/saml-requests.ts';
import type { TestServer } from '../support/server.ts';
import { openSsoWorld, type SsoWorld } from '../support/sso.ts';

for (const database of databases) {
  describe(`the hook before a sign-in ends (${database})`, () => {
    let world: SsoWorld;
    let server: TestServer;
    let tenant: Tenant;
    let managed: Managed;
    let receiver: HookReceiver;
    let client: TestClient;
    let ciba: TestClient;
    let idp: SamlIdp;
    let ada: TestUser;
    let hook: Json;
    before(async () => {
      world = await openSsoWorld(database, reachesLoopback);
      ({ server, tenant, managed, client } = world);
      receiver = await startHookReceiver();
      idp = await openSamlIdp(server, 'sso');
      await idp.register({ entity_id: 'https://other.example', name: 'Another' });
      await idp.register({ entity_id: 'https://sp.example', name: 'Payroll' });
      ciba = await createClient(server.gatehouse.services, tenant, { grantTypes: [cibaGrantType], backchannelTokenDeliveryMode: 'poll' });
    });
    after(async () => {
      await server.close();
      await receiver.close();
    });
    beforeEach(async () => {
      ada = await createUser(server.gatehouse.services, tenant);
      for (const { id } of (await managed.make<{ items: readonly Json[] }>('GET', '/hooks')).items)
        await managed.make('DELETE', `/hooks/${id}`);
      hook = await managed.make('POST', '/hooks', { point: 'sign_in', url: receiver.url, on_failure: 'refuse', deadline_ms: 3000 });
      receiver.calls.length = 0;
      receiver.reply = () => silent;
    });

    const begin = async (): Promise<TestLogin> => openLogin(await world.authorize(openBrowser()));
    const failing = (): void => {
      receiver.reply = () => ({ status: 500 });
    };
    const explained = async (response: Response): Promise<readonly Json[]> =>
      (await managed.make<{ items: readonly Json[] }>('GET', `/events/${response.headers.get('x-request-id')}`)).items;

    it('OIDC: is told who signs in to what and how, and its claims are in every token of the sign-in', async () => {
      receiver.reply = () => claims({ id_token: { tier: 'gold' }, access_token: { tier: 'silver' } });
      const location = await signInByPin(server, await begin(), ada.email);
      const { data, type } = receiver.calls[0]!.body;
      verifyHookCall(String(hook['secret']), receiver.calls[0]!);
      assert.equal(type, 'hook.sign_in');
      const { user, request_id: requestId, ...rest } = data as { user: Json; request_id: string };
      assert.equal(user['id'], ada.id);
      assert.match(requestId, /^[A-Za-z0-9_-]{22}$/);
      const { session, ...about } = rest as { session: Json };
      assert.deepEqual([session['method'], session['acr'], session['amr']], ['email_pin', 'otp', ['otp']]);
      assert.deepEqual(about, {
        client: { client_id: client.clientId, name: client.name },
        kind: 'oidc',
        scopes: ['openid', 'profile', 'email', 'offline_access'],
        ip: '127.0.0.1',
      });
      const first = await tokensOf(await exchange(tenant, client, location.searchParams.get('code') ?? ''));
      const second = await tokensOf(await refresh(tenant, client, first.refresh_token));
      for (const tokens of [first, second]) {
        assert.equal(decodeJwt(tokens.id_token ?? '').claims['tier'], 'gold');
        assert.equal(decodeJwt(tokens.access_token).claims['tier'], 'silver');
      }
      assert.equal(receiver.calls.length, 1);
    });

    it('OIDC: a hook before tokens adds to what the one at sign-in added', async () => {
      await managed.make('POST', '/hooks', { point: 'token', url: receiver.url, on_failure: 'refuse' });
      receiver.reply = ({ body }) =>
        claims({ access_token: body.type === 'hook.sign_in' ? { by: 'sign_in', first: 1 } : { by: 'token', second: 2 } });
      const location = await signInByPin(server, await begin(), ada.email);
      const { access_token: token } = await tokensOf(await exchange(tenant, client, location.searchParams.get('code') ?? ''));
      const { by, first, second } = decodeJwt(token).claims;
      assert.deepEqual([by, first, second], ['token', 1, 2]);
    });

    it('OIDC: a denial is access_denied, opens no session, and its reason is for explain alone', async () => {
      receiver.reply = () => deny('stolen laptop');
      const login = await begin();
      await approveByPin(server, login, ada.email);
      const finished = await login.post('finish');
      const to = new URL(((await finished.json()) as { redirect_to: string }).redirect_to);
      assert.deepEqual(Object.fromEntries(to.searchParams), { error: 'access_denied', state: 'state-1', iss: tenant.baseUrl });
      assert.equal(
        finished.headers.getSetCookie().some((cookie) => cookie.startsWith('gh-sso')),
        false,
      );
      const [item] = await explained(finished);
      assert.deepEqual([item!['type'], item!['reason']], ['login.refused', 'hook_denied']);
      const { hook: id, hook_reason: reason } = item!['data'] as Json;
      assert.deepEqual([id, reason], [hook['id'], 'stolen laptop']);
    });

    it('OIDC: a failure is temporarily_unavailable, and under continue nothing', async () => {
      failing();
      const login = await begin();
      await approveByPin(server, login, ada.email);
      const finished = await login.post('finish');
      const to = new URL(((await finished.json()) as { redirect_to: string }).redirect_to);
      assert.deepEqual(Object.fromEntries(to.searchParams), { error: 'temporarily_unavailable', state: 'state-1', iss: tenant.baseUrl });
      assert.deepEqual(
        (await explained(finished)).map(({ reason }) => reason),
        ['hook_failed'],
      );
      await managed.make('PATCH', `/hooks/${hook['id']}`, { on_failure: 'continue' });
      await server.clock.advance(61_000);
      assert.ok((await signInByPin(server, await begin(), ada.email)).searchParams.has('code'));
    });

    it('OIDC: asked again where a session answers another client', async () => {
      const browser = await world.signedIn(ada);
      const other = await createClient(server.gatehouse.services, tenant);
      await managed.make('PATCH', `/hooks/${hook['id']}`, { clients: [other.clientId] });
      receiver.calls.length = 0;
      receiver.reply = () => claims({ id_token: { tier: 'gold' } });
      const location = world.locationOf(await world.authorize(browser, { prompt: 'none' }, other));
      assert.equal((await world.claimsOf(location, other))['tier'], 'gold');
      const [{ body }] = receiver.calls as [(typeof receiver.calls)[number]];
      assert.equal((body.data['session'] as Json)['method'], 'session');
      receiver.reply = () => deny('no');
      const refused = world.locationOf(await world.authorize(browser, { prompt: 'none' }, other));
      assert.equal(`${refused.origin}${refused.pathname} ${refused.searchParams.get('error')}`, `${redirectUri} access_denied`);
      failing();
      await assertRedirectRefusal(await world.authorize(browser, { prompt: 'none' }, other), 'authorize.temporarily_unavailable', {
        redirectUri,
        state: 'state-1',
        iss: tenant.baseUrl,
      });
      assert.ok(world.locationOf(await world.authorize(browser, { prompt: 'none' })).searchParams.has('code'));
    });

    describe('SAML', () => {
      const open = async (): Promise<TestLogin> => {
        const login = openLogin(await idp.get(buildRedirectQuery(idp.request({ issuer: 'https://sp.example' })), { accept: 'text/html' }));
        await approveByPin(server, login, ada.email);
        return login;
      };
      const follow = async (login: TestLogin): Promise<Response> => {
        const { redirect_to: location } = (await (await login.post('finish')).json()) as { redirect_to: string };
        return fetch(location, { headers: { cookie: login.cookie, accept: 'application/json' } });
      };

      it('is asked about the provider, which `clients` names by its entity ID', async () => {
        await managed.make('PATCH', `/hooks/${hook['id']}`, { clients: ['https://sp.example'] });
        await assertDelivered(await follow(await open()));
        const { data } = receiver.calls[0]!.body;
        assert.deepEqual([data['kind'], data['service_provider']], ['saml', { entity_id: 'https://sp.example', name: 'Payroll' }]);
        await managed.make('PATCH', `/hooks/${hook['id']}`, { clients: ['https://other.example'] });
        await server.clock.advance(61_000);
        await assertDelivered(await follow(await open()));
        assert.equal(receiver.calls.length, 1);
      });

      it('a denial leaves the session without a subject: 7.12 saml.invalid_grant', async () => {
        receiver.reply = () => deny('no');
        await assertRefusal(await follow(await open()), 'saml.invalid_grant');
      });

      it('a failure is 503 temporarily_unavailable, and the sign-in can end once the hook answers', async () => {
        const login = await open();
        failing();
        await assertRefusal(await login.post('finish'), 'management.unavailable');
        const page = await login.submit('finish');
        assert.equal(page.status, 503);
        assert.match(await page.text(), /<h1/);
        receiver.reply = () => silent;
        await assertDelivered(await follow(login));
      });
    });

    describe('CIBA', () => {
      const start = async (): Promise<string> => {
        const form = { scope: 'openid', login_hint: ada.email };
        const { auth_req_id: id } = (await (await postAs(tenant, ciba, 'bc-authorize', form)).json()) as { auth_req_id: string };
        assert.ok(id);
        return id;
      };
      const poll = (id: string): Promise<Response> => postAs(tenant, ciba, 'token', { grant_type: cibaGrantType, auth_req_id: id });
      const byMail = async (): Promise<(decision: string) => Promise<Response>> => {
        const outbox = await callSystem(server, 'GET', `/outbox?to=${encodeURIComponent(ada.email)}`);
        const { messages } = (await outbox.json()) as { messages: readonly { text: string }[] };
        const link = new URL(/^http\S+$/m.exec(messages[0]!.text)![0]);
        return (decision) =>
          fetch(`${link.origin}${link.pathname}`, {
            method: 'POST',
            headers: { accept: 'application/json', 'content-type': 'application/json' },
            body: JSON.stringify({ token: link.searchParams.get('token'), decision }),
          });
      };

      it('asked when the person approves: its claims are in the tokens', async () => {
        receiver.reply = () => claims({ id_token: { tier: 'gold' }, access_token: { tier: 'silver' } });
        const id = await start();
        const decide = await byMail();
        assert.deepEqual(await (await decide('approve')).json(), { state: 'approved' });
        assert.deepEqual([receiver.calls.length, receiver.calls[0]!.body.data['kind']], [1, 'ciba']);
        const tokens = await tokensOf(await poll(id));
        assert.equal(decodeJwt(tokens.id_token ?? '').claims['tier'], 'gold');
        assert.equal(decodeJwt(tokens.access_token).claims['tier'], 'silver');
      });

      it('a denial denies the request: 7.10 access_denied, as if the person had', async () => {
        receiver.reply = () => deny('no');
        const id = await start();
        const approved = await (await byMail())('approve');
        assert.deepEqual(await approved.json(), { state: 'denied' });
        const raw = await assertRefusal(await poll(id), 'ciba.access_denied', { text: 'The user denied the request.' });
        const [item] = await explained(approved);
        assert.deepEqual(
          [item!['type'], item!['reason'], (item!['data'] as Json)['hook_reason']],
          ['approval.denied', 'hook_denied', 'no'],
        );
        receiver.calls.length = 0;
        ada = await createUser(server.gatehouse.services, tenant);
        const other = await start();
        await (await byMail())('deny');
        assert.equal(receiver.calls.length, 0);
        assert.equal(raw, await assertRefusal(await poll(other), 'ciba.access_denied', { text: 'The user denied the request.' }));
      });

      it('a failure burns nothing: 503 on the page and to the phone, and the request can be approved afterwards', async () => {
        failing();
        const id = await start();
        const decide = await byMail();
        await assertRefusal(await decide('approve'), 'management.unavailable');
        await assertRefusal(await poll(id), 'ciba.authorization_pending');
        receiver.reply = () => silent;
        assert.deepEqual(await (await decide('approve')).json(), { state: 'approved' });
        await server.clock.advance(6000);
        await tokensOf(await poll(id));
      });

      it('on the phone: approve is told what became of it', async () => {
        const phone = await enrolledPhone(server, { ...ada, tenant: tenant.id }, createPhone(tenant.baseUrl, server.clock.nowMs));
        const approveOnPhone = async (): Promise<Response> => {
          const { items } = (await (await phone.get('/approvals?state=pending')).json()) as { items: readonly Json[] };
          const [item] = items;
          return phone.post(`/approvals/${item!['id']}/approve`, { context_sha256: item!['context_sha256'] }, { purpose: 'uv' });
        };
        const id = await start();
        failing();
        await assertRefusal(await approveOnPhone(), 'management.unavailable');
        receiver.reply = () => deny('no');
        const denied = await approveOnPhone();
        assert.equal(((await denied.json()) as Json)['state'], 'denied');
        await assertRefusal(await poll(id), 'ciba.access_denied', { text: 'The user denied the request.' });
        receiver.reply = () => silent;
        const again = await start();
        assert.equal(((await (await approveOnPhone()).json()) as Json)['state'], 'approved');
        await tokensOf(await poll(again));
      });
    });
  });
}
