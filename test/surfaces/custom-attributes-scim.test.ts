// Design 16, section 5: what a tenant adds to its people is a schema of its own in SCIM: discovery, creation, PATCH, bulk, filters,
// orders; contract 7.13 for what is wrong, and nothing stored then. On both databases.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { customDefinitions, userWith } from '../support/custom-attributes.ts';
import { databases } from '../support/databases.ts';
import type { Json, Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { patchBody, type ScimCaller, startScim, customSchema as urn, userBody, userSchema } from '../support/scim.ts';

for (const database of databases) {
  describe(`custom attributes in SCIM (${database})`, () => {
    let scim: ScimCaller;
    let managed: Managed;
    const stored = async (id: unknown): Promise<unknown> => (await managed.make('GET', `/users/${id}`))['custom'];
    before(async () => {
      scim = await startScim(database);
      managed = await manageRootTenant(scim.server);
      for (const definition of customDefinitions) await managed.make('POST', '/custom-attributes', definition);
    });
    after(() => scim.close());

    it('/Schemas and /ResourceTypes have them as an extension', async () => {
      const { body } = await scim.call('GET', `/Schemas/${urn}`);
      const of = (name: string): Json => (body['attributes'] as readonly Json[]).find((one) => one['name'] === name)!;
      const shown = (name: string, ...members: readonly string[]): readonly unknown[] => members.map((member) => of(name)[member]);
      assert.deepEqual(of('cost_code'), {
        name: 'cost_code',
        type: 'string',
        multiValued: false,
        description: 'Cost code',
        required: false,
        caseExact: false,
        mutability: 'readWrite',
        returned: 'default',
        uniqueness: 'none',
      });
      assert.deepEqual(shown('shoe_size', 'type', 'description'), ['decimal', 'shoe_size']);
      assert.deepEqual(shown('vegetarian', 'type'), ['boolean']);
      assert.deepEqual(shown('hired', 'type'), ['dateTime']);
      assert.deepEqual(shown('skills', 'type', 'multiValued', 'subAttributes'), ['string', true, undefined]);
      assert.deepEqual(shown('badge', 'uniqueness'), ['server']);
      assert.deepEqual(shown('tier', 'canonicalValues'), [['gold', 'silver']]);
      assert.deepEqual(shown('clearance', 'mutability'), ['readOnly']);
      const type = (await scim.call('GET', '/ResourceTypes/User')).body;
      assert.deepEqual((type['schemaExtensions'] as readonly Json[]).at(-1), { schema: urn, required: false });
    });

    const written = {
      cost_code: 'K-18',
      shoe_size: 40,
      vegetarian: false,
      hired: '2026-03-01T12:00:00Z',
      skills: ['Sewing'],
      badge: 'S1',
    };
    const shown = { ...written, hired: '2026-03-01T12:00:00.000Z' };

    it('taken at creation even when `schemas` omits it, shown with it; unknown ones are ignored', async () => {
      const { body, status } = await scim.call('POST', '/Users', { ...userBody('entra'), [urn]: { ...written, nobody: 'knows' } });
      assert.equal(status, 201);
      assert.deepEqual(body['schemas'], [userSchema, urn]);
      assert.deepEqual(body[urn], shown);
      assert.deepEqual(await stored(body['id']), { ...written, hired: '2026-03-01T12:00:00.000Z' });
      const only = await scim.call('GET', `/Users/${body['id']}?attributes=${urn}:shoe_size`);
      assert.deepEqual(only.body[urn], { shoe_size: 40 });
      await scim.call('DELETE', `/Users/${body['id']}`);
    });

    it('`edit: admin` is read only: creation and PUT leave it, an explicit path is invalidPath', async () => {
      const { id } = await managed.make(
        'POST',
        '/users',
        userWith('cleared', { clearance: 'secret', cost_code: 'a', hired: '2026-01-31' }),
      );
      const put = await scim.call('PUT', `/Users/${id}`, {
        ...userBody('cleared'),
        [urn]: { clearance: 'top', cost_code: 'b', hired: '2026-01-31T00:00:00Z' },
      });
      assert.deepEqual(put.body[urn], { cost_code: 'b', hired: '2026-01-31T00:00:00.000Z', clearance: 'secret' });
      assert.deepEqual(await stored(id), { cost_code: 'b', hired: '2026-01-31', clearance: 'secret' });
      await assertRefusal(
        await scim.fetch('PATCH', `/Users/${id}`, patchBody({ op: 'replace', path: `${urn}:clearance`, value: 'top' })),
        'scim.invalidPath',
        { text: 'The path names no attribute that can change.' },
      );
      const emptied = await scim.call('PUT', `/Users/${id}`, userBody('cleared'));
      assert.deepEqual(emptied.body[urn], { clearance: 'secret' });
      await managed.call('DELETE', `/users/${id}`);
    });

    it('PATCH: by path, by URN, without a path, list elements, removal', async () => {
      const { id } = await scim.newUser('patched', { [urn]: written });
      const patch = async (...operations: readonly Json[]): Promise<unknown> => {
        const { status, body } = await scim.call('PATCH', `/Users/${id}`, patchBody(...operations));
        assert.equal(status, 200, JSON.stringify(body));
        return body[urn];
      };
      assert.deepEqual(await patch({ op: 'replace', path: `${urn}:shoe_size`, value: 41 }), { ...shown, shoe_size: 41 });
      assert.deepEqual(await patch({ op: 'add', value: { [urn]: { cost_code: 'x' }, [`${urn}:tier`]: 'silver' } }), {
        ...shown,
        shoe_size: 41,
        cost_code: 'x',
        tier: 'silver',
      });
      const skills = async (operation: Json): Promise<unknown> => ((await patch(operation)) as Json | undefined)?.['skills'];
      assert.deepEqual(await skills({ op: 'add', path: `${urn}:skills`, value: ['Chess', 'Sewing'] }), ['Sewing', 'Chess']);
      assert.deepEqual(await skills({ op: 'remove', path: `${urn}:skills[value eq "sewing"]` }), ['Chess']);
      assert.deepEqual(await skills({ op: 'replace', path: `${urn}:skills`, value: ['Go', { value: 'Art' }] }), ['Go', 'Art']);
      assert.deepEqual(await skills({ op: 'remove', path: `${urn}:skills` }), undefined);
      assert.equal(await patch({ op: 'remove', path: urn }), undefined);
      assert.equal(await stored(id), undefined);
      await scim.call('DELETE', `/Users/${id}`);
    });

    it('bulk creates carry them', async () => {
      const { body } = await scim.call('POST', '/Bulk', {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
        Operations: ['ba', 'bb'].map((name) => ({
          method: 'POST',
          path: '/Users',
          bulkId: name,
          data: { ...userBody(name), [urn]: { cost_code: name } },
        })),
      });
      const locations = (body['Operations'] as readonly Json[]).map(({ location }) => String(location).split('/').at(-1)!);
      for (const [at, id] of locations.entries()) assert.deepEqual(await stored(id), { cost_code: ['ba', 'bb'][at] });
      for (const id of locations) await scim.call('DELETE', `/Users/${id}`);
    });

    const wrong: readonly (readonly [what: string, values: Json, text: RegExp | string])[] = [
      ['a text for a number', { shoe_size: '42' }, 'shoe_size must be a number.'],
      ['a number for a text', { cost_code: 17 }, 'cost_code must be a string.'],
      ['a word for a boolean', { vegetarian: 'yes' }, 'vegetarian must be true or false.'],
      ['no date', { hired: 'yesterday' }, 'hired must be a date and time.'],
      ['a text of 1,025 characters', { cost_code: 'x'.repeat(1025) }, /longer than 1024/],
      ['a value that is not allowed', { tier: 'bronze' }, 'tier must be one of gold, silver.'],
      ['no object', 'x' as unknown as Json, /must be an object/],
    ];
    for (const [what, values, text] of wrong)
      it(`${what}: 7.13 invalidValue, nothing stored`, async () => {
        await assertRefusal(await scim.fetch('POST', '/Users', { ...userBody('bad'), [urn]: values }), 'scim.invalidValue', { text });
        const { id } = await scim.newUser('good', { [urn]: { cost_code: 'kept' } });
        const refused = await scim.fetch('PATCH', `/Users/${id}`, patchBody({ op: 'replace', value: { title: 'Lost', [urn]: values } }));
        await assertRefusal(refused, 'scim.invalidValue', { text });
        const { body } = await scim.call('GET', `/Users/${id}`);
        assert.deepEqual([body['title'], body[urn]], [undefined, { cost_code: 'kept' }]);
        await scim.call('DELETE', `/Users/${id}`);
      });

    it('a unique value of somebody else: 7.13 uniqueness', async () => {
      const { id } = await scim.newUser('holder', { [urn]: { badge: 'Unique' } });
      await assertRefusal(await scim.fetch('POST', '/Users', { ...userBody('taker'), [urn]: { badge: 'UNIQUE' } }), 'scim.uniqueness', {
        text: 'A value of badge is in use.',
      });
      await scim.call('DELETE', `/Users/${id}`);
    });

    describe('SCIM filters and orders', () => {
      const people: readonly (readonly [string, Json])[] = [
        ['fa', { cost_code: 'Alpha', shoe_size: -1, vegetarian: true, hired: '2026-01-01T00:00:00Z', skills: ['Chess', 'Go'] }],
        ['fb', { cost_code: 'beta', shoe_size: 2, vegetarian: false, hired: '2026-01-02T00:00:00+02:00', skills: ['go'] }],
        ['fc', { cost_code: 'ALPHABET', shoe_size: 10.5, hired: '2027-01-01' }],
        ['fd', {}],
      ];
      const ids: string[] = [];
      before(async () => {
        for (const [name, values] of people) ids.push(String((await managed.make('POST', '/users', userWith(name, values)))['id']));
      });
      after(async () => {
        for (const id of ids) await managed.call('DELETE', `/users/${id}`);
      });
      const found = async (query: string): Promise<readonly unknown[]> => {
        const { status, body } = await scim.call('GET', `/Users?${query}`);
        assert.equal(status, 200, JSON.stringify(body));
        return (body['Resources'] as readonly Json[]).map(({ userName }) => userName);
      };
      const cases: readonly (readonly [filter: string, names: readonly string[]])[] = [
        [`${urn}:cost_code eq "ALPHA"`, ['fa']],
        [`${urn}:Cost_Code sw "alpha"`, ['fa', 'fc']],
        [`${urn}:cost_code ew "bet"`, ['fc']],
        [`${urn}:cost_code co "ha"`, ['fa', 'fc']],
        [`${urn}:cost_code gt "alphabet"`, ['fb']],
        [`userName sw "f" and ${urn}:cost_code ne "alpha"`, ['fb', 'fc', 'fd']],
        [`${urn}:cost_code pr`, ['fa', 'fb', 'fc']],
        [`userName sw "f" and not (${urn}:cost_code pr)`, ['fd']],
        [`userName sw "f" and ${urn}:cost_code eq null`, ['fd']],
        [`${urn}:shoe_size eq 10.5`, ['fc']],
        [`${urn}:shoe_size lt 10`, ['fa', 'fb']],
        [`${urn}:shoe_size ge 2`, ['fb', 'fc']],
        [`userName sw "f" and ${urn}:shoe_size ne 2`, ['fa', 'fc', 'fd']],
        [`${urn}:vegetarian eq true`, ['fa']],
        [`userName sw "f" and ${urn}:vegetarian ne true`, ['fb', 'fc', 'fd']],
        [`${urn}:hired eq "2026-01-01T22:00:00Z"`, ['fb']],
        [`${urn}:hired ge "2026-01-01T22:00:00Z"`, ['fb', 'fc']],
        [`${urn}:hired lt "2027-01-01"`, ['fa', 'fb']],
        [`${urn}:skills eq "GO"`, ['fa', 'fb']],
        [`${urn}:skills[value sw "ch"]`, ['fa']],
        [`${urn}:skills pr`, ['fa', 'fb']],
        [`userName sw "f" and schemas eq "${urn}"`, ['fa', 'fb', 'fc']],
        [`${urn}:cost_code eq "beta" or ${urn}:skills eq "chess"`, ['fa', 'fb']],
      ];
      for (const [filter, names] of cases)
        it(filter.replaceAll(`${urn}:`, ''), async () => assert.deepEqual(await found(`filter=${encodeURIComponent(filter)}`), names));

      it('sorted by one: values first, those without last; the other way round descending', async () => {
        const by = (name: string, more = ''): Promise<readonly unknown[]> =>
          found(`sortBy=${urn}:${name}${more}&filter=${encodeURIComponent('userName sw "f"')}`);
        assert.deepEqual(await by('shoe_size'), ['fa', 'fb', 'fc', 'fd']);
        assert.deepEqual(await by('cost_code'), ['fa', 'fc', 'fb', 'fd']);
        assert.deepEqual(await by('cost_code', '&sortOrder=descending'), ['fd', 'fb', 'fc', 'fa']);
        assert.deepEqual(await by('cost_code', '&startIndex=2&count=2'), ['fc', 'fb']);
        await assertRefusal(await scim.fetch('GET', `/Users?sortBy=${urn}:skills`), 'scim.invalidValue', {
          text: 'sortBy names an attribute that cannot be sorted by.',
        });
      });

      it('what a filter cannot mean: 7.13 invalidFilter, a bad date invalidValue', async () => {
        for (const filter of [
          `${urn}:nobody eq "x"`,
          `${urn}:shoe_size eq "2"`,
          `${urn}:shoe_size sw 2`,
          `${urn}:vegetarian gt true`,
          `${urn}:hired co "2026"`,
        ])
          await assertRefusal(await scim.fetch('GET', `/Users?filter=${encodeURIComponent(filter)}`), 'scim.invalidFilter', { text: /./ });
        await assertRefusal(await scim.fetch('GET', `/Users?filter=${encodeURIComponent(`${urn}:hired eq "soon"`)}`), 'scim.invalidValue', {
          text: /date and time/,
        });
      });
    });
  });
}
