// The device SDK against a running server: enrolment, approvals, clock correction, rotation through lost answers, wipe, update.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import {
  createDevice,
  createSoftwareVault,
  type Device,
  DeviceError,
  type DeviceState,
  memoryStore,
  parseEnrollmentLink,
  type StateStore,
} from '../../sdk/device.ts';
import { type ApprovalRequest, createApproval, subjectKeyOf } from '../../src/approvals/approval.ts';
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
import { pinOf } from '../support/mailbox.ts';
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

    const newDevice = (
      options: {
        readonly skewMs?: number;
        readonly fetch?: typeof fetch;
        readonly store?: StateStore<DeviceState>;
        readonly keys?: StateStore<Readonly<Record<string, string>>>;
      } = {},
    ): Device =>
      createDevice({
        baseUrl: server.url,
        store: options.store ?? memoryStore(),
        vault: createSoftwareVault(options.keys ?? memoryStore()),
        now: () => server.clock.nowMs() + (options.skewMs ?? 0),
        algorithms: { pop: 'ES256', uv: 'EdDSA' },
        ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
      });
    const enrolledDevice = async (options: Parameters<typeof newDevice>[0] = {}): Promise<Device> => {
      const device = newDevice(options);
      await device.redeemEnrollment(await createEnrollmentToken(server, user), description);
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
      assert.equal((await device.state()).phase, 'new');
      await device.startRegistration({ email: user.email, device: description });
      await device.verifyPin(await pinOf(server, user.email));
      assert.equal((await device.enroll()).status, 'enrolled');
      assert.equal((await device.state()).phase, 'enrolled');
      assert.equal((await device.self())['device_id'], (await device.state()).deviceId);
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

    it('lists, approves and denies', async () => {
      const device = await enrolledDevice();
      const number = await ask();
      const [approval] = await device.listApprovals();
      await device.approve(approval!, number);
      await ask({ kind: 'ciba', withNumber: false, bindingMessage: 'Pay 5' });
      const [payment] = await device.listApprovals(5);
      assert.equal(payment!.binding_message, 'Pay 5');
      await device.deny(payment!, 'mistake');
      assert.deepEqual(await device.listApprovals(), []);
    });

    it('a second device waits for the first', async () => {
      const first = await enrolledDevice();
      const second = newDevice();
      await second.redeemEnrollment(await createEnrollmentToken(server, user), description);
      const waiting = await second.enroll();
      assert.ok(waiting.status === 'pending_approval');
      const [approval] = await first.listApprovals();
      await first.approve(approval!, waiting.number);
      assert.equal((await second.enroll()).status, 'enrolled');
    });

    it('corrects its clock from the server and keeps the correction', async () => {
      let calls = 0;
      const counted: typeof fetch = (...call) => {
        calls += 1;
        return fetch(...call);
      };
      const device = await enrolledDevice({ skewMs: -3_600_000, fetch: counted });
      assert.equal(calls, 3); // the first call twice
      await device.self();
      assert.equal(calls, 4);
      assert.ok(Math.abs((await device.state()).clockOffsetMs - 3_600_000) < 5000);
    });

    it('rotates; the old keys leave the vault', async () => {
      const keys = memoryStore<Readonly<Record<string, string>>>();
      const device = await enrolledDevice({ keys });
      const before = await device.state();
      await device.rotateKeys();
      const now = await device.state();
      assert.deepEqual(
        now.slots.map((slot) => slot.keyId),
        before.slots.map((slot) => slot.keyId),
      );
      assert.ok(now.slots.every((slot, index) => slot.publicKey !== before.slots[index]!.publicKey));
      assert.deepEqual(Object.keys((await keys.load())!).sort(), now.slots.map((slot) => slot.handle).sort());
      await device.self();
    });

    for (const lost of ['request', 'answer'] as const) {
      it(`rotates safely when the ${lost} of the confirmation is lost, also through a restart`, async () => {
        const store = memoryStore<DeviceState>();
        const keys = memoryStore<Readonly<Record<string, string>>>();
        let losses = 1;
        const lossy: typeof fetch = async (input, init) => {
          const loses = String(input).endsWith('/confirm') && losses > 0;
          if (loses) losses -= 1;
          if (loses && lost === 'request') throw new TypeError('network');
          const response = await fetch(input, init);
          if (loses) throw new TypeError('network');
          return response;
        };
        const device = await enrolledDevice({ store, keys, fetch: lossy });
        await assert.rejects(device.rotateKeys(), /network/);
        const restarted = newDevice({ store, keys });
        await restarted.self(); // the old key still works
        await restarted.rotateKeys();
        const { slots, rotation } = await restarted.state();
        assert.equal(rotation, undefined);
        assert.deepEqual(Object.keys((await keys.load())!).sort(), slots.map((slot) => slot.handle).sort());
        await restarted.self();
      });
    }

    it('wipes itself when its key is revoked', async () => {
      const keys = memoryStore<Readonly<Record<string, string>>>();
      const device = await enrolledDevice({ keys });
      await setUserState(server, user, 'suspended');
      await assert.rejects(device.self(), (error: unknown) => error instanceof DeviceError && error.kind === 'device_key_revoked');
      assert.deepEqual([(await device.state()).phase, (await device.state()).slots, await keys.load()], ['wiped', [], {}]);
      await assert.rejects(device.self(), /wiped/);
    });

    it('stops with a forced update when its protocol version is too old', async () => {
      const device = await enrolledDevice();
      await changeSettings(server, { ...unlimited, device: { protocol_version_min: 2, protocol_version_current: 2 } });
      await assert.rejects(device.self(), (error: unknown) => error instanceof DeviceError && error.status === 426);
      assert.equal((await device.state()).phase, 'update_required');
      await assert.rejects(device.self(), /update_required/);
    });
  });
}
