// What the server does for phones whose answers get lost: a redemption may be repeated, a revoked device is told so wherever it
// asks, also while it waits, and the user's own decisions can be read back.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type ApprovalRequest, createApproval, subjectKeyOf } from '../../src/approvals/approval.ts';
import { databases } from '../support/databases.ts';
import {
  changeSettings,
  createEnrollmentToken,
  createUser,
  enrolledPhone,
  type Redeemed,
  redeemedPhone,
  setUserState,
  type TestUser,
  testDevice,
  unlimited,
} from '../support/enrolled-phone.ts';
import { mailsTo, pinOf } from '../support/mailbox.ts';
import { createPhone, makeKey, type Phone } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface Decided {
  readonly at: string;
  readonly type: string;
  readonly client: { readonly name: string } | null;
  readonly initiated: { readonly ip: string | null; readonly user_agent: string | null };
  readonly state: string;
  readonly by_this_device: boolean;
}

for (const database of databases) {
  describe(`lost answers of phones, ${database}`, () => {
    let server: TestServer;
    let user: TestUser;
    let people = 0;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());
    beforeEach(async () => {
      await changeSettings(server, unlimited);
      people += 1;
      user = await createUser(server, `person${people}@example.com`);
    });

    const redeem = (phone: Phone, token: string, keys: unknown = phone.publicKeys()) =>
      phone.post('/enrollment/redeem', { enrollment_token: token, device: testDevice, keys });
    const enrol = (phone: Phone, redeemed: Redeemed) =>
      phone.post('/enroll', { registration_token: redeemed.registration_token, proofs: phone.proofs(redeemed.attestation.challenge) });
    const ask = async (change: Partial<ApprovalRequest> = {}): Promise<void> => {
      const { database: db, tenants } = server.gatehouse.services;
      const tenant = (await tenants.byId(user.tenant))!;
      const request = { kind: 'oidc_login', userId: user.id, subjectKey: subjectKeyOf(user.id, ''), onDevices: true } as const;
      const made = await db.write(user.tenant, (queries) =>
        createApproval(queries, tenant, { ...request, withNumber: false, lifetimeSeconds: 300, initiatedIp: '192.0.2.1', ...change }),
      );
      assert.ok(made.ok);
    };

    // Requests whose signature was verified.
    const countVerified = async (): Promise<number> => {
      const rows = await server.gatehouse.services.database.read(user.tenant, (queries) =>
        queries.selectFrom('device_requests').select('digest').where('tenant_id', '=', user.tenant).execute(),
      );
      return rows.length;
    };

    it('7.17 the phone that redeemed a token redeems it again: same status and expiry, a new token, the old one dead', async () => {
      const phone = createPhone(server.url, server.clock.nowMs);
      const token = await createEnrollmentToken(server, user);
      const first = await redeem(phone, token);
      const one = (await first.json()) as Redeemed;
      const second = await redeem(phone, token);
      const two = (await second.json()) as Redeemed;
      assert.deepEqual([first.status, second.status, two.status, two.expires_at], [200, 200, 'verified', one.expires_at]);
      assert.notEqual(two.registration_token, one.registration_token);
      assert.notEqual(two.attestation.challenge, one.attestation.challenge);
      await assertRefusal(await enrol(phone, one), 'registration.token_invalid');
      assert.equal((await enrol(phone, two)).status, 201);
    });

    it('7.17 token_invalid: the link of a phone by that very phone; the phone goes on', async () => {
      const phone = createPhone(server.url, server.clock.nowMs);
      const token = await createEnrollmentToken(server, user);
      assert.equal((await enrol(phone, (await (await redeem(phone, token)).json()) as Redeemed)).status, 201);
      await assertRefusal(await redeem(phone, token), 'registration.token_invalid');
      assert.equal((await phone.get('/self')).status, 200);
    });

    it('7.14 bad_signature: the link of a phone and its ids with the key of a stranger', async () => {
      const phone = createPhone(server.url, server.clock.nowMs);
      const token = await createEnrollmentToken(server, user);
      assert.equal((await enrol(phone, (await (await redeem(phone, token)).json()) as Redeemed)).status, 201);
      const stranger = makeKey('pop', 'ES256', phone.keys.pop.keyId);
      const [pop, uv] = phone.publicKeys();
      const body = { enrollment_token: token, device: testDevice, keys: [{ ...pop, public_key: stranger.publicKey }, uv] };
      await assertRefusal(await phone.post('/enrollment/redeem', body, { key: stranger }), 'device.bad_signature');
    });

    it('7.14 device_key_revoked: an enrolled phone with a link that it did not use, and a removed one with the link it used', async () => {
      const phone = createPhone(server.url, server.clock.nowMs);
      const token = await createEnrollmentToken(server, user);
      assert.equal((await enrol(phone, (await (await redeem(phone, token)).json()) as Redeemed)).status, 201);
      await changeSettings(server, { ...unlimited, device: { additional_device: 'admin' } });
      const unused = await createEnrollmentToken(server, user);
      await assertRefusal(await redeem(phone, unused), 'device.key_revoked');
      await assertRefusal(await redeem(phone, 'unknown'), 'device.key_revoked');
      const other = createPhone(server.url, server.clock.nowMs);
      assert.equal((await redeem(other, unused)).status, 200, 'it is not used up');
      await setUserState(server, user, 'suspended');
      await assertRefusal(await redeem(phone, token), 'device.key_revoked');
      await setUserState(server, user, 'active');
      assert.equal((await phone.call('DELETE', '/v1/device/self')).status, 204);
      await assertRefusal(await redeem(phone, token), 'device.key_revoked');
    });

    it('7.17 with a PIN the repetition sends no second mail, and says verified once the mailbox is', async () => {
      const phone = createPhone(server.url, server.clock.nowMs);
      const token = await createEnrollmentToken(server, user, 86_400_000, true);
      assert.equal((await redeem(phone, token)).status, 202);
      const again = await redeem(phone, token);
      assert.equal(again.status, 202);
      assert.equal((await mailsTo(server, user.email)).length, 1);
      const { registration_token: registration } = (await again.json()) as Redeemed;
      const pin = await pinOf(server, user.email);
      assert.equal((await phone.post('/pin/verify', { registration_token: registration, pin })).status, 200);
      assert.equal((await redeem(phone, token)).status, 200);
    });

    it('7.17 token_invalid: repeated by another phone, after ten minutes, once consumed, for a suspended user', async () => {
      const phone = createPhone(server.url, server.clock.nowMs);
      const token = await createEnrollmentToken(server, user);
      assert.equal((await redeem(phone, token)).status, 200);
      await assertRefusal(await redeem(createPhone(server.url, server.clock.nowMs), token), 'registration.token_invalid');
      await setUserState(server, user, 'suspended');
      await assertRefusal(await redeem(phone, token), 'registration.token_invalid');
      await setUserState(server, user, 'active');
      assert.equal((await redeem(phone, token)).status, 200);
      if (database === 'postgres') {
        // The embedded database tells the time itself.
        await server.clock.advance(600_001);
        await assertRefusal(await redeem(phone, token), 'registration.token_invalid');
      }
    });

    it('7.14 device_key_revoked: the same device id with another key, and with the purposes swapped', async () => {
      const phone = createPhone(server.url, server.clock.nowMs);
      const token = await createEnrollmentToken(server, user);
      assert.equal((await redeem(phone, token)).status, 200);
      const stranger = makeKey('pop', 'ES256', phone.keys.pop.keyId);
      const [pop, uv] = phone.publicKeys();
      const body = (keys: unknown) => ({ enrollment_token: token, device: testDevice, keys });
      const other = await phone.post('/enrollment/redeem', body([{ ...pop, public_key: stranger.publicKey }, uv]), { key: stranger });
      await assertRefusal(other, 'device.key_revoked');
      const swapped = body([
        { ...pop, purpose: 'uv' },
        { ...uv, purpose: 'pop' },
      ]);
      await assertRefusal(await phone.post('/enrollment/redeem', swapped, { purpose: 'uv' }), 'device.key_revoked');
    });

    it('7.14 device_key_revoked: the attestation challenge of a revoked device', async () => {
      const phone = await enrolledPhone(server, user);
      assert.equal((await phone.post('/attestation/challenge')).status, 201);
      assert.equal((await phone.call('DELETE', '/v1/device/self')).status, 204);
      await assertRefusal(await phone.post('/attestation/challenge'), 'device.key_revoked');
      const { phone: newcomer, redeemed } = await redeemedPhone(server, await createUser(server, `other${people}@example.com`));
      const body = { registration_token: redeemed.registration_token };
      assert.equal((await newcomer.post('/attestation/challenge', body)).status, 201);
    });

    it('7.14 device_key_revoked: a long poll of a device revoked while it waits', async () => {
      const phone = await enrolledPhone(server, user);
      const before = await countVerified();
      const waiting = phone.get('/approvals?state=pending&wait=25');
      while ((await countVerified()) === before) await new Promise(setImmediate); // let in, and waiting from now on
      await setUserState(server, user, 'suspended');
      await assertRefusal(await waiting, 'device.key_revoked');
    });

    it('activity: the decisions of the user, newest first, no one else’s', async () => {
      const phone = await enrolledPhone(server, user);
      const list = async (of: Phone, query = ''): Promise<readonly Decided[]> => {
        const response = await of.get(`/activity${query}`);
        assert.equal(response.status, 200, await response.clone().text());
        return ((await response.json()) as { items: readonly Decided[] }).items;
      };
      assert.deepEqual(await list(phone), []);
      await changeSettings(server, { ...unlimited, device: { additional_device: 'email_pin' } });
      const second = await enrolledPhone(server, user);
      for (const [of, verdict] of [
        [phone, 'deny'],
        [second, 'approve'],
      ] as const) {
        await ask();
        const { items } = (await (await of.get('/approvals')).json()) as { items: readonly { id: string; context_sha256: string }[] };
        const body = verdict === 'deny' ? { reason: 'mistake' } : { context_sha256: items[0]!.context_sha256 };
        assert.equal((await of.post(`/approvals/${items[0]!.id}/${verdict}`, body, { purpose: 'uv' })).status, 200);
      }
      const items = await list(phone);
      assert.deepEqual(Object.keys(items[0]!).sort(), ['at', 'by_this_device', 'client', 'initiated', 'state', 'type']);
      assert.deepEqual(
        items.map(({ type, client, state, by_this_device: mine, initiated }) => [type, client, state, mine, initiated.ip]),
        [
          ['oidc_login', null, 'approved', false, '192.0.2.1'],
          ['oidc_login', null, 'denied', true, '192.0.2.1'],
        ],
      );
      assert.deepEqual(await list(phone, '?limit=1'), items.slice(0, 1));
      assert.deepEqual(await list(await enrolledPhone(server, await createUser(server, `third${people}@example.com`))), []);
    });

    it('activity: a limit from 1 to 100', async () => {
      const phone = await enrolledPhone(server, user);
      assert.equal((await phone.get('/activity?limit=100')).status, 200);
      for (const limit of ['0', '101', '-1', '1.5', 'x', '']) {
        const text = 'limit must be a number from 1 to 100.';
        await assertRefusal(await phone.get(`/activity?limit=${limit}`), 'device.invalid_request', { text, kind: 'limit' });
      }
    });
  });
}
