// The search in the console's header (design 13, section 2): people, groups and applications by any part of a shown name, of what the
// person may see.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { createTestUser, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`console search on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let visitor: AppVisitor;
    before(async () => {
      server = await startTestServer(database);
      const created = await createConsoleTenant(server);
      tenant = created.tenant;
      ({ visitor } = await openConsole(server, tenant, created.email));
    });
    after(() => server.close());

    const search = async (part: string, by = visitor): Promise<string> => {
      const response = await by.page(`/search?${new URLSearchParams({ q: part })}`);
      assert.equal(response.status, 200);
      return (await response.text()).replace(/^.*<main/s, '');
    };

    it('finds people, groups and applications of both kinds, with links', async () => {
      const { id } = await createTestUser(tenant, 'zenith@x.example', { display_name: 'Ann Zenith' });
      const client = String((await tenant.make('POST', '/clients', { name: 'Zenith mail', type: 'public' }))['client_id']);
      const group = String((await tenant.make('POST', '/groups', { display_name: 'Team zenith' }))['id']);
      const provider = String(
        (
          await tenant.make('POST', '/service-providers', {
            name: 'Old Zenith',
            entity_id: 'https://z.example',
            acs: [{ url: 'https://z.example/acs' }],
          })
        )['id'],
      );
      const page = await search('ENIT');
      for (const path of [
        `/users/${id}">Ann Zenith`,
        `/clients/${client}">Zenith mail`,
        `/groups/${group}">Team zenith`,
        `/service-providers/${provider}">Old Zenith`,
      ])
        assert.ok(page.includes(path), path);
      assert.match(await search(client), /Zenith mail/);
      assert.match(await search('zenith@x'), /Ann Zenith/);
      const none = await search('<b>nobody</b>');
      assert.match(none, /Nothing found/);
      assert.ok(!none.includes('<b>'));
      assert.match(await search(' '), /Type any part of a name above/);
    });

    it('shows ten of a kind, and where the others are', async () => {
      for (let index = 0; index < 12; index += 1) await createTestUser(tenant, `quill${index}@x.example`);
      const page = await search('quill');
      assert.equal(page.match(/quill\d+@x\.example<\/a>/g)?.length, 10);
      assert.match(page, /\/users\?search=quill">All People found/);
    });

    it('leaves out what the person may not see', async () => {
      await createTestUser(tenant, 'reader@x.example');
      await tenant.make('POST', '/roles', { name: 'readers', capabilities: ['groups:read'] });
      const { items } = await tenant.make<{ items: readonly { id: string }[] }>('GET', '/users?sort=name&contains=reader@x');
      await tenant.make('PUT', `/users/${items[0]!.id}/roles`, { roles: ['readers'] });
      await tenant.make('POST', '/groups', { display_name: 'Reader group' });
      const { visitor: reader } = await openConsole(server, tenant, 'reader@x.example');
      const page = await search('reader', reader);
      assert.match(page, />Reader group</);
      assert.ok(!page.includes('reader@x.example</a>'));
    });
  });
}
