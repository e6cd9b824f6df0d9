// The Kotlin SDK (sdk-kotlin), in a JVM of its own: its tests passed when it was built, it holds every rule of the conformance runner, and
// what the runner does not ask for works against a server on either database.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createDriver, type Driver } from '../../src/cli/conformance/driver-process.ts';
import type { Verdict } from '../../src/cli/conformance/report.ts';
import { revokeDevicesOfUser } from '../../src/storage/device/devices.ts';
import { runGatehouse } from '../support/conformance.ts';
import { databases } from '../support/databases.ts';
import { until } from '../support/deliveries.ts';
import { changeSettings, createEnrollmentToken, createUser, type TestUser, unlimited } from '../support/enrolled-phone.ts';
import { createClient, rootTenant } from '../support/fixtures.ts';
import { findJudge } from '../support/judge-binaries.ts';
import { beginLogin } from '../support/login.ts';
import { otherPin, pinOf } from '../support/mailbox.ts';
import { type Sample, type SampleSignIn, startSample } from '../support/sample-sign-ins.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const kotlinPhone = findJudge('kotlin-phone');

if (kotlinPhone !== undefined) {
  it('Kotlin SDK: its own tests ran, vectors among them, and none failed', () => {
    const lines = readFileSync(`${kotlinPhone}.tests`, 'utf8').trim().split('\n');
    const counts = lines.map((line) => /Tests run: (\d+), Failures: 0, Errors: 0, Skipped: 0,.* in ([\w.]+)$/.exec(line));
    assert.ok(
      counts.every((count) => count !== null),
      lines.join('\n'),
    );
    const ran = new Map(counts.map((count) => [count![2], Number(count![1])]));
    assert.ok(ran.get('gatehouse.device.VectorsTest')! >= 124, lines.join('\n'));
  });

  it('Kotlin SDK: each Kotlin block of its README was compiled against the installed SDK in an empty project', () => {
    const readme = readFileSync(join(import.meta.dirname, '../../sdk-kotlin/README.md'), 'utf8');
    const blocks = [...readme.matchAll(/^```kotlin\n([\s\S]*?)^```$/gm)].map(([, block]) => block);
    assert.ok(blocks.length > 0);
    assert.equal(readFileSync(`${kotlinPhone}.readme`, 'utf8'), blocks.join(''));
  });

  describe('Kotlin SDK: the functions of its README, run', () => {
    let sample: Sample;
    let unanswered: Promise<unknown>;
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-kotlin-readme-'));
    const program = createDriver(`exec "${kotlinPhone}.run-readme"`, { GATEHOUSE_STATE: folder });
    before(async () => {
      unanswered = run('fourth', 'sign up', { baseUrl: 'http://127.0.0.1:1' }); // the SDK asks again for some seconds
      sample = await startSample();
    });
    after(async () => {
      program.kill();
      await sample.close();
      rmSync(folder, { recursive: true });
    });
    /** What a function shows or gives, or the sentence of `messageOf`. */
    const run = async (phone: string, action: string, fields: Readonly<Record<string, string>> = {}): Promise<unknown> => {
      const answer = await program.call(action, { phone, ...fields });
      return answer.ok ? answer.value : answer.error;
    };
    const outcomeOf = async (signIn: SampleSignIn): Promise<unknown> => [await signIn.state(), await signIn.denyReason()];

    it('redeem enrols, and waits for the first phone at a second one', async () => {
      assert.equal(await run('first', 'redeem', { link: await sample.enrollmentLink() }), 'enrolled');
      const second = run('second', 'redeem', { link: await sample.enrollmentLink() });
      const printed = await program.call('printed');
      const [, number] = /^Type (\d\d) on your other phone$/.exec(String(printed.ok && printed.value))!;
      assert.equal(await run('first', 'decide', { number: number! }), 'device_add');
      assert.equal(await second, 'enrolled');
    });

    it('decideNext approves with the number and denies what was closed', async () => {
      const approved = await sample.signIn();
      assert.equal(await run('first', 'decide', { number: approved.number }), 'oidc_login');
      assert.deepEqual(await outcomeOf(approved), ['approved', null]);
      const closed = await sample.signIn();
      assert.equal(await run('first', 'decide'), 'oidc_login');
      assert.deepEqual(await outcomeOf(closed), ['denied', 'mistake']);
    });

    it('claimScanned approves without a number what the person confirms, and denies the rest', async () => {
      for (const confirm of ['true', 'false']) {
        const scanned = await sample.signIn();
        assert.equal(await run('first', 'claim', { link: await sample.codeOf(scanned), confirm }), 'oidc_login false');
        assert.deepEqual(await outcomeOf(scanned), confirm === 'true' ? ['approved', null] : ['denied', 'mistake']);
      }
    });

    it('setPushToken brings a push, and messageOf has a sentence for each error it names', async () => {
      assert.equal(await run('first', 'push', { token: 'token-of-the-app' }), null);
      const wrong = await sample.signIn();
      await until(() => sample.vendors.captured.fcm.length === 1);
      const denied = 'The number was wrong, so the request was denied.';
      assert.equal(await run('first', 'decide', { number: otherPin(wrong.number) }), denied);
      assert.equal(await wrong.state(), 'denied');
      assert.equal(await run('first', 'decide again', { number: wrong.number }), 'This request has ended.');
      const link = `${sample.tenant.baseUrl}/enroll#v=1&t=unknown`;
      assert.equal(await run('third', 'redeem', { link }), 'This link was used or has expired. Ask for a new one.');
      assert.equal(await unanswered, 'No connection. Try again.');
      assert.match(String(await run('fifth', 'redeem', { link: 'none' })), /expected an enrolment link/);
      await sample.server.gatehouse.services.database.write(sample.tenant.id, (queries) =>
        revokeDevicesOfUser(queries, sample.tenant.id, sample.ada.id),
      );
      assert.equal(await run('first', 'decide'), 'This phone was removed. Enrol it again.');
    });
  });

  it('Kotlin SDK: holds every rule of the conformance runner', async () => {
    const { code, out, error } = await runGatehouse(['phone', 'conformance', '--json', '--driver', `exec "${kotlinPhone}"`]);
    const { verdicts } = JSON.parse(out) as { readonly verdicts: readonly Verdict[] };
    assert.deepEqual([code, verdicts.filter(({ passed }) => !passed), verdicts.length], [0, [], 56], error);
  });

  for (const database of databases)
    describe(`Kotlin SDK on ${database}`, () => {
      let server: TestServer;
      let user: TestUser;
      let folder: string;
      const drivers: Driver[] = [];
      before(async () => {
        folder = mkdtempSync(join(tmpdir(), 'gatehouse-kotlin-'));
        server = await startTestServer(database);
        await changeSettings(server, { ...unlimited, login_methods: ['phone', 'email_pin'] });
        user = await createUser(server, 'kotlin@example.com');
      });
      after(async () => {
        for (const driver of drivers) driver.kill();
        await server.close();
        rmSync(folder, { recursive: true });
      });

      const newPhone = () => {
        const driver = createDriver(`exec "${kotlinPhone}"`, {
          GATEHOUSE_BASE_URL: server.url,
          GATEHOUSE_STATE: mkdtempSync(join(folder, 'phone-')),
        });
        drivers.push(driver);
        return async (command: string, fields: Readonly<Record<string, unknown>> = {}): Promise<unknown> => {
          const answer = await driver.call(command, fields);
          return answer.ok ? answer.value : `refused: ${answer.error}`;
        };
      };
      const statusOf = async (phone: ReturnType<typeof newPhone>) => ((await phone('state')) as { readonly status: string }).status;

      it('registers by mail and PIN, scans a sign-in, reads back what was decided; a second phone waits for the first', async () => {
        const first = newPhone();
        await first('register', { email: user.email });
        const pin = await pinOf(server, user.email);
        assert.equal(await first('pin', { pin: otherPin(pin) }), 'refused: pin_invalid');
        assert.equal(await statusOf(first), 'unverified');
        await first('pin', { pin });
        await first('enroll');
        assert.equal(await statusOf(first), 'enrolled');

        const tenant = await rootTenant(server.gatehouse.services);
        const login = await beginLogin(server, tenant, await createClient(server.gatehouse.services, tenant));
        assert.equal((await login.post('identify', { identifier: user.email })).status, 200);
        assert.equal((await login.post('method', { method: 'phone' })).status, 200);
        const { qr_uri: link } = (await (await login.get('/qr')).json()) as { readonly qr_uri: string };
        assert.equal(await first('claim', { link }), null);
        assert.deepEqual(await (await login.get('/status')).json(), { state: 'approved' });
        assert.equal(await first('claim', { link }), 'refused: not_found');
        assert.deepEqual(await first('activity'), ['oidc_login approved true']);

        const second = newPhone();
        await second('redeem', { token: await createEnrollmentToken(server, user) });
        const number = await second('enroll');
        assert.match(String(number), /^\d\d$/);
        assert.equal(await statusOf(second), 'pending_approval');
        const [waiting] = (await first('list')) as readonly { readonly id: string }[];
        assert.equal(await first('approve', { approval: waiting!.id, number }), null);
        assert.equal(await second('enroll'), null);
        assert.deepEqual(await second('activity'), ['device_add approved false', 'oidc_login approved false']);

        assert.equal(await first('revoke_self'), null);
        assert.equal(await statusOf(first), 'revoked');
        assert.match(String(await first('list')), /enrol again/);
      });
    });
}
