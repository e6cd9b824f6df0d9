// `gatehouse doctor --mail-to --sign-in`: has the mail server take a mail, and signs in at the running server in a tenant that is gone
// afterwards; what does not work is told in words, with how far it came.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type Running, startBesideCommands } from '../support/command-line.ts';
import { databases } from '../support/databases.ts';
import type { Json } from '../support/management.ts';
import { startSmtpServer } from '../support/smtp-server.ts';

interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly found: string;
}

for (const name of databases)
  describe(`doctor tries out on ${name}`, () => {
    let running: Running;
    before(async () => {
      running = await startBesideCommands(name);
    });
    after(() => running.stop());
    const findingOf = async (check: string, ...args: readonly string[]): Promise<Finding> => {
      const { stdout } = await running.command('doctor', '--json', ...args);
      const { findings } = JSON.parse(stdout) as { readonly findings: readonly Finding[] };
      return findings.find((finding) => finding.check === check)!;
    };

    it('signs in, and leaves no tenant behind, only two events of the one it made', async () => {
      const tenants = await running.json<readonly Json[]>('tenant', 'list');
      const { ok, found } = await findingOf('sign_in', '--sign-in');
      assert.equal(ok, true, found);
      assert.match(found, /^somebody signed in by a phone and got tokens, in \d+ ms$/);
      assert.deepEqual(await running.json('tenant', 'list'), tenants);
      const { stdout } = await running.command('events', '--json', '--since', '1h', '--types', 'tenant.*,user.*,client.*,device.*');
      const events = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { type: string; data: Json });
      assert.deepEqual(
        events
          .filter(({ type }) => type !== 'client.created')
          .map(({ type }) => type)
          .slice(-1),
        ['tenant.deleted'],
      );
      assert.ok(!stdout.includes('doctor@people.invalid'));
    });

    it('says that the server runs on another database, or does not answer', async () => {
      const tenants = await running.json('tenant', 'list');
      const other = createServer((_request, response) => response.writeHead(404).end()).listen(0, '127.0.0.1');
      await new Promise((resolve) => other.once('listening', resolve));
      const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`; // listening on TCP
      try {
        const elsewhere = await findingOf('sign_in', '--sign-in', '--public-url', url);
        assert.deepEqual(
          [elsewhere.ok, /^The server: it answers 404 at .*Does it run on another database\?$/.test(elsewhere.found)],
          [false, true],
          elsewhere.found,
        );
      } finally {
        other.close();
      }
      const silent = await running.command('doctor', '--sign-in', '--public-url', 'http://127.0.0.1:1');
      assert.equal(silent.code, 1);
      assert.match(
        silent.stdout,
        /^FAIL {2}sign_in +expected a sign-in below http:\/\/127\.0\.0\.1:1, found The server: .*(ECONNREFUSED|bad port)/m,
      );
      assert.deepEqual(await running.json('tenant', 'list'), tenants);
    });

    it('sends a mail; says what the mail server says, and that there is none', async () => {
      const smtp = await startSmtpServer();
      const to = ['--mail-to', 'ada@example.com'] as const;
      const bySmtp = [...to, '--smtp-url', smtp.url, '--mail-from', 'Acme <id@acme.example>'] as const;
      try {
        const sent = await findingOf('mail_sent', ...bySmtp);
        assert.deepEqual(
          [sent.ok, sent.found],
          [true, 'the mail server took it. See that it is in the mailbox of ada@example.com, and not in its spam'],
        );
        assert.deepEqual(
          smtp.mails.map((mail) => [mail.from, mail.to]),
          [['id@acme.example', ['ada@example.com']]],
        );
        assert.match(smtp.mails[0]!.data, /^From: Acme <id@acme\.example>\r$[\s\S]*gatehouse doctor sent this for http/m);
        smtp.refuseNext(1);
        const refused = await findingOf('mail_sent', ...bySmtp);
        assert.deepEqual([refused.ok, /451/.test(refused.found)], [false, true], refused.found);
      } finally {
        await smtp.close();
      }
      const gone = await findingOf('mail_sent', ...bySmtp);
      assert.deepEqual([gone.ok, /ECONNREFUSED/.test(gone.found)], [false, true], gone.found);
      const none = await findingOf('mail_sent', ...to);
      assert.deepEqual([none.ok, none.found], [false, 'no mail server, so that nothing leaves this machine. Set GATEHOUSE_SMTP_URL']);
      await running.fails(2, /--mail-to: expected an email address, found ada/, 'doctor', '--mail-to', 'ada');
    });
  });
