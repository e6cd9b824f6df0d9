// The console's page "Attributes", and what the tenant adds in the form of a person: typed, kept when refused, seen through the
// Management API.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { createTestUser, type Json, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`console, attributes, on ${database}`, () => {
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
    const show = async (path: string): Promise<string> => (await visitor.page(path)).text();

    it('an attribute is made, changed and deleted; its name and type are shown and not asked again', async () => {
      assert.match(await show('/custom-attributes'), /No attributes yet/);
      const form = await show('/custom-attributes/new');
      for (const name of ['name', 'type', 'list', 'unique', 'label', 'edit', 'allowed_values', 'claim'])
        assert.match(form, new RegExp(`name="${name}"`), name);
      const made = await visitor.act('/custom-attributes', {
        name: 'size',
        type: 'string',
        label: 'Shirt size',
        edit: 'admin',
        allowed_values: 'S\nM\nL',
        claim: '',
      });
      assert.match(made, /The attribute size was created/);
      const stored = await tenant.make('GET', '/custom-attributes/size');
      assert.deepEqual(
        [stored['label'], stored['edit'], stored['allowed_values'], stored['claim']],
        ['Shirt size', 'admin', ['S', 'M', 'L'], null],
      );
      assert.match(await show('/custom-attributes?search=SHIRT'), />size<\/a><\/td><td[^>]*>Shirt size</);
      const path = `/custom-attributes/${stored['id']}`;
      const detail = await show(path);
      assert.match(detail, /<dt>Name<\/dt><dd>size<\/dd>/);
      assert.doesNotMatch(detail, /name="type"/);
      assert.equal((await visitor.submit(path, { label: 'Size', edit: 'admin', allowed_values: 'S\nM' })).status, 303);
      assert.deepEqual((await tenant.make('GET', path))['allowed_values'], ['S', 'M']);
      assert.match(await (await visitor.submit(`${path}/delete`, {})).text(), /What people have of it is deleted with it/);
      assert.equal((await visitor.submit(`${path}/delete`, { sure: 'yes' })).status, 303);
      assert.equal((await tenant.call('GET', path)).status, 404);
      const refused = await visitor.submit('/custom-attributes', { name: 'Bad Name', type: 'string', label: 'Kept', edit: 'admin' });
      assert.equal(refused.status, 400);
      assert.match(await refused.text(), /value="Kept"/);
    });

    it('the form of a person has each; what is typed is stored as its type, what is refused is kept', async () => {
      for (const definition of [
        { name: 'cost_code', label: 'Cost code' },
        { name: 'height', type: 'number' },
        { name: 'vegan', type: 'boolean' },
        { name: 'hired', type: 'date' },
        { name: 'skills', list: true },
        { name: 'marks', type: 'number', list: true },
        { name: 'tier', allowed_values: ['gold', 'silver'] },
        { name: 'tags', list: true, allowed_values: ['a', 'b', 'c'] },
      ])
        await tenant.make('POST', '/custom-attributes', definition);
      const { id } = await createTestUser(tenant, 'ada@example.com');
      const typed = {
        user_name: 'ada@example.com',
        email_list: 'ada@example.com',
        role: 'user',
        'custom.cost_code': 'K-17',
        'custom.height': '1.78',
        'custom.vegan': 'false',
        'custom.hired': '2026-01-31',
        'custom.skills': 'Chess\nGo',
        'custom.marks': '1\n2.5',
        'custom.tier': 'silver',
        'custom.tags': 'b',
      };
      const saved = await visitor.submit(`/users/${id}/edit`, typed);
      assert.equal(saved.status, 303, /class="notice[^"]*"[^>]*>(.*?)</.exec(await saved.text())?.[1]);
      const custom = async (): Promise<unknown> => (await tenant.make<Json>('GET', `/users/${id}`))['custom'];
      const values = {
        cost_code: 'K-17', height: 1.78, vegan: false, hired: '2026-01-31', skills: ['Chess', 'Go'], marks: [1, 2.5], tier: 'silver', tags: ['b'],
      }; // biome-ignore format: as typed above
      assert.deepEqual(await custom(), values);
      const page = await show(`/users/${id}/edit`);
      assert.match(page, /name="custom.cost_code" id="field-custom-cost_code" value="K-17"/);
      assert.match(page, /<label for="field-custom-cost_code">Cost code<\/label>/);
      assert.match(page, /<option value="false" selected>/);
      assert.match(page, /name="custom.tags" value="b" checked/);
      const refused = await visitor.submit(`/users/${id}/edit`, { ...typed, 'custom.height': 'tall', 'custom.cost_code': 'Lost' });
      assert.equal(refused.status, 400);
      const kept = await refused.text();
      assert.match(kept, /height: This field must be a number\./);
      assert.match(kept, /value="tall"/);
      assert.deepEqual(await custom(), values);
      const empty = Object.fromEntries(Object.entries(typed).map(([name, value]) => [name, name.startsWith('custom.') ? '' : value]));
      const { 'custom.tags': _, ...cleared } = empty;
      assert.equal((await visitor.submit(`/users/${id}/edit`, cleared)).status, 303);
      assert.equal(await custom(), undefined);
      const made = await visitor.act('/users', { ...typed, user_name: 'eve', email_list: 'eve@example.com' });
      assert.match(made, /The person eve was created/);
    });
  });
}
