// Fuzz of the device plane: correctly signed requests with hostile bodies on every endpoint. Every answer is a documented
// row or a success, never a 5xx, and the phone still works afterwards.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { catalogue } from '../../src/contract/catalogue.ts';
import { anyCharacter } from '../support/any-character.ts';
import { databases } from '../support/databases.ts';
import { changeSettings, createUser, enrolledPhone, redeemedPhone, unlimited } from '../support/enrolled-phone.ts';
import { createPhone, type Phone } from '../support/phone.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const endpoints = [
  ['POST', '/registration/start'],
  ['POST', '/signup/start'],
  ['POST', '/enrollment/redeem'],
  ['POST', '/pin/verify'],
  ['POST', '/pin/resend'],
  ['POST', '/enroll'],
  ['POST', '/attestation/challenge'],
  ['PATCH', '/self'],
  ['PUT', '/push-token'],
  ['GET', '/approvals'],
  ['POST', '/approvals/x/approve'],
  ['POST', '/approvals/x/deny'],
  ['POST', '/devices/x/revoke'],
  ['POST', '/keys/rotate/start'],
  ['POST', '/keys/rotate/confirm'],
  ['POST', '/keys/rotate/complete'],
  ['POST', '/keys/rotate/abort'],
] as const;

const members = [
  'email',
  'device',
  'keys',
  'registration_token',
  'pin',
  'proofs',
  'attestation',
  'nonce',
  'key_ids',
  'provider',
  'token',
  'match',
  'context_sha256',
  'reason',
  'name',
  'rotation_id',
  'enrollment_token',
  'format',
  'key_id',
  'alg',
  'public_key',
  'signature',
  'x5c',
  'platform',
  'purpose',
];
const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(
      null,
      true,
      0,
      -1,
      1e308,
      '',
      '\u0000',
      '__proto__',
      'ios',
      'pop',
      'uv',
      'ES256',
      'apple-appattest',
      'android-key',
      'play-integrity',
      '🦊',
    ),
    fc.string({ unit: anyCharacter, maxLength: 60 }),
    fc.array(tie('node'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...members), tie('node'), { maxKeys: 6 }),
  ),
})).node;
const body = fc.oneof(
  { weight: 6, arbitrary: fc.dictionary(fc.constantFrom(...members), value, { maxKeys: 10 }).map((object) => JSON.stringify(object)) },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 200 }) },
  { weight: 1, arbitrary: fc.constantFrom('null', '[]', '{"a":', '{"a":1,"a":2}', '"x"', '['.repeat(500)) },
);
const statuses = new Set(Object.values(catalogue).map((row) => `${row.status} ${row.code}`));

for (const database of databases) {
  describe(`device plane fuzzed on ${database}`, () => {
    let server: TestServer;
    let enrolled: Phone;
    let registering: Phone;
    before(async () => {
      server = await startTestServer(database);
      await changeSettings(server, {
        ...unlimited,
        signup_enabled: true,
        attestation: {
          mode: 'monitor',
          apple: { app_ids: ['A.b'] },
          android: { packages: ['b'], signing_digests: ['00'] },
          play_integrity: {},
        },
      });
      const user = await createUser(server, 'ada@example.com');
      enrolled = await enrolledPhone(server, user);
      registering = (await redeemedPhone(server, user)).phone;
    });
    after(() => server.close());

    it('300 signed requests: documented answers only', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...endpoints),
          fc.constantFrom('enrolled', 'registering', 'stranger'),
          fc.boolean(),
          body,
          async (endpoint, who, uv, text) => {
            const phone = who === 'enrolled' ? enrolled : who === 'registering' ? registering : createPhone(server.url, server.clock.nowMs);
            const [method, path] = endpoint;
            const sent = method === 'GET' ? {} : { body: text.isWellFormed() ? text : '{}' };
            const response = await phone.call(method, `/v1/device${path}`, { ...sent, purpose: uv ? 'uv' : 'pop' });
            const answer = await response.text();
            if (response.ok) return;
            const { error } = JSON.parse(answer) as { error: string };
            assert.ok(
              response.status < 500 && statuses.has(`${response.status} ${error}`),
              `${method} ${path} ${text}: ${response.status} ${answer}`,
            );
          },
        ),
        { numRuns: 300, endOnFailure: true },
      );
      assert.equal((await enrolled.get('/self')).status, 200);
    });
  });
}
