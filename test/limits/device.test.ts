// Limits of the device plane at n and n+1, over HTTP: n is taken or refused for another reason, n+1 is a 400 that names the field.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { deviceNameCharsMax, emailCharsMax, nameCharsMax, pushTokenCharsMax } from '../../src/contract/limits.ts';
import { deviceFactCharsMax } from '../../src/device/payloads.ts';
import { databases } from '../support/databases.ts';
import { changeSettings, createUser, enrolledPhone, testDevice, unlimited } from '../support/enrolled-phone.ts';
import { createPhone, makeKey, type Phone, publicFields } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const text = (chars: number): string => 't'.repeat(chars);
const emailOf = (chars: number): string => `${'e'.repeat(64)}@${'d'.repeat(chars - 65)}`;

/** Members of a signup: the field that is named, how much it takes, and a body of exactly that much. */
const signup: readonly (readonly [string, number, (size: number) => object])[] = [
  ['email', emailCharsMax, (size) => ({ email: emailOf(size) })],
  ['given_name', nameCharsMax, (size) => ({ given_name: text(size) })],
  ['family_name', nameCharsMax, (size) => ({ family_name: text(size) })],
  ['locale', 35, (size) => ({ locale: text(size) })],
  ['name', deviceNameCharsMax, (size) => ({ device: { ...testDevice, name: text(size) } })],
  ['model', deviceFactCharsMax, (size) => ({ device: { ...testDevice, model: text(size) } })],
  ['os_version', deviceFactCharsMax, (size) => ({ device: { ...testDevice, os_version: text(size) } })],
  ['app_version', deviceFactCharsMax, (size) => ({ device: { ...testDevice, app_version: text(size) } })],
];

for (const database of databases) {
  describe(`limits of the device plane on ${database}`, () => {
    let server: TestServer;
    let phone: Phone;
    before(async () => {
      server = await startTestServer(database);
      await changeSettings(server, { ...unlimited, signup_enabled: true });
      phone = await enrolledPhone(server, await createUser(server, 'ada@example.com'));
    });
    after(() => server.close());
    const newcomer = (): Phone => createPhone(server.url, server.clock.nowMs);
    const named = async (response: Response, kind: string): Promise<string> =>
      assertRefusal(response, 'device.invalid_request', { kind, text: /./ });

    for (const [field, max, body] of signup)
      it(`${field}: ${max} characters at a signup, and one more`, async () => {
        const start = (size: number): Promise<Response> => {
          const fresh = newcomer();
          return fresh.post('/signup/start', {
            email: `${field}@example.com`,
            device: testDevice,
            keys: fresh.publicKeys(),
            ...body(size),
          });
        };
        const taken = await start(max);
        assert.equal(taken.status, 202, await taken.text());
        await named(await start(max + 1), field);
      });

    it('keys: two slots, not three', async () => {
      const fresh = newcomer();
      const keys = [...fresh.publicKeys(), publicFields(makeKey('uv', 'ES256'))];
      assert.equal(
        (await fresh.post('/signup/start', { email: 'keys@example.com', device: testDevice, keys: keys.slice(0, 2) })).status,
        202,
      );
      const other = newcomer();
      const more = [...other.publicKeys(), publicFields(makeKey('uv', 'ES256'))];
      await named(await other.post('/signup/start', { email: 'keys@example.com', device: testDevice, keys: more }), 'keys');
    });

    it('the push token, PINs, registration and enrolment tokens, proofs', async () => {
      const push = (size: number): Promise<Response> =>
        phone.call('PUT', '/v1/device/push-token', { body: { provider: 'fcm', token: text(size) } });
      assert.equal((await push(pushTokenCharsMax)).status, 204);
      await named(await push(pushTokenCharsMax + 1), 'token');
      const fresh = newcomer();
      const started = await fresh.post('/signup/start', { email: 'pin@example.com', device: testDevice, keys: fresh.publicKeys() });
      const { registration_token: token } = (await started.json()) as { registration_token: string };
      const verify = (over: object): Promise<Response> => fresh.post('/pin/verify', { registration_token: token, pin: '1', ...over });
      await assertRefusal(await verify({ pin: text(32) }), 'pin.invalid', { fields: { attempts_left: 4 } });
      await named(await verify({ pin: text(33) }), 'pin');
      await assertRefusal(await verify({ registration_token: text(200) }), 'registration.token_invalid');
      await named(await verify({ registration_token: text(201) }), 'registration_token');
      const redeem = (size: number): Promise<Response> => {
        const own = newcomer();
        return own.post('/enrollment/redeem', { enrollment_token: text(size), device: testDevice, keys: own.publicKeys() });
      };
      await assertRefusal(await redeem(200), 'registration.token_invalid');
      await named(await redeem(201), 'enrollment_token');
    });
  });
}
