// Bodies of signed requests: size, type, encoding and depth, each in its place among the checks.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { bodyBytesMax, jsonDepthMax } from '../../src/contract/limits.ts';
import { databases } from '../support/databases.ts';
import { changeSettings, createUser, enrolledPhone, testDevice, unlimited } from '../support/enrolled-phone.ts';
import { type CallOptions, createPhone, makeKey, type Phone } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`bodies of signed requests on ${database}`, () => {
    let server: TestServer;
    let phone: Phone;
    before(async () => {
      server = await startTestServer(database);
      await changeSettings(server, unlimited);
      phone = await enrolledPhone(server, await createUser(server, 'ada@example.com'));
    });
    after(() => server.close());

    const patch = (body: unknown, options: CallOptions = {}) => phone.call('PATCH', '/v1/device/self', { ...options, body });
    const padded = (bytes: number): string => `{"name":"a"${' '.repeat(bytes - 12)}}`;

    it('payload_too_large: one byte over 64 KiB; exactly 64 KiB is read', async () => {
      assert.equal((await patch(padded(bodyBytesMax))).status, 200);
      await assertRefusal(await patch(padded(bodyBytesMax + 1)), 'management.payload_too_large');
    });

    it('unsupported_media_type: another type, or any content encoding, before the key is looked at', async () => {
      const stranger = makeKey('pop', 'ES256');
      await assertRefusal(await patch('{}', { headers: { 'Content-Type': 'text/plain' } }), 'management.unsupported_media_type');
      for (const encoding of ['gzip', 'identity', 'br']) {
        await assertRefusal(
          await patch('{}', { headers: { 'Content-Encoding': encoding }, key: stranger }),
          'management.unsupported_media_type',
        );
      }
    });

    it('malformed: JSON too deep, doubled keys, not UTF-8 text, no object; at the depth limit it is read', async () => {
      const nested = (depth: number): string => `{"x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
      assert.equal((await patch(nested(jsonDepthMax))).status, 200);
      for (const body of [nested(jsonDepthMax + 1), '{"name":"a","name":"b"}', '{"__proto__":{}}', '[]', 'null', '"x"', '{', 'x']) {
        await assertRefusal(await patch(body), 'management.malformed');
      }
    });

    it('a refused body changes nothing, a good one does', async () => {
      assert.equal((await patch({ name: 'Renamed', os_version: '9', app_version: null })).status, 200);
      await assertRefusal(await patch({ name: 'x'.repeat(101) }), 'device.invalid_request', { kind: 'name', text: /./ });
      const self = (await (await phone.get('/self')).json()) as { name: string; os_version: string; app_version: string };
      assert.deepEqual([self.name, self.os_version, self.app_version], ['Renamed', '9', '2']);
    });

    it('signup: text that fits into no XML is refused like everywhere users are written; other scripts and emoji are taken', async () => {
      await changeSettings(server, { ...unlimited, signup_enabled: true });
      const start = (fields: object) => {
        const newcomer = createPhone(server.url, server.clock.nowMs);
        return newcomer.post('/signup/start', { email: 'new@example.com', device: testDevice, keys: newcomer.publicKeys(), ...fields });
      };
      for (const name of ['given_name', 'family_name', 'locale', 'email'])
        for (const unfit of ['\u0007', '\u001f', '\ud800', '\udc00x', '\ufffe', '\uffff']) {
          const value = name === 'email' ? `a${unfit}b@example.com` : `a${unfit}b`;
          await assertRefusal(await start({ [name]: value }), 'device.invalid_request', { kind: name, text: /./ });
        }
      await assertRefusal(await start({ given_name: '\u0000' }), 'management.malformed');
      assert.equal((await start({ given_name: 'Ада 😀', family_name: 'בן\tלוי', locale: 'de-CH' })).status, 202);
    });

    it('405 and 404 come before everything a signature would need', async () => {
      const wrongMethod = await fetch(`${server.url}/v1/device/self`, { method: 'POST' });
      assert.equal(wrongMethod.headers.get('allow'), 'GET, PATCH, DELETE, HEAD');
      await assertRefusal(wrongMethod, 'management.method_not_allowed');
      await assertRefusal(await fetch(`${server.url}/v1/device/nowhere`), 'management.not_found');
      await assertRefusal(await fetch(`${server.url}/t/nobody/v1/device/self`), 'management.not_found');
    });
  });
}
