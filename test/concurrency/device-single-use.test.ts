// Single use under parallel requests: signed requests, enrolment tokens, challenges, rotations (E3 of the quality bars).
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { atEveryAccess } from '../support/at-every-access.ts';
import { databases, onServer, overtaken } from '../support/databases.ts';
import {
  changeSettings,
  createEnrollmentToken,
  createUser,
  enrolledPhone,
  redeemedPhone,
  type TestUser,
  testDevice,
  unlimited,
} from '../support/enrolled-phone.ts';
import { pinOf } from '../support/mailbox.ts';
import { createPhone, signCall } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const tally = (responses: readonly Response[]): Readonly<Record<number, number>> =>
  responses.reduce<Record<number, number>>((counts, { status }) => {
    counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  }, {});

for (const database of databases) {
  describe(`device plane, single use on ${database}`, () => {
    let server: TestServer;
    let user: TestUser;
    before(async () => {
      server = await startTestServer(database);
      await changeSettings(server, { ...unlimited, device: { additional_device: 'email_pin' } });
      user = await createUser(server, 'ada@example.com');
    });
    after(() => server.close());

    it('50 parallel copies of one signed request: one success, 49 replays', async () => {
      const phone = await enrolledPhone(server, user);
      const call = signCall(
        { baseUrl: phone.baseUrl, deviceId: phone.deviceId, nowMs: server.clock.nowMs },
        phone.keys.pop,
        'GET',
        '/v1/device/self',
      );
      const responses = await Promise.all(Array.from({ length: 50 }, () => fetch(call.url, call.init)));
      assert.deepEqual(tally(responses), { 200: 1, 401: 49 });
      for (const response of responses) {
        if (response.status === 401) assert.equal(((await response.json()) as { kind: string }).kind, 'replayed_request');
      }
    });

    it('30 parallel phones redeem one enrolment token: one succeeds', async () => {
      const enrollmentToken = await createEnrollmentToken(server, user);
      const attempts = Array.from({ length: 30 }, () => {
        const phone = createPhone(server.url, server.clock.nowMs);
        return phone.post('/enrollment/redeem', { enrollment_token: enrollmentToken, device: testDevice, keys: phone.publicKeys() });
      });
      assert.deepEqual(tally(await Promise.all(attempts)), { 200: 1, 401: 29 });
    });

    it('30 parallel enrolments over one challenge: one device, everybody else hears token_invalid', async () => {
      const { phone, redeemed } = await redeemedPhone(server, user);
      const body = { registration_token: redeemed.registration_token, proofs: phone.proofs(redeemed.attestation.challenge) };
      const responses = await Promise.all(Array.from({ length: 30 }, () => phone.post('/enroll', body)));
      assert.deepEqual(tally(responses), { 201: 1, 401: 29 });
      for (const response of responses) if (response.status === 401) await assertRefusal(response, 'registration.token_invalid');
      assert.equal((await phone.get('/self')).status, 200);
    });

    it('20 parallel enrolments of a signup: one person, everybody else hears token_invalid', async () => {
      const settings = { ...unlimited, signup_enabled: true, device: { additional_device: 'email_pin' } };
      await changeSettings(server, settings);
      const phone = createPhone(server.url, server.clock.nowMs);
      const email = 'newcomer@example.com';
      const started = await phone.post('/signup/start', { email, device: testDevice, keys: phone.publicKeys() });
      const { registration_token: token } = (await started.json()) as { registration_token: string };
      const verified = await phone.post('/pin/verify', { registration_token: token, pin: await pinOf(server, email) });
      const { attestation } = (await verified.json()) as { attestation: { challenge: string } };
      const body = { registration_token: token, proofs: phone.proofs(attestation.challenge) };
      const responses = await Promise.all(Array.from({ length: 20 }, () => phone.post('/enroll', body)));
      assert.deepEqual(tally(responses), { 201: 1, 401: 19 });
      for (const response of responses) if (response.status === 401) await assertRefusal(response, 'registration.token_invalid');
    });

    it('20 parallel enrolments that must be approved elsewhere: one approval, one number', async () => {
      await changeSettings(server, unlimited);
      const { phone, redeemed } = await redeemedPhone(server, user);
      const body = { registration_token: redeemed.registration_token, proofs: phone.proofs(redeemed.attestation.challenge) };
      const responses = await Promise.all(Array.from({ length: 20 }, () => phone.post('/enroll', body)));
      assert.deepEqual(tally(responses), { 202: 20 });
      const numbers = await Promise.all(responses.map(async (response) => ((await response.json()) as { number: string }).number));
      assert.equal(new Set(numbers).size, 1);
    });

    it('a challenge that is asked for while the enrolment commits, whenever it does, is given', async () => {
      await changeSettings(server, { ...unlimited, device: { additional_device: 'email_pin' } });
      const answers = await atEveryAccess(server, async () => {
        const { phone, redeemed } = await redeemedPhone(server, user);
        const token = { registration_token: redeemed.registration_token };
        const proofs = phone.proofs(redeemed.attestation.challenge);
        return {
          call: () => phone.post('/attestation/challenge', token),
          other: async () => assert.equal((await phone.post('/enroll', { ...token, proofs })).status, 201),
        };
      });
      for (const [place, answer] of answers.entries()) assert.equal(answer.status, 201, `before access ${place}: ${await answer.text()}`);
      assert.ok(answers.length > 3);
    });

    if (database === 'postgres')
      it('an enrolment that another overtakes, between its registration and its challenge, waits for the same approval', async () => {
        await changeSettings(server, unlimited);
        const { phone, redeemed } = await redeemedPhone(server, user);
        const { challenge } = redeemed.attestation;
        const body = { registration_token: redeemed.registration_token, proofs: phone.proofs(challenge) };
        const first = await phone.post('/enroll', body);
        assert.equal(first.status, 202);
        let parked: readonly unknown[] = [];
        await onServer(server.database.databaseUrl!, async (session) => {
          // As it was before the first one: verified, and nothing parked with it.
          const { rows } = await session.query(
            `UPDATE device_registrations r SET state = 'verified', challenge = NULL, approval_id = NULL
             FROM device_registrations was WHERE was.tenant_id = r.tenant_id AND was.id = r.id AND r.challenge = $1
             RETURNING r.tenant_id, r.id, was.approval_id`,
            [challenge],
          );
          parked = [challenge, rows[0].approval_id, rows[0].tenant_id, rows[0].id];
        });
        const second = await overtaken(
          server.database,
          (session) => session.query('LOCK TABLE attestation_challenges'),
          () => phone.post('/enroll', body),
          (session) =>
            session.query(
              `UPDATE device_registrations SET state = 'pending_approval', challenge = $1, approval_id = $2 WHERE tenant_id = $3 AND id = $4`,
              [...parked],
            ),
        );
        assert.equal(second.status, 202);
        assert.deepEqual(await second.json(), await first.json());
      });
  });
}
