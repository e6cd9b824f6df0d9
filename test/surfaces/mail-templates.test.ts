// Mails in a tenant's words (design 13, 3): Markdown without HTML in our frame, plain escaped placeholders, drafted, previewed, published.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { mailBodyCharsMax, mailSubjectCharsMax } from '../../src/contract/limits.ts';
import { mailKindNames } from '../../src/domain/appearance/mail-kinds.ts';
import type { TenantId } from '../../src/domain/ids.ts';
import { languages } from '../../src/domain/language.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { databases } from '../support/databases.ts';
import { createClient } from '../support/fixtures.ts';
import { beginLogin } from '../support/login.ts';
import { mailsTo, type TestMail } from '../support/mailbox.ts';
import { createTestTenant, createTestUser, type Json, type Managed } from '../support/management.ts';
import { pngOf } from '../support/pictures.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const path = '/mails/pin/en';
const own = {
  subject: '{{code}} opens {{application}}',
  body: '# Hello from {{tenant}}\n\nYour code is **{{code}}**, for {{ minutes }} minutes.',
};

for (const database of databases) {
  describe(`mails in a tenant's words on ${database}`, () => {
    let server: TestServer;
    let people = 0;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());

    const preview = (at: Managed, of = path): Promise<Readonly<Record<'subject' | 'text' | 'html', string>>> =>
      at.make('GET', `${of}/preview`);
    const publish = async (at: Managed, draft: Json, of = path): Promise<void> => {
      await at.make('PUT', `${of}/draft`, draft);
      await at.make('POST', `${of}/publish`);
    };
    const pinMailTo = async (at: Managed, clientName: string): Promise<TestMail> => {
      const tenant = (await server.gatehouse.services.tenants.bySlug(at.slug)) as Tenant;
      people += 1;
      const email = `ada-${people}@example.com`;
      await createTestUser(at, email);
      const login = await beginLogin(server, tenant, await createClient(server.gatehouse.services, tenant, { name: clientName }));
      await login.post('identify', { identifier: email });
      await login.post('method', { method: 'email_pin' });
      return (await mailsTo(server, email))[0]!; // it was sent
    };

    it('a draft is previewed and mailed to nobody; published it is what people get, filled and escaped; undo brings the built-in back', async () => {
      const at = await createTestTenant(server);
      await at.make('PUT', `${path}/draft`, own);
      const shown = await preview(at);
      assert.equal(shown.subject, '482913 opens Portal');
      assert.ok(shown.html.includes(`<h1>Hello from Tenant ${at.slug}</h1>`) && shown.html.includes('<strong>482913</strong>'));
      assert.match((await pinMailTo(at, 'Portal')).subject, /is your code for Portal$/);
      await at.make('POST', `${path}/publish`);
      const other = await createTestTenant(server);
      assert.match((await pinMailTo(other, 'Portal')).subject, /is your code for/);
      await publish(other, own);
      const hostile = '<script>alert(1)</script>[x](javascript:alert(1))**{{code}}';
      const mail = await pinMailTo(other, hostile);
      assert.match(mail.subject, /^\d+ opens <script>/); // a subject is plain text
      assert.match(mail.text, /Your code is \d+, for 10 minutes\./);
      assert.ok(!mail.html.includes('<script>') && !mail.html.includes('href="javascript'));
      await at.make('POST', `${path}/undo`);
      assert.equal((await at.make('GET', path))['published'], null);
    });

    it('a hostile name in the body stays text: no markup, no link, no placeholder of its own', async () => {
      const at = await createTestTenant(server);
      await publish(at, { subject: 'x', body: '{{code}} {{application}}' });
      const mail = await pinMailTo(at, '<b>x</b> [x](https://evil.example) {{code}} **bold**');
      assert.ok(mail.html.includes('&#60;b&#62;x&#60;/b&#62; [x](https://evil.example) {{code}} **bold**'), mail.html);
    });

    it('management.invalid_request: unknown and missing placeholders, addresses, limits', async () => {
      const at = await createTestTenant(server);
      const refused = async (draft: Json, kind: string, text: string | RegExp, of = path): Promise<void> => {
        await assertRefusal(await at.call('PUT', `${of}/draft`, draft), 'management.invalid_request', { kind, text });
      };
      const unknown = 'which this mail does not have; it has {{code}}, {{application}}, {{tenant}}, {{minutes}}.';
      await refused({ ...own, subject: '{{name}}' }, 'subject', `This field names {{name}}, ${unknown}`);
      await refused({ ...own, body: '{{code}} {{link}}' }, 'body', `This field names {{link}}, ${unknown}`);
      await refused({ ...own, body: '{{code}} {{constructor}}' }, 'body', /names \{\{constructor\}\}/);
      await refused({ ...own, body: '{{code}} {{#if}}x{{/if}}' }, 'body', /names \{\{#if\}\}/);
      await refused({ ...own, body: '{{code}} {{code' }, 'body', /braces/);
      await refused({ ...own, body: 'Hello' }, 'body', 'This field must have {{code}}: without it the mail is of no use.');
      await refused({ ...own, subject: 'a\r\nBcc: x@evil.example' }, 'subject', 'This field must be one line.');
      for (const address of ['http://acme.example', 'mailto:x@acme.example', '{{application}}', 'https://evil.example/{{code}}', '/reset'])
        await refused({ ...own, body: `{{code}} [x](${address})` }, 'body', /has the address/);
      await refused({ subject: 'x', body: 'no link' }, 'body', /\{\{link\}\}/, '/mails/invitation/de');
      await refused({ subject: 'x' }, 'body', /./);
      await refused({ ...own, html: 'x' }, 'html', /./);
      const filled = (size: number): Json => ({ ...own, body: `{{code}}${'b'.repeat(size - 8)}` });
      await at.make('PUT', `${path}/draft`, filled(mailBodyCharsMax));
      await refused(filled(mailBodyCharsMax + 1), 'body', /./);
      await at.make('PUT', `${path}/draft`, { ...own, subject: 's'.repeat(mailSubjectCharsMax) });
      await refused({ ...own, subject: 's'.repeat(mailSubjectCharsMax + 1) }, 'subject', /./);
      await assertRefusal(await at.call('GET', '/mails/spam/en'), 'management.not_found');
      await assertRefusal(await at.call('GET', '/mails/pin/xx'), 'management.not_found');
    });

    it('a code or link is no part of an address, which mail programs make of words and open by themselves', async () => {
      const at = await createTestTenant(server);
      const text = 'This field has a code or link as a part of an address; put a space between.';
      for (const [joined, of = path] of [
        ['https://evil.example/{{code}}'],
        ['**https://evil.example/**{{ code }}'],
        ['evil.example/?{{code}}'],
        ['{{code}}.evil.example'],
        ['{{code}}@evil.example'],
        ['https&#58;&#47;&#47;evil&#46;example&#47;{{code}}'],
        ['https:\\/\\/evil\\.example\\/{{code}}'],
        ['[https://evil.example/{{code}}](https://evil.example)'],
        ['https://{{tenant}}/{{code}}'],
        ['https://evil.example/?to={{link}}', '/mails/invitation/en'],
      ] as const)
        await assertRefusal(
          await at.call('PUT', `${of}/draft`, { subject: 'x', body: `Hello {{tenant}}, ${joined}` }),
          'management.invalid_request',
          { kind: 'body', text },
        );
      const inSubject = { subject: 'evil.example/{{code}}', body: '{{code}}' };
      await assertRefusal(await at.call('PUT', `${path}/draft`, inSubject), 'management.invalid_request', { kind: 'subject', text });
      for (const body of [
        'Code:{{code}}.',
        '({{code}})',
        '“**{{code}}**”, see https://acme.example/help',
        'コードは{{code}}です。',
        '{{code}}\nacme.example/',
      ])
        await at.make('PUT', `${path}/draft`, { subject: '{{code}} opens {{application}}', body });
    });

    it('what was published so before is not sent: the built-in is', async () => {
      const at = await createTestTenant(server);
      await publish(at, { subject: 'Ours', body: '{{code}} opens' });
      await server.gatehouse.services.cache.write(at.id as TenantId, (queries) =>
        queries
          .updateTable('customizations')
          .set({ published: JSON.stringify({ subject: 'Ours', body: 'https://evil.example/{{code}}' }) })
          .where('tenant_id', '=', at.id as TenantId)
          .execute(),
      );
      const mail = await pinMailTo(at, 'Portal');
      assert.match(mail.subject, /is your code for Portal$/);
      assert.ok(!mail.text.includes('evil') && !mail.html.includes('evil'));
    });

    it('hostile Markdown does nothing: no HTML, no script, no picture', async () => {
      const at = await createTestTenant(server);
      const body =
        '{{code}} <script>alert(1)</script> <img src=x onerror=alert(1)> ![x](https://evil.example/p.png) [y](javascript:alert(1)) <style>';
      await at.make('PUT', `${path}/draft`, { subject: 'x', body });
      const { html } = await preview(at);
      assert.ok(!/<script|<img|<style|href="javascript/.test(html), html);
    });

    it('the built-in is told as a template that may be published as it is, in every kind and language', async () => {
      const at = await createTestTenant(server);
      for (const kind of mailKindNames)
        for (const language of languages) {
          const of = `/mails/${kind}/${language}`;
          const { built_in: builtIn } = await at.make<{ built_in: Json }>('GET', of);
          const shown = await preview(at, of);
          await at.make('PUT', `${of}/draft`, builtIn);
          const worded = await preview(at, of);
          assert.equal(worded.subject, shown.subject, of);
          // Values with numbers are said in each language's own words there, and by samples here.
          for (const line of shown.text.split('\n').filter((one) => one !== '' && one !== '-- ' && !/\d|^http/.test(one)))
            if (line !== `Tenant ${at.slug}`) assert.ok(worded.text.includes(line), `${of}: ${line} in ${worded.text}`);
        }
    });

    it('DELETE brings the built-in back, once, and undo the words of before', async () => {
      const at = await createTestTenant(server);
      await assertRefusal(await at.call('DELETE', path), 'management.not_found');
      await publish(at, own);
      assert.equal((await at.call('DELETE', path)).status, 204);
      await assertRefusal(await at.call('DELETE', path), 'management.not_found');
      assert.match((await pinMailTo(at, 'Portal')).subject, /is your code for Portal$/);
      assert.deepEqual((await at.make('POST', `${path}/undo`))['published'], own);
      const types = (await at.make<{ items: Json[] }>('GET', '/events?limit=20')).items.map((event) => event['type']);
      assert.ok(types.includes('customization.withdrawn'));
    });

    it('a link is filled from its placeholder', async () => {
      const at = await createTestTenant(server);
      await at.make('PUT', '/mails/invitation/fr/draft', {
        subject: 'Bienvenue',
        body: '[Commencer]({{link}}) ou [aide](https://acme.example/aide)',
      });
      const { html, text } = await preview(at, '/mails/invitation/fr');
      assert.ok(html.includes('<a href="https://login.acme.example/preview" rel="noreferrer">Commencer</a>'), html);
      assert.ok(text.includes('Commencer: https://login.acme.example/preview'));
    });

    it('every kind has a built-in mail in every language, in the frame of the branding', async () => {
      const at = await createTestTenant(server);
      const upload = await fetch(`${at.managementApi}/images`, {
        method: 'POST',
        headers: { authorization: `Bearer ${at.token}`, 'content-type': 'image/png' },
        body: new Uint8Array(pngOf(9, 9)),
      });
      const { sha256 } = (await upload.json()) as { readonly sha256: string };
      await at.make('PATCH', '/settings', { branding: { logo: sha256, accent: '#123456', privacy_url: 'https://acme.example/privacy' } });
      for (const kind of mailKindNames)
        for (const language of languages) {
          const { subject, text, html } = await preview(at, `/mails/${kind}/${language}`);
          assert.ok(subject !== '' && text !== '', `${kind} ${language}`);
          assert.ok(
            html.includes(`lang="${language}"`) && html.includes(`/assets/${sha256}`) && html.includes('#123456'),
            `${kind} ${language}`,
          );
          assert.ok(html.includes('https://acme.example/privacy'), `${kind} ${language}`);
        }
      const { items } = await at.make<{ items: readonly Json[] }>('GET', '/mails');
      assert.deepEqual(
        items.map(({ kind }) => kind),
        [...mailKindNames],
      );
    });

    it('a test goes to the address given, as the draft words it', async () => {
      const at = await createTestTenant(server);
      await at.make('PUT', `${path}/draft`, own);
      const to = `test-${at.slug}@example.com`;
      assert.equal((await at.call('POST', `${path}/test`, { to })).status, 204);
      assert.equal((await mailsTo(server, to))[0]?.subject, '482913 opens Portal');
      for (const bad of ['nobody', 'a@b, c@d', 'a@b\r\nBcc: c@d', ''])
        await assertRefusal(await at.call('POST', `${path}/test`, { to: bad }), 'management.invalid_request', { kind: 'to', text: /./ });
      const { items } = await at.make<{ items: readonly Json[] }>('GET', '/events?type=mail.tested');
      assert.deepEqual(
        items.map(({ target, data }) => [target, data]),
        [[null, { kind: path.split('/').at(-2), outcome: 'queued' }]],
      );
    });
  });
}
