// Enrolments and devices in the management API: the token and its link, the list, revoking a device and one slot.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parseEnrollmentLink } from '../../sdk/device.ts';
import { databases } from '../support/databases.ts';
import { createUser, type Redeemed, type TestUser, testDevice } from '../support/enrolled-phone.ts';
import { callJson, clientCredentialsToken, createTestTenant, jsonOf, type Managed } from '../support/management.ts';
import { createPhone, type Phone } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface Enrollment {
  readonly enrollment_token: string;
  readonly qr_uri: string;
  readonly expires_at: string;
}

for (const database of databases) {
  describe(`devices in the management API, ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let user: TestUser;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
      user = await createUser(server, 'ada@example.com', tenant.id);
    });
    after(() => server.close());

    const enroll = async (): Promise<Phone> => {
      const { enrollment_token: token } = await tenant.make<Enrollment>('POST', `/users/${user.id}/enrollments`);
      const phone = createPhone(tenant.baseUrl, server.clock.nowMs);
      const response = await phone.post('/enrollment/redeem', { enrollment_token: token, device: testDevice, keys: phone.publicKeys() });
      const redeemed = await jsonOf<Redeemed>(response, 200);
      const proofs = phone.proofs(redeemed.attestation.challenge);
      await jsonOf(await phone.post('/enroll', { registration_token: redeemed.registration_token, proofs }), 201);
      return phone;
    };

    it('an enrolment token comes with its link and lives a day', async () => {
      const made = await jsonOf<Enrollment>(await tenant.call('POST', `/users/${user.id}/enrollments`, {}), 201);
      assert.deepEqual(Object.keys(made), ['enrollment_token', 'qr_uri', 'expires_at']);
      assert.deepEqual(parseEnrollmentLink(made.qr_uri), { baseUrl: tenant.baseUrl, token: made.enrollment_token });
      assert.equal(made.enrollment_token.length, 43);
      assert.ok(Math.abs(Date.parse(made.expires_at) - server.clock.nowMs() - 86_400_000) < 5000);
      await assertRefusal(await tenant.call('POST', '/users/nobody/enrollments'), 'management.not_found');
      await assertRefusal(await tenant.call('POST', `/users/${user.id}/enrollments`, { require_pin: 'x' }), 'management.invalid_request', {
        kind: 'require_pin',
        text: /./,
      });
    });

    it('a device is listed, read and revoked', async () => {
      const phone = await enroll();
      const { items } = await tenant.make<{ items: readonly { readonly id: string }[] }>('GET', `/users/${user.id}/devices`);
      assert.deepEqual(
        items.map((item) => item.id),
        [phone.deviceId],
      );
      const device = await tenant.make('GET', `/devices/${phone.deviceId}`);
      const { created_at: created, keys, ...rest } = device;
      assert.ok(Date.parse(String(created)) > 0);
      assert.deepEqual(rest, {
        id: phone.deviceId,
        user_id: user.id,
        state: 'active',
        ...testDevice,
        push_provider: 'none',
        push: null,
        attestation_format: null,
        key_protection: 'claimed',
        revoked_at: null,
      });
      assert.deepEqual(
        (keys as readonly { purpose: string; state: string }[]).map((key) => [key.purpose, key.state]),
        [
          ['pop', 'active'],
          ['uv', 'active'],
        ],
      );
      assert.equal((await tenant.call('DELETE', `/devices/${phone.deviceId}/keys/${phone.keys.uv.keyId}`)).status, 204);
      await assertRefusal(await tenant.call('DELETE', `/devices/${phone.deviceId}/keys/${phone.keys.uv.keyId}`), 'management.not_found');
      await assertRefusal(await phone.get('/self', { purpose: 'uv' }), 'device.key_revoked');
      assert.equal((await phone.get('/self')).status, 200);
      assert.equal((await tenant.call('DELETE', `/devices/${phone.deviceId}`)).status, 204);
      await assertRefusal(await phone.get('/self'), 'device.key_revoked');
      assert.equal((await tenant.make('GET', `/devices/${phone.deviceId}`))['state'], 'revoked');
      await assertRefusal(await tenant.call('DELETE', `/devices/${phone.deviceId}`), 'management.not_found');
      const events = await server.gatehouse.services.database.read(user.tenant, (queries) =>
        queries
          .selectFrom('audit_events')
          .select('type')
          .where('tenant_id', '=', user.tenant)
          .where('target', '=', `device:${phone.deviceId}`)
          .limit(100)
          .orderBy('id')
          .execute(),
      );
      assert.deepEqual(
        events.map((event) => event.type),
        ['device.enrolled', 'device.key_revoked', 'device.revoked'],
      );
    });

    for (const [path, title] of [
      ['enroll', 'Telefon einrichten'],
      ['scan', 'In der App fortfahren'],
    ] as const)
      it(`/${path}, the link opened in a browser, says what to do in its language and asks nobody for anything`, async () => {
        const response = await fetch(`${tenant.baseUrl}/${path}`, { headers: { 'accept-language': 'de' } });
        const page = await response.text();
        assert.equal(response.status, 200);
        assert.match(response.headers.get('content-type') ?? '', /^text\/html/);
        assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'/);
        assert.match(page, new RegExp(`<html lang="de">[\\s\\S]*<h1>${title}`));
        assert.doesNotMatch(page, /https?:|fetch|<form/);
      });

    it('a device id that was ever enrolled is taken in every tenant', async () => {
      const phone = await enroll();
      const other = await createTestTenant(server);
      const thief = createPhone(other.baseUrl, server.clock.nowMs);
      const body = { email: 'x@example.com', device: testDevice, keys: thief.publicKeys() };
      const stolen = { headers: { 'X-Device-Id': phone.deviceId }, signed: { deviceId: phone.deviceId } };
      await assertRefusal(await thief.post('/registration/start', body, stolen), 'device.key_revoked');
      assert.equal((await thief.post('/registration/start', body)).status, 202);
      assert.equal((await tenant.call('DELETE', `/devices/${phone.deviceId}`)).status, 204);
      await assertRefusal(await thief.post('/registration/start', body, stolen), 'device.key_revoked');
    });

    it('another tenant’s device is unknown, and so is its phone there', async () => {
      const phone = await enroll();
      const other = await createTestTenant(server);
      const foreign = await assertRefusal(await other.call('GET', `/devices/${phone.deviceId}`), 'management.not_found');
      const unknown = await assertRefusal(await other.call('GET', '/devices/0b8c6d54-3e2f-4a19-8b7d-6c5e4f3a2b10'), 'management.not_found');
      assert.equal(foreign, unknown);
      const there = { ...phone, ...createPhone(other.baseUrl, server.clock.nowMs) };
      await assertRefusal(
        await there.get('/self', { key: phone.keys.pop, headers: { 'X-Device-Id': phone.deviceId }, signed: { deviceId: phone.deviceId } }),
        'device.key_revoked',
      );
    });

    it('forbidden without the capability', async () => {
      const token = await clientCredentialsToken(tenant.baseUrl, tenant.adminClientId, tenant.adminClientSecret, 'users:read');
      for (const [method, path, capability] of [
        ['GET', `/users/${user.id}/devices`, 'devices:read'],
        ['POST', `/users/${user.id}/enrollments`, 'devices:write'],
        ['DELETE', '/devices/x', 'devices:write'],
      ] as const) {
        const response = await callJson(`${tenant.managementApi}${path}`, token, method);
        await assertRefusal(response, 'management.forbidden', { text: `The token lacks the capability ${capability}.` });
      }
    });
  });
}
