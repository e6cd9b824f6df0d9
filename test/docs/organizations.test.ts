// The guide of organisations (docs/how-to/organizations.md): its roles, its two customers and its client are made by its own shell blocks, and its
// application is run as it stands. One person of both switches, and what they may do and see follows.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseEnv, promisify } from 'node:util';
import { openBrowser } from '../support/browser.ts';
import { blocksOf, fileBlockOf, root } from '../support/documents.ts';
import { freePort } from '../support/free-port.ts';
import { createTestTenant, type Json, jsonOf, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { personAt } from '../support/two-organizations.ts';
import { startWebProgram, type WebProgram } from '../support/web-program.ts';

const document = 'docs/how-to/organizations.md';

describe(document, () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-organizations-'));
  let server: TestServer;
  let tenant: Managed;
  let app: WebProgram;
  let url: string;
  before(async () => {
    server = await startTestServer('sqlite');
    tenant = await createTestTenant(server, { settings: { login_methods: ['email_pin'] } });
    url = `http://localhost:${await freePort()}`;
    const shell = blocksOf(document).filter(({ language }) => language === 'sh');
    const needed = shell.slice(0, 1 + shell.findIndex(({ text }) => text.includes('>app.env')));
    assert.ok(needed.length >= 2);
    const script = needed
      .map(({ text }) => text)
      .join('\n')
      .replaceAll('http://localhost:3000', url);
    const environment = { ...process.env, BASE_URL: tenant.baseUrl, ADMIN: `${tenant.adminClientId}:${tenant.adminClientSecret}` };
    // Beside this process, in which the server answers.
    await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder, env: environment });
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'server.mjs'), fileBlockOf(document, 'server.mjs'));
    const own = parseEnv(readFileSync(join(folder, 'app.env'), 'utf8')) as Record<string, string>;
    app = await startWebProgram(url, [process.execPath, 'server.mjs'], { cwd: folder, environment: { ...own, APP_URL: url } });
  });
  after(async () => {
    await app?.close();
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('its application switches between the two customers of one person', async () => {
    const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/organizations');
    const idOf = (name: string): string => String(items.find((one) => one['name'] === name)?.['id']);
    const grace = personAt(server, tenant.baseUrl, 'grace@example.com', idOf);
    const browser = openBrowser();
    const go = async (path: string, choice?: string): Promise<Json> => {
      const away = new URL((await browser.send(`${url}${path}`)).headers.get('location') ?? '');
      const back = await grace.visit(away, choice);
      assert.equal((await browser.send(back.href)).headers.get('location'), '/');
      return jsonOf(await browser.send(`${url}/`), 200);
    };
    const approve = async (order: number): Promise<number> =>
      (await browser.send(`${url}/orders/${order}/approve`, { method: 'POST' })).status;
    const link = (at: Json): string => String((at['switch_to'] as readonly Json[])[0]?.['at']);

    assert.equal(await approve(1), 403, 'nobody');
    const acme = await go('/sign-in', 'acme');
    assert.deepEqual(
      [acme['organization'], acme['roles'], acme['switch_to']],
      ['acme', ['approver'], [{ name: 'Globex GmbH', at: `/sign-in?organization=${idOf('globex')}` }]],
    );
    assert.equal(await approve(7), 303);
    const globex = await go(link(acme));
    assert.deepEqual([globex['organization'], globex['roles'], globex['approved']], ['globex', [], []]);
    assert.equal(await approve(8), 403);
    const again = await go(link(globex));
    assert.deepEqual([again['organization'], again['approved']], ['acme', ['7']]);
    assert.equal(grace.typed(), 1, 'nobody typed anything to switch');
    // Who is no member any more stays where they are, and is offered it no more once they come again.
    await tenant.call('DELETE', `/organizations/${idOf('globex')}/members/${await graceId()}`);
    assert.equal((await go(link(again)))['organization'], 'acme');
    assert.deepEqual((await go('/sign-in'))['switch_to'], []);
  });

  async function graceId(): Promise<string> {
    const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/users?search=grace@example.com');
    return String(items[0]?.['id']);
  }
});
