// The console's page "Connectors": made and changed by fields, where one stands, what a run would do, conflicts settled, failures with
// request and answer, quarantine and approval; and what a reader of them does not see.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type RecordingProxy, runConnectors, startRecordingProxy } from '../support/connectors.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { type LaxScimService, startLaxScimService } from '../support/lax-scim-service.ts';
import { createTestUser, type Json, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { loopbackAllowed } from '../support/webhooks.ts';

for (const database of databases) {
  describe(`console, connectors, on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let visitor: AppVisitor;
    let target: LaxScimService;
    let proxy: RecordingProxy;
    before(async () => {
      server = await startTestServer(database, { flags: loopbackAllowed });
      target = await startLaxScimService();
      proxy = await startRecordingProxy(() => target.url);
      const made = await createConsoleTenant(server);
      tenant = made.tenant;
      ({ visitor } = await openConsole(server, tenant, made.email));
    });
    after(async () => {
      await server?.close();
      await proxy?.close();
      await target?.close();
    });
    const show = async (path: string): Promise<string> => (await visitor.page(path)).text();
    const run = (): Promise<void> => runConnectors(server);
    const only = async (): Promise<Json> => (await tenant.make<{ items: readonly Json[] }>('GET', '/connectors')).items[0]!;
    const connect = async (fields: Json = {}): Promise<string> => {
      const auth = { type: 'bearer', token: 'known there' };
      const made = await tenant.make('POST', '/connectors', { name: 'Payroll', base_url: proxy.url, auth, rate: 200, ...fields });
      return `/connectors/${made['id']}`;
    };

    it('a connector is made by fields, changed, moved with its secret alone, and deleted', async () => {
      assert.match(await show('/connectors'), /No connectors yet/);
      const form = await show('/connectors/new');
      for (const name of ['auth.type', 'auth.secret', 'auth.username', 'auth.token_url', 'auth.client_id', 'auth.scope', 'groups', 'rate'])
        assert.ok(form.includes(`name="${name}"`), name);
      assert.doesNotMatch(form, /name="(auth|mappings|secret)"|JSON/);
      const fields = { name: 'Payroll', base_url: proxy.url, users: 'all', match: 'userName', deprovision: 'deactivate', rate: '20' };
      const incomplete = await visitor.submit('/connectors', { ...fields, 'auth.type': 'basic', 'auth.secret': 'a secret' });
      assert.equal(incomplete.status, 400);
      assert.match(await incomplete.text(), /id="field-auth-type-wrong">This field of type basic must have username\./);
      const odd = await visitor.submit('/connectors', { ...fields, 'auth.type': 'odd', 'auth.secret': 'a secret' });
      assert.equal(odd.status, 400);
      const made = await visitor.act('/connectors', {
        ...{ ...fields, groups: 'Staff\nBoard', 'auth.type': 'basic', 'auth.username': 'gatehouse', 'auth.secret': 'a secret' },
        'auth.scope': 'of another kind',
      });
      assert.match(made, /The connector Payroll was created/);
      const { id, auth, groups, rate, enabled } = await only();
      assert.deepEqual([auth, groups, rate, enabled], [{ type: 'basic', username: 'gatehouse' }, ['Staff', 'Board'], 20, false]);
      const path = `/connectors/${id}`;
      assert.doesNotMatch(await show(path), /a secret/);
      assert.match(await show('/connectors'), /<span class="badge plain">paused<\/span>/);
      const sameAuth = { 'auth.type': 'basic', 'auth.username': 'gatehouse', 'auth.secret': '' };
      assert.equal((await visitor.submit(path, { ...fields, ...sameAuth, name: 'Wages', groups: '' })).status, 303);
      assert.deepEqual([(await only())['name'], (await only())['groups']], ['Wages', []]);
      const moved = await visitor.submit(path, { ...fields, ...sameAuth, base_url: 'https://elsewhere.example' });
      assert.match(await moved.text(), /must be given again with its password.*value="https:\/\/elsewhere.example"/s);
      const token = { 'auth.type': 'bearer', 'auth.secret': 'another' };
      assert.equal((await visitor.submit(path, { ...fields, ...token, base_url: 'https://elsewhere.example' })).status, 303);
      assert.deepEqual((await only())['auth'], { type: 'bearer' });
      assert.equal((await visitor.page(`${path}/rules`)).headers.get('location')?.endsWith(`/mappings?kind=scim&target=${id}`), true);
      assert.match(await (await visitor.submit(`${path}/delete`, {})).text(), /Accounts at the application stay as they are/);
      assert.equal((await visitor.submit(`${path}/delete`, { sure: 'yes' })).status, 303);
      assert.equal((await tenant.call('GET', path)).status, 404);
    });

    it('it says what it would do, where it stands, and what failed; conflicts are settled', async () => {
      const [ada, bob, cara, dan] = await Promise.all(
        ['ada', 'bob', 'cara', 'dan'].map((name) => createTestUser(tenant, `${name}@x.example`)),
      );
      const path = await connect({ enabled: false, match: 'externalId' });
      const plan = await show(`${path}/plan`);
      assert.match(plan, /<dt>Gets an account, found there or made<\/dt><dd>5<\/dd>/); // whoever looks too
      assert.ok(plan.includes(`/users/${ada!.id}">ada@x.example</a>`));
      assert.deepEqual(proxy.take(), [], 'a plan asks nobody');
      assert.match(await show(`${path}/status`), /<span class="badge plain">paused<\/span>.*id="act-go-on"/s);
      const answers = new Map<string, readonly [number, Json]>([
        ['ada@x.example', [409, { detail: 'taken <b>' }]],
        ['bob@x.example', [500, { detail: 'broken' }]],
        ['cara@x.example', [409, {}]],
        ['dan@x.example', [409, {}]],
      ]);
      proxy.intercept = ({ method, body }) => {
        const [status, json] = (method === 'POST' ? answers.get(String(body['userName'])) : undefined) ?? [0, {}];
        return status === 0 ? undefined : [status, {}, JSON.stringify(json)];
      };
      assert.match(await visitor.act(`${path}/status/go-on`, {}), /It goes on\./);
      await run();
      const status = await show(`${path}/status`);
      assert.match(status, /max="5" value="4"><\/progress> 4 of 5/); // the one that failed is tried again
      assert.match(status, /200 requests a second, at most.*<dt>Time left<\/dt><dd>less than a minute/s);
      assert.match(status, /\?state=conflict">conflict<\/a><\/dt><dd>3<\/dd>.*\?state=failed">failed<\/a><\/dt><dd>1<\/dd>/s);
      const failed = await show(`${path}/links?state=failed`);
      assert.match(failed, /<span class="badge bad">failed<\/span><br>answered 500<br><span class="muted">Next <time/);
      assert.match(failed, /<pre>POST \/Users\n\n\{&#34;detail&#34;:&#34;broken&#34;\}<\/pre>/);
      const conflicts = await show(`${path}/links?state=conflict`);
      assert.match(conflicts, /the application says that there is one/);
      assert.match(conflicts, /taken &#60;b&#62;/);
      assert.ok(!conflicts.includes(`remote-${bob!.id}`));

      answers.clear();
      const settle = (user: Json & { readonly id: string }, fields: Readonly<Record<string, string>>): Promise<Response> =>
        visitor.submit(`${path}/links/${user.id}/resolve`, fields);
      const empty = await settle(ada!, { action: 'adopt', remote_id: '' });
      assert.equal(empty.status, 400);
      assert.match(await empty.text(), /This field is for the action adopt, which needs it/);
      await fetch(`${target.url}/Users`, { method: 'POST', body: JSON.stringify({ userName: 'ada-there' }) });
      const [there] = [...target.users].find(([, { userName }]) => userName === 'ada-there')!;
      assert.equal((await settle(ada!, { action: 'adopt', remote_id: there })).status, 303);
      assert.equal((await settle(cara!, { action: 'create', remote_id: '' })).status, 303);
      assert.equal((await settle(dan!, { action: 'ignore', remote_id: '' })).status, 303);
      assert.match(await visitor.act(`${path}/status/retry`, {}), /What failed is tried again/);
      await run();
      assert.equal(target.users.get(there)?.['userName'], 'ada@x.example');
      assert.match(await show(`${path}/status`), /<span class="badge good">everything is done<\/span>/);
      assert.match(await show(`${path}/links`), /<span class="badge plain">left out<\/span>/);
      assert.equal((await visitor.page(`${path}/links?state=odd`)).status, 400);
      proxy.take();
      assert.match(await visitor.act(`${path}/status/sync`, {}), /It goes through everybody/);
      await run();
      assert.deepEqual(proxy.take(), []);
      assert.match(await visitor.act(`${path}/status/pause`, {}), /It is paused: changes wait/);
      assert.equal((await only())['enabled'], false);
      await tenant.make('DELETE', path);
    });

    it('a refusal is told with the way on; accounts that would end wait for approval', async () => {
      const { id: group } = await tenant.make('POST', '/groups', { display_name: 'Staff' });
      for (let made = 0; made < 21; made += 1) {
        const { id } = await createTestUser(tenant, `staff${made}@x.example`);
        await tenant.make('POST', `/groups/${group}/members`, { user_id: id });
      }
      proxy.intercept = () => [401, {}, ''];
      const path = await connect({ users: 'groups', groups: ['Staff'] });
      await run();
      assert.match(
        await show(`${path}/status`),
        /The application refuses us.*It is asked again at <time.*in quarantine<\/span>.*id="act-resume">Go on now/s,
      );
      proxy.intercept = undefined;
      assert.match(await visitor.act(`${path}/status/resume`, {}), /It goes on, and tries again what failed/);
      await run();
      assert.match(await show(`${path}/status`), /everything is done/);
      const refused = await visitor.submit(`${path}/status/approve`, { sure: 'yes' });
      assert.equal(refused.status, 400);
      assert.match(await refused.text(), /Nothing waits for approval/);
      await tenant.make('DELETE', `/groups/${group}`);
      await run();
      const waiting = await show(`${path}/status`);
      assert.match(waiting, /<b>21 accounts would end\.<\/b>.*waits for approval<\/span>.*id="act-approve">Approve…/s);
      assert.match(await show(`${path}/plan`), /Account deactivated<\/dt><dd>21<\/dd>/);
      assert.match(await (await visitor.submit(`${path}/status/approve`, {})).text(), /deactivated or deleted/);
      assert.equal([...target.users.values()].filter(({ active }) => active === false).length, 0);
      assert.match(await (await visitor.submit(`${path}/status/approve`, { sure: 'yes', typed: 'end 20' })).text(), /That is not end 21/);
      assert.match(await visitor.act(`${path}/status/approve`, { sure: 'yes', typed: 'end 21' }), /The accounts end/);
      await run();
      assert.equal([...target.users.values()].filter(({ active }) => active === false).length, 21);
      assert.match(await show(`${path}/status`), />ended<\/a><\/dt><dd>21<\/dd>/);
      await tenant.make('DELETE', path);
    });

    it('whoever may read connectors alone sees no buttons that change, and whoever may not sees no page', async () => {
      const path = await connect({ enabled: false });
      await tenant.make('POST', '/roles', { name: 'watcher', capabilities: ['connectors:read', 'users:read'] });
      await tenant.make('POST', '/roles', { name: 'peoples', capabilities: ['users:read'] });
      const openAs = async (role: string): Promise<AppVisitor> => {
        const email = `${role}@x.example`;
        const { id } = await createTestUser(tenant, email);
        await tenant.make('PUT', `/users/${id}/roles`, { roles: [role] });
        return (await openConsole(server, tenant, email)).visitor;
      };
      const watcher = await openAs('watcher');
      assert.doesNotMatch(await (await watcher.page('/connectors')).text(), /id="new"/);
      assert.doesNotMatch(await (await watcher.page(path)).text(), /id="(save|delete|act-)/);
      assert.doesNotMatch(await (await watcher.page(`${path}/status`)).text(), /id="act-/);
      const other = await openAs('peoples');
      assert.doesNotMatch(await (await other.page('')).text(), /\/connectors"/);
      for (const below of ['', '/status', '/links', '/plan']) assert.equal((await other.page(`${path}${below}`)).status, 403);
      await tenant.make('DELETE', path);
    });
  });
}
