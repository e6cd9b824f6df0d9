// Design 10, section 2, and design 16, sections 1, 5 and "Wire": a tenant adds attributes to its people at /custom-attributes, and has
// them at once in the Management API; bad input is refused and stores nothing. SCIM: custom-attributes-scim.test.ts. On both databases.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { customDefinitions, userWith } from '../support/custom-attributes.ts';
import { databases } from '../support/databases.ts';
import { callJson, clientCredentialsToken, type Json, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { type ScimCaller, startScim } from '../support/scim.ts';

for (const database of databases) {
  describe(`custom attributes (${database})`, () => {
    let scim: ScimCaller;
    let managed: Managed;
    const custom = {
      cost_code: 'K-17',
      shoe_size: 42.5,
      vegetarian: true,
      hired: '2026-01-31',
      skills: ['Welding', 'Chess'],
      badge: 'B1',
      tier: 'gold',
      clearance: 'secret',
      marks: [1, 2.5],
    };
    const stored = async (id: unknown): Promise<unknown> => (await managed.make('GET', `/users/${id}`))['custom'];
    before(async () => {
      scim = await startScim(database);
      managed = await manageRootTenant(scim.server);
      for (const definition of customDefinitions) await managed.make('POST', '/custom-attributes', definition);
    });
    after(() => scim.close());

    describe('definitions', () => {
      it('are answered whole, listed by name, read by id and by name', async () => {
        const { items } = await managed.make<{ items: readonly Json[] }>('GET', '/custom-attributes');
        assert.deepEqual(
          items.map(({ name }) => name),
          customDefinitions.map(({ name }) => name).toSorted(),
        );
        const { id, ...shown } = items.find(({ name }) => name === 'cost_code')!;
        assert.deepEqual(shown, {
          name: 'cost_code',
          type: 'string',
          list: false,
          unique: false,
          label: 'Cost code',
          edit: 'provisioning',
          allowed_values: [],
          claim: null,
        });
        for (const path of [id, 'cost_code']) assert.deepEqual(await managed.make('GET', `/custom-attributes/${path}`), { id, ...shown });
        const two = await managed.make('GET', '/custom-attributes?limit=2');
        const three = await managed.make('GET', `/custom-attributes?limit=200&cursor=${two['next_cursor']}`);
        assert.deepEqual([...(two['items'] as Json[]), ...(three['items'] as Json[])], items);
        await assertRefusal(await managed.call('GET', '/custom-attributes/nothing'), 'management.not_found');
      });

      const wrong: readonly (readonly [what: string, body: Json, kind: string, text: RegExp])[] = [
        ['without a name', { type: 'string' }, 'name', /is required/],
        ['a name with capitals', { name: 'CostCode' }, 'name', /form/],
        ['a name of 41 characters', { name: `a${'b'.repeat(40)}` }, 'name', /form/],
        ['an unknown type', { name: 'x', type: 'float' }, 'type', /one of string, number, boolean, date/],
        ['an unknown editor', { name: 'x', edit: 'anybody' }, 'edit', /one of admin, provisioning, person/],
        ['an unknown field', { name: 'x', colour: 'red' }, 'colour', /not known/],
        ['allowed values of numbers', { name: 'x', type: 'number', allowed_values: ['1'] }, 'allowed_values', /is for texts/],
        ['a claim of the protocol', { name: 'x', claim: 'sub' }, 'claim', /a meaning already/],
        ['a claim of the attribute table', { name: 'x', claim: 'given_name' }, 'claim', /a meaning already/],
      ];
      for (const [what, body, kind, text] of wrong)
        it(`${what}: 400 management.invalid_request`, async () => {
          await assertRefusal(await managed.call('POST', '/custom-attributes', body), 'management.invalid_request', { kind, text });
        });

      it('a name that is there: 409 management.conflict', async () => {
        await assertRefusal(await managed.call('POST', '/custom-attributes', { name: 'badge' }), 'management.conflict', {
          kind: 'name',
          text: 'The name is in use.',
        });
      });

      it('a change takes label, edit, allowed_values and claim; name, type, list and unique are fixed', async () => {
        await managed.make('POST', '/custom-attributes', { name: 'floor' });
        const changed = await managed.make('PATCH', '/custom-attributes/floor', {
          label: 'Floor',
          edit: 'admin',
          allowed_values: ['1', '2'],
        });
        assert.deepEqual([changed['label'], changed['edit'], changed['allowed_values']], ['Floor', 'admin', ['1', '2']]);
        for (const [kind, value] of Object.entries({ name: 'ground', type: 'number', list: true, unique: true }))
          await assertRefusal(await managed.call('PATCH', '/custom-attributes/floor', { [kind]: value }), 'management.invalid_request', {
            kind,
            text: 'This field is not known here.',
          });
        assert.equal((await managed.call('DELETE', '/custom-attributes/floor')).status, 204);
        await assertRefusal(await managed.call('DELETE', '/custom-attributes/floor'), 'management.not_found');
      });

      it('each act is audited', async () => {
        const { items } = await managed.make<{ items: readonly Json[] }>('GET', '/events?limit=200');
        const types = new Set(items.map(({ type }) => type));
        for (const verb of ['created', 'updated', 'deleted']) assert.ok(types.has(`custom_attribute.${verb}`), verb);
      });

      it('need the capability of settings', async () => {
        const token = await clientCredentialsToken(managed.baseUrl, managed.adminClientId, managed.adminClientSecret, 'users:write');
        await assertRefusal(
          await callJson(`${managed.managementApi}/custom-attributes`, token, 'POST', { name: 'y' }),
          'management.forbidden',
          { text: 'The token lacks the capability settings:write.' },
        );
      });
    });

    describe('in the Management API', () => {
      it('values are written at creation, merged by PATCH, and removed by null', async () => {
        const { id } = await managed.make('POST', '/users', userWith('ada', custom));
        assert.deepEqual(await stored(id), custom);
        const patched = await managed.make('PATCH', `/users/${id}`, { custom: { shoe_size: 43, tier: null, skills: [] } });
        const { tier: _, skills: _none, ...rest } = custom;
        assert.deepEqual(patched['custom'], { ...rest, shoe_size: 43 });
        await managed.make('PATCH', `/users/${id}`, { title: 'Countess' });
        assert.deepEqual(await stored(id), { ...rest, shoe_size: 43 });
        await managed.make('PATCH', `/users/${id}`, { custom: null });
        assert.equal(await stored(id), undefined);
      });

      const long = 'x'.repeat(1025);
      const wrong: readonly (readonly [what: string, values: Json, kind: string, text: RegExp | string])[] = [
        ['an unknown one', { shirt: 'L' }, 'custom.shirt', 'This field is not known here.'],
        ['a text for a number', { shoe_size: '42' }, 'custom.shoe_size', 'This field must be a number.'],
        ['a number for a text', { cost_code: 17 }, 'custom.cost_code', /must be a text/],
        ['an empty text', { cost_code: '' }, 'custom.cost_code', /must be a text/],
        ['a text of 1,025 characters', { cost_code: long }, 'custom.cost_code', /1 to 1024 characters/],
        ['a word for a boolean', { vegetarian: 'yes' }, 'custom.vegetarian', 'This field must be true or false.'],
        ['a day that is not', { hired: '2026-02-30' }, 'custom.hired', /RFC 3339/],
        ['a time without its zone', { hired: '2026-02-20T10:00:00' }, 'custom.hired', /RFC 3339/],
        ['one value for a list', { skills: 'Chess' }, 'custom.skills', 'This field must be a list.'],
        ['a list for one value', { cost_code: ['a'] }, 'custom.cost_code', /must be a text/],
        ['a list with a wrong element', { marks: [1, 'two'] }, 'custom.marks', 'This field must be a number.'],
        ['a value that is not allowed', { tier: 'bronze' }, 'custom.tier', 'This field must be one of gold, silver.'],
        ['no object', ['a'] as unknown as Json, 'custom', 'This field must be object.'],
      ];
      for (const [what, values, kind, text] of wrong)
        it(`${what}: 400 management.invalid_request, nothing stored`, async () => {
          await assertRefusal(await managed.call('POST', '/users', userWith('wrong', values)), 'management.invalid_request', {
            kind,
            text,
          });
          const { items } = await managed.make<{ items: readonly Json[] }>('GET', '/users?search=wrong');
          assert.deepEqual(items, []);
          const { id } = await managed.make('POST', '/users', userWith('right', { cost_code: 'kept' }));
          const refused = await managed.call('PATCH', `/users/${id}`, { title: 'Lost', custom: values });
          await assertRefusal(refused, 'management.invalid_request', { kind, text });
          const now = await managed.make('GET', `/users/${id}`);
          assert.deepEqual([now['title'], now['custom'], now['version']], [undefined, { cost_code: 'kept' }, 1]);
          await managed.call('DELETE', `/users/${id}`);
        });

      it('a unique value of somebody else, whatever its case: 409 management.conflict; free again when they go', async () => {
        const { id } = await managed.make('POST', '/users', userWith('first', { badge: 'Straße 7' }));
        const other = await managed.make('POST', '/users', userWith('second', { badge: 'B8' }));
        const expected = { kind: 'custom.badge', text: 'Another user has this value.' };
        await assertRefusal(
          await managed.call('POST', '/users', userWith('third', { badge: 'STRASSE 7' })),
          'management.conflict',
          expected,
        );
        await assertRefusal(
          await managed.call('PATCH', `/users/${other['id']}`, { custom: { badge: 'straße 7' } }),
          'management.conflict',
          expected,
        );
        assert.deepEqual(await stored(other['id']), { badge: 'B8' });
        await managed.make('PATCH', `/users/${id}`, { custom: { badge: 'STRASSE 7' } });
        await managed.call('DELETE', `/users/${id}`);
        await managed.make('PATCH', `/users/${other['id']}`, { custom: { badge: 'Straße 7' } });
      });
    });

    it('a deleted user has none, and a deleted attribute is gone from everybody and may come again as another', async () => {
      await managed.make('POST', '/custom-attributes', { name: 'passing', type: 'string' });
      const { id } = await managed.make('POST', '/users', userWith('passing', { passing: 'text', cost_code: 'stays' }));
      await managed.call('DELETE', '/custom-attributes/passing');
      assert.deepEqual(await stored(id), { cost_code: 'stays' });
      await managed.make('POST', '/custom-attributes', { name: 'passing', type: 'number' });
      assert.deepEqual(await stored(id), { cost_code: 'stays' });
      const { services } = scim.server.gatehouse;
      await managed.call('DELETE', `/users/${id}`);
      const rows = await services.database.read(managed.id as never, async (queries) => ({
        values: await queries
          .selectFrom('user_custom_values')
          .select('value_key')
          .where('user_id', '=', id as never)
          .execute(),
        user: await queries
          .selectFrom('users')
          .select('custom')
          .where('id', '=', id as never)
          .executeTakeFirst(),
      }));
      assert.deepEqual([rows.values, rows.user?.custom], [[], null]);
    });
  });
}
