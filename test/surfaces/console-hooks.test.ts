// The console's page "Hooks": made, tried, changed, given a new secret, deleted, by fields; and that a hook which denies everybody does
// not close the console.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { reachesLoopback } from '../support/ciba.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { claims, deny, type HookReceiver, startHookReceiver, verifyHookCall } from '../support/hook-receiver.ts';
import { createTestClient, type Json, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`console, hooks, on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let visitor: AppVisitor;
    let receiver: HookReceiver;
    let email: string;
    before(async () => {
      server = await startTestServer(database, { flags: reachesLoopback });
      receiver = await startHookReceiver();
      ({ tenant, email } = await createConsoleTenant(server));
      ({ visitor } = await openConsole(server, tenant, email));
    });
    after(async () => {
      await server.close();
      await receiver.close();
    });
    const show = async (path: string): Promise<string> => (await visitor.page(path)).text();
    const submit = async (path: string, fields: Readonly<Record<string, string>>): Promise<string> =>
      (await visitor.submit(path, fields)).text();

    it('a hook is made, tried, changed, given a new secret and deleted', async () => {
      assert.match(await show('/hooks'), /No hooks yet/);
      const form = await show('/hooks/new');
      for (const name of ['point', 'url', 'on_failure', 'deadline_ms', 'clients', 'enabled'])
        assert.match(form, new RegExp(`name="${name}"`), name);
      assert.doesNotMatch(form, /name="secret"/);
      const [one, two] = [(await createTestClient(tenant)).client_id, (await createTestClient(tenant)).client_id];
      const made = await visitor.act('/hooks', {
        point: 'token',
        url: receiver.url,
        on_failure: 'refuse',
        deadline_ms: '900',
        clients: `${one}\n${two}`,
        enabled: '1',
      });
      assert.match(made, /id="secret-secret">whsec_[A-Za-z0-9+/]{43}(=|&#61;)</);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/hooks');
      const [hook] = items;
      assert.deepEqual([hook!['deadline_ms'], hook!['clients']], [900, [one, two]]);
      const path = `/hooks/${hook!['id']}`;
      const detail = await show(path);
      assert.match(detail, /<dt>Asked<\/dt><dd><span title="token">Before tokens are issued</);
      assert.match(await show('/hooks?search=127.0.0.1'), /Before tokens are issued<\/a>/);
      receiver.reply = () => claims({ id_token: { tier: 'gold' } });
      assert.match(await visitor.act(`${path}/test`, {}), /It answered with claims: .*tier.*gold/);
      receiver.reply = () => deny('because <b>');
      assert.match(await visitor.act(`${path}/test`, {}), /It denies. Its reason: because &#60;b&#62;/);
      receiver.reply = () => ({ status: 500 });
      assert.match(await visitor.act(`${path}/test`, {}), /It failed: status_500/);
      assert.equal(
        (await visitor.submit(path, { url: receiver.url, on_failure: 'continue', deadline_ms: '500', clients: '' })).status,
        303,
      );
      const changed = await tenant.make('GET', path);
      assert.deepEqual(
        [changed['on_failure'], changed['deadline_ms'], changed['clients'], changed['enabled']],
        ['continue', 500, [], false],
      );
      assert.match(await submit(`${path}/secret`, {}), /signed with both secrets for 24 hours/);
      const rotated = await visitor.act(`${path}/secret`, { sure: 'yes' });
      const secret = /id="secret-secret">(whsec_[A-Za-z0-9+/]+=?)/.exec(rotated.replaceAll('&#61;', '='))?.[1] ?? '';
      await tenant.make('POST', `${path}/test`, {});
      verifyHookCall(secret, receiver.calls.at(-1)!);
      const refused = await visitor.submit(path, { url: 'ftp://kept.example', on_failure: 'refuse', deadline_ms: '500' });
      assert.match(await refused.text(), /value="ftp:\/\/kept.example"/);
      assert.match(await submit(`${path}/delete`, {}), /From now on nobody is asked/);
      assert.equal((await visitor.submit(`${path}/delete`, { sure: 'yes' })).status, 303);
      assert.equal((await tenant.call('GET', path)).status, 404);
    });

    it('stays open when hooks deny everybody', async () => {
      for (const point of ['token', 'sign_in']) await tenant.make('POST', '/hooks', { point, url: receiver.url, on_failure: 'refuse' });
      receiver.reply = () => deny('everybody');
      receiver.calls.length = 0;
      await server.clock.advance(61_000);
      const again = await openConsole(server, tenant, email);
      assert.match(await (await again.visitor.page('/hooks')).text(), /Before a sign-in ends/);
      assert.equal(receiver.calls.length, 0);
    });
  });
}
