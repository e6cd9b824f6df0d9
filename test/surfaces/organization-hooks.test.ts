// Hooks and webhooks carry the organisation somebody signs in for (design 19): the hook of the sign-in, by the page and by a session, the
// hook of tokens at the code and at each refresh, CIBA, and the events of a sign-in. Where a tenant has none, they say nothing of it.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { openBrowser } from '../support/browser.ts';
import { cibaGrantType, decide, reachesLoopback } from '../support/ciba.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser, type TestClient, type TestUser } from '../support/fixtures.ts';
import { type HookReceiver, silent, startHookReceiver } from '../support/hook-receiver.ts';
import type { Json } from '../support/management.ts';
import { exchange, postAs, refresh, tokensOf } from '../support/oidc.ts';
import { openSsoWorld } from '../support/sso.ts';

for (const database of databases)
  describe(`hooks and events of a sign-in for an organisation on ${database}`, async () => {
    const world = await openSsoWorld(database, reachesLoopback);
    const { server, managed, authorize, locationOf, signInAt, asksToSignIn } = world;
    let receiver: HookReceiver;
    let client: TestClient;
    let ada: TestUser;
    const heard = (): readonly unknown[] => receiver.calls.map(({ body }) => [body.type, body.data['organization']]);

    before(async () => {
      receiver = await startHookReceiver();
      client = await createClient(server.gatehouse.services, world.tenant, { scopes: ['openid', 'offline_access', 'organization'] });
      for (const point of ['sign_in', 'token']) await managed.make('POST', '/hooks', { point, url: receiver.url, on_failure: 'refuse' });
    });
    after(async () => {
      await server.close();
      await receiver.close();
    });
    beforeEach(async () => {
      ada = await createUser(server.gatehouse.services, world.tenant);
      receiver.calls.length = 0;
      receiver.reply = () => silent;
    });

    it('a tenant without organisations is asked as before', async () => {
      const browser = openBrowser();
      const location = await signInAt(browser, asksToSignIn(await authorize(browser, { scope: 'openid' }, client)), ada);
      await tokensOf(await exchange(world.tenant, client, location.searchParams.get('code') ?? ''));
      assert.deepEqual(
        receiver.calls.map(({ body }) => [body.type, Object.hasOwn(body.data, 'organization')]),
        [
          ['hook.sign_in', false],
          ['hook.token', false],
        ],
      );
    });

    it('the organisation with the roles held there, or null for none; a member who was suspended is in none', async () => {
      await managed.make('POST', '/organization-roles', { name: 'approver' });
      const { id } = await managed.make('POST', '/organizations', { name: 'acme' });
      const member = `/organizations/${String(id)}/members/${ada.id}`;
      await managed.make('PUT', member, { roles: ['approver'] });
      const acme = { id, name: 'acme', roles: ['approver'] };
      const browser = openBrowser();
      const asked = { scope: 'openid offline_access', organization: 'acme' };
      const location = await signInAt(browser, asksToSignIn(await authorize(browser, asked, client)), ada);
      const tokens = await tokensOf(await exchange(world.tenant, client, location.searchParams.get('code') ?? ''));
      await managed.make('PUT', member, { roles: [] });
      await tokensOf(await refresh(world.tenant, client, tokens.refresh_token));
      locationOf(await authorize(browser, asked, client)); // by the session
      await authorize(browser, { scope: 'openid' }, client);
      assert.deepEqual(heard(), [
        ['hook.sign_in', acme],
        ['hook.token', acme],
        ['hook.token', { ...acme, roles: [] }],
        ['hook.sign_in', { ...acme, roles: [] }],
        ['hook.sign_in', null],
      ]);
      const { items } = await managed.make<{ items: readonly Json[] }>('GET', '/events?type=login.finished');
      assert.deepEqual(
        items.slice(0, 3).map(({ data }) => (data as Json)['organization']),
        [undefined, id, id],
      );
    });

    it('CIBA: the hook of the sign-in and that of tokens', async () => {
      const { id } = await managed.make('POST', '/organizations', { name: 'globex' });
      await managed.make('PUT', `/organizations/${String(id)}/members/${ada.id}`, {});
      const ciba = await createClient(server.gatehouse.services, world.tenant, {
        grantTypes: [cibaGrantType],
        backchannelTokenDeliveryMode: 'poll',
      });
      const started = await postAs(world.tenant, ciba, 'bc-authorize', { scope: 'openid', login_hint: ada.email, organization: 'globex' });
      const { auth_req_id: request } = (await started.json()) as Json;
      await decide(server, world.tenant, ada, 'approve');
      await tokensOf(await postAs(world.tenant, ciba, 'token', { grant_type: cibaGrantType, auth_req_id: String(request) }));
      const globex = { id, name: 'globex', roles: [] };
      assert.deepEqual(
        heard().filter((one) => (one as readonly unknown[])[0] === 'hook.token'),
        [['hook.token', globex]],
      );
    });
  });
