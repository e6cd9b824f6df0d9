// `/setup`: the single-use link that makes the first administrator (design 02, "Two commands").
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createSetupToken } from '../../src/administration/admin-setup.ts';
import type { UserId } from '../../src/domain/ids.ts';
import { databases } from '../support/databases.ts';
import { callJson, jsonOf } from '../support/management.ts';
import { givePasskey } from '../support/passkeys.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`setup on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());
    const freshToken = async (): Promise<string> => {
      const root = await server.gatehouse.services.tenants.bySlug('main');
      return createSetupToken(server.gatehouse.services, root!.id, { user: null }, { actor: 'system' });
    };
    const post = (body: unknown): Promise<Response> => callJson(`${server.url}/setup`, undefined, 'POST', body);
    const form = (fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
      fetch(`${server.url}/setup`, {
        method: 'POST',
        redirect: 'manual',
        headers: { accept: 'text/html', ...headers },
        body: new URLSearchParams(fields),
      });

    it('a first start tells the link; the operator token is the configured one', () => {
      const notices = server.gatehouse.notices.join('\n');
      assert.match(notices, new RegExp(`^Administrator \\(once, 7 days\\)  ${server.url}/setup#[A-Za-z0-9_-]{43}$`, 'm'));
      assert.ok(!notices.includes('Operator token'));
    });

    it('the link of the first start makes an administrator whose phone can be enrolled', async () => {
      const token = /\/setup#(\S+)/.exec(server.gatehouse.notices.join('\n'))![1]!;
      const made = await jsonOf(await post({ token, email: 'first@example.com', display_name: 'First' }), 201);
      assert.deepEqual(Object.keys(made).sort(), ['enrollment_token', 'expires_at', 'qr_uri', 'user_id']);
      assert.equal(made['qr_uri'], `${server.url}/enroll#v=1&t=${made['enrollment_token']}`);
      await assertRefusal(await post({ token, email: 'second@example.com' }), 'management.not_found');
    });

    it('each later start tells of administrators of the deployment who have only a mailbox, until they have more', async () => {
      const first = await startTestServer(database);
      const token = /\/setup#(\S+)/.exec(first.gatehouse.notices.join('\n'))![1]!;
      const made = await jsonOf(await callJson(`${first.url}/setup`, undefined, 'POST', { token, email: 'only@example.com' }), 201);
      await first.gatehouse.close();
      const later = async (work: (server: TestServer) => Promise<unknown>): Promise<string> => {
        const again = await startTestServer(database, { database: first.database, clock: first.clock });
        await work(again);
        await again.close();
        return again.gatehouse.notices.join('\n');
      };
      const told = await later(async (again) => {
        const root = (await again.gatehouse.services.tenants.bySlug('main'))!;
        await givePasskey(again, root, { id: String(made['user_id']) as UserId, email: 'only@example.com' }); // as the page gave it
      });
      assert.match(told, /^1 administrator of the root tenant has neither passkey nor phone: whoever reads their mail comes in/m);
      assert.doesNotMatch(await later(async () => undefined), /neither passkey nor phone/);
      await first.database.drop();
    });

    it('a link that recovers leads to a page that says so and asks for nothing', async () => {
      const { services } = server.gatehouse;
      const root = await services.tenants.bySlug('main');
      const made = await jsonOf(await post({ token: await freshToken(), email: 'lost@example.com' }), 201);
      const user = String(made['user_id']) as UserId; // as the page gave it
      const token = await createSetupToken(services, root!.id, { user }, { actor: 'system' });
      const page = await (await fetch(`${server.url}/setup?for=recovery`, { headers: { accept: 'text/html' } })).text();
      assert.match(page, /<h1>Get back into your account<\/h1>/);
      assert.doesNotMatch(page, /name="email"|name="display_name"|Set up the administrator/);
      assert.match(page, /<form method="post" action="\/setup\?for=recovery">/);
      const asked = (secret: string): Promise<Response> =>
        callJson(`${server.url}/setup?for=recovery`, undefined, 'POST', { token: secret });
      const fresh = await freshToken();
      await assertRefusal(await asked(fresh), 'management.not_found'); // somebody new needs an address; the link still works
      await jsonOf(await post({ token: fresh, email: 'new@example.com' }), 201);
      assert.equal((await jsonOf(await asked(token), 201))['user_id'], user);
      await assertRefusal(await asked(token), 'management.not_found');
    });

    it('20 parallel uses of one link make one administrator', async () => {
      const token = await freshToken();
      const answers = await Promise.all(Array.from({ length: 20 }, (_unused, index) => post({ token, email: `race${index}@example.com` })));
      assert.deepEqual(answers.map((answer) => answer.status).sort(), [201, ...Array.from({ length: 19 }, () => 404)]);
    });

    it('management.not_found: unknown, used and expired are one answer', async () => {
      const used = await freshToken();
      await jsonOf(await post({ token: used, email: 'used@example.com' }), 201);
      const expired = await freshToken();
      const bodies = [await assertRefusal(await post({ token: 'unknown', email: 'a@b.example' }), 'management.not_found')];
      bodies.push(await assertRefusal(await post({ token: used, email: 'a@b.example' }), 'management.not_found'));
      await server.clock.advance(7 * 24 * 3600 * 1000 + 1000);
      bodies.push(await assertRefusal(await post({ token: expired, email: 'a@b.example' }), 'management.not_found'));
      assert.equal(new Set(bodies).size, 1);
    });

    it('management.conflict: an email in use does not consume the link', async () => {
      const token = await freshToken();
      const taken = await post({ token, email: 'FIRST@example.com' });
      await assertRefusal(taken, 'management.conflict', { kind: 'email', text: 'The email address is in use.' });
      await jsonOf(await post({ token, email: 'free@example.com' }), 201);
    });

    it('login.invalid_request: fields; login.forbidden: another site', async () => {
      const token = await freshToken();
      await assertRefusal(await post({ email: 'a@b.example' }), 'login.invalid_request', {
        kind: 'token',
        text: 'token: expected a value.',
      });
      await assertRefusal(await post({ token }), 'login.invalid_request', { kind: 'email', text: 'email: expected a value.' });
      await assertRefusal(await post({ token, email: 'nobody' }), 'login.invalid_request', { kind: 'email', text: /an address/ });
      const foreign = await fetch(`${server.url}/setup`, {
        method: 'POST',
        headers: { origin: 'https://evil.example', 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ token, email: 'a@b.example' }),
      });
      await assertRefusal(foreign, 'login.forbidden');
    });

    it('the page works as a form, keeps what was typed, and escapes it', async () => {
      const page = await (await fetch(`${server.url}/setup`)).text();
      assert.match(page, /<form method="post" action="\/setup">/);
      const token = await freshToken();
      const wrong = await form({ token, email: '"><script>x', display_name: 'Ada' });
      assert.equal(wrong.status, 400);
      const again = await wrong.text();
      assert.ok(again.includes(`value="${token}"`));
      assert.ok(again.includes('value="Ada"'));
      assert.ok(!again.includes('"><script>x'));
      const done = await form({ token, email: 'page@example.com' });
      assert.deepEqual([done.status, done.headers.get('location')], [303, '/welcome/add']);
      const [cookie = ''] = done.headers.getSetCookie().map((line) => line.split(';', 1)[0]!);
      const ways = await fetch(`${server.url}/welcome/add`, { headers: { cookie, accept: 'text/html' } });
      assert.equal(ways.status, 200);
      assert.match(ways.headers.get('content-security-policy') ?? '', /default-src 'none'/);
      const markup = await ways.text();
      assert.match(markup, /id="simulator"[\s\S]*id="console"/);
      assert.match(markup, /<svg/);
      assert.ok(markup.includes(`href="${server.url}/enroll#v&#61;1`) || markup.includes(`href="${server.url}/enroll#v=1&#38;t=`));
      const gone = await form({ token, email: 'late@example.com' });
      assert.equal(gone.status, 404);
      assert.match(await gone.text(), /was used before/);
    });
  });
}
