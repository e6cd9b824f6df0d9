// What another system may have acted on is not sent to it again: its kept connection ends after it has read a request and before it answers.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ConnectorWorld, startConnectorWorld } from '../support/connectors.ts';
import { databases } from '../support/databases.ts';
import { type HookReceiver, silent, startHookReceiver } from '../support/hook-receiver.ts';
import { createTestUser } from '../support/management.ts';
import { deliveriesOf, deliverNow, makeHook, startWebhookReceiver, type WebhookReceiver } from '../support/webhooks.ts';

const machine = { token_endpoint_auth_method: 'client_secret_post', grant_types: ['client_credentials'], scopes: ['users:read'] };

for (const database of databases)
  describe(`a connection that ends before the answer, on ${database}`, () => {
    let world: ConnectorWorld;
    let webhooks: WebhookReceiver;
    let hook: HookReceiver;
    before(async () => {
      world = await startConnectorWorld(database);
      webhooks = await startWebhookReceiver();
      hook = await startHookReceiver();
    });
    after(async () => {
      await world?.close();
      await webhooks.close();
      await hook.close();
    });

    it('an account is made once at a target, and found there by the next attempt', async () => {
      await world.fresh();
      await createTestUser(world.tenant, 'ada@example.com');
      await world.connect();
      await world.run();
      let dropped = 0;
      world.proxy.intercept = async ({ method }, forward) => {
        if (method !== 'POST' || dropped > 0) return undefined;
        dropped += 1;
        assert.equal((await forward()).status, 201);
        return 'drop';
      };
      world.proxy.take();
      await createTestUser(world.tenant, 'bob@example.com');
      await world.run();
      assert.equal(world.proxy.take().filter((one) => one === 'POST /Users').length, 1);
      await world.advance(60_000);
      await world.run();
      assert.deepEqual(
        world.proxy.take().filter((one) => one.startsWith('POST')),
        [],
        'what is there is linked',
      );
      assert.equal((await world.usersThere()).length, 2);
    });

    it('an event goes to a webhook once an attempt', async () => {
      const { tenant, server } = world;
      const { id } = await makeHook(tenant, webhooks.url('/once'));
      await tenant.make('POST', '/groups', { display_name: 'First' });
      await deliverNow(server);
      webhooks.answer('/once', (response) => void response.socket?.destroy());
      await tenant.make('POST', '/groups', { display_name: 'Second' });
      await deliverNow(server);
      assert.equal(webhooks.at('/once').length, 2);
      const [last] = await deliveriesOf(tenant, id);
      assert.deepEqual([last?.state, last?.['attempts'], last?.['reason']], ['waiting', 1, 'network']);
    });

    it('a hook is asked once a token', async () => {
      const { tenant } = world;
      await tenant.make('POST', '/hooks', { point: 'token', url: hook.url, on_failure: 'refuse', deadline_ms: 3000 });
      const client = await tenant.make<{ client_id: string; client_secret: string }>('POST', '/clients', { name: 'Machine', ...machine });
      const ask = (): Promise<Response> =>
        fetch(`${tenant.baseUrl}/v1/idp/oidc/token`, {
          method: 'POST',
          body: new URLSearchParams({
            grant_type: 'client_credentials',
            client_id: client.client_id,
            client_secret: client.client_secret,
            scope: 'users:read',
          }),
        });
      assert.equal((await ask()).status, 200);
      hook.reply = () => 'drop';
      assert.equal((await ask()).status, 503);
      assert.equal(hook.calls.length, 2);
      hook.reply = () => silent;
    });
  });
