// The Kotlin SDK (sdk-kotlin), in a JVM of its own: its tests passed when it was built, it holds every rule of the conformance runner, and
// what the runner does not ask for works against a server on either database.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createDriver, type Driver } from '../../src/cli/conformance/driver-process.ts';
import type { Verdict } from '../../src/cli/conformance/report.ts';
import { runGatehouse } from '../support/conformance.ts';
import { databases } from '../support/databases.ts';
import { changeSettings, createEnrollmentToken, createUser, type TestUser, unlimited } from '../support/enrolled-phone.ts';
import { createClient, rootTenant } from '../support/fixtures.ts';
import { findJudge } from '../support/judge-binaries.ts';
import { beginLogin } from '../support/login.ts';
import { otherPin, pinOf } from '../support/mailbox.ts';
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
