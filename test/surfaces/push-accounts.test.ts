// The operator's push accounts: files that serve the tenants without accounts of their own, and that stop the start when they are none.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createUser, enrolledPhone } from '../support/enrolled-phone.ts';
import { createTestTenant } from '../support/management.ts';
import { createPhone } from '../support/phone.ts';
import { pushAccounts, startPushVendors } from '../support/push-vendors.ts';
import { startTestServer } from '../support/server.ts';

const accounts = pushAccounts();

describe('accounts of the operator', () => {
  it('serve the tenants that have none; a tenant’s own comes first', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-push-'));
    const vendors = await startPushVendors();
    const [apnsFile, fcmFile] = [join(folder, 'apns.json'), join(folder, 'fcm.json')];
    writeFileSync(apnsFile, JSON.stringify(accounts.apns));
    writeFileSync(fcmFile, JSON.stringify(accounts.fcm));
    const server = await startTestServer('sqlite', { pushOrigins: vendors.origins, flags: { push_apns: apnsFile, push_fcm: fcmFile } });
    try {
      const tenant = await createTestTenant(server);
      const user = await createUser(server, 'ada@example.com', tenant.id);
      const phone = await enrolledPhone(server, user, createPhone(tenant.baseUrl, server.clock.nowMs));
      const test = async (): Promise<unknown> => {
        assert.equal((await phone.call('PUT', '/v1/device/push-token', { body: { provider: 'apns', token: 'abc' } })).status, 204);
        assert.deepEqual(await tenant.make('POST', `/devices/${phone.deviceId}/test-push`), { outcome: 'sent', reason: null });
        return vendors.captured.apns.at(-1)!.headers['apns-topic'];
      };
      const { providers } = await tenant.make<{ providers: readonly { credentials: string }[] }>('GET', '/push');
      assert.deepEqual(
        providers.map(({ credentials }) => credentials),
        ['operator', 'operator', 'tenant'],
      );
      assert.equal(await test(), accounts.apns.topic);
      await tenant.make('PATCH', '/settings', { push: { apns: { ...pushAccounts().apns, topic: 'org.example.own' } } });
      assert.equal(await test(), 'org.example.own');
    } finally {
      await server.close();
      await vendors.close();
      rmSync(folder, { recursive: true });
    }
  });

  it('a file that is no account stops the start, and says which and why', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-push-'));
    const file = join(folder, 'apns.json');
    try {
      for (const [text, says] of [
        ['{', /^push_apns: expected an account in .*apns\.json; /],
        [JSON.stringify({ ...accounts.apns, topic: undefined }), /apns\.json; apns: expected "topic" in the account, found none$/],
        [JSON.stringify({ ...accounts.apns, private_key: accounts.fcm.private_key }), /expected a P-256 key as "private_key"$/],
      ] as const) {
        writeFileSync(file, text);
        await assert.rejects(startTestServer('sqlite', { flags: { push_apns: file } }), { message: says });
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
