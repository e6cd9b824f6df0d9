// A phone that is revoked after its request was let in, and before it has done anything.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { atEveryAccess } from '../support/at-every-access.ts';
import { databases, onServer, someoneWaitsFor } from '../support/databases.ts';
import { changeSettings, createUser, enrolledPhone, type TestUser, unlimited } from '../support/enrolled-phone.ts';
import type { Phone } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases)
  describe(`phones that are revoked meanwhile, on ${database}`, () => {
    let server: TestServer;
    let user: TestUser;
    before(async () => {
      server = await startTestServer(database);
      await changeSettings(server, { ...unlimited, device: { additional_device: 'email_pin' } });
      user = await createUser(server, 'ada@example.com');
    });
    after(() => server.close());

    const revoke = (phone: Phone, other: Phone): Promise<Response> =>
      phone.post(`/devices/${other.deviceId}/revoke`, undefined, { purpose: 'uv' });
    const phones = async (): Promise<readonly [Phone, Phone]> => [await enrolledPhone(server, user), await enrolledPhone(server, user)];

    const calls: readonly (readonly [string, (lost: Phone, kept: Phone) => Promise<Response>])[] = [
      ['revoke the other one', revoke],
      ['say where to push', (lost) => lost.call('PUT', '/v1/device/push-token', { body: { provider: 'fcm', token: 'token' } })],
      ['open a sign-in', (lost) => lost.post('/sign-in/open')],
    ];
    for (const [what, call] of calls)
      it(`whenever it comes, they do not ${what} any more`, async () => {
        const kept: Phone[] = [];
        const answers = await atEveryAccess(server, async () => {
          const [lost, other] = await phones();
          kept.push(other);
          return {
            call: () => call(lost, other),
            other: async () => assert.equal((await revoke(other, lost)).status, 204),
          };
        });
        assert.ok(answers.length > 2);
        for (const answer of answers) await assertRefusal(answer, 'device.key_revoked');
        for (const phone of kept.slice(0, answers.length)) assert.equal((await phone.get('/self')).status, 200);
      });

    it('a phone that is revoked keeps nowhere to push to', async () => {
      const { services } = server.gatehouse;
      const rows = await services.database.read(user.tenant, (queries) =>
        queries.selectFrom('devices').select('push_provider').where('state', '=', 'revoked').execute(),
      );
      assert.deepEqual(new Set(rows.map((row) => row.push_provider)), new Set(['none']));
    });

    if (database === 'postgres')
      it('of two that revoke one another at once, one stays', async () => {
        const [one, other] = await phones();
        let answers: readonly Promise<Response>[] = [];
        await onServer(server.database.databaseUrl!, async (session) => {
          await session.query('BEGIN');
          await session.query('SELECT FROM devices WHERE id IN ($1, $2) FOR SHARE', [one.deviceId, other.deviceId]);
          answers = [revoke(one, other), revoke(other, one)];
          await someoneWaitsFor(session, 2);
          await session.query('COMMIT');
        });
        const [first, second] = await Promise.all(answers);
        assert.deepEqual([first!.status, second!.status].sort(), [204, 401]);
        await assertRefusal(first!.status === 401 ? first! : second!, 'device.key_revoked');
        assert.equal((await (first!.status === 204 ? one : other).get('/self')).status, 200);
      });
  });
