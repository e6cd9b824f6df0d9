// Mail by SMTP: queued with what it is about, sent afterwards, retried with a growing pause, sent once by two nodes, and gone
// from the database once it is out. The wire is real; the server at its other end is ours.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser, rootTenant, type TestClient } from '../support/fixtures.ts';
import { beginLogin } from '../support/login.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { type SmtpServer, startSmtpServer } from '../support/smtp-server.ts';

for (const database of databases) {
  describe(`Mail delivery on ${database}`, () => {
    let smtp: SmtpServer;
    let server: TestServer;
    let tenant: Tenant;
    let client: TestClient;
    before(async () => {
      smtp = await startSmtpServer();
      server = await startTestServer(database, { flags: { smtp_url: smtp.url, mail_from: 'Acme <login@acme.example>' } });
      tenant = await rootTenant(server.gatehouse.services);
      client = await createClient(server.gatehouse.services, tenant, { name: 'Pörtal\r\nBcc: eve@evil.example' });
    });
    after(async () => {
      await server?.close();
      await smtp?.close();
    });
    let before0 = 0;
    beforeEach(() => {
      before0 = smtp.mails.length;
    });
    afterEach(() => smtp.refuseNext(0));

    const deliver = (): Promise<void> => server.gatehouse.services.jobs.runNow('deliveries');
    const waiting = async (): Promise<number> =>
      (
        await server.gatehouse.services.database.system((queries) =>
          queries.selectFrom('outbox_messages').select('id').where('waits', '=', 1).execute(),
        )
      ).length;
    const mailPin = async (identifier: string): Promise<{ readonly pin: (pin: string) => Promise<Response> }> => {
      const login = await beginLogin(server, tenant, client);
      await login.post('identify', { identifier });
      assert.equal((await login.post('method', { method: 'email_pin' })).status, 200);
      return { pin: (pin) => login.post('pin', { pin }) };
    };
    /** Quoted-printable or base64 parts as text. */
    const textOf = (data: string): string =>
      data.includes('Content-Transfer-Encoding: base64')
        ? data.replace(/(?<=\r\n\r\n)[A-Za-z0-9+/=\r\n]+/g, (part) => Buffer.from(part, 'base64').toString())
        : Buffer.from(
            data.replace(/=\r\n/g, '').replace(/=([0-9A-F]{2})/g, (_all, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
            'latin1',
          ).toString();

    it('the PIN arrives, to one recipient, and its row is gone', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const login = await mailPin(user.email);
      await deliver();
      const mail = smtp.mails.slice(before0);
      assert.equal(mail.length, 1);
      assert.equal(mail[0]!.from, 'login@acme.example');
      assert.deepEqual(mail[0]!.to, [user.email]);
      assert.match(mail[0]!.data, /^Auto-Submitted: auto-generated$/m);
      assert.doesNotMatch(mail[0]!.data.split('\r\n\r\n', 1)[0]!, /^bcc:/im);
      const pin = /^(\d{6})\s*$/m.exec(textOf(mail[0]!.data))?.[1] ?? '';
      assert.equal((await login.pin(pin)).status, 200, textOf(mail[0]!.data));
      assert.equal(await waiting(), 0);
    });

    it('nobody gets no mail', async () => {
      await mailPin('nobody@people.example');
      await deliver();
      assert.equal(smtp.mails.length, before0);
    });

    it('a refused mail is tried again after a pause that grows', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      smtp.refuseNext(2);
      const refusedBefore = smtp.refused();
      await mailPin(user.email);
      await deliver();
      await deliver();
      assert.equal(smtp.refused() - refusedBefore, 1);
      await server.clock.advance(2100);
      await deliver();
      assert.equal(smtp.refused() - refusedBefore, 2);
      await server.clock.advance(1000);
      await deliver();
      assert.equal(smtp.mails.length, before0);
      await server.clock.advance(3100);
      await deliver();
      assert.equal(smtp.mails.length, before0 + 1);
      assert.equal(await waiting(), 0);
    });

    if (database === 'postgres')
      it('two nodes send each mail once', async () => {
        const second = await startTestServer(database, { flags: { smtp_url: smtp.url }, database: server.database, clock: server.clock });
        try {
          const users = await Promise.all(Array.from({ length: 30 }, () => createUser(server.gatehouse.services, tenant)));
          await Promise.all(users.map((user) => mailPin(user.email)));
          await Promise.all([deliver(), second.gatehouse.services.jobs.runNow('deliveries')]);
          await Promise.all([deliver(), second.gatehouse.services.jobs.runNow('deliveries')]);
          const recipients = smtp.mails.slice(before0).flatMap((mail) => mail.to);
          assert.deepEqual(recipients.toSorted(), users.map((user) => user.email).toSorted());
        } finally {
          await second.close();
        }
      });
  });
}
