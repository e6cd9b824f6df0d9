// What changes while a sign-in hook is being asked: the answer is not taken for something it was not asked about.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { UserId } from '../../src/domain/ids.ts';
import { openBrowser } from '../support/browser.ts';
import { reachesLoopback } from '../support/ciba.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser, type TestClient, type TestUser } from '../support/fixtures.ts';
import { type HookReceiver, silent, startHookReceiver } from '../support/hook-receiver.ts';
import { approveByPin, beginLogin } from '../support/login.ts';
import { createTestUser, type Json, jsonOf } from '../support/management.ts';
import { exchange, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { openSsoWorld } from '../support/sso.ts';

for (const database of databases)
  describe(`while a sign-in hook is asked, ${database}`, async () => {
    const { server, managed, manager, tenant, authorize, signInAt, asksToSignIn, locationOf, refusedSilently } = await openSsoWorld(
      database,
      reachesLoopback,
    );
    let receiver: HookReceiver;
    before(async () => {
      receiver = await startHookReceiver();
      await managed.make('POST', '/hooks', { point: 'sign_in', url: receiver.url, on_failure: 'continue', deadline_ms: 3000 });
    });
    after(async () => {
      await server.close();
      await receiver.close();
    });

    it('whoever chooses an organisation then is asked about again, for that one', async () => {
      const email = 'grace@orders.example';
      const user: TestUser = { id: (await createTestUser(managed, email)).id as UserId, email };
      const [acme] = await Promise.all(
        ['acme', 'globex'].map(async (name) => {
          const { id } = await managed.make('POST', '/organizations', { name });
          await managed.make('PUT', `/organizations/${String(id)}/members/${user.id}`, {});
          return String(id);
        }),
      );
      const client = await createClient(server.gatehouse.services, await reloaded(), { scopes: ['openid', 'organization'] });
      const login = await beginLogin(server, await reloaded(), client, { scope: 'openid organization' });
      await approveByPin(server, login, email);
      const from = receiver.calls.length;
      receiver.reply = async () => {
        receiver.reply = () => silent;
        await jsonOf(await login.post('organization', { organization: acme! }), 200);
        return silent;
      };
      await assertRefusal(await login.post('finish'), 'login.conflict');
      await jsonOf(await login.post('finish'), 200);
      const asked = receiver.calls.slice(from).map(({ body }) => (body.data['organization'] as Json | null)?.['id'] ?? null);
      assert.deepEqual(asked, [null, acme]);
    });

    it('a consent that is withdrawn then gives no code and is not given again', async () => {
      receiver.reply = () => silent;
      const user = await createUser(server.gatehouse.services, tenant);
      const asking: TestClient = await createClient(server.gatehouse.services, tenant, { requireConsent: true });
      const browser = openBrowser();
      const to = await signInAt(browser, asksToSignIn(await authorize(browser, {}, asking)), user);
      await tokensOf(await exchange(tenant, asking, to.searchParams.get('code') ?? ''));
      assert.ok(locationOf(await authorize(browser, { prompt: 'none' }, asking)).searchParams.has('code'), 'the consent is remembered');
      receiver.reply = async () => {
        receiver.reply = () => silent;
        const at = await manager();
        const { items } = await at.make<{ readonly items: readonly Json[] }>('GET', `/users/${user.id}/sessions`);
        for (const { id } of items) await at.make('DELETE', `/users/${user.id}/sessions/${String(id)}`);
        return silent;
      };
      await refusedSilently(await authorize(browser, { prompt: 'none' }, asking), 'authorize.consent_required');
      await refusedSilently(await authorize(browser, { prompt: 'none' }, asking), 'authorize.consent_required');
    });

    const reloaded = async () => (await server.gatehouse.services.tenants.bySlug(managed.slug))!;
  });
