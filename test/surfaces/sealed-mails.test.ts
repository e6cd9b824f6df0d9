// Issue 27, hole 9: a mailed code or link is readable by whom it is mailed to and by the outbox's readers, and not by whoever reads the
// database: neither its rows nor its files hold one while a mail waits. A mail that release 0.1.0 queued in clear is still sent.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { queuedMailPurpose } from '../../src/crypto/sealed-columns.ts';
import { databases } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createClient, createUser } from '../support/fixtures.ts';
import { beginLogin } from '../support/login.ts';
import { mailsTo } from '../support/mailbox.ts';
import { createTestTenant, type Json, jsonOf, type Managed } from '../support/management.ts';
import { operatorToken, startTestServer, type TestServer } from '../support/server.ts';
import { type SmtpServer, startSmtpServer } from '../support/smtp-server.ts';

/** What somebody who has the database finds in the queue of mails, and in the files of the embedded one. */
async function stored({ database, gatehouse }: TestServer): Promise<string> {
  const { rows } = await gatehouse.services.database.system((queries) => sql`SELECT * FROM outbox_messages`.execute(queries));
  assert.ok(rows.length > 0);
  const shown = JSON.stringify(rows);
  if (database.databaseUrl !== undefined) return shown;
  const files = readdirSync(database.dataFolder).filter((name) => name.startsWith('gatehouse.db'));
  return [shown, ...files.map((name) => readFileSync(join(database.dataFolder, name), 'latin1'))].join('\n');
}

for (const database of databases)
  for (const way of ['a mail server', 'the outbox'])
    describe(`mails that wait for ${way} on ${database}`, () => {
      let smtp: SmtpServer;
      let server: TestServer;
      let managed: Managed;
      before(async () => {
        smtp = await startSmtpServer();
        server = await startTestServer(database, { flags: way === 'the outbox' ? {} : { smtp_url: smtp.url } });
        managed = await createTestTenant(server, { settings: { login_methods: ['email_pin', 'passkey'] } });
      });
      after(async () => {
        await server?.close();
        await smtp?.close();
      });

      it('neither code nor link nor subject is in the database', async () => {
        const { services } = server.gatehouse;
        smtp.refuseNext(1000);
        const tenant = (await services.tenants.bySlug(managed.slug))!;
        const [client, user] = [await createClient(services, tenant), await createUser(services, tenant)];
        const login = await beginLogin(server, tenant, client);
        await login.post('identify', { identifier: user.email });
        assert.equal((await login.post('method', { method: 'email_pin' })).status, 200);
        await managed.make('POST', `/users/${user.id}/invitations`, { mail: true });
        const mails = await mailsTo(server, user.email);
        const code = /^\d{6}$/m.exec(mails.map(({ text }) => text).join('\n'))![0];
        const link = /https?:\/\/\S+\/welcome#(\S+)/.exec(mails.map(({ text }) => text).join('\n'))![1]!;
        const found = await stored(server);
        // Six digits alone may be part of a time.
        for (const secret of [`\n${code}\n`, `\\n${code}\\n`, `>${code}<`, link, ...mails.map(({ subject }) => subject)])
          assert.ok(!found.includes(secret), secret);
        assert.ok(found.includes(user.email), 'the rows were looked at');
        assert.equal((await login.post('pin', { pin: code })).status, 200);
      });

      if (way === 'a mail server')
        it('goes to whom it was made for, whatever the column of its row says by now; one sealed without whom, to that', async () => {
          smtp.refuseNext(1000);
          const { services } = server.gatehouse;
          const tenant = (await services.tenants.bySlug(managed.slug))!;
          const user = await createUser(services, tenant);
          await managed.make('POST', `/users/${user.id}/invitations`, { mail: true });
          const moved = await services.database.system((queries) =>
            queries
              .updateTable('outbox_messages')
              .set({ recipient: 'evil@attacker.example', recipient_key: 'evil@attacker.example' })
              .where('recipient', '=', user.email)
              .returning(['id', 'tenant_id'])
              .execute(),
          );
          assert.equal(moved.length, 1);
          const id = '0190a000-0000-7000-8000-000000000002';
          const says = JSON.stringify({ subject: 'Sealed before', text: 'Sealed before: 246801', html: '<p>Sealed before</p>' });
          const before = { id, tenant_id: tenant.id, recipient: 'before@people.example', recipient_key: 'before@people.example' };
          await services.database.system((queries) =>
            queries
              .insertInto('outbox_messages')
              .values({
                ...before,
                message_encrypted: services.encryption.encrypt(says, queuedMailPurpose(tenant.id, id)),
                subject: '',
                text: '',
                html: '',
                state: 'kept',
                waits: 1,
                attempts: 0,
                next_attempt_at: 1,
                created_at: 1,
                expires_at: 4_000_000_000_000,
              } as never)
              .execute(),
          );
          smtp.refuseNext(0);
          await server.clock.advance(60_000); // past the pause of what was refused
          const got = (address: string) => smtp.mails.some(({ to }) => to.includes(address));
          await eventually(async () => {
            await services.jobs.runNow('deliveries');
            return got('before@people.example') && (got(user.email) || got('evil@attacker.example'));
          });
          assert.deepEqual([got(user.email), got('evil@attacker.example')], [true, false]);
        });

      if (way === 'the outbox')
        it('the outbox shows them, and decoys to nobody', async () => {
          const read = (to: string): Promise<{ readonly messages: readonly Json[] }> =>
            fetch(`${server.url}/v1/system/outbox?to=${encodeURIComponent(to)}`, {
              headers: { authorization: `Bearer ${operatorToken}` },
            }).then((response) => jsonOf(response, 200));
          const { services } = server.gatehouse;
          const tenant = (await services.tenants.bySlug(managed.slug))!;
          const [client, user] = [await createClient(services, tenant), await createUser(services, tenant)];
          for (const identifier of [user.email, 'nobody@people.example']) {
            const login = await beginLogin(server, tenant, client);
            await login.post('identify', { identifier });
            assert.equal((await login.post('method', { method: 'email_pin' })).status, 200);
          }
          const { messages } = await read(user.email);
          assert.deepEqual(
            messages.map(({ to, subject, text, html }) => ({ to, subject, text, html })),
            (await mailsTo(server, user.email)).map((mail) => ({ ...mail })),
          );
          assert.match(String(messages[0]!['text']), /^\d{6}$/m);
          assert.deepEqual((await read('nobody@people.example')).messages, []);
        });
      else
        it('is sent when the server takes it; so is one that was queued in clear before the upgrade', async () => {
          smtp.refuseNext(0);
          const id = '0190a000-0000-7000-8000-000000000001';
          const old = { tenant_id: managed.id, id, recipient: 'old@people.example', recipient_key: 'old@people.example' };
          const says = { subject: 'Your code', text: 'Of before: 135790', html: '<p>Of before: 135790</p>', state: 'waiting' };
          const times = { attempts: 0, next_attempt_at: 1, created_at: 1, expires_at: 4_000_000_000_000 };
          await server.gatehouse.services.database.system((queries) =>
            queries
              .insertInto('outbox_messages')
              .values({ ...old, ...says, ...times } as never)
              .execute(),
          );
          await server.clock.advance(60_000); // past the pause of what was refused
          const { database: db, jobs } = server.gatehouse.services;
          const left = () => db.system((queries) => sql`SELECT id FROM outbox_messages WHERE state <> 'discarded'`.execute(queries));
          await eventually(async () => {
            await jobs.runNow('deliveries');
            return (await left()).rows.length === 0;
          });
          // At least once: the clock may overtake an attempt.
          for (const text of ['Of before: 135790', '/welcome#'])
            assert.ok(
              smtp.mails.some(({ data }) => data.includes(text)),
              text,
            );
        });
    });
