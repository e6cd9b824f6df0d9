// Approvals on the phone: listing, number matching, context, refusal states, caps, `not_me`, and the second device.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type ApprovalRequest, createApproval, subjectKeyOf } from '../../src/approvals/approval.ts';
import { findApproval } from '../../src/storage/sign-in/approvals.ts';
import { databases } from '../support/databases.ts';
import { changeSettings, createUser, enrolledPhone, redeemedPhone, type TestUser, unlimited } from '../support/enrolled-phone.ts';
import { givePasskey } from '../support/passkeys.ts';
import { createPhone, type Phone } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { registered } from '../support/registered-phone.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface Item {
  readonly id: string;
  readonly type: string;
  readonly match: { readonly required: boolean; readonly digits: number };
  readonly context_sha256: string;
  readonly device?: { readonly id: string };
}

for (const database of databases) {
  describe(`approvals on the phone, ${database}`, () => {
    let server: TestServer;
    let user: TestUser;
    let phone: Phone;
    let people = 0;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());
    beforeEach(async () => {
      await changeSettings(server, unlimited);
      people += 1;
      user = await createUser(server, `person${people}@example.com`);
      phone = await enrolledPhone(server, user);
    });

    const ask = async (change: Partial<ApprovalRequest> = {}, of: TestUser = user): Promise<{ id: string; number: string | undefined }> => {
      const { database: db, tenants } = server.gatehouse.services;
      const tenant = (await tenants.byId(user.tenant))!;
      const request = {
        kind: 'oidc_login',
        userId: of.id,
        subjectKey: subjectKeyOf(of.id, ''),
        onDevices: true,
        withNumber: true,
        lifetimeSeconds: 300,
      } as const;
      const made = await db.write(user.tenant, (queries) =>
        createApproval(queries, tenant, {
          ...request,
          scope: 'openid email',
          bindingMessage: 'Pay 5',
          initiatedIp: '192.0.2.1',
          initiatedUserAgent: 'Firefox',
          ...change,
        }),
      );
      assert.ok(made.ok);
      return { id: made.approvalId, number: made.number };
    };
    const list = async (of: Phone = phone, query = 'state=pending'): Promise<readonly Item[]> => {
      const response = await of.get(`/approvals?${query}`);
      assert.equal(response.status, 200, await response.clone().text());
      return ((await response.json()) as { items: readonly Item[] }).items;
    };
    const approve = (item: Pick<Item, 'id' | 'context_sha256'>, match?: string, purpose: 'pop' | 'uv' = 'uv', of: Phone = phone) =>
      of.post(
        `/approvals/${item.id}/approve`,
        { context_sha256: item.context_sha256, ...(match === undefined ? {} : { match }) },
        { purpose },
      );
    const deny = (id: string, reason: string, of: Phone = phone) => of.post(`/approvals/${id}/deny`, { reason });
    const stored = async (id: string) => {
      const row = await server.gatehouse.services.database.read(user.tenant, (queries) => findApproval(queries, user.tenant, id));
      assert.ok(row);
      return row;
    };
    const wrong = (number: string | undefined): string => (number === '11' ? '12' : '11');

    it('the list shows who asks and never the number', async () => {
      const { id, number } = await ask();
      const items = await list();
      assert.equal(items.length, 1);
      const { context_sha256: hash, ...item } = items[0]! as Item & Record<string, unknown>;
      assert.match(hash, /^[0-9a-f]{64}$/);
      const { expires_at: expires, initiated, ...rest } = item as Record<string, unknown>;
      assert.ok(Date.parse(String(expires)) > server.clock.nowMs());
      assert.deepEqual(rest, {
        id,
        type: 'oidc_login',
        client: null,
        binding_message: 'Pay 5',
        scopes: ['openid', 'email'],
        match: { required: true, digits: 2 },
      });
      const { at, ...from } = initiated as { at: string };
      assert.ok(Date.parse(at) <= server.clock.nowMs() + 1000);
      assert.deepEqual(from, { ip: '192.0.2.1', user_agent: 'Firefox' });
      assert.ok(!JSON.stringify(items[0]).includes(`"${number}"`));
    });

    it('approve with the number: once, by uv, recorded with its method', async () => {
      const { id, number } = await ask();
      const [item] = await list();
      const response = await approve(item!, number);
      assert.deepEqual([response.status, await response.json()], [200, { id, state: 'approved' }]);
      const row = await stored(id);
      assert.deepEqual([row.state, row.method, row.amr, row.decided_by], ['approved', 'phone_uv', '["hwk","user"]', phone.deviceId]);
      await assertRefusal(await approve(item!, number), 'approval.not_pending');
      await assertRefusal(await deny(id, 'other'), 'approval.not_pending');
      assert.deepEqual(await list(), []);
    });

    it('user_verification_required: approve with the pop key', async () => {
      const { id, number } = await ask();
      const [item] = await list();
      await assertRefusal(await approve(item!, number, 'pop'), 'approval.user_verification_required');
      assert.equal((await stored(id)).state, 'pending');
    });

    it('match_failed: a wrong number denies, one try', async () => {
      const { id, number } = await ask();
      const [item] = await list();
      await assertRefusal(await approve(item!, wrong(number)), 'approval.match_failed');
      const row = await stored(id);
      assert.deepEqual([row.state, row.deny_reason], ['denied', 'match_failed']);
      await assertRefusal(await approve(item!, number), 'approval.not_pending');
    });

    it('invalid_request: no match where one is required, a bad hash or reason, and nothing is decided', async () => {
      const { id } = await ask();
      const [item] = await list();
      await assertRefusal(await approve(item!), 'device.invalid_request', { kind: 'match', text: /./ });
      await assertRefusal(await phone.post(`/approvals/${id}/approve`, { match: '11' }, { purpose: 'uv' }), 'device.invalid_request', {
        kind: 'context_sha256',
        text: /./,
      });
      await assertRefusal(await deny(id, 'because'), 'device.invalid_request', { kind: 'reason', text: /./ });
      assert.equal((await stored(id)).state, 'pending');
    });

    it('context_changed: another hash leaves it pending', async () => {
      const { id, number } = await ask();
      await assertRefusal(await approve({ id, context_sha256: '0'.repeat(64) }, number), 'approval.context_changed');
      assert.equal((await stored(id)).state, 'pending');
    });

    it('approval_expired: approve and deny after its life', async () => {
      const { id, number } = await ask();
      const [item] = await list();
      await server.clock.advance(300_001);
      await assertRefusal(await approve(item!, number), 'approval.expired');
      await assertRefusal(await deny(id, 'not_me'), 'approval.expired');
    });

    it('not_found: unknown, another user’s, and one no device may see', async () => {
      const other = await createUser(server, `other${people}@example.com`);
      const foreign = await ask({}, other);
      const hidden = await ask({ onDevices: false });
      const bodies = new Set<string>();
      for (const id of ['unknown', foreign.id, hidden.id]) {
        bodies.add(await assertRefusal(await approve({ id, context_sha256: '0'.repeat(64) }, '11'), 'device.not_found'));
        bodies.add(await assertRefusal(await deny(id, 'other'), 'device.not_found'));
      }
      assert.equal(bodies.size, 1);
      assert.deepEqual(await list(), []);
    });

    it('CIBA without a number needs none', async () => {
      const { id } = await ask({ kind: 'ciba', withNumber: false });
      const [item] = await list();
      assert.deepEqual(item!.match, { required: false, digits: 2 });
      assert.equal((await approve(item!)).status, 200);
      assert.equal((await stored(id)).state, 'approved');
    });

    it('20 parallel decisions of one approval: one is taken', async () => {
      const { number } = await ask();
      const [item] = await list();
      const responses = await Promise.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? approve(item!, number) : deny(item!.id, 'other'))),
      );
      assert.equal(responses.filter((response) => response.status === 200).length, 1);
      assert.equal(responses.filter((response) => response.status === 409).length, 19);
    });

    it('two not_me within ten minutes hide new approvals for fifteen', async () => {
      for (const reason of ['mistake', 'not_me', 'not_me'] as const) {
        const { id } = await ask();
        assert.equal((await deny(id, reason)).status, 200);
      }
      await ask();
      assert.deepEqual(await list(), []);
      await server.clock.advance(15 * 60_000 + 1);
      await ask();
      assert.equal((await list()).length, 1);
    });

    it('wait holds the answer until something is there', async () => {
      const held = list(phone, 'state=pending&wait=25');
      const early = await Promise.race([held.then(() => 'answered'), new Promise((resolve) => setImmediate(() => resolve('held')))]);
      assert.equal(early, 'held');
      await ask();
      assert.equal((await held).length, 1);
      for (const query of ['state=done', 'wait=26', 'wait=-1', 'wait=x']) {
        const kind = query.startsWith('state') ? 'state' : 'wait';
        await assertRefusal(await phone.get(`/approvals?${query}`), 'device.invalid_request', { kind, text: /./ });
      }
    });

    it('a held answer does not hold up a server that stops', async () => {
      const other = await startTestServer(database);
      const waiting = await enrolledPhone(other, await createUser(other, 'ada@example.com'));
      const held = waiting.get('/approvals?wait=25');
      await waiting.get('/self'); // the held request has arrived by now
      await other.close();
      assert.deepEqual(await (await held).json(), { items: [] });
    });

    describe('a second device', () => {
      const enrolAnother = async (newcomer = createPhone(server.url, server.clock.nowMs)) => {
        const { redeemed } = await redeemedPhone(server, user, newcomer);
        const proofs = newcomer.proofs(redeemed.attestation.challenge);
        const send = () => newcomer.post('/enroll', { registration_token: redeemed.registration_token, proofs });
        return { newcomer, send };
      };

      it('waits for an existing device: 202, 202, then 201', async () => {
        const { newcomer, send } = await enrolAnother();
        const first = await send();
        assert.equal(first.status, 202, await first.clone().text());
        const waiting = (await first.json()) as { status: string; device_id: string; number: string; expires_at: string };
        assert.deepEqual([waiting.status, waiting.device_id], ['pending_approval', newcomer.deviceId]);
        assert.match(waiting.number, /^\d{2}$/);
        assert.deepEqual(await (await send()).json(), waiting);
        await assertRefusal(await newcomer.get('/self'), 'device.key_revoked');
        const [item] = await list();
        assert.deepEqual([item!.type, item!.device?.id], ['device_add', newcomer.deviceId]);
        assert.equal((await approve(item!, waiting.number)).status, 200);
        assert.equal((await send()).status, 201);
        assert.equal((await newcomer.get('/self')).status, 200);
        await assertRefusal(await send(), 'registration.token_invalid');
      });

      it('device_denied: a denial or a wrong number ends it', async () => {
        const { newcomer, send } = await enrolAnother();
        const { number } = (await (await send()).json()) as { number: string };
        const [item] = await list();
        await assertRefusal(await approve(item!, wrong(number)), 'approval.match_failed');
        await assertRefusal(await send(), 'device.device_denied');
        await assertRefusal(await send(), 'registration.token_invalid');
        await assertRefusal(await newcomer.get('/self'), 'device.key_revoked');
      });

      it('admin policy: an enrolment token is enough, a PIN is not', async () => {
        await changeSettings(server, { ...unlimited, device: { additional_device: 'admin' } });
        assert.equal((await (await enrolAnother()).send()).status, 201);
        const { newcomer, send } = await registered(server, user);
        await assertRefusal(await send(), 'device.admin_enrollment_required');
        await assertRefusal(await newcomer.get('/self'), 'device.key_revoked');
      });

      it('a mailbox adds none to a person with a passkey, where passkeys sign in and the tenant does not say that mail is enough', async () => {
        const { tenants } = server.gatehouse.services;
        const settle = async (settings: object) => {
          const person = await createUser(server, `passkey-${randomUUID()}@example.com`);
          await changeSettings(server, { ...unlimited, ...settings });
          await givePasskey(server, (await tenants.bySlug('main'))!, person);
          return registered(server, person);
        };
        const { newcomer, send } = await settle({});
        await assertRefusal(await send(), 'device.admin_enrollment_required');
        await assertRefusal(await send(), 'device.admin_enrollment_required');
        await assertRefusal(await newcomer.get('/self'), 'device.key_revoked');
        assert.equal((await (await settle({ device: { additional_device: 'email_pin' } })).send()).status, 201);
        assert.equal((await (await settle({ login_methods: ['phone', 'email_pin'] })).send()).status, 201);
      });

      it('management.rate_limited: more than three waiting', async () => {
        await changeSettings(server, {
          ...unlimited,
          rate_limits: { ...unlimited.rate_limits, approvals_pending_per_user: { limit: 1, period_seconds: 300 } },
        });
        assert.equal((await (await enrolAnother()).send()).status, 202);
        await assertRefusal(await (await enrolAnother()).send(), 'management.rate_limited', { fields: { retry_after_seconds: 300 } });
      });

      it('revokes another device of its own with uv, and no other', async () => {
        await changeSettings(server, { ...unlimited, device: { additional_device: 'email_pin' } });
        const { newcomer, send } = await enrolAnother();
        assert.equal((await send()).status, 201);
        const stranger = await enrolledPhone(server, await createUser(server, `stranger${people}@example.com`));
        const revoke = (id: string, purpose: 'pop' | 'uv' = 'uv') => phone.post(`/devices/${id}/revoke`, {}, { purpose });
        await assertRefusal(await revoke(newcomer.deviceId, 'pop'), 'approval.user_verification_required');
        await assertRefusal(await revoke(stranger.deviceId), 'device.not_found');
        assert.equal((await revoke(newcomer.deviceId)).status, 204);
        await assertRefusal(await revoke(newcomer.deviceId), 'device.not_found');
        await assertRefusal(await newcomer.get('/self'), 'device.key_revoked');
        assert.equal((await phone.call('DELETE', '/v1/device/self')).status, 204);
        await assertRefusal(await phone.get('/self'), 'device.key_revoked');
      });
    });
  });
}
