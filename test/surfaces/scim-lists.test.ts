// SCIM lists and searches on both databases: paging by index and cursor, totals, sorting, .search, discovery documents.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { groupIndex, userIndex } from '../../src/scim/schema/schema-lookup.ts';
import { type Json, patchBody, type ScimCaller, scimPlaces, startScim } from '../support/scim.ts';

const q = encodeURIComponent;
const listUrn = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

for (const { database, directory } of scimPlaces) {
  describe(`SCIM lists of ${directory} (${database})`, () => {
    let scim: ScimCaller;
    const ids: string[] = [];
    const names = ['delta', 'Alpha', 'echo', 'bravo', 'Charlie', 'fox%trot', 'golf_'];
    before(async () => {
      scim = await startScim(database, {}, directory);
      for (const [at, name] of names.entries()) {
        ids.push(
          (
            await scim.newUser(name, {
              displayName: at % 2 === 0 ? name : undefined,
              name: { familyName: `F${9 - at}` },
              title: at < 3 ? 'Dr' : undefined,
            })
          ).id,
        );
        await scim.server.clock.advance(10);
      }
      await scim.newGroup('Alpha team', [ids[0]!]);
      await scim.newGroup('Beta team');
    });
    after(() => scim.close());
    const list = async (query: string, path = '/Users'): Promise<Json> => {
      const result = await scim.call('GET', `${path}?${query}`);
      assert.equal(result.status, 200, JSON.stringify(result.body));
      return result.body;
    };
    const idsOf = (body: Json): readonly unknown[] => (body['Resources'] as readonly Json[]).map((resource) => resource['id']);
    const namesOf = (body: Json): readonly unknown[] =>
      (body['Resources'] as readonly Json[]).map((resource) => resource['userName'] ?? resource['displayName']);

    it('a list is a ListResponse in order of creation', async () => {
      const body = await list('');
      assert.deepEqual({ ...body, Resources: [] }, { schemas: [listUrn], totalResults: 7, itemsPerPage: 7, startIndex: 1, Resources: [] });
      assert.deepEqual(idsOf(body), ids);
      const whole = await scim.call('GET', `/Users/${ids[0]}`);
      assert.deepEqual((body['Resources'] as readonly Json[])[0], whole.body);
    });

    it('index paging: pages, clamps, beyond the end, count 0 and negative', async () => {
      const facts = async (query: string): Promise<Json> => {
        const { Resources: resources, schemas: _schemas, ...rest } = await list(query);
        return { ...rest, ids: (resources as readonly Json[]).map((resource) => ids.indexOf(String(resource['id']))) };
      };
      assert.deepEqual(await facts('startIndex=3&count=2'), { totalResults: 7, itemsPerPage: 2, startIndex: 3, ids: [2, 3] });
      assert.deepEqual(await facts('startIndex=7&count=2'), { totalResults: 7, itemsPerPage: 1, startIndex: 7, ids: [6] });
      assert.deepEqual(await facts('startIndex=9'), { totalResults: 7, itemsPerPage: 0, startIndex: 9, ids: [] });
      assert.deepEqual(await facts('startIndex=0&count=1'), { totalResults: 7, itemsPerPage: 1, startIndex: 1, ids: [0] });
      assert.deepEqual(await facts('startIndex=-5&count=1'), { totalResults: 7, itemsPerPage: 1, startIndex: 1, ids: [0] });
      for (const count of ['0', '-3'])
        assert.deepEqual(await facts(`count=${count}`), { totalResults: 7, itemsPerPage: 0, startIndex: 1, ids: [] });
      assert.equal((await facts('count=100000'))['itemsPerPage'], 7);
      assert.deepEqual(await facts(`filter=${q('title eq "dr"')}&count=2`), {
        totalResults: 3,
        itemsPerPage: 2,
        startIndex: 1,
        ids: [0, 1],
      });
      assert.deepEqual(await facts(`filter=${q('title eq "dr"')}&count=2&startIndex=3`), {
        totalResults: 3,
        itemsPerPage: 1,
        startIndex: 3,
        ids: [2],
      });
      assert.deepEqual(await facts(`filter=${q('not (title pr)')}&count=1`), { totalResults: 4, itemsPerPage: 1, startIndex: 1, ids: [3] });
    });

    it('totals follow writes', async () => {
      const total = async (filter?: string): Promise<unknown> =>
        (await list(`count=1${filter === undefined ? '' : `&filter=${q(filter)}`}`))['totalResults'];
      const active = 'active eq true and userName pr';
      assert.deepEqual([await total(), await total(active), await total(active)], [7, 7, 7]);
      const extra = await scim.newUser('extra');
      assert.deepEqual([await total(), await total(active)], [8, 8]);
      await scim.call('PATCH', `/Users/${extra.id}`, patchBody({ op: 'replace', path: 'active', value: false }));
      assert.deepEqual([await total(), await total(active)], [8, 7]);
      await scim.call('DELETE', `/Users/${extra.id}`);
      assert.deepEqual([await total(), await total(active)], [7, 7]);
    });

    it('cursor paging walks everything once, filtered and not, and ends without nextCursor', async () => {
      for (const filter of [
        '',
        `&filter=${q('userName pr')}`,
        `&filter=${q('emails.value ew "@EXAMPLE.com"')}`,
        `&filter=${q('userName co "a"')}`,
      ]) {
        const seen: unknown[] = [];
        let cursor = '';
        for (let pages = 0; pages < 10; pages += 1) {
          const body = await list(`count=3&cursor=${q(cursor)}${filter}`);
          assert.equal('startIndex' in body, false);
          seen.push(...idsOf(body));
          if (body['nextCursor'] === undefined) break;
          cursor = String(body['nextCursor']);
        }
        assert.deepEqual(seen, idsOf(await list(filter.slice(1))));
      }
    });

    it('sorting: folded, both directions, absent last then first, by dates; cursors keep the order', async () => {
      const sorted = [...names].sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
      assert.deepEqual(namesOf(await list('sortBy=userName')), sorted);
      assert.deepEqual(namesOf(await list('sortBy=USERNAME&sortOrder=Descending')), sorted.toReversed());
      const display = ['Charlie', 'delta', 'echo', 'golf_', 'Alpha', 'bravo', 'fox%trot'];
      assert.deepEqual(namesOf(await list('sortBy=displayName')), display);
      assert.deepEqual(idsOf(await list('sortBy=displayName&sortOrder=descending')).slice(0, 3), [ids[1], ids[3], ids[5]]);
      assert.deepEqual(idsOf(await list('sortBy=name.familyName')), ids.toReversed());
      assert.deepEqual(idsOf(await list('sortBy=meta.created&sortOrder=descending')), ids.toReversed());
      assert.deepEqual(idsOf(await list('sortBy=meta.lastModified')), ids);
      const first = await list('sortBy=userName&count=4&cursor=');
      const second = await list(`sortBy=userName&count=4&cursor=${q(String(first['nextCursor']))}`);
      assert.deepEqual([...namesOf(first), ...namesOf(second)], sorted);
      assert.deepEqual(namesOf(await list('sortBy=displayName', '/Groups')), ['Alpha team', 'Beta team']);
    });

    it('filters: LIKE characters are data; trigram, prefix and suffix find what scans find', async () => {
      const cases: readonly (readonly [string, readonly string[]])[] = [
        ['userName co "%"', ['fox%trot']],
        ['userName sw "golf_"', ['golf_']],
        ['userName co "x%tr"', ['fox%trot']],
        ['userName co "LPH"', ['Alpha']],
        ['userName sw "AL"', ['Alpha']],
        ['userName ew "RAVO"', ['bravo']],
        ['emails.value co "harlie@"', ['Charlie']],
        ['emails.value sw "echo@"', ['echo']],
        ['emails[value ew "f_@example.com" and primary eq true]', ['golf_']],
        ['userName eq "ALPHA" or userName eq "golf_"', ['Alpha', 'golf_']],
        [`id eq "${'x'}"`, []],
        ['groups.display eq "alpha TEAM"', ['delta']],
      ];
      for (const [filter, expected] of cases) assert.deepEqual(namesOf(await list(`filter=${q(filter)}`)), expected, filter);
      const member = await list(`filter=${q(`members[value eq "${ids[0]}"]`)}`, '/Groups');
      assert.deepEqual(namesOf(member), ['Alpha team']);
    });

    it('.search: one type, and all types whose attributes the filter names, paged across types', async () => {
      const search = async (path: string, body: Json): Promise<Json> => {
        const result = await scim.call('POST', path, body);
        assert.equal(result.status, 200, JSON.stringify(result.body));
        return result.body;
      };
      const users = await search('/Users/.search', { filter: 'userName sw "a"', attributes: ['userName'], startIndex: 1, count: 10 });
      assert.deepEqual(namesOf(users), ['Alpha']);
      assert.equal(users['totalResults'], 1);
      assert.deepEqual(namesOf(await search('/.search', { filter: 'displayName sw "alpha"' })), ['Alpha team']);
      assert.deepEqual(namesOf(await search('/.search', { filter: 'userName sw "a"' })), ['Alpha']);
      const all = await search('/.search', { attributes: ['userName', 'displayName'], startIndex: 7, count: 2 });
      assert.deepEqual(namesOf(all), ['golf_', 'Alpha team']);
      assert.equal(all['totalResults'], 9);
      assert.equal((await search('/.search', { filter: 'meta.resourceType eq "Group"' }))['totalResults'], 2);
    });

    it('discovery: schemas from the table, resource types, configuration', async () => {
      const schemas = await list('', '/Schemas');
      const expected = [userIndex, groupIndex].flatMap((index) => index.schemas.map((schema) => schema.id));
      assert.deepEqual(idsOf(schemas), expected);
      for (const id of expected) {
        const one = await scim.call('GET', `/Schemas/${id}`);
        assert.equal(one.status, 200);
        assert.deepEqual(
          one.body,
          (schemas['Resources'] as readonly Json[]).find((schema) => schema['id'] === id),
        );
      }
      const user = (await scim.call('GET', `/Schemas/${expected[0]}`)).body;
      const attributes = user['attributes'] as readonly Json[];
      assert.deepEqual(attributes[0], {
        name: 'userName',
        type: 'string',
        multiValued: false,
        description: 'The name the user signs in with; unique in the tenant.',
        required: true,
        caseExact: false,
        mutability: 'readWrite',
        returned: 'default',
        uniqueness: 'server',
      });
      assert.equal(attributes.find((attribute) => attribute['name'] === 'password')?.['returned'], 'never');
      const types = await list('', '/ResourceTypes');
      assert.deepEqual(idsOf(types), ['User', 'Group']);
      const config = (await scim.call('GET', '/ServiceProviderConfig')).body;
      assert.deepEqual(config['bulk'], { supported: true, maxOperations: 1000, maxPayloadSize: 1_048_576 });
      assert.deepEqual(config['filter'], { supported: true, maxResults: 200 });
      for (const feature of ['patch', 'sort', 'etag']) assert.deepEqual(config[feature], { supported: true });
    });
  });
}
