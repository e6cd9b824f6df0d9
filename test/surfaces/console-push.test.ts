// What administrators see of pushes: whose credentials are used and whether a vendor refused them, what became of a week's pushes, a
// test push; over the Management API and on the console's pages. The private keys are never shown.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import { createUser, enrolledPhone, type TestUser, unlimited } from '../support/enrolled-phone.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { createTestTenant, type Managed } from '../support/management.ts';
import { createPhone, type Phone } from '../support/phone.ts';
import { type PushVendors, pushAccounts, startPushVendors } from '../support/push-vendors.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const accounts = pushAccounts();
const noPushes = { sent: 0, gone: 0, refused: 0, rejected: 0, failed: 0, unsent: 0 };

interface Provider {
  readonly provider: string;
  readonly credentials: string;
  readonly refused: { readonly at: string; readonly reason: string } | null;
  readonly last_week: typeof noPushes;
}

for (const database of databases) {
  describe(`pushes in the console on ${database}`, () => {
    let server: TestServer;
    let vendors: PushVendors;
    let tenant: Managed;
    let visitor: AppVisitor;
    let user: TestUser;
    let phone: Phone;
    before(async () => {
      vendors = await startPushVendors();
      server = await startTestServer(database, { pushOrigins: vendors.origins });
      const created = await createConsoleTenant(server);
      tenant = created.tenant;
      ({ visitor } = await openConsole(server, tenant, created.email));
      await tenant.make('PATCH', '/settings', unlimited);
      user = await createUser(server, 'ada@example.com', tenant.id);
      phone = await enrolledPhone(server, user, createPhone(tenant.baseUrl, server.clock.nowMs));
    });
    after(async () => {
      await server.close();
      await vendors.close();
    });

    const of = async (provider: string): Promise<Provider> =>
      (await tenant.make<{ providers: readonly Provider[] }>('GET', '/push')).providers.find((entry) => entry.provider === provider)!;
    const register = async (provider: string): Promise<void> => {
      const body = { provider, ...(provider === 'none' ? {} : { token: 'abc' }) };
      assert.equal((await phone.call('PUT', '/v1/device/push-token', { body })).status, 204);
    };
    const test = () => tenant.make('POST', `/devices/${phone.deviceId}/test-push`);

    it('a test push to a device without a token, and without credentials, is unsent and says why', async () => {
      assert.deepEqual(await of('web'), { provider: 'web', credentials: 'tenant', refused: null, last_week: noPushes });
      assert.deepEqual(await of('apns'), { provider: 'apns', credentials: 'none', refused: null, last_week: noPushes });
      assert.deepEqual(await test(), { outcome: 'unsent', reason: 'no_token' });
      await register('apns');
      assert.deepEqual(await test(), { outcome: 'unsent', reason: 'no_credentials' });
      assert.deepEqual((await of('apns')).last_week, { ...noPushes, unsent: 1 });
    });

    it('a test push says what the vendor said; refused credentials are shown until they are taken or replaced', async () => {
      await tenant.make('PATCH', '/settings', { push: { apns: accounts.apns } });
      vendors.answer('apns', { status: 403, body: { reason: 'InvalidProviderToken' } });
      assert.deepEqual(await test(), { outcome: 'refused', reason: 'InvalidProviderToken' });
      const refused = await of('apns');
      assert.deepEqual([refused.credentials, refused.refused!.reason], ['tenant', 'InvalidProviderToken']);
      assert.ok(!Number.isNaN(Date.parse(refused.refused!.at)));
      const page = await (await visitor.page('/push')).text();
      assert.match(page, /id="refused-apns"[\s\S]*InvalidProviderToken/);
      assert.deepEqual(await test(), { outcome: 'sent', reason: null });
      assert.deepEqual(JSON.parse(vendors.captured.apns.at(-1)!.body.toString()).aps.alert, {
        body: 'This is a test: notifications reach this phone.',
      });
      assert.deepEqual(await of('apns'), {
        provider: 'apns',
        credentials: 'tenant',
        refused: null,
        last_week: { ...noPushes, unsent: 1, refused: 1, sent: 1 },
      });
      vendors.answer('apns', { status: 403, body: { reason: 'InvalidProviderToken' } });
      await test();
      await tenant.make('PATCH', '/settings', { push: { apns: { ...accounts.apns, key_id: 'ANOTHERKEY' } } });
      assert.equal((await of('apns')).refused, null);
      assert.doesNotMatch(await (await visitor.page('/push')).text(), /id="refused-apns"/);
      const { items } = await tenant.make<{ items: readonly Readonly<Record<string, unknown>>[] }>(
        'GET',
        '/events?type=device.push_tested',
      );
      assert.equal(items.length, 5);
    });

    it('the device’s page sends a test and shows the last push', async () => {
      await register('apns');
      const path = `/users/${user.id}/devices`;
      const sent = await visitor.act(`${path}/${phone.deviceId}/test-push`, {});
      assert.match(sent, /The vendor took the test push/);
      vendors.answer('apns', { status: 400, body: { reason: '<b>x</b>' } });
      const refused = await (await visitor.submit(`${path}/${phone.deviceId}/test-push`, {})).text();
      assert.match(refused, /The test push was not sent: rejected/);
      assert.match(refused, /<dt>Last push<\/dt><dd>[\s\S]*rejected \(<code>&#60;b&#62;x/);
      assert.doesNotMatch(refused, /<b>x<\/b>/);
    });

    it('the private keys are shown nowhere; an unusable one, a wrong kind of key, a missing member are refused', async () => {
      await tenant.make('PATCH', '/settings', { push: { apns: accounts.apns, fcm: accounts.fcm } });
      const shown = await tenant.make<{ push: Readonly<Record<string, unknown>> }>('GET', '/settings');
      const { private_key: _secret, ...apns } = accounts.apns;
      assert.deepEqual(shown.push, { apns, fcm: { project_id: accounts.fcm.project_id, client_email: accounts.fcm.client_email } });
      const everything = JSON.stringify([shown, await tenant.make('GET', '/events'), server.logLines]);
      assert.ok(!everything.includes('PRIVATE KEY') && !everything.includes('private_key_encrypted'));
      for (const [kind, push] of [
        ['push.apns.private_key', { apns: { ...accounts.apns, private_key: 'text' } }],
        ['push.apns.private_key', { apns: { ...accounts.apns, private_key: accounts.fcm.private_key } }],
        ['push.fcm.private_key', { fcm: { ...accounts.fcm, private_key: accounts.apns.private_key } }],
        ['push.apns.topic', { apns: { ...accounts.apns, topic: undefined } }],
        ['push.apns.origin', { apns: { ...accounts.apns, origin: 'https://attacker.example' } }],
      ] as const)
        await assertRefusal(await tenant.call('PATCH', '/settings', { push }), 'management.invalid_request', { kind, text: /./ });
      assert.deepEqual((await tenant.make<typeof shown>('GET', '/settings')).push, shown.push);
      await tenant.make('PATCH', '/settings', { push: { apns: null } });
      assert.equal((await tenant.make<typeof shown>('GET', '/settings')).push['apns'], null);
    });

    it('another tenant’s device is unknown, its refusals are not shown', async () => {
      const other = await createTestTenant(server);
      await assertRefusal(await other.call('POST', `/devices/${phone.deviceId}/test-push`), 'management.not_found');
      const { providers } = await other.make<{ providers: readonly Provider[] }>('GET', '/push');
      assert.deepEqual(
        providers.map(({ credentials, refused, last_week: week }) => [credentials, refused, week]),
        [
          ['none', null, noPushes],
          ['none', null, noPushes],
          ['tenant', null, noPushes],
        ],
      );
    });
  });
}
