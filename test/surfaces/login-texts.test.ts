// The sign-in in a tenant's words (design 13, 3): plain texts per step and language, drafted, published and undone.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { noteCharsMax, pageTextCharsMax } from '../../src/contract/limits.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { databases } from '../support/databases.ts';
import { createClient } from '../support/fixtures.ts';
import { beginLogin } from '../support/login.ts';
import { createTestTenant, type Json, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`texts of the sign-in on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());

    const stored = async (managed: Managed): Promise<Tenant> => (await server.gatehouse.services.tenants.bySlug(managed.slug))!;
    const pageOf = async (managed: Managed, language = 'en'): Promise<string> => {
      const tenant = await stored(managed);
      const login = await beginLogin(server, tenant, await createClient(server.gatehouse.services, tenant));
      return (await login.get('', { accept: 'text/html', 'accept-language': language })).text();
    };

    it('a published text stands in its step and language, a draft nowhere, and undo brings the built-in back', async () => {
      const own = await createTestTenant(server);
      const draft = { identify: { title: 'Willkommen', note: 'Hilfe: Tel. 4711' } };
      assert.deepEqual(await own.make('GET', '/texts/de'), { language: 'de', published: null, draft: null, can_undo: false });
      assert.deepEqual(await own.make('PUT', '/texts/de/draft', draft), { language: 'de', published: null, draft, can_undo: false });
      assert.ok(!(await pageOf(own, 'de')).includes('Willkommen'));
      assert.deepEqual(await own.make('POST', '/texts/de/publish'), { language: 'de', published: draft, draft: null, can_undo: true });
      const page = await pageOf(own, 'de');
      assert.ok(page.includes('<h1>Willkommen</h1>'));
      assert.ok(page.includes('<p class="hint note">Hilfe: Tel. 4711</p>'));
      assert.ok(!(await pageOf(own, 'en')).includes('4711'));
      assert.ok(!(await pageOf(await createTestTenant(server), 'de')).includes('4711'));
      await own.make('PUT', '/texts/de/draft', { identify: { title: 'Hallo' } });
      await own.make('POST', '/texts/de/publish');
      assert.ok((await pageOf(own, 'de')).includes('<h1>Hallo</h1>'));
      assert.deepEqual((await own.make('POST', '/texts/de/undo'))['published'], draft);
      assert.ok((await pageOf(own, 'de')).includes('<h1>Willkommen</h1>'));
      await own.make('PUT', '/texts/de/draft', {});
      await own.make('POST', '/texts/de/publish');
      assert.ok((await pageOf(own, 'de')).includes('<h1>Anmelden</h1>'));
      const types = (await own.make<{ items: Json[] }>('GET', '/events?limit=20')).items.map((event) => event['type']);
      for (const type of ['customization.drafted', 'customization.published', 'customization.undone'])
        assert.ok(types.includes(type), type);
    });

    it('undo of the first publish is the built-in', async () => {
      const own = await createTestTenant(server);
      await own.make('PUT', '/texts/en/draft', { identify: { title: 'Hello' } });
      await own.make('POST', '/texts/en/publish');
      assert.deepEqual(await own.make('POST', '/texts/en/undo'), { language: 'en', published: null, draft: null, can_undo: true });
      assert.ok((await pageOf(own)).includes('<h1>Sign in</h1>'));
    });

    it('a hostile text does nothing', async () => {
      const own = await createTestTenant(server);
      const hostile = '</h1><script>alert(1)</script>"><img src=x onerror=alert(1)>{{code}}';
      await own.make('PUT', '/texts/en/draft', { identify: { title: hostile, label: hostile, note: hostile } });
      await own.make('POST', '/texts/en/publish');
      const page = await pageOf(own);
      assert.ok(!page.includes('<script>alert') && !page.includes('<img'));
      assert.equal(page.split('&#60;/h1&#62;&#60;script&#62;alert(1)').length - 1, 4); // the title of the tab too
    });

    it('management.invalid_request, conflict and not_found: what is no text of a step', async () => {
      const own = await createTestTenant(server);
      const refused = async (draft: Json, kind: string): Promise<void> => {
        await assertRefusal(await own.call('PUT', '/texts/en/draft', draft), 'management.invalid_request', { kind, text: /./ });
      };
      await refused({ sign_in: { title: 'x' } }, 'sign_in');
      await refused({ identify: { html: 'x' } }, 'identify.html');
      await refused({ identify: { title: 7 } }, 'identify.title');
      await refused({ identify: { title: '' } }, 'identify.title');
      await refused({ pin: { title: 'a\u202eb' } }, 'pin.title');
      await refused({ pin: { title: 'a\u0007b' } }, 'pin.title');
      await refused({ identify: { title: 't'.repeat(pageTextCharsMax + 1) } }, 'identify.title');
      await refused({ identify: { note: 'n'.repeat(noteCharsMax + 1) } }, 'identify.note');
      await own.make('PUT', '/texts/en/draft', { identify: { title: 't'.repeat(pageTextCharsMax), note: 'n'.repeat(noteCharsMax) } });
      await assertRefusal(await own.call('POST', '/texts/fr/publish'), 'management.conflict', { kind: 'draft', text: /./ });
      await assertRefusal(await own.call('POST', '/texts/fr/undo'), 'management.conflict', { kind: 'previous', text: /./ });
      await assertRefusal(await own.call('DELETE', '/texts/fr/draft'), 'management.not_found');
      await assertRefusal(await own.call('GET', '/texts/xx'), 'management.not_found');
      assert.equal((await own.call('DELETE', '/texts/en/draft')).status, 204);
    });
  });
}
