// Contract 7.13 and 8: bulk limits at n and n+1, malformed requests, and each operation's own failure, on both databases.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { scimErrorUrn } from '../../src/contract/envelopes.ts';
import { scimBodyBytesMax, scimBulkOperationsMax } from '../../src/contract/limits.ts';
import { assertRefusal } from '../support/refusal.ts';
import { enterpriseSchema, type Json, type ScimCaller, scimPlaces, startScim, userBody } from '../support/scim.ts';

const bulkSchema = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest';
const bulk = (Operations: readonly Json[], more: Json = {}): Json => ({ schemas: [bulkSchema], Operations, ...more });
const post = (bulkId: string, path: string, data: Json): Json => ({ method: 'POST', path, bulkId, data });
const idIn = (operation: Json): string => String(operation['location']).split('/').at(-1)!;

for (const { database, directory } of scimPlaces) {
  describe(`7.13 bulk of ${directory} (${database})`, () => {
    let scim: ScimCaller;
    before(async () => {
      scim = await startScim(database, {}, directory);
    });
    after(() => scim.close());
    const run = async (operations: readonly Json[], more?: Json): Promise<readonly Json[]> => {
      const result = await scim.call('POST', '/Bulk', bulk(operations, more));
      assert.equal(result.status, 200, JSON.stringify(result.body));
      return result.body['Operations'] as readonly Json[];
    };
    const failure = (operation: Json | undefined, scimType: string | undefined, status: string): void => {
      assert.ok(operation !== undefined);
      const response = operation['response'] as Json;
      assert.equal(operation['status'], status, JSON.stringify(operation));
      assert.deepEqual(response['schemas'], [scimErrorUrn]);
      assert.equal(response['scimType'], scimType);
      assert.equal(response['status'], status);
    };

    it('7.13 scim.tooMany: one operation over the limit; the limit passes', async () => {
      const operation = { method: 'DELETE', path: '/Users/nobody' };
      const many = (count: number): Json => bulk(Array.from({ length: count }, () => operation));
      assert.equal((await scim.call('POST', '/Bulk', many(scimBulkOperationsMax))).status, 200);
      await assertRefusal(await scim.fetch('POST', '/Bulk', many(scimBulkOperationsMax + 1)), 'scim.tooMany', {
        text: 'A bulk request has at most 1000 operations.',
      });
    });

    it('7.13 scim.tooLarge: a byte over 1 MiB, checked before anything else; 1 MiB passes', async () => {
      const text = JSON.stringify(bulk([], { ignored: '' }));
      const exact = text.replace('"ignored":""', `"ignored":"${'x'.repeat(scimBodyBytesMax - text.length)}"`);
      assert.equal((await scim.call('POST', '/Bulk', exact)).status, 200);
      await assertRefusal(await scim.fetch('POST', '/Bulk', `${exact} `), 'scim.tooLarge', { text: 'A bulk request has at most 1 MiB.' });
      const many = JSON.stringify(bulk(Array.from({ length: 30_000 }, () => ({ method: 'DELETE', path: '/Users/a' }))));
      await assertRefusal(await scim.fetch('POST', '/Bulk', many), 'scim.tooLarge', { text: 'A bulk request has at most 1 MiB.' });
    });

    it('7.13 scim.invalidValue: a malformed request as a whole', async () => {
      const cases: readonly (readonly [unknown, string])[] = [
        [[], 'The bulk request must be a JSON object.'],
        [{}, 'Operations must be a list.'],
        [{ Operations: {} }, 'Operations must be a list.'],
        [{ Operations: ['x'] }, 'Each bulk operation must be an object.'],
        [{ Operations: [{ method: 5 }] }, 'method of a bulk operation must be a string.'],
        [{ Operations: [], failOnErrors: 'x' }, 'failOnErrors must be an integer.'],
      ];
      for (const [body, text] of cases) await assertRefusal(await scim.fetch('POST', '/Bulk', body), 'scim.invalidValue', { text });
    });

    it('7.13 scim.invalidPath: bad method, path or bulkId fails its own operation only', async () => {
      const results = await run([
        { method: 'GET', path: '/Users/x' },
        { method: 'POST', path: '/Nothing', bulkId: 'a', data: {} },
        { method: 'POST', path: '/Users', data: userBody('nobulkid') },
        post('twice', '/Users', userBody('once')),
        post('twice', '/Users', userBody('again')),
        post('ref', '/Groups', { displayName: 'R', members: [{ value: 'bulkId:nowhere' }] }),
        { method: 'PATCH', path: '/Users', data: {} },
        post('late', '/Users', userBody('late')),
      ]);
      for (const at of [0, 1, 2, 4, 5, 6]) failure(results[at], 'invalidPath', '400');
      assert.equal(results[3]!['status'], '201');
      assert.equal(results[7]!['status'], '201');
    });

    it('RFC 7644 3.7: every method, location, version, status and error of each operation', async () => {
      const user = await scim.newUser('bulky');
      const location = `${scim.base}/Users/${user.id}`;
      const results = await run([
        { method: 'put', path: `/Users/${user.id}`, version: 'W/"1"', data: { ...userBody('bulky'), title: 'Dr' } },
        {
          method: 'PATCH',
          path: `/Users/${user.id}`,
          version: 'W/"1"',
          data: { Operations: [{ op: 'replace', path: 'title', value: 'x' }] },
        },
        {
          method: 'PATCH',
          path: `/Users/${user.id}`,
          version: 'W/"2"',
          data: { Operations: [{ op: 'replace', path: 'title', value: 'x' }] },
        },
        post('dup', '/Users', userBody('BULKY')),
        { method: 'DELETE', path: `/Users/${user.id}` },
        { method: 'DELETE', path: `/Users/${user.id}` },
      ]);
      assert.deepEqual(results[0], { method: 'PUT', location, version: 'W/"2"', status: '200' });
      failure(results[1], undefined, '412');
      assert.deepEqual(results[2], { method: 'PATCH', location, version: 'W/"3"', status: '200' });
      failure(results[3], 'uniqueness', '409');
      assert.equal(results[3]!['bulkId'], 'dup');
      assert.deepEqual(results[4], { method: 'DELETE', location, status: '204' });
      failure(results[5], undefined, '404');
    });

    it('RFC 7644 3.7.2: references backward, forward, circular, in paths, and to what failed', async () => {
      const manager = (bulkId: string): Json => ({ [enterpriseSchema]: { manager: { value: `bulkId:${bulkId}` } } });
      const results = await run([
        post('team', '/Groups', { displayName: 'Refs', members: [{ value: 'bulkId:ann' }, { value: 'bulkId:bob' }] }),
        post('ann', '/Users', { ...userBody('ann'), ...manager('bob') }),
        post('bob', '/Users', { ...userBody('bob'), ...manager('ann') }),
        {
          method: 'PATCH',
          path: '/Groups/bulkId:team',
          data: { Operations: [{ op: 'remove', path: 'members', value: [{ value: 'bulkId:bob' }] }] },
        },
        post('bad', '/Users', { userName: 'bad' }),
        post('hurt', '/Groups', { displayName: 'Hurt', members: [{ value: 'bulkId:bad' }] }),
      ]);
      assert.deepEqual(
        results.map((result) => result['status']),
        ['201', '201', '201', '200', '400', '400'],
      );
      failure(results[5], 'invalidPath', '400');
      const [ann, bob] = [idIn(results[1]!), idIn(results[2]!)];
      const managerOf = async (id: string): Promise<unknown> =>
        (((await scim.call('GET', `/Users/${id}`)).body[enterpriseSchema] as Json)['manager'] as Json)['value'];
      assert.deepEqual([await managerOf(ann), await managerOf(bob)], [bob, ann]);
      const group = (await scim.call('GET', `/Groups/${idIn(results[0]!)}`)).body;
      assert.deepEqual(
        (group['members'] as readonly Json[]).map((member) => member['value']),
        [ann],
      );
    });

    it('RFC 7644 3.7: after failOnErrors only the processed operations are listed', async () => {
      const bad = { method: 'DELETE', path: '/Users/nobody' };
      const good = post('g', '/Users', userBody('after-errors'));
      assert.equal((await run([bad, good, bad, post('never', '/Users', userBody('never'))], { failOnErrors: 2 })).length, 3);
      assert.equal((await run([bad, bad, bad], { failOnErrors: 1 })).length, 1);
      assert.equal((await run([bad, bad, bad])).length, 3);
      const found = await scim.call('GET', `/Users?filter=${encodeURIComponent('userName eq "never"')}`);
      assert.equal(found.body['totalResults'], 0);
    });
  });
}
