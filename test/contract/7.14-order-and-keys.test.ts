// Contract 7.14: the rest of the documented order, by requests that are wrong in two ways at once; every way a key can be out
// of force; and that a flipped bit anywhere in what is covered never verifies, over HTTP.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { databases } from '../support/databases.ts';
import { changeSettings, createUser, enrolledPhone, type TestUser, unlimited } from '../support/enrolled-phone.ts';
import { createTestTenant } from '../support/management.ts';
import { createPhone, type Phone, signCall } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`contract 7.14, order and keys, on ${database}`, () => {
    let server: TestServer;
    let user: TestUser;
    let phone: Phone;
    before(async () => {
      server = await startTestServer(database);
      await changeSettings(server, unlimited);
      user = await createUser(server, 'ada@example.com');
      phone = await enrolledPhone(server, user);
    });
    after(() => server.close());
    const signed = (body?: string) =>
      signCall(
        { baseUrl: phone.baseUrl, deviceId: phone.deviceId, nowMs: server.clock.nowMs },
        phone.keys.pop,
        body === undefined ? 'GET' : 'PATCH',
        '/v1/device/self',
        body === undefined ? {} : { body },
      );
    const send = ({ url, init }: ReturnType<typeof signed>, headers: Readonly<Record<string, string>> = {}): Promise<Response> => {
      const all = new Headers(init.headers);
      for (const [name, value] of Object.entries(headers)) all.set(name, value);
      return fetch(url, { ...init, headers: all });
    };
    const limited = (change: object): Promise<void> => changeSettings(server, { rate_limits: { ...unlimited.rate_limits, ...change } });

    it('revoked before unsupported algorithm, unsupported before bad signature', async () => {
      await changeSettings(server, { ...unlimited, device: { allowed_algs: ['EdDSA'] } });
      await assertRefusal(await send(signed(), { 'X-Device-Id': randomUUID() }), 'device.key_revoked');
      await assertRefusal(await send(signed(), { 'X-Signature': 'AAAA' }), 'device.unsupported_key_alg');
      await changeSettings(server, unlimited);
    });

    it('bad signature before replay, replay before the body', async () => {
      const request = signed('{');
      await assertRefusal(await send(request, { 'X-Signature': 'AAAA' }), 'device.bad_signature');
      await assertRefusal(await send(request), 'management.malformed');
      await assertRefusal(await send(request, { 'X-Signature': 'AAAA' }), 'device.bad_signature');
      await assertRefusal(await send(request), 'device.replayed_request');
    });

    it('clock skew before the key, also where the key is unknown', async () => {
      const late = signCall(
        { baseUrl: phone.baseUrl, deviceId: randomUUID(), nowMs: server.clock.nowMs },
        phone.keys.pop,
        'GET',
        '/v1/device/self',
        { timestamp: String(server.clock.nowMs() - 400_000) },
      );
      await assertRefusal(await send(late), 'device.clock_skew');
    });

    it('replay before the limit of the device, that limit before the body', async () => {
      const used = signed();
      assert.equal((await send(used)).status, 200);
      await limited({ device_requests_per_device: { limit: 1, period_seconds: 300 } });
      assert.equal((await send(signed())).status, 200);
      await assertRefusal(await send(used), 'device.replayed_request');
      assert.equal((await send(signed('{'))).status, 429);
      await limited({});
    });

    it('the limit of the address before the protocol version', async () => {
      await limited({ device_requests_per_ip: { limit: 1, period_seconds: 300 } });
      await assertRefusal(await send(signed(), { 'X-Protocol-Version': '0' }), 'device.upgrade_required', {
        fields: { min_supported: 1, current: 1 },
      });
      assert.equal((await send(signed(), { 'X-Protocol-Version': '0' })).status, 429);
      await limited({});
    });

    it('a verified signature of a device returns its point of the address; a bad, replayed or revoked one does not', async () => {
      const last = { device_requests_per_ip: { limit: 2, period_seconds: 301 } };
      await limited(last);
      for (let time = 0; time < 4; time += 1) assert.equal((await send(signed())).status, 200);
      const used = signed();
      assert.equal((await send(used)).status, 200);
      await assertRefusal(await send(used), 'device.replayed_request');
      const forged = signed();
      await assertRefusal(await send(forged, { 'X-Signature': Buffer.alloc(64).toString('base64') }), 'device.bad_signature');
      assert.equal((await send(signed())).status, 429);
      await limited({ device_requests_per_ip: { limit: 1, period_seconds: 302 } });
      await assertRefusal(await createPhone(server.url, server.clock.nowMs).get('/self'), 'device.key_revoked');
      assert.equal((await send(signed())).status, 429);
      await limited({});
    });

    it('device_key_revoked: a device that left, and a device at another tenant, with the same bytes as an unknown one', async () => {
      const gone = await enrolledPhone(server, await createUser(server, 'gone@example.com'));
      assert.equal((await gone.call('DELETE', '/v1/device/self')).status, 204);
      const other = await createTestTenant(server);
      const visitor = createPhone(other.baseUrl, server.clock.nowMs);
      const abroad = signCall(
        { baseUrl: other.baseUrl, deviceId: phone.deviceId, nowMs: server.clock.nowMs },
        phone.keys.pop,
        'GET',
        '/v1/device/self',
      );
      const answers = [await gone.get('/self'), await send(abroad), await visitor.get('/self')];
      const bodies = await Promise.all(answers.map((answer) => assertRefusal(answer, 'device.key_revoked')));
      assert.equal(new Set(bodies).size, 1);
    });

    it('a flipped bit anywhere in what is covered never verifies', async () => {
      const covered = ['path', 'query', 'timestamp', 'body', 'signature'] as const;
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...covered), fc.nat(), async (part, at) => {
          const { url, init } = signCall(
            { baseUrl: phone.baseUrl, deviceId: phone.deviceId, nowMs: server.clock.nowMs },
            phone.keys.pop,
            'PATCH',
            '/v1/device/self?a=b%20c&d=e',
            { body: '{"name":"Flipped"}' },
          );
          const headers = new Headers(init.headers);
          const target = new URL(url);
          const [pathname, search] = [target.pathname, target.search];
          const flipped = (text: string): string => {
            const bytes = Buffer.from(text);
            const bit = at % (bytes.length * 8);
            bytes[bit >> 3]! ^= 1 << (bit & 7);
            return bytes.toString('latin1');
          };
          let body: string | Buffer = String(init.body);
          let sent = `${pathname}${search}`;
          if (part === 'path') sent = `/v1/device/${encodeURIComponent(flipped('self'))}${search}`;
          if (part === 'query') sent = `${pathname}?${encodeURIComponent(flipped(search.slice(1)))}`;
          if (part === 'body') body = Buffer.from(flipped(body), 'latin1');
          if (part === 'timestamp') headers.set('X-Timestamp', encodeURIComponent(flipped(headers.get('X-Timestamp')!)));
          if (part === 'signature') {
            const signature = Buffer.from(headers.get('X-Signature')!, 'base64');
            signature[at % signature.length]! ^= 1 << (at & 7);
            headers.set('X-Signature', signature.toString('base64'));
          }
          const response = await fetch(`${server.url}${sent}`, { method: 'PATCH', headers, body });
          const text = await response.text();
          assert.ok(response.status >= 400 && response.status < 500, `${part} ${at}: ${response.status} ${text}`);
        }),
        { numRuns: 60 },
      );
      const { name } = (await (await phone.get('/self')).json()) as { name: string };
      assert.notEqual(name, 'Flipped');
    });
  });
}
