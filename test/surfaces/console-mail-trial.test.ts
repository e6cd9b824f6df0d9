// Whether mails arrive, at the console: the code goes to the administrator's own address and counts once, for them, within its time, by the
// way mails go now. Nothing but typing it in says that a mail came.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { testMailsPerHourMax } from '../../src/contract/limits.ts';
import { mailTrialMinutes } from '../../src/storage/records/first-steps.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { arrivalCodeOf, mailsTo } from '../support/mailbox.ts';
import type { Json, Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const at = '/mail/arrival';
const noticeOf = (page: string): string => /id="notice">([^<]*)</.exec(page)?.[1] ?? '';

for (const database of databases)
  describe(`whether mails arrive, on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());

    const open = async (): Promise<{ readonly tenant: Managed; readonly email: string; readonly visitor: AppVisitor }> => {
      const made = await createConsoleTenant(server, { role: 'user', admin_roles: ['owner'] });
      const { visitor } = await openConsole(server, made.tenant, made.email);
      return { ...made, visitor };
    };
    const show = async (visitor: AppVisitor, status = 200): Promise<string> => {
      const response = await visitor.page(at);
      assert.equal(response.status, status);
      return response.text();
    };
    const codeTo = (email: string): Promise<string> => arrivalCodeOf(server, email);
    const send = async (visitor: AppVisitor): Promise<void> => assert.match(noticeOf(await visitor.act(at, {})), /is on its way to/);
    const type = async (visitor: AppVisitor, code: string): Promise<number> => (await visitor.submit(`${at}/code`, { code })).status;
    const hasArrived = async (visitor: AppVisitor): Promise<boolean> => (await show(visitor)).includes('id="arrived"');

    it('the mail has a code and no link, and nothing but the code says that it came', async () => {
      const { visitor, email, tenant } = await open();
      assert.doesNotMatch(await show(visitor), /id="code"|id="arrived"/);
      await send(visitor);
      const [mail] = await mailsTo(server, email);
      assert.match(mail!.subject, /mails arrive/);
      for (const part of [mail!.text, mail!.html]) assert.doesNotMatch(part, /https?:|href/i);
      assert.ok(mail!.html.includes(await codeTo(email)));
      // Looking at pages, with the code in the address too, changes nothing.
      const code = await codeTo(email);
      for (const path of [at, `${at}?code=${code}`, `${at}/code`, `${at}/code?code=${code}`]) await visitor.page(path);
      await fetch(`${tenant.baseUrl}/console${at}/code`, { method: 'POST', body: new URLSearchParams({ code }) });
      assert.equal(await hasArrived(visitor), false);
      assert.equal(await type(visitor, 'AAAAA-AAAAA'), 400);
      assert.equal(await type(visitor, code.toLowerCase().replace('-', ' ')), 303);
      assert.equal(await hasArrived(visitor), true);
      // On record: who sent it and had it, and what became of it. Neither the address nor the code is.
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/events?type=mail.tested');
      const { items: users } = await tenant.make<{ items: readonly Json[] }>('GET', `/users?search=${email}`);
      const person = `user:${String(users[0]?.['id'])}`;
      assert.deepEqual(
        items.map(({ actor, target, data }) => [actor, target, data]),
        ['arrived', 'queued'].map((outcome) => [person, person, { kind: 'trial', outcome }]),
      );
    });

    it('wrong, another person’s, used, replaced and late codes are one refusal', async () => {
      const { visitor, email, tenant } = await open();
      const other = `other@${tenant.slug}.example`;
      await tenant.make('POST', '/users', { user_name: other, emails: [{ value: other, primary: true }], admin_roles: ['owner'] });
      const { visitor: second } = await openConsole(server, tenant, other);
      const refused = async (code: string): Promise<string> => {
        const response = await visitor.submit(`${at}/code`, { code });
        assert.equal(response.status, 400);
        return noticeOf(await response.text());
      };
      const answers = new Set<string>();
      for (const code of ['', 'x', 'AAAAA-AAAAA', 'ä'.repeat(40), '😀', '\u202e']) answers.add(await refused(code));
      for (const code of ['ä'.repeat(5_000), '\0', 'A\0']) assert.equal(await type(visitor, code), 400);
      assert.equal((await visitor.submit(`${at}/code`, {})).status, 400);
      await send(second);
      answers.add(await refused(await codeTo(other)));
      await send(visitor);
      const replaced = await codeTo(email);
      await send(visitor);
      answers.add(await refused(replaced));
      const late = await codeTo(email);
      await server.clock.advance(mailTrialMinutes * 60_000);
      const { visitor: again } = await openConsole(server, tenant, email);
      assert.equal(await type(again, late), 400);
      assert.equal(answers.size, 1, [...answers].join('; '));
      await send(again);
      const inTime = await codeTo(email);
      await server.clock.advance(mailTrialMinutes * 60_000 - 5_000);
      assert.equal(await type((await openConsole(server, tenant, email)).visitor, inTime), 303);
    });

    it('many who type it at once: one of them is told that it arrived', async () => {
      const { visitor, email } = await open();
      await send(visitor);
      const code = await codeTo(email);
      const answers = await Promise.all(Array.from({ length: 6 }, () => type(visitor, code)));
      assert.deepEqual(answers.toSorted(), [303, 400, 400, 400, 400, 400]);
      assert.equal(await hasArrived(visitor), true);
    });

    it('another way that mails go is tried anew; a new test does not undo the one before', async () => {
      const { visitor, email, tenant } = await open();
      await send(visitor);
      await type(visitor, await codeTo(email));
      await send(visitor);
      assert.equal(await hasArrived(visitor), true);
      const pending = await codeTo(email);
      const mailServer = { host: 'mail.invalid', port: 587, security: 'starttls', from: 'Acme <mail@acme.example>' };
      await tenant.make('PUT', '/mail-server', mailServer);
      assert.match(await show(visitor), /go by <b>mail\.invalid<\/b>/);
      assert.equal(await hasArrived(visitor), false);
      assert.equal(await type(visitor, pending), 400);
      await tenant.call('DELETE', '/mail-server');
      assert.equal(await hasArrived(visitor), true);
      assert.equal(await type(visitor, pending), 303);
    });

    it('whoever may not change mails sends none, and whoever may not see them sees no page', async () => {
      const { tenant } = await open();
      const as = async (name: string, role: string): Promise<AppVisitor> => {
        const email = `${name}@${tenant.slug}.example`;
        await tenant.make('POST', '/users', { user_name: email, emails: [{ value: email, primary: true }], admin_roles: [role] });
        return (await openConsole(server, tenant, email)).visitor;
      };
      await tenant.make('POST', '/roles', { name: 'clerk', capabilities: ['users:read'] });
      const auditor = await as('auditor', 'auditor');
      assert.doesNotMatch(await show(auditor), /id="send"/);
      for (const path of [at, `${at}/code`]) assert.equal((await auditor.submit(path, { code: 'x' })).status, 403);
      const clerk = await as('clerk', 'clerk');
      await show(clerk, 403);
      assert.equal((await clerk.submit(at, {})).status, 403);
      assert.equal(
        (await mailsTo(server, `auditor@${tenant.slug}.example`)).filter(({ subject }) => /mails arrive/.test(subject)).length,
        0,
      );
    });

    it('whoever has no address is told so; the tests of a tenant are counted together, testMailsPerHourMax an hour', async () => {
      const { visitor, tenant, email } = await open();
      for (let sent = 0; sent < testMailsPerHourMax; sent += 1) assert.equal((await visitor.submit(at, {})).status, 303, String(sent));
      const refused = await visitor.submit(at, {});
      assert.equal(refused.status, 429);
      assert.match(noticeOf(await refused.text()), /30 tests of mails an hour\. Try again in \d+ minutes?\./);
      assert.equal((await mailsTo(server, email)).filter(({ subject }) => /mails arrive/.test(subject)).length, testMailsPerHourMax);
      const { items } = await tenant.make<{ items: readonly { readonly id: string }[] }>('GET', '/users');
      await tenant.make('PATCH', `/users/${items[0]!.id}`, { emails: [] });
      assert.match(await show(visitor), /id="no-address"/);
      assert.equal((await visitor.submit(at, {})).status, 409);
    });
  });
