// A tenant's own mail server (design 13, 3): kept sealed, reached by the rules of every call out, in a lane of its own, and given up again.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { hostBytesMax, nameCharsMax, textCharsMax } from '../../src/contract/limits.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { reachesLoopback } from '../support/ciba.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import { until } from '../support/deliveries.ts';
import { createClient } from '../support/fixtures.ts';
import { beginLogin } from '../support/login.ts';
import { createTestTenant, createTestUser, type Json, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { type SmtpServer, startSmtpServer } from '../support/smtp-server.ts';

const path = '/mail-server';
const secret = 'smtp-canary-password';
const portOf = ({ url }: SmtpServer): number => Number(new URL(url).port);
const serverAt = (smtp: SmtpServer, more: Json = {}): Json => ({
  ...{ host: '127.0.0.1', port: portOf(smtp), security: 'none', from: 'Acme <login@acme.example>' },
  ...more,
});

for (const database of databases) {
  describe(`a tenant's own mail server on ${database}`, () => {
    let common: SmtpServer;
    let own: SmtpServer;
    let server: TestServer;
    before(async () => {
      common = await startSmtpServer();
      own = await startSmtpServer();
      server = await startTestServer(database, {
        flags: { ...reachesLoopback, smtp_url: common.url, mail_from: 'login@deployment.example' },
      });
    });
    after(async () => {
      await server?.close();
      await own?.close();
      await common?.close();
    });

    let people = 0;
    const mailPin = async (at: Managed): Promise<string> => {
      const tenant = (await server.gatehouse.services.tenants.bySlug(at.slug)) as Tenant;
      people += 1;
      const email = `ada-${people}@example.com`;
      await createTestUser(at, email);
      const login = await beginLogin(server, tenant, await createClient(server.gatehouse.services, tenant));
      await login.post('identify', { identifier: email });
      await login.post('method', { method: 'email_pin' });
      return email;
    };
    const deliver = (): Promise<void> => server.gatehouse.services.jobs.runNow('deliveries');
    const gotten = ({ mails }: SmtpServer, email: string): number => mails.filter(({ to }) => to.includes(email)).length;

    it('mails go by it, signed in and with its sender; those of others by the deployment’s; deleted, all go there again', async () => {
      const at = await createTestTenant(server);
      const other = await createTestTenant(server);
      assert.deepEqual(await at.make('GET', path), { server: null });
      const kept = await at.make('PUT', path, serverAt(own, { username: 'acme', password: secret }));
      assert.deepEqual(kept, { server: { ...serverAt(own), username: 'acme', has_password: true } });
      assert.deepEqual(await at.make('GET', path), kept);
      const [mine, theirs] = [await mailPin(at), await mailPin(other)];
      await deliver();
      assert.deepEqual([gotten(own, mine), gotten(common, mine), gotten(own, theirs), gotten(common, theirs)], [1, 0, 0, 1]);
      assert.equal(own.mails.at(-1)?.from, 'login@acme.example');
      assert.match(own.mails.at(-1)?.data ?? '', /^Message-ID: <[0-9a-f-]+@acme\.example>$/im);
      assert.equal(own.signIns.at(-1), `acme:${secret}`);
      assert.equal((await at.call('DELETE', path)).status, 204);
      await assertRefusal(await at.call('DELETE', path), 'management.not_found');
      const later = await mailPin(at);
      await deliver();
      assert.deepEqual([gotten(own, later), gotten(common, later)], [0, 1]);
    });

    it('the password is shown nowhere and not stored clear', async () => {
      const at = await createTestTenant(server);
      const told = [await at.make('PUT', path, serverAt(own, { username: 'acme', password: secret }))];
      told.push(await at.make('GET', path), await at.make('GET', '/settings'), await at.make('GET', '/events?limit=20'));
      assert.ok(!JSON.stringify(told).includes(secret));
      const stored = await server.gatehouse.services.database.system((queries) =>
        queries
          .selectFrom('tenants')
          .select('settings')
          .where('tenant_id', '=', at.id as Tenant['id'])
          .executeTakeFirstOrThrow(),
      );
      assert.ok(stored.settings.includes('password_encrypted') && !stored.settings.includes(secret));
    });

    it('management.invalid_request: a kept password is told to no other server', async () => {
      const at = await createTestTenant(server);
      await at.make('PUT', path, serverAt(own, { username: 'acme', password: secret }));
      for (const moved of [{ host: 'localhost' }, { port: portOf(common) }, { security: 'starttls' }]) {
        const answer = await at.call('PUT', path, serverAt(own, { username: 'acme', ...moved }));
        await assertRefusal(answer, 'management.invalid_request', { kind: 'password', text: /must be given again/ });
        const bySettings = await at.call('PATCH', '/settings', { smtp: { server: serverAt(own, { username: 'acme', ...moved }) } });
        await assertRefusal(bySettings, 'management.invalid_request', { kind: 'smtp.server.password', text: /must be given again/ });
      }
      const renamed = await at.make<{ server: Json }>('PUT', path, serverAt(own, { username: 'acme', from: 'x@acme.example' }));
      assert.equal(renamed.server['has_password'], true);
      assert.equal((await at.call('PUT', path, serverAt(common, { username: 'acme', password: secret }))).status, 200);
    });

    it('a server that hangs delays nobody else’s mails', async () => {
      const [at, other] = [await createTestTenant(server), await createTestTenant(server)];
      const released = Promise.withResolvers<void>();
      const hanging = await startSmtpServer(() => released.promise);
      await at.make('PUT', path, serverAt(hanging));
      for (let count = 0; count < 6; count += 1) await mailPin(at);
      const delivering = deliver();
      await until(() => hanging.held() > 0);
      const theirs = await mailPin(other);
      const later = deliver();
      await until(() => gotten(common, theirs) === 1);
      assert.ok(hanging.held() > 0);
      released.resolve();
      await Promise.all([delivering, later]);
      await hanging.close();
    });

    it('a test says what the server answered, and what kept it from being asked', async () => {
      const at = await createTestTenant(server);
      const test = (to = 'grace@people.example'): Promise<Json> => at.make('POST', `${path}/test`, { to });
      await assertRefusal(await at.call('POST', `${path}/test`, { to: 'x@y.example' }), 'management.conflict', {
        kind: 'server',
        text: /./,
      });
      await at.make('PUT', path, serverAt(own));
      assert.deepEqual(await test(), { taken: true, reason: null, answer: '250 taken' });
      assert.equal(gotten(own, 'grace@people.example'), 1);
      own.refuseNext(1);
      assert.deepEqual(await test(), { taken: false, reason: 'refused', answer: '451 try again later' });
      await at.make('PUT', path, serverAt(own, { security: 'starttls' }));
      const plain = await test();
      assert.equal(plain['taken'], false); // it speaks no TLS, and nothing is sent in the clear
      const closed = createServer().listen(0, '127.0.0.1');
      await once(closed, 'listening');
      const { port } = closed.address() as AddressInfo;
      closed.close();
      await at.make('PUT', path, { ...serverAt(own), port });
      assert.equal((await test())['reason'], 'network');
      await assertRefusal(await at.call('POST', `${path}/test`, { to: 'nobody' }), 'management.invalid_request', { kind: 'to', text: /./ });
      // Each is on record with what became of it, and with the person whose address it is; no address is.
      const { id } = await at.make('POST', '/users', { user_name: 'ada', emails: [{ value: 'ada@people.example', primary: true }] });
      await test('ada@people.example');
      const { items } = await at.make<{ items: readonly Json[] }>('GET', '/events?type=mail.tested');
      assert.deepEqual(
        items.map(({ target, data }) => [target, data]),
        [
          [`user:${String(id)}`, { kind: 'mail_server', outcome: 'failed', reason: 'network' }],
          [null, { kind: 'mail_server', outcome: 'failed', reason: 'network' }],
          [null, { kind: 'mail_server', outcome: 'failed', reason: plain['reason'] }],
          [null, { kind: 'mail_server', outcome: 'failed', reason: 'refused' }],
          [null, { kind: 'mail_server', outcome: 'taken' }],
        ],
      );
      assert.ok(items.every(({ actor }) => actor === `client:${at.adminClientId}`) && !JSON.stringify(items).includes('people.example'));
    });

    it('management.invalid_request: fields and their limits', async () => {
      const at = await createTestTenant(server);
      const good = serverAt(own);
      const refused = async (change: Json, kind: string): Promise<void> => {
        await assertRefusal(await at.call('PUT', path, { ...good, ...change }), 'management.invalid_request', { kind, text: /./ });
      };
      for (const host of ['', 'a b', 'https://smtp.example', 'x@y', 'h'.repeat(hostBytesMax + 1)]) await refused({ host }, 'host');
      for (const port of [0, 65_536, '25']) await refused({ port }, 'port');
      await refused({ security: 'ssl' }, 'security');
      for (const from of ['acme', 'a@b\r\nBcc: c@d', 'A <a@b>, C <c@d>', `${'f'.repeat(nameCharsMax - 8)}@acme.xyz`])
        await refused({ from }, 'from');
      await refused({ password: 'p'.repeat(textCharsMax + 1) }, 'password');
      await refused({ auth: 'x' }, 'auth');
      await at.make('PUT', path, { ...good, host: 'h'.repeat(hostBytesMax), password: 'p'.repeat(textCharsMax) });
      await at.make('PUT', path, {
        ...good,
        password: 'x',
        username: 'u'.repeat(textCharsMax),
        from: `${'f'.repeat(nameCharsMax - 9)}@acme.xyz`,
      });
    });

    it('the console sets, tests and gives up the server; what is refused is told at its field', async () => {
      const outboxed = await startTestServer(database, { flags: reachesLoopback });
      after(() => outboxed.close());
      const { tenant, email } = await createConsoleTenant(outboxed);
      const { visitor } = await openConsole(outboxed, tenant, email);
      assert.match(await (await visitor.page('/mail')).text(), /You have none: mails go by the server of the deployment/);
      const fields = { host: '127.0.0.1', port: String(portOf(own)), security: 'none', username: 'acme', password: secret };
      const refused = await visitor.submit('/mail/server', { ...fields, from: 'acme' });
      assert.equal(refused.status, 400);
      assert.match(await refused.text(), /id="field-from" value="acme" required aria-invalid="true"/);
      const saved = await visitor.act('/mail/server', { ...fields, from: 'login@acme.example' });
      assert.match(saved, /The server is saved/);
      assert.ok(!saved.includes(secret));
      assert.match(await visitor.act('/mail/server-test', { to: 'eve@people.example' }), /It answered: 250 taken/);
      own.refuseNext(1);
      const failed = await visitor.submit('/mail/server-test', { to: 'eve@people.example' });
      assert.equal(failed.status, 400);
      assert.match(await failed.text(), /The mail was not taken: 451 try again later/);
      assert.match(await visitor.act('/mail/server-remove', {}), /by the server of the deployment again/);
      assert.deepEqual(await tenant.make('GET', path), { server: null });
    });

    // On the embedded database a loopback address is somebody trying things out, who reads the outbox.
    if (database === 'postgres') {
      it('a tenant with a server mails where the deployment cannot', async () => {
        const silent = await startTestServer(database, { flags: { ...reachesLoopback, dev: '0' } });
        try {
          const at = await createTestTenant(silent);
          const { id } = await createTestUser(at, 'ada@example.com');
          const invite = (body: Json): Promise<Response> => at.call('POST', `/users/${id}/invitations`, body);
          const refuses = async (): Promise<void> => {
            const mayNot = { kind: 'mail', text: 'must be absent or false: the user has no email, or this server cannot send mail' };
            await assertRefusal(await invite({ mail: true }), 'management.invalid_request', mayNot);
            const { mailed_to: nobody } = (await (await invite({})).json()) as Json;
            assert.equal(nobody, null);
          };
          await refuses();
          await at.make('PUT', path, serverAt(own));
          const answer = await invite({ mail: true });
          assert.equal(answer.status, 201, await answer.clone().text());
          assert.equal(((await answer.json()) as Json)['mailed_to'], 'ada@example.com');
          await silent.gatehouse.services.jobs.runNow('deliveries');
          assert.equal(gotten(own, 'ada@example.com'), 1);
          await at.make('DELETE', path);
          await refuses();
        } finally {
          await silent.close();
        }
      });

      it('the console offers to mail once the tenant has a server', async () => {
        const silent = await startTestServer(database, { flags: { ...reachesLoopback, dev: '0' } });
        try {
          const { tenant, email } = await createConsoleTenant(silent);
          const { visitor } = await openConsole(silent, tenant, email);
          const overview = async (): Promise<string> => (await visitor.page('')).text();
          assert.match(await overview(), /id="no-mail">Mails reach nobody/);
          assert.doesNotMatch(await (await visitor.page('/users/invite')).text(), /id="invite"/);
          await tenant.make('PUT', path, serverAt(own));
          assert.doesNotMatch(await overview(), /id="no-mail"/);
          assert.match(await (await visitor.page('/users/invite')).text(), /id="invite"/);
        } finally {
          await silent.close();
        }
      });
    }

    it('refused_address: a private address that the operator does not allow is not connected to', async () => {
      const guarded = await startTestServer(database, { flags: { smtp_url: common.url } });
      try {
        const at = await createTestTenant(guarded);
        for (const host of ['127.0.0.1', 'localhost', '::1', '169.254.169.254']) {
          await at.make('PUT', path, serverAt(own, { host, security: 'tls' }));
          const { taken, reason } = await at.make('POST', `${path}/test`, { to: 'x@y.example' });
          assert.deepEqual([taken, reason], [false, 'refused_address'], host);
        }
      } finally {
        await guarded.close();
      }
    });
  });
}
