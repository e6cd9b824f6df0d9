// docs/how-to/hooks.md does what it says: its program runs, is asked by a server, and what it is sent has the members shown.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { reachesLoopback } from '../support/ciba.ts';
import { blocksOf, fileBlockOf, root } from '../support/documents.ts';
import { createClient, createUser, rootTenant } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.ts';
import { startHookReceiver } from '../support/hook-receiver.ts';
import type { Json, Managed } from '../support/management.ts';
import { decodeJwt, exchange, issueCode, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { startWebProgram } from '../support/web-program.ts';

const document = 'docs/how-to/hooks.md';
const folder = join(root, '.test-results', `hook-${process.pid}`);

/** The members of an object, with those of the objects in it. */
const membersOf = (json: Json): unknown =>
  Object.fromEntries(
    Object.entries(json).map(([name, value]) => [
      name,
      typeof value === 'object' && value !== null && !Array.isArray(value) ? membersOf(value as Json) : 'a value',
    ]),
  );

describe('the how-to of hooks', () => {
  let server: TestServer;
  let managed: Managed;
  before(async () => {
    server = await startTestServer('sqlite', { flags: reachesLoopback });
    managed = await manageRootTenant(server);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'hook.mjs'), fileBlockOf(document, 'hook.mjs'));
  });
  after(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('the program adds the claim and denies whom it says', async () => {
    const { services } = server.gatehouse;
    const tenant = await rootTenant(services);
    const port = await freePort();
    const hook = await managed.make('POST', '/hooks', { point: 'token', url: `http://127.0.0.1:${port}/`, on_failure: 'refuse' });
    const environment = { PORT: String(port), HOOK_SECRET: String(hook['secret']) };
    // It answers 401 to whoever does not sign, so the file it is made of is waited for, and then the trial.
    const program = await startWebProgram(join(folder, 'hook.mjs'), [process.execPath, join(folder, 'hook.mjs')], { environment });
    try {
      for (let tried: Json = {}; tried['result'] !== 'silent'; ) tried = await managed.make('POST', `/hooks/${hook['id']}/test`);
      const ada = await createUser(services, tenant);
      const app = await createClient(services, tenant);
      const payroll = await createClient(services, tenant, { name: 'Payroll' });
      const { access_token: token } = await tokensOf(await exchange(tenant, app, await issueCode(server, tenant, app, ada)));
      assert.equal(decodeJwt(token).claims['tier'], 'standard');
      await assertRefusal(await exchange(tenant, payroll, await issueCode(server, tenant, payroll, ada)), 'token.code_invalid');
      assert.equal((await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' })).status, 401);
    } finally {
      await program.close();
    }
    await managed.make('DELETE', `/hooks/${hook['id']}`);
  });

  it('what it gets has the members shown', async () => {
    const { services } = server.gatehouse;
    const tenant = await rootTenant(services);
    const receiver = await startHookReceiver();
    await managed.make('POST', '/hooks', { point: 'token', url: receiver.url, on_failure: 'refuse' });
    const app = await createClient(services, tenant);
    await tokensOf(await exchange(tenant, app, await issueCode(server, tenant, app, await createUser(services, tenant))));
    const shown = blocksOf(document).find(({ language }) => language === 'json')?.text ?? '{}';
    assert.deepEqual(membersOf(receiver.calls[0]!.body), membersOf(JSON.parse(shown)));
    await receiver.close();
  });
});
