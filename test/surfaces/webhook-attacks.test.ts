// Webhooks at hostile addresses: redirecting, private, changing their mind and slow ones get nothing they should not, and delay nobody else.
// An export without secrets has none.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { exportDocument } from '../../src/administration/declaration/export.ts';
import { openSession } from '../../src/administration/declaration/reconcile.ts';
import { deliveryKinds, inHandMax } from '../../src/deliveries/kinds.ts';
import { databases } from '../support/databases.ts';
import { until } from '../support/deliveries.ts';
import { createTestTenant, type Json, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import {
  answerWith,
  deliveriesOf,
  deliverNow,
  type Hook,
  loopbackAllowed,
  makeHook,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../support/webhooks.ts';

for (const database of databases) {
  describe(`webhooks at hostile addresses on ${database}`, () => {
    let receiver: WebhookReceiver;
    let server: TestServer;
    before(async () => {
      receiver = await startWebhookReceiver();
      server = await startTestServer(database, { flags: loopbackAllowed });
    });
    after(async () => {
      await server?.close();
      await receiver?.close();
    });
    const makeGroups = async (tenant: Managed, count: number): Promise<void> => {
      for (let made = 0; made < count; made += 1) await tenant.make('POST', '/groups', { display_name: `Group ${made}` });
    };
    const outcomeOf = async (tenant: Managed, { id }: Hook): Promise<readonly unknown[]> => {
      const [delivery] = await deliveriesOf(tenant, id);
      return [delivery!.state, delivery!.status, delivery!['reason'], delivery!['answer']];
    };

    it('a redirect is a failure, and nobody goes where it leads', async () => {
      const tenant = await createTestTenant(server);
      for (const status of [301, 302, 303, 307, 308]) {
        receiver.answer(`/redirect-${status}`, answerWith(status, { location: receiver.url('/inside') }));
        const hook = await makeHook(tenant, receiver.url(`/redirect-${status}`));
        await tenant.make('POST', `/webhooks/${hook.id}/test`);
        await deliverNow(server);
        assert.deepEqual(await outcomeOf(tenant, hook), ['waiting', status, `status_${status}`, '']);
      }
      assert.deepEqual(receiver.at('/inside'), []);
    });

    it('private and link-local addresses are never called, by any spelling, nor names that lead there', async () => {
      const tenant = await createTestTenant(server);
      const port = new URL(receiver.url('/')).port;
      const addresses = [
        'https://10.0.0.1/',
        'https://169.254.169.254/latest/meta-data',
        'https://[::1]/',
        'https://[fd00::1]/',
        'https://0.0.0.0/',
      ];
      for (const url of [...addresses, `https://[::ffff:10.0.0.1]:${port}/`, 'http://192.168.0.1/']) {
        const hook = await makeHook(tenant, url);
        await tenant.make('POST', `/webhooks/${hook.id}/test`);
        await deliverNow(server);
        assert.deepEqual(await outcomeOf(tenant, hook), ['waiting', null, 'refused_address', null], url);
      }
    });

    it('endpoints that never answer hold their own deliveries only: another webhook and another tenant get theirs meanwhile', async () => {
      const slow = await createTestTenant(server);
      const [other, same] = [await createTestTenant(server), slow];
      const held: ServerResponse[] = [];
      receiver.answer('/slow', (response) => void held.push(response));
      await makeHook(slow, receiver.url('/slow'));
      await makeHook(same, receiver.url('/same'));
      await makeHook(other, receiver.url('/quick'));
      await makeGroups(slow, 10);
      const { jobs } = server.gatehouse.services;
      await jobs.runNow('webhook-feed');
      jobs.wake();
      await until(() => receiver.at('/same').length === 10 && held.length === deliveryKinds.webhook.laneMax);
      await makeGroups(other, 10);
      await jobs.runNow('webhook-feed');
      jobs.wake();
      await until(() => receiver.at('/quick').length === 10);
      assert.equal(held.length, deliveryKinds.webhook.laneMax, 'four at a time, however many wait');
      assert.ok(held.length < inHandMax);
      receiver.answer('/slow', answerWith(204));
      for (const response of held) response.writeHead(204).end();
      await until(() => receiver.at('/slow').length === 10);
      await jobs.runNow('deliveries');
    });

    it('an answer that does not end is a failure, and what is kept of one is its beginning', async () => {
      const tenant = await createTestTenant(server);
      receiver.answer('/endless', answerWith(200, {}, 'x'.repeat(100_000)));
      const hook = await makeHook(tenant, receiver.url('/endless'));
      await tenant.make('POST', `/webhooks/${hook.id}/test`);
      await deliverNow(server);
      assert.deepEqual(await outcomeOf(tenant, hook), ['waiting', null, 'too_large', null]);
    });

    it('an export has no secret unless it is asked for, and the secret asked for signs the same', async () => {
      const tenant = await createTestTenant(server);
      const hook = await makeHook(tenant, 'https://hooks.example/exported', { types: ['user.*'], enabled: false });
      const { services } = server.gatehouse;
      const exported = async (withSecrets: boolean): Promise<string> => {
        const session = await openSession(services, (await services.tenants.bySlug(tenant.slug))!, { actor: 'operator' });
        const parts: string[] = [];
        for await (const part of exportDocument(session, { withSecrets, asJson: false })) parts.push(part);
        return parts.join('');
      };
      const plain = await exported(false);
      assert.match(
        plain,
        /webhooks:\n {2}- id: .*\n {4}url: https:\/\/hooks\.example\/exported\n {4}types:\n {6}- user\.\*\n {4}enabled: false\n/,
      );
      assert.ok(!plain.includes('whsec_'));
      assert.ok((await exported(true)).includes(hook.secret));
      const listed: Json = await tenant.make('GET', '/webhooks');
      assert.ok(!JSON.stringify(listed).includes('whsec_') && !JSON.stringify(await tenant.make('GET', '/events')).includes('whsec_'));
    });
  });
}
