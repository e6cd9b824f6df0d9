// The console's page "Mail": a mail worded, previewed, tested, published, put back, and what is refused told at its field.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { mailsTo } from '../support/mailbox.ts';
import type { Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const path = '/mail/pin/en';
const own = { subject: '{{code}} opens {{application}}', body: '# Hello\r\n\r\nYour code is **{{code}}**.' };

for (const database of databases) {
  describe(`console, mail, on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let visitor: AppVisitor;
    let email: string;
    before(async () => {
      server = await startTestServer(database);
      ({ tenant, email } = await createConsoleTenant(server));
      ({ visitor } = await openConsole(server, tenant, email));
    });
    after(() => server.close());
    const show = async (at: string): Promise<string> => (await visitor.page(at)).text();

    it('the list leads to a mail, which begins with the built-in words and names its placeholders', async () => {
      const list = await show('/mail');
      assert.match(list, /href="[^"]*\/console\/mail\/pin\/en">Code to sign in</);
      const page = await show('/mail/invitation/de');
      assert.match(page, /<h1>Invitation<\/h1>/);
      assert.match(page, /<code>\{\{link\}\}<\/code> must be in the text, may be the address of a link/);
      assert.match(page, /value="Sie sind zu \{\{tenant\}\} eingeladen"/);
      assert.match(page, /aria-current="page">German</);
      assert.doesNotMatch(page, /id="publish"|id="undo"|id="reset"/);
      assert.equal((await visitor.page('/mail/spam/en')).status, 404);
      assert.equal((await visitor.page('/mail/pin/xx/preview')).status, 404);
    });

    it('a draft is saved, previewed in a frame that runs nothing, tested, published, put back, undone', async () => {
      assert.match(await visitor.act(path, own), /The draft is saved[\s\S]*id="shown-subject">482913 opens Portal</);
      assert.deepEqual((await tenant.make('GET', '/mails/pin/en'))['draft'], { ...own, body: own.body.replaceAll('\r\n', '\n') });
      assert.match(await show('/mail'), /data-label="Drafts">English</);
      const preview = await visitor.page(`${path}/preview`);
      assert.equal(
        preview.headers.get('content-security-policy'),
        `default-src 'none'; style-src 'unsafe-inline'; img-src ${new URL(tenant.baseUrl).origin}; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox`,
      );
      assert.equal(preview.headers.get('content-type'), 'text/html; charset=utf-8');
      assert.match(await preview.text(), /<h1>Hello<\/h1>[\s\S]*<strong>482913<\/strong>/);
      const to = `test-${tenant.slug}@example.com`;
      assert.match(await visitor.act(`${path}/test`, { to }), new RegExp(`A test is on its way to ${to}`));
      assert.equal((await mailsTo(server, to))[0]?.subject, '482913 opens Portal');
      assert.match(await visitor.act(`${path}/publish`, {}), /id="reset"/);
      assert.match(await show('/mail'), /data-label="In your words">English</);
      assert.match(await visitor.act(`${path}/reset`, {}), /built-in mail is in force again/);
      assert.equal((await tenant.make('GET', '/mails/pin/en'))['published'], null);
      await visitor.act(`${path}/undo`, {});
      assert.equal(((await tenant.make('GET', '/mails/pin/en'))['published'] as typeof own).subject, own.subject);
      await visitor.act(`${path}/reset`, {}); // the next test signs in by the built-in mail
      await visitor.act(path, own);
      assert.match(await visitor.act(`${path}/discard`, {}), /The draft is discarded/);
    });

    it('what is refused is told at its field, and what was typed stays', async () => {
      const wording = await visitor.submit(path, { subject: 'Kept', body: 'Kept {{nobody}}' });
      assert.equal(wording.status, 400);
      const page = await wording.text();
      assert.match(page, /id="field-body" aria-invalid="true"/);
      assert.match(page, /id="field-body-wrong">This field names \{\{nobody\}\}/);
      assert.ok(page.includes('value="Kept"') && page.includes('Kept {{nobody}}</textarea>'));
      assert.match(await (await visitor.submit(path, { subject: '', body: 'x {{code}}' })).text(), /id="field-subject-wrong"/);
      const test = await visitor.submit(`${path}/test`, { to: 'nobody' });
      assert.equal(test.status, 400);
      const shown = await test.text();
      assert.match(shown, /id="field-to-wrong">This field must be an email address/);
      assert.match(shown, /value="nobody"/);
    });

    it('management.not_found: an unknown action, kind and language; nothing to put back', async () => {
      assert.equal((await visitor.submit(`${path}/burn`, {})).status, 404);
      assert.equal((await visitor.submit('/mail/spam/en', own)).status, 404);
      assert.equal((await visitor.submit('/mail/wrong_codes/en/reset', {})).status, 404);
    });

    it('who may only read sees the mail and no form', async () => {
      await tenant.make('POST', '/roles', { name: 'readers', capabilities: ['mail:read'] });
      const other = `reader@${tenant.slug}.example`;
      const { id } = await tenant.make('POST', '/users', { user_name: other, emails: [{ value: other, primary: true }] });
      await tenant.make('PUT', `/users/${String(id)}/roles`, { roles: ['readers'] });
      const { visitor: reader } = await openConsole(server, tenant, other);
      const page = await (await reader.page(path)).text();
      assert.match(page, /title="Preview, Phone"/);
      assert.doesNotMatch(page, /id="save-draft"|id="send-test"/);
      assert.equal((await reader.submit(path, { subject: 'x', body: '{{code}}' })).status, 400);
    });
  });
}
