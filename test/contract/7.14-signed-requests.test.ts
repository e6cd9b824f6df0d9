// Contract 7.14 and 7.15: what a signed request must be, and the order in which its checks answer.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { DeviceId } from '../../src/domain/ids.ts';
import { databases } from '../support/databases.ts';
import { createUser, enrolledPhone, setUserState, type TestUser } from '../support/enrolled-phone.ts';
import { type CallOptions, createPhone, makeKey, type Phone, sha256Hex, signCall } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`contract 7.14 on ${database}`, () => {
    let server: TestServer;
    let user: TestUser;
    let phone: Phone;
    before(async () => {
      server = await startTestServer(database);
      user = await createUser(server, 'ada@example.com');
      phone = await enrolledPhone(server, user);
    });
    after(() => server.close());
    const self = (options: CallOptions = {}) => phone.get('/self', options);

    for (const [name, value] of [
      ['X-Device-Id', undefined],
      ['X-Device-Key-Id', undefined],
      ['X-Timestamp', undefined],
      ['X-Signature', undefined],
      ['X-Device-Id', ''],
      ['X-Signature', ''],
    ] as const) {
      it(`7.14 signature_required: ${name} ${value === undefined ? 'missing' : 'empty'}`, async () => {
        await assertRefusal(await self({ headers: { [name]: value } }), 'device.signature_required');
      });
    }

    for (const [name, value] of [
      ['X-Device-Id', 'no-uuid'],
      ['X-Device-Id', `{${randomUUID()}}`],
      ['X-Device-Key-Id', '0b8c6d543e2f4a198b7d6c5e4f3a2b10'],
      ['X-Timestamp', '176722560000'],
      ['X-Timestamp', '17672256000000'],
      ['X-Timestamp', '2026-01-01T00:00:00Z'],
      ['X-Timestamp', '-767225600000'],
      ['X-Signature', 'no base64'],
      ['X-Signature', 'AA'],
      ['X-Signature', 'AB=='],
      ['X-Signature', 'A-_='],
    ] as const) {
      it(`7.14 bad_signed_headers: ${name} ${value}`, async () => {
        await assertRefusal(await self({ headers: { [name]: value } }), 'device.bad_signed_headers');
      });
    }

    it('7.14 bad_signed_headers: a header sent twice', async () => {
      const { init } = signCall(
        { baseUrl: phone.baseUrl, deviceId: phone.deviceId, nowMs: server.clock.nowMs },
        phone.keys.pop,
        'GET',
        '/v1/device/self',
      );
      for (const name of ['X-Device-Id', 'X-Device-Key-Id', 'X-Timestamp', 'X-Signature']) {
        const headers = new Headers(init.headers);
        headers.append(name, headers.get(name)!);
        await assertRefusal(await fetch(`${server.url}/v1/device/self`, { headers }), 'device.bad_signed_headers');
      }
    });

    it('7.14 clock_skew: beyond the window on either side, with the server time; at the edge it works', async () => {
      for (const off of [-301_000, 301_000]) {
        const before = server.clock.nowMs();
        const response = await self({ timestamp: String(server.clock.nowMs() + off) });
        const body = (await response.clone().json()) as { server_time: number };
        await assertRefusal(response, 'device.clock_skew');
        assert.ok(body.server_time >= before && body.server_time <= server.clock.nowMs());
      }
      assert.equal((await self({ timestamp: String(server.clock.nowMs() - 298_000) })).status, 200);
      assert.equal((await self({ timestamp: String(server.clock.nowMs() + 299_000) })).status, 200);
    });

    it('7.14 device_key_revoked: unknown device, unknown key, key of another device', async () => {
      const other = await enrolledPhone(server, await createUser(server, 'bob@example.com'));
      const stranger = createPhone(server.url, server.clock.nowMs);
      const answers = [
        await stranger.get('/self'),
        await self({ key: makeKey('pop', 'ES256') }),
        await self({ key: other.keys.pop }),
        await self({ headers: { 'X-Device-Id': other.deviceId } }),
      ];
      const bodies = new Set<string>();
      for (const answer of answers) bodies.add(await assertRefusal(answer, 'device.key_revoked'));
      assert.equal(bodies.size, 1);
    });

    it('7.14 device_key_revoked: user suspended or deleted; active again, the device works', async () => {
      const own = await createUser(server, 'cyd@example.com');
      const device = await enrolledPhone(server, own);
      for (const state of ['suspended', 'deleted'] as const) {
        await setUserState(server, own, state);
        await assertRefusal(await device.get('/self'), 'device.key_revoked');
      }
      await setUserState(server, own, 'active');
      assert.equal((await device.get('/self')).status, 200);
    });

    it('7.14 unsupported_key_alg: the tenant no longer allows the algorithm of the key', async () => {
      const { cache } = server.gatehouse.services;
      const settings = (value: string) =>
        cache.write(user.tenant, (queries) =>
          queries.updateTable('tenants').set({ settings: value }).where('tenant_id', '=', user.tenant).execute(),
        );
      await settings('{"device":{"allowed_algs":["EdDSA"]}}');
      await assertRefusal(await self(), 'device.unsupported_key_alg');
      await settings('{}');
      assert.equal((await self()).status, 200);
    });

    it('7.14 unsupported_key_alg: a stored algorithm this build does not know', async () => {
      const own = await createUser(server, 'dee@example.com');
      const device = await enrolledPhone(server, own);
      await server.gatehouse.services.database.write(own.tenant, (queries) =>
        queries
          .updateTable('device_keys')
          .set({ alg: 'ES999' })
          .where('tenant_id', '=', own.tenant)
          .where('device_id', '=', device.deviceId as DeviceId)
          .where('key_id', '=', device.keys.pop.keyId)
          .execute(),
      );
      await assertRefusal(await device.get('/self'), 'device.unsupported_key_alg');
    });

    for (const [name, options] of [
      ['another key', { key: 'other' }],
      ['a changed method', { signed: { method: 'POST' } }],
      ['a changed path', { signed: { path: '/v1/device/selv' } }],
      ['a changed query', { signed: { query: 'a=1' } }],
      ['a changed issuer', { signed: { issuer: 'https://evil.example' } }],
      ['a changed body', { signed: { bodySha256: sha256Hex('{}') } }],
      ['a changed protocol version', { signed: { protocolVersion: '2' } }],
      ['a changed timestamp', { signed: { timestamp: '1767225600000' } }],
      ['a signature cut short', { spoil: (signature: Buffer) => signature.subarray(1) }],
      ['a flipped bit', { spoil: (signature: Buffer) => Buffer.concat([signature.subarray(0, 63), Buffer.of(signature[63]! ^ 1)]) }],
    ] as const) {
      it(`7.14 bad_signature: ${name}`, async () => {
        const key = 'key' in options ? { ...makeKey('pop', 'ES256'), keyId: phone.keys.pop.keyId } : phone.keys.pop;
        await assertRefusal(await self({ ...options, key }), 'device.bad_signature');
      });
    }

    it('7.14 replayed_request: the same request again, also with a malleated signature', async () => {
      const call = signCall(
        { baseUrl: phone.baseUrl, deviceId: phone.deviceId, nowMs: server.clock.nowMs },
        phone.keys.pop,
        'GET',
        '/v1/device/self',
      );
      assert.equal((await fetch(call.url, call.init)).status, 200);
      await assertRefusal(await fetch(call.url, call.init), 'device.replayed_request');
      const headers = new Headers(call.init.headers);
      headers.set('X-Signature', malleate(Buffer.from(headers.get('X-Signature')!, 'base64')).toString('base64'));
      await assertRefusal(await fetch(call.url, { ...call.init, headers }), 'device.replayed_request');
    });

    it('7.14 order: each check answers before the ones after it', async () => {
      const wrong = { 'X-Signature': 'no base64' };
      const old = String(server.clock.nowMs() - 400_000);
      await assertRefusal(await phone.get('/nowhere', { headers: { 'X-Signature': undefined } }), 'management.not_found');
      await assertRefusal(await phone.get('/self/../self%2e', { headers: {} }), 'management.malformed');
      await assertRefusal(await self({ protocolVersion: '0', headers: { 'X-Timestamp': undefined } }), 'device.upgrade_required');
      await assertRefusal(await self({ headers: { ...wrong, 'X-Device-Id': undefined } }), 'device.signature_required');
      await assertRefusal(await self({ timestamp: old, headers: wrong }), 'device.bad_signed_headers');
      await assertRefusal(await self({ timestamp: old, headers: { 'X-Device-Id': randomUUID() } }), 'device.clock_skew');
      await assertRefusal(await self({ headers: { 'X-Device-Id': randomUUID(), 'X-Signature': 'AAAA' } }), 'device.key_revoked');
      await assertRefusal(
        await phone.call('PATCH', '/v1/device/self', { body: '{', headers: { 'X-Signature': 'AAAA' } }),
        'device.bad_signature',
      );
    });

    for (const target of ['//self', '/./self', '/%2e/self', '/self%2F', '/self%5c', '/a\\b']) {
      it(`malformed target ${target} is refused before anything else`, async () => {
        await assertRefusal(await rawGet(server.url, `/v1/device${target}`), 'management.malformed');
      });
    }
  });

  describe(`contract 7.15 on ${database}`, () => {
    let server: TestServer;
    let phone: Phone;
    before(async () => {
      server = await startTestServer(database);
      phone = await enrolledPhone(server, await createUser(server, 'ada@example.com'));
    });
    after(() => server.close());

    for (const version of [undefined, '', '0', '-1', '1.0', 'one', ' ', '0000001', '1, 1', '+1', '١']) {
      it(`7.15 upgrade_required: version ${version}`, async () => {
        const response = await phone.get('/self', {
          headers: { 'X-Protocol-Version': version === '١' ? encodeURIComponent(version) : version },
        });
        await assertRefusal(response, 'device.upgrade_required', { fields: { min_supported: 1, current: 1 } });
      });
    }

    it('7.15: a version above the current one and one with leading zeros are accepted', async () => {
      for (const protocolVersion of ['1', '2', '999999', '000001']) {
        assert.equal((await phone.get('/self', { protocolVersion })).status, 200, protocolVersion);
      }
    });
  });
}

function malleate(signature: Buffer): Buffer {
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
  const s = BigInt(`0x${signature.subarray(32).toString('hex')}`);
  return Buffer.concat([signature.subarray(0, 32), Buffer.from((order - s).toString(16).padStart(64, '0'), 'hex')]);
}

/** fetch() normalises targets; this sends one as it is. */
async function rawGet(base: string, target: string): Promise<Response> {
  const { request } = await import('node:http');
  const { hostname, port } = new URL(base);
  return new Promise((resolve, fail) => {
    const sent = request({ hostname, port, path: target }, async (incoming) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk);
      const headers = new Headers(Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]));
      resolve(new Response(Buffer.concat(chunks), { status: incoming.statusCode ?? 0, headers }));
    });
    sent.on('error', fail).end();
  });
}
