// `/hooks` of the Management API (design 16, 3): one a point, its secret shown once, rotated with a day of both, tried without effect.
// On both databases.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { reachesLoopback } from '../support/ciba.ts';
import { databases } from '../support/databases.ts';
import { claims, deny, type HookReceiver, silent, startHookReceiver, verifyHookCall } from '../support/hook-receiver.ts';
import { clientCredentialsToken, createTestClient, createTestTenant, type Json, type Managed, managedWith } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`/hooks (${database})`, () => {
    let server: TestServer;
    let managed: Managed;
    let receiver: HookReceiver;
    let hook: Json;
    before(async () => {
      server = await startTestServer(database, { flags: reachesLoopback });
      managed = await createTestTenant(server);
      receiver = await startHookReceiver();
    });
    after(async () => {
      await server.close();
      await receiver.close();
    });

    it('is made with defaults, and its secret is shown that one time', async () => {
      const given = { point: 'sign_in', url: receiver.url, on_failure: 'continue' };
      hook = await managed.make('POST', '/hooks', given);
      const { id, secret, created_at: created, updated_at: updated, ...rest } = hook;
      assert.match(String(secret), /^whsec_[A-Za-z0-9+/]{43}=$/);
      assert.equal(created, updated);
      assert.deepEqual(rest, { ...given, deadline_ms: 1000, clients: [], enabled: true });
      const { secret: _secret, ...shown } = hook;
      assert.deepEqual(await managed.make('GET', `/hooks/${id}`), shown);
      assert.deepEqual(await managed.make('GET', '/hooks'), { items: [shown] });
      assert.deepEqual(((await managed.make('GET', '/hooks?search=nowhere')) as { items: unknown })['items'], []);
    });

    it('a point has one: 409 management.conflict', async () => {
      const again = await managed.call('POST', '/hooks', { point: 'sign_in', url: receiver.url, on_failure: 'refuse' });
      await assertRefusal(again, 'management.conflict', { kind: 'point', text: 'The point has a hook.' });
    });

    const wrong: readonly (readonly [string, Json])[] = [
      ['point', { point: 'signup' }],
      ['on_failure', { on_failure: undefined }],
      ['on_failure', { on_failure: 'ignore' }],
      ['url', { url: 'http://hooks.example' }],
      ['url', { url: 'https://user:pass@hooks.example' }],
      ['deadline_ms', { deadline_ms: '1000' }],
      ['clients', { clients: 'one' }],
      ['secret', { secret: 'whsec_mine' }],
    ];
    for (const [kind, change] of wrong)
      it(`400 management.invalid_request names ${kind}: ${JSON.stringify(change)}`, async () => {
        const body = { point: 'token', url: receiver.url, on_failure: 'refuse', ...change };
        await assertRefusal(await managed.call('POST', '/hooks', body), 'management.invalid_request', { kind, text: /./ });
      });

    it('is changed by the fields named; its point stays', async () => {
      const path = `/hooks/${hook['id']}`;
      const [one, other] = [(await createTestClient(managed)).client_id, (await createTestClient(managed)).client_id];
      const changed = await managed.make('PATCH', path, { deadline_ms: 250, clients: [one, one, other], enabled: false });
      assert.deepEqual(
        [changed['deadline_ms'], changed['clients'], changed['enabled'], changed['url']],
        [250, [one, other], false, receiver.url],
      );
      await assertRefusal(await managed.call('PATCH', path, { point: 'token' }), 'management.invalid_request', {
        kind: 'point',
        text: /./,
      });
      await managed.make('PATCH', path, { enabled: true, clients: [] });
    });

    it('tries it without effect, disabled too, and shows what it answers', async () => {
      const path = `/hooks/${hook['id']}/test`;
      const tried = async (): Promise<Json> => {
        const { milliseconds, ...rest } = await managed.make('POST', path);
        assert.equal(typeof milliseconds, 'number');
        return rest;
      };
      receiver.reply = () => silent;
      assert.deepEqual(await tried(), { result: 'silent', reason: null, claims: null });
      assert.equal(receiver.calls.at(-1)!.body.type, 'hook.test');
      receiver.reply = () => claims({ access_token: { a: 1 } });
      assert.deepEqual(await tried(), { result: 'claims', reason: null, claims: { access_token: { a: 1 } } });
      receiver.reply = () => deny('no');
      assert.deepEqual(await tried(), { result: 'denied', reason: 'no', claims: null });
      receiver.reply = () => ({ status: 418 });
      assert.deepEqual(await tried(), { result: 'failed', reason: 'status_418', claims: null });
    });

    it('a new secret is shown once; both sign for 24 hours, then the new one alone', async () => {
      receiver.reply = () => silent;
      const { secret } = await managed.make('POST', `/hooks/${hook['id']}/secret`);
      assert.notEqual(secret, hook['secret']);
      const tryOnce = async (): Promise<void> => void (await managed.make('POST', `/hooks/${hook['id']}/test`));
      await tryOnce();
      const both = receiver.calls.at(-1)!;
      verifyHookCall(String(secret), both);
      verifyHookCall(String(hook['secret']), both);
      assert.equal(String(both.headers['webhook-signature']).split(' ').length, 2);
      await server.clock.advance(24 * 60 * 60_000);
      await tryOnce();
      assert.equal(String(receiver.calls.at(-1)!.headers['webhook-signature']).split(' ').length, 1);
    });

    it('who may read what signing in is may list hooks and change none', async () => {
      const token = await clientCredentialsToken(managed.baseUrl, managed.adminClientId, managed.adminClientSecret, 'sign-in:read');
      const reader = managedWith(token, managed);
      await reader.make('GET', '/hooks');
      const body = { point: 'token', url: receiver.url, on_failure: 'refuse' };
      for (const [method, path] of [
        ['POST', '/hooks'],
        ['POST', `/hooks/${hook['id']}/secret`],
        ['POST', `/hooks/${hook['id']}/test`],
        ['DELETE', `/hooks/${hook['id']}`],
      ] as const)
        await assertRefusal(await reader.call(method, path, path === '/hooks' ? body : undefined), 'management.forbidden', {
          text: 'The token lacks the capability sign-in:write.',
        });
    });

    it('every change is audited, and no record holds a secret', async () => {
      const rows = await server.gatehouse.services.database.read(managed.id as never, (queries) =>
        queries.selectFrom('audit_events').selectAll().where('type', 'like', 'hook.%').orderBy('id').execute(),
      );
      assert.deepEqual([...new Set(rows.map(({ type }) => type))], ['hook.created', 'hook.updated', 'hook.secret_rotated']);
      assert.doesNotMatch(JSON.stringify(rows), /whsec_/);
    });

    it('is deleted once', async () => {
      await managed.make('DELETE', `/hooks/${hook['id']}`);
      for (const [method, path] of [
        ['DELETE', ''],
        ['GET', ''],
        ['PATCH', ''],
        ['POST', '/secret'],
        ['POST', '/test'],
      ] as const)
        await assertRefusal(
          await managed.call(method, `/hooks/${hook['id']}${path}`, method === 'PATCH' ? {} : undefined),
          'management.not_found',
        );
    });
  });
}
