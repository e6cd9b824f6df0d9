// The device SDK against a running server: enrolment, approvals, several accounts, clock, rotation, revocation, forced update.
// What lost answers and dead processes leave is test/faults/device-sdk.test.ts.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import {
  createDevice,
  type Device,
  isRefusal,
  memoryStore,
  type PhoneState,
  parseEnrollmentLink,
  type StateStore,
} from '../../sdk/device.ts';
import { createSoftwareVault } from '../../sdk/node.ts';
import { type ApprovalRequest, createApproval, subjectKeyOf } from '../../src/approvals/approval.ts';
import { revokeDeviceKey } from '../../src/storage/device/devices.ts';
import { databases } from '../support/databases.ts';
import {
  changeSettings,
  createEnrollmentToken,
  createUser,
  setUserState,
  type TestUser,
  testDevice,
  unlimited,
} from '../support/enrolled-phone.ts';
import { otherPin, pinOf } from '../support/mailbox.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const description = { platform: 'ios', name: testDevice.name } as const;

for (const database of databases) {
  describe(`device SDK on ${database}`, () => {
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

    interface Parts {
      readonly nowMs?: () => number;
      readonly fetch?: typeof fetch;
      readonly store?: StateStore<PhoneState>;
      readonly keys?: StateStore<Readonly<Record<string, string>>>;
      readonly account?: string;
    }
    const newDevice = ({ nowMs, keys = memoryStore(), store = memoryStore(), ...rest }: Parts = {}): Device =>
      createDevice({
        baseUrl: server.url,
        store,
        vault: createSoftwareVault(keys, { pop: 'ES256', uv: 'EdDSA' }),
        now: nowMs ?? server.clock.nowMs,
        pause: async () => undefined,
        ...rest,
      });
    const enrolledDevice = async (parts: Parts = {}, of: TestUser = user): Promise<Device> => {
      const device = newDevice(parts);
      await device.redeemEnrollment(await createEnrollmentToken(server, of), description);
      assert.equal((await device.enroll()).status, 'enrolled');
      return device;
    };
    const ask = async (change: Partial<ApprovalRequest> = {}): Promise<string | undefined> => {
      const { database: db, tenants } = server.gatehouse.services;
      const tenant = (await tenants.byId(user.tenant))!;
      const made = await db.write(user.tenant, (queries) =>
        createApproval(queries, tenant, {
          kind: 'oidc_login',
          userId: user.id,
          subjectKey: subjectKeyOf(user.id, ''),
          onDevices: true,
          withNumber: true,
          lifetimeSeconds: 300,
          ...change,
        }),
      );
      assert.ok(made.ok);
      return made.number;
    };

    it('registers by mail and PIN', async () => {
      const device = newDevice();
      assert.equal((await device.state()).status, 'none');
      await device.startRegistration({ email: user.email, device: description });
      assert.equal((await device.state()).status, 'unverified');
      const pin = await pinOf(server, user.email);
      await assert.rejects(device.verifyPin(otherPin(pin)), (error) => isRefusal(error, 'pin_invalid'));
      assert.equal((await device.state()).status, 'unverified');
      await device.verifyPin(pin);
      assert.equal((await device.state()).status, 'verified');
      assert.equal((await device.enroll()).status, 'enrolled');
      const { status, account, draft } = await device.state();
      assert.deepEqual([status, draft], ['enrolled', undefined]);
      assert.equal((await device.self())['device_id'], account?.deviceId);
    });

    it('reads an enrolment link and nothing that merely looks like one', () => {
      const token = 'A'.repeat(43);
      assert.deepEqual(parseEnrollmentLink(`${server.url}/t/acme/enroll#v=1&t=${token}`), { baseUrl: `${server.url}/t/acme`, token });
      for (const text of [
        '',
        `${server.url}/enroll?t=${token}`,
        `${server.url}/enroll#v=2&t=${token}`,
        `javascript:/enroll#v=1&t=${token}`,
      ]) {
        assert.equal(parseEnrollmentLink(text), undefined, text);
      }
    });

    it('lists, approves, denies, and reads back what was decided', async () => {
      const device = await enrolledDevice();
      const number = await ask();
      const [approval] = await device.listApprovals();
      assert.deepEqual(await device.approve(approval!, number), { id: approval!.id, state: 'approved' });
      await ask({ kind: 'ciba', withNumber: false, bindingMessage: 'Pay 5' });
      const [payment] = await device.listApprovals(5);
      assert.equal(payment!.binding_message, 'Pay 5');
      assert.deepEqual(await device.deny(payment!, 'mistake'), { id: payment!.id, state: 'denied' });
      await assert.rejects(device.deny(payment!, 'mistake'), (error) => isRefusal(error, 'approval_not_pending'));
      assert.deepEqual(await device.listApprovals(), []);
      const decisions = (await device.activity()).map(({ type, state, by_this_device: mine }) => [type, state, mine]);
      assert.deepEqual(decisions, [
        ['ciba', 'denied', true],
        ['oidc_login', 'approved', true],
      ]);
    });

    it('a second device waits for the first; asked about itself meanwhile it forgets nothing', async () => {
      const first = await enrolledDevice();
      const second = newDevice();
      await second.redeemEnrollment(await createEnrollmentToken(server, user), description);
      const waiting = await second.enroll();
      assert.ok(waiting.status === 'pending_approval');
      await assert.rejects(second.self(), /found none/);
      assert.deepEqual(await second.enroll(), waiting);
      const [approval] = await first.listApprovals();
      await first.approve(approval!, waiting.number);
      assert.equal((await second.enroll()).status, 'enrolled');
    });

    it('a denied second device is dropped, the phone is as before', async () => {
      const first = await enrolledDevice();
      const keys = memoryStore<Readonly<Record<string, string>>>();
      const second = newDevice({ keys });
      await second.redeemEnrollment(await createEnrollmentToken(server, user), description);
      assert.equal((await second.enroll()).status, 'pending_approval');
      const [approval] = await first.listApprovals();
      await first.deny(approval!, 'other');
      await assert.rejects(second.enroll(), (error) => isRefusal(error, 'device_denied'));
      assert.deepEqual([(await second.state()).status, await keys.load()], ['none', {}]);
    });

    it('a wrong link leaves an enrolled phone as it is', async () => {
      const keys = memoryStore<Readonly<Record<string, string>>>();
      const device = await enrolledDevice({ keys });
      const [before, kept] = [await device.state(), await keys.load()];
      await assert.rejects(device.redeemEnrollment('A'.repeat(43), description), (error) => isRefusal(error, 'token_invalid'));
      assert.deepEqual([await device.state(), await keys.load()], [before, kept]);
      await device.self();
    });

    it('several persons on one phone, each with keys of their own', async () => {
      const [store, keys] = [memoryStore<PhoneState>(), memoryStore<Readonly<Record<string, string>>>()];
      const one = await enrolledDevice({ store, keys });
      const other = await createUser(server, `other${people}@example.com`);
      const two = await enrolledDevice({ store, keys }, other);
      const emails = async (device: Device) => ((await device.self())['user'] as { email: string }).email;
      assert.deepEqual([await emails(one), await emails(two)], [user.email, other.email]);
      const { accounts } = (await store.load())!;
      const again = newDevice({ store, keys, account: accounts[0]!.deviceId });
      assert.equal(await emails(again), user.email);
      await again.revokeSelf();
      await again.forget();
      assert.deepEqual((await store.load())!.accounts, [accounts[1]]);
      assert.equal(await emails(two), other.email);
    });

    it('corrects its clock from the server and keeps the correction', async () => {
      let calls = 0;
      const counted: typeof fetch = (...call) => {
        calls += 1;
        return fetch(...call);
      };
      const device = await enrolledDevice({ nowMs: () => server.clock.nowMs() - 3_600_000, fetch: counted });
      assert.equal(calls, 3); // the first call twice
      await device.self();
      assert.equal(calls, 4);
      assert.ok(Math.abs((await device.state()).clockOffsetMs - 3_600_000) < 60_000);
    });

    it('rotates; the old keys leave the vault', async () => {
      const keys = memoryStore<Readonly<Record<string, string>>>();
      const device = await enrolledDevice({ keys });
      const before = (await device.state()).account!.slots;
      await device.rotateKeys();
      const now = (await device.state()).account!.slots;
      assert.deepEqual(
        now.map((slot) => slot.keyId),
        before.map((slot) => slot.keyId),
      );
      assert.ok(now.every((slot, index) => slot.publicKey !== before[index]!.publicKey));
      assert.deepEqual(Object.keys((await keys.load())!).sort(), now.map((slot) => slot.handle).sort());
      await device.self();
    });

    it('a revoked key ends the account after asking twice, keys and all', async () => {
      const keys = memoryStore<Readonly<Record<string, string>>>();
      const device = await enrolledDevice({ keys });
      await setUserState(server, user, 'suspended');
      await assert.rejects(device.listApprovals(), (error) => isRefusal(error, 'device_key_revoked'));
      const { status, account } = await device.state();
      assert.deepEqual([status, account?.slots, await keys.load()], ['revoked', [], {}]);
      await assert.rejects(device.self(), /revoked/);
    });

    it('one slot revoked: the call is refused, the account stays', async () => {
      const device = await enrolledDevice();
      await ask();
      const [approval] = await device.listApprovals();
      const { deviceId, slots } = (await device.state()).account!;
      const uv = slots.find((slot) => slot.purpose === 'uv')!;
      await server.gatehouse.services.database.write(user.tenant, (queries) => revokeDeviceKey(queries, user.tenant, deviceId, uv.keyId));
      await assert.rejects(device.approve(approval!, '11'), (error) => isRefusal(error, 'device_key_revoked'));
      assert.equal((await device.state()).status, 'enrolled');
      await device.self();
    });

    it('a forced update quiets it for a minute, then it asks again; any answer ends it', async () => {
      let laterMs = 0;
      let calls = 0;
      const counted: typeof fetch = (...call) => {
        calls += 1;
        return fetch(...call);
      };
      const device = await enrolledDevice({ nowMs: () => server.clock.nowMs() + laterMs, fetch: counted });
      await changeSettings(server, { ...unlimited, device: { protocol_version_min: 2, protocol_version_current: 2 } });
      calls = 0;
      const upgrade = (error: unknown) => isRefusal(error, 'upgrade_required');
      await assert.rejects(device.self(), upgrade);
      const { status, notice } = await device.state();
      assert.deepEqual([status, notice?.minSupported, notice?.current], ['enrolled', 2, 2]);
      await assert.rejects(device.self(), upgrade);
      assert.equal(calls, 1);
      await changeSettings(server, unlimited);
      await assert.rejects(device.self(), upgrade);
      assert.equal(calls, 1);
      laterMs = 60_000;
      await device.self();
      assert.equal((await device.state()).notice, undefined);
    });

    it('a newer SDK does not mind the notice of an older one', async () => {
      const [store, keys] = [memoryStore<PhoneState>(), memoryStore<Readonly<Record<string, string>>>()];
      const device = await enrolledDevice({ store, keys });
      const state = (await store.load())!;
      const notice = { minSupported: 2, current: 2, sdkVersion: '0.0.1', at: server.clock.nowMs() };
      await store.save({ ...state, servers: { [server.url]: { clockOffsetMs: 0, notice } } });
      await device.self();
      assert.equal((await device.state()).notice, undefined);
    });
  });
}
