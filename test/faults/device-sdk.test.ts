// The proof of the SDK's state table (design 12, section 1): whatever request or answer is lost, and at whatever save the process
// is killed, a phone ends as an undisturbed one does. Every call goes over real HTTP to a real server; what is lost is lost by a
// faulty fetch, who dies dies at a faulty store, and a new process resumes over what was saved.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createDevice, type Device, isRefusal, memoryStore, NoAnswerError, type PhoneState, type StateStore } from '../../sdk/device.ts';
import { createSoftwareVault } from '../../sdk/node.ts';
import { createApproval, subjectKeyOf } from '../../src/approvals/approval.ts';
import { listDevicesOfUser } from '../../src/storage/device/devices.ts';
import { databases } from '../support/databases.ts';
import { changeSettings, createEnrollmentToken, createUser, type TestUser, testDevice, unlimited } from '../support/enrolled-phone.ts';
import { pinOf } from '../support/mailbox.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const description = { platform: 'ios', name: testDevice.name } as const;

class Killed extends Error {}

type Fault =
  /** This request and its repetitions get lost until the process ends, or the answer of the first does. */
  | { readonly kind: 'request lost' | 'answer lost'; readonly at: number; readonly lasting: boolean }
  | { readonly kind: 'killed before' | 'killed after'; readonly at: number };

/** A phone whose processes end and start again over the same store, and whose network and store fail once, as told. */
function makePhone(server: TestServer, fault: Fault | undefined) {
  const [inner, keys] = [memoryStore<PhoneState>(), memoryStore<Readonly<Record<string, string>>>()];
  const counts = { requests: 0, saves: 0, struck: false };
  let isDown = false;
  const faulty: typeof fetch = async (input, init) => {
    const at = counts.requests;
    counts.requests += 1;
    const strikes = fault !== undefined && 'lasting' in fault && !counts.struck && at === fault.at;
    if (strikes) counts.struck = true;
    if (strikes && fault.lasting) isDown = true;
    if (isDown && !(strikes && fault.kind === 'answer lost')) throw new TypeError('the network is down');
    if (strikes && fault.kind === 'request lost') throw new TypeError('the request was lost');
    const response = await fetch(input, init);
    if (!strikes) return response;
    await response.arrayBuffer();
    throw new TypeError('the answer was lost');
  };
  const store: StateStore<PhoneState> = {
    ...inner,
    save: async (value) => {
      const strikes = fault !== undefined && !('lasting' in fault) && !counts.struck && counts.saves === fault.at;
      counts.saves += 1;
      if (strikes) counts.struck = true;
      if (strikes && fault.kind === 'killed before') throw new Killed();
      await inner.save(value);
      if (strikes) throw new Killed();
    },
  };
  const begin = (): Device => {
    isDown = false;
    const vault = createSoftwareVault(keys);
    return createDevice({ baseUrl: server.url, store, vault, now: server.clock.nowMs, fetch: faulty, pause: async () => undefined });
  };
  return { begin, counts, store: inner, keys };
}

type Phone = ReturnType<typeof makePhone>;

/** One wish of the person, repeated until it came true: an app that looks at the state and does the next thing. */
type Step = (device: Device) => Promise<void>;

async function walk(phone: Phone, steps: readonly Step[]): Promise<void> {
  let device = phone.begin();
  for (const step of steps) {
    for (;;) {
      try {
        await step(device);
        break;
      } catch (error) {
        if (!(error instanceof Killed) && !(error instanceof NoAnswerError)) throw error;
        device = phone.begin();
        await device.resume().catch((lost: unknown) => {
          if (!(lost instanceof Killed) && !(lost instanceof NoAnswerError)) throw lost;
        });
      }
    }
  }
}

for (const database of databases) {
  describe(`device SDK, lost answers and dead processes on ${database}`, () => {
    let server: TestServer;
    let user: TestUser;
    let people = 0;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());
    beforeEach(async () => {
      await changeSettings(server, { ...unlimited, pin: { resend_cooldown_seconds: 1, sends_per_hour_max: 1000 } });
    });

    const newcomer = async (): Promise<void> => {
      people += 1;
      user = await createUser(server, `person${people}@example.com`);
    };
    const ask = async (): Promise<string> => {
      const { database: db, tenants } = server.gatehouse.services;
      const tenant = (await tenants.byId(user.tenant))!;
      const subjectKey = subjectKeyOf(user.id, '');
      const request = { kind: 'oidc_login', userId: user.id, subjectKey, onDevices: true, withNumber: true, lifetimeSeconds: 300 } as const;
      const made = await db.write(user.tenant, (queries) => createApproval(queries, tenant, request));
      assert.ok(made.ok);
      return made.number!;
    };

    const redeem =
      (token: string): Step =>
      async (device) => {
        if ((await device.state()).status === 'none') await device.redeemEnrollment(token, description);
      };
    const register: Step = async (device) => {
      if ((await device.state()).status === 'none') await device.startRegistration({ email: user.email, device: description });
    };
    const verify: Step = async (device) => {
      if ((await device.state()).status === 'unverified') await device.verifyPin(await pinOf(server, user.email));
    };
    const enrol: Step = async (device) => {
      if ((await device.state()).status !== 'enrolled') assert.equal((await device.enroll()).status, 'enrolled');
    };
    const approve =
      (number: string): Step =>
      async (device) => {
        const [approval] = await device.listApprovals();
        if (approval !== undefined) await device.approve(approval, number);
      };
    const deny: Step = async (device) => {
      const [approval] = await device.listApprovals();
      if (approval !== undefined) await device.deny(approval, 'mistake');
    };
    // A rotation that went unanswered is finished by resume(); a further one finds nothing to rotate while the overlap lasts.
    const rotate: Step = (device) =>
      device.rotateKeys().catch((error: unknown) => {
        if (!isRefusal(error, 'no_keys_to_rotate')) throw error;
      });

    /** What is the same for every phone that went through the steps, disturbed or not. */
    const endOf = async (phone: Phone) => {
      const device = phone.begin();
      const state = (await phone.store.load())!;
      const { account } = await device.state();
      const self = await device.self();
      assert.equal(self['device_id'], account?.deviceId);
      const handles = state.accounts.flatMap((kept) => kept.slots.map((slot) => slot.handle)).sort();
      assert.deepEqual(Object.keys((await phone.keys.load())!).sort(), handles, 'a key was lost or left behind');
      const devices = await server.gatehouse.services.database.read(user.tenant, (queries) =>
        listDevicesOfUser(queries, user.tenant, user.id),
      );
      return {
        accounts: state.accounts.map(({ phase, slots, rotation }) => [phase, slots.map((slot) => [slot.purpose, slot.alg]), rotation]),
        draft: state.draft,
        devices: devices.map((row) => row.state),
        decisions: (await device.activity()).map(({ type, state: decided }) => [type, decided]),
        rotated: (self['keys'] as readonly { rotated_at: string | null }[]).map((key) => key.rotated_at !== null),
      };
    };

    const stories: Readonly<Record<string, () => Promise<readonly Step[]>>> = {
      'by a link, then a decision and a rotation': async () => {
        await newcomer();
        const token = await createEnrollmentToken(server, user);
        let number = '';
        const wait: Step = async () => {
          number = await ask();
        };
        return [redeem(token), enrol, wait, (device) => approve(number)(device), wait, deny, rotate];
      },
      'by a link with a PIN': async () => {
        await newcomer();
        return [redeem(await createEnrollmentToken(server, user, 86_400_000, true)), verify, enrol];
      },
      'by mail': async () => {
        await newcomer();
        return [register, verify, enrol];
      },
      'as a second device': async () => {
        await newcomer();
        const first = makePhone(server, undefined);
        await walk(first, [redeem(await createEnrollmentToken(server, user)), enrol]);
        const vouch: Step = async (device) => {
          if ((await device.state()).status === 'enrolled') return;
          const waiting = await device.enroll();
          if (waiting.status === 'enrolled') return;
          const [approval] = await first.begin().listApprovals();
          await first.begin().approve(approval!, waiting.number);
        };
        return [redeem(await createEnrollmentToken(server, user)), vouch, enrol];
      },
    };

    for (const [name, tell] of Object.entries(stories)) {
      it(`${name}: every fault ends as no fault does`, async () => {
        const undisturbed = makePhone(server, undefined);
        await walk(undisturbed, await tell());
        const { requests, saves } = { ...undisturbed.counts };
        const expected = await endOf(undisturbed);
        const faults: Fault[] = [];
        for (let at = 0; at < requests; at += 1)
          for (const kind of ['request lost', 'answer lost'] as const)
            faults.push({ kind, at, lasting: false }, { kind, at, lasting: true });
        for (let at = 0; at < saves; at += 1) faults.push({ kind: 'killed before', at }, { kind: 'killed after', at });
        assert.ok(faults.length > 20);
        for (const fault of faults) {
          const phone = makePhone(server, fault);
          const told = JSON.stringify(fault);
          await walk(phone, await tell()).catch((error: unknown) => assert.fail(new Error(told, { cause: error })));
          assert.ok(phone.counts.struck, told);
          assert.deepEqual(await endOf(phone), expected, told);
        }
      });
    }
  });
}
