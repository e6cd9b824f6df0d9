// The console's page "Webhooks": made, changed, tried, given a new secret, disabled, deleted, by fields; its deliveries, and what is
// posted again; and what a reader of them does not see.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { createTestUser, type Json, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import {
  answerWith,
  deliveriesOf,
  deliverNow,
  type Hook,
  loopbackAllowed,
  makeHook,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../support/webhooks.ts';

for (const database of databases) {
  describe(`console, webhooks, on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let visitor: AppVisitor;
    let receiver: WebhookReceiver;
    before(async () => {
      server = await startTestServer(database, { flags: loopbackAllowed });
      receiver = await startWebhookReceiver();
      const made = await createConsoleTenant(server);
      tenant = made.tenant;
      ({ visitor } = await openConsole(server, tenant, made.email));
    });
    after(async () => {
      await server.close();
      await receiver.close();
    });
    const show = async (path: string): Promise<string> => (await visitor.page(path)).text();
    const submit = async (path: string, fields: Readonly<Record<string, string>>): Promise<string> =>
      (await visitor.submit(path, fields)).text();
    const secretIn = (page: string): string => /id="secret-secret">(whsec_[A-Za-z0-9+/]+=*)/.exec(page.replaceAll('&#61;', '='))?.[1] ?? '';
    const makeGroup = (name: string): Promise<Json> => tenant.make('POST', '/groups', { display_name: name });
    const only = async (): Promise<Json> => (await tenant.make<{ items: readonly Json[] }>('GET', '/webhooks')).items[0]!;

    it('a webhook is made, its secret shown once, changed, tried, given a new secret, disabled, enabled and deleted', async () => {
      assert.match(await show('/webhooks'), /No webhooks yet/);
      const form = await show('/webhooks/new');
      for (const type of ['group.*', 'group.created', 'user.*', 'refusal']) assert.ok(form.includes(`name=types value=${type}`), type);
      assert.match(form, /> A group was made</);
      assert.doesNotMatch(form, /name="secret"|JSON/);
      const made = await visitor.act('/webhooks', { url: receiver.url('/own'), types: 'group.*', enabled: '1' });
      const first = secretIn(made);
      assert.equal(await show(`/webhooks/${(await only())['id']}`).then(secretIn), first, 'a reload shows it again');
      assert.deepEqual((await only())['types'], ['group.*']);
      const path = `/webhooks/${(await only())['id']}`;
      const detail = await show(path);
      assert.match(detail, /<details open><summary>Group \(all\)<\/summary>/);
      assert.match(detail, /value=group\.\* checked/);
      assert.match(detail, /<details><summary>Person<\/summary>/);
      assert.match(await visitor.act(`${path}/test`, {}), /gets a test event in a moment/);
      await deliverNow(server);
      const [tested] = receiver.received.splice(0);
      assert.equal((new Webhook(first).verify(tested!.body, tested!.headers) as Json)['type'], 'webhook.tested');
      assert.match(await submit(`${path}/secret`, {}), /Make a new secret for http:\/\/127\.0\.0\.1.*Both secrets sign for 24 hours/s);
      const second = secretIn(await visitor.act(`${path}/secret`, { sure: 'yes' }));
      await makeGroup('Signed twice');
      await deliverNow(server);
      const [signed] = receiver.received.splice(0);
      for (const secret of [first, second]) new Webhook(secret).verify(signed!.body, signed!.headers);
      assert.match(await submit(`${path}/disable`, {}), /Events wait until it is enabled again/);
      assert.match(await visitor.act(`${path}/disable`, { sure: 'yes' }), /<span class="badge bad">disabled<\/span>/);
      assert.doesNotMatch(await show(path), /Send a test event/);
      assert.match(await show(`${path}/deliveries`), /enable it to post anything again/);
      assert.match(await visitor.act(`${path}/enable`, {}), /is enabled: what waited is posted/);
      assert.equal((await visitor.submit(path, { url: receiver.url('/own'), types: 'user.created', enabled: '1' })).status, 303);
      assert.deepEqual((await only())['types'], ['user.created']);
      assert.equal((await visitor.submit(path, { url: receiver.url('/own') })).status, 303);
      assert.deepEqual([(await only())['types'], (await only())['enabled']], [[], false], 'none ticked: every event');
      assert.match(await show('/webhooks?search=/own'), /every event/);
      const refused = await visitor.submit(path, { url: 'ftp://kept.example', types: 'user.*' });
      assert.match(await refused.text(), /value="ftp:\/\/kept.example".*<summary>Person \(all\)/s);
      assert.match(await submit(`${path}/delete`, {}), /Delete http:\/\/127\.0\.0\.1:\d+\/own\?/);
      assert.equal((await visitor.submit(`${path}/delete`, { sure: 'yes' })).status, 303);
      assert.equal((await tenant.call('GET', path)).status, 404);
    });

    it('a second webhook to one address is refused at the form', async () => {
      const hook = await makeHook(tenant, receiver.url('/taken'));
      const refused = await visitor.submit('/webhooks', { url: receiver.url('/taken'), enabled: '1' });
      assert.equal(refused.status, 400);
      assert.match(await refused.text(), /id="field-url-wrong">Another webhook has this address\./);
      await tenant.make('DELETE', `/webhooks/${hook.id}`);
    });

    describe('deliveries', () => {
      let hook: Hook;
      let path: string;
      before(async () => {
        hook = await makeHook(tenant, receiver.url('/deliveries'));
        path = `/webhooks/${hook.id}/deliveries`;
        receiver.answer('/deliveries', answerWith(500, {}, `<b>${'a'.repeat(2000)}`));
        await makeGroup('Delivered');
        await deliverNow(server);
      });

      it('say what came back, at most 1 KiB of it, and when the next attempt is', async () => {
        const page = await show(path);
        assert.match(
          page,
          /<span title="group.created">A group was made<\/span>.*<span class="badge plain">waiting<\/span> 1 attempt.*Next <time/s,
        );
        assert.match(page, /500, status_500, \d+ ms|500, \d+ ms/);
        assert.ok(page.includes(`<pre>&#60;b&#62;${'a'.repeat(1021)}</pre>`));
      });

      it('are chosen by state', async () => {
        assert.match(await show(`${path}?state=waiting`), /group.created/);
        assert.match(await show(`${path}?state=dead`), /No deliveries/);
        assert.equal((await visitor.page(`${path}?state=odd`)).status, 400);
      });

      it('one is posted again', async () => {
        receiver.answer('/deliveries', answerWith(204));
        const [delivery] = await deliveriesOf(tenant, hook.id);
        assert.match(await visitor.act(`${path}/${delivery!.id}/replay`, {}), /group.created is posted again/);
        await deliverNow(server);
        assert.equal((await deliveriesOf(tenant, hook.id))[0]!.state, 'delivered');
        assert.match(await show(path), /<span class="badge good">delivered<\/span>/);
        const unknown = await visitor.submit(`${path}/00000000-0000-7000-8000-000000000000/replay`, {});
        assert.equal(unknown.status, 400);
      });

      it('all dead ones are posted again, and the events of a time', async () => {
        const { services } = server.gatehouse;
        const stored = (await services.tenants.bySlug(tenant.slug))!;
        await services.database.write(stored.id, (queries) =>
          queries
            .updateTable('webhook_deliveries')
            .set({ state: 'dead' })
            .where('webhook_id', '=', hook.id as never)
            .execute(),
        );
        assert.match(await show(`${path}?state=dead`), /<span class="badge bad">dead<\/span>/);
        assert.match(await visitor.act(`${path}/replay`, { state: 'dead' }), /1 event is posted again\./);
        await deliverNow(server);
        assert.deepEqual(
          (await deliveriesOf(tenant, hook.id)).map(({ state }) => state),
          ['delivered'],
        );
        const [event] = (await tenant.make<{ items: readonly Json[] }>('GET', '/events?type=group.created&limit=1')).items;
        const ms = Date.parse(String(event!['created_at']));
        const shown = (at: number): string => new Date(at).toISOString().slice(0, 19);
        receiver.received.length = 0;
        assert.match(
          await visitor.act(`${path}/replay`, { from: shown(ms - 1000), to: shown(ms + 2000).slice(0, 19) }),
          /events? (is|are) posted again\./,
        );
        await deliverNow(server);
        assert.ok(receiver.at('/deliveries').some(({ type }) => type === 'group.created'));
        assert.match(
          await visitor.act(`${path}/replay`, { from: '2001-01-01T00:00', to: '2001-01-02T00:00' }),
          /0 events are posted again/,
        );
        const refused = await visitor.submit(`${path}/replay`, { from: 'yesterday', to: '2001-01-02T00:00' });
        assert.equal(refused.status, 400);
        assert.match(await refused.text(), /must be a time such as.*value="yesterday"/s);
      });
    });

    it('whoever may read webhooks alone sees no buttons that change, and whoever may not sees no page', async () => {
      const hook = await makeHook(tenant, receiver.url('/read'));
      await tenant.make('POST', '/roles', { name: 'watcher', capabilities: ['webhooks:read'] });
      await tenant.make('POST', '/roles', { name: 'peoples', capabilities: ['users:read'] });
      const openAs = async (role: string): Promise<AppVisitor> => {
        const email = `${role}@x.example`;
        const { id } = await createTestUser(tenant, email);
        await tenant.make('PUT', `/users/${id}/roles`, { roles: [role] });
        return (await openConsole(server, tenant, email)).visitor;
      };
      const watcher = await openAs('watcher');
      const list = await (await watcher.page('/webhooks')).text();
      assert.match(list, /\/read<\/a>/);
      assert.doesNotMatch(list, /id="new"/);
      const detail = await (await watcher.page(`/webhooks/${hook.id}`)).text();
      assert.doesNotMatch(detail, /id="(save|delete|act-)/);
      assert.doesNotMatch(await (await watcher.page(`/webhooks/${hook.id}/deliveries`)).text(), /id="replay/);
      const other = await openAs('peoples');
      assert.doesNotMatch(await (await other.page('')).text(), /\/webhooks"/);
      assert.equal((await other.page(`/webhooks/${hook.id}`)).status, 403);
      assert.equal((await other.page(`/webhooks/${hook.id}/deliveries`)).status, 403);
      await tenant.make('DELETE', `/webhooks/${hook.id}`);
    });
  });
}
