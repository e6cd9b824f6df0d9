// `gatehouse phone`: the simulator as a person types it, each call a process of its own.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createApproval, subjectKeyOf } from '../../src/approvals/approval.ts';
import { changeSettings, createEnrollmentToken, createUser, type TestUser, unlimited } from '../support/enrolled-phone.ts';
import { createClient, rootTenant, type TestClient } from '../support/fixtures.ts';
import { beginLogin } from '../support/login.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts');

describe('gatehouse phone', () => {
  let server: TestServer;
  let user: TestUser;
  let client: TestClient;
  let folder: string;
  before(async () => {
    server = await startTestServer('sqlite');
    await changeSettings(server, { ...unlimited, login_methods: ['phone', 'email_pin'] });
    client = await createClient(server.gatehouse.services, await rootTenant(server.gatehouse.services));
    user = await createUser(server, 'ada@example.com');
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-phone-'));
  });
  after(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  const phone = (...args: readonly string[]): Promise<{ readonly code: number | null; readonly out: string; readonly error: string }> =>
    new Promise((resolve) => {
      const command = ['--disable-warning=ExperimentalWarning', main, 'phone', ...args, '--json', '--state', join(folder, 'phone.json')];
      const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'] });
      let [out, error] = ['', ''];
      child.stdout.on('data', (chunk) => {
        out += chunk;
      });
      child.stderr.on('data', (chunk) => {
        error += chunk;
      });
      child.on('close', (code) => resolve({ code, out, error }));
    });
  const ask = async (): Promise<string> => {
    const tenant = (await server.gatehouse.services.tenants.byId(user.tenant))!;
    const made = await server.gatehouse.services.database.write(user.tenant, (queries) =>
      createApproval(queries, tenant, {
        kind: 'oidc_login',
        userId: user.id,
        subjectKey: subjectKeyOf(user.id, ''),
        onDevices: true,
        withNumber: true,
        lifetimeSeconds: 300,
      }),
    );
    assert.ok(made.ok);
    return made.number!;
  };

  it('enrols from a link, lists, approves, denies, rotates, shows', async () => {
    assert.equal((await phone('list')).code, 1);
    const link = `${server.url}/enroll#v=1&t=${await createEnrollmentToken(server, user)}`;
    const enrolled = await phone('enroll', '--link', link);
    assert.deepEqual([enrolled.code, JSON.parse(enrolled.out || '{}').status], [0, 'enrolled'], enrolled.error);
    assert.deepEqual(JSON.parse((await phone('list')).out), []);
    const number = await ask();
    const [item] = JSON.parse((await phone('list')).out);
    const approved = await phone('approve', item.id, '--number', number);
    assert.deepEqual(JSON.parse(approved.out), { id: item.id, state: 'approved' });
    await ask();
    assert.equal(JSON.parse((await phone('deny', '--reason', 'mistake')).out).state, 'denied');
    assert.deepEqual(JSON.parse((await phone('rotate')).out), { rotated: true });
    assert.equal(JSON.parse((await phone('show')).out).user.email, user.email);
    const login = await beginLogin(server, (await server.gatehouse.services.tenants.byId(user.tenant))!, client);
    for (const [step, fields] of [
      ['identify', { identifier: user.email }],
      ['method', { method: 'phone' }],
    ] as const)
      assert.equal((await login.post(step, fields)).status, 200);
    const { qr_uri: qr } = (await (await login.get('/qr')).json()) as { qr_uri: string };
    const scanned = await phone('approve', '--qr', qr);
    assert.equal(JSON.parse(scanned.out || '{}').state, 'approved', scanned.error);
    assert.deepEqual(await (await login.get('/status')).json(), { state: 'approved' });
    const used = await phone('approve', '--qr', qr);
    assert.deepEqual([used.code, used.error.includes('not_found')], [1, true], used.error);
    const elsewhere = await phone('approve', '--qr', 'https://elsewhere.example/scan#v=1&c=x');
    assert.deepEqual(JSON.parse(elsewhere.error), {
      error: `expected the code of a sign-in page of ${server.url}, found https://elsewhere.example/scan#v=1&c=x`,
      expected: `the code of a sign-in page of ${server.url}`,
      found: 'https://elsewhere.example/scan#v=1&c=x',
    });
    const nothing = await phone('approve');
    assert.deepEqual([nothing.code, JSON.parse(nothing.error).error], [1, 'expected exactly one approval, found nothing']);
  });
});
