// What the schema says is what the service does: references, primary values, managers, certificates, orders along other tables,
// members of a group in order, bulk creates together (design 15, SCIM 3 and 11 to 13), on both databases.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertRefusal } from '../support/refusal.ts';
import { enterpriseSchema, type Json, patchBody, type ScimCaller, scimPlaces, startScim, userBody, userSchema } from '../support/scim.ts';

const q = encodeURIComponent;

for (const { database, directory } of scimPlaces) {
  describe(`SCIM schema honesty of ${directory} (${database})`, () => {
    let scim: ScimCaller;
    before(async () => {
      scim = await startScim(database, {}, directory);
    });
    after(() => scim.close());
    const found = async (path: string): Promise<Json> => {
      const { status, body } = await scim.call('GET', path);
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    };
    const idsOf = (body: Json): readonly unknown[] => (body['Resources'] as readonly Json[]).map((resource) => resource['id']);

    it('RFC 7643 2.4: primary is always shown', async () => {
      const user = await scim.newUser('primary', {
        roles: [{ value: 'a' }, { value: 'b', primary: 'TRUE' }],
        addresses: [{ country: 'DE' }],
      });
      assert.deepEqual(user['roles'], [
        { value: 'a', primary: false },
        { value: 'b', primary: true },
      ]);
      assert.deepEqual(user['addresses'], [{ country: 'DE', primary: false }]);
    });

    it('the schema asks for value where a user cannot be without, and nowhere else', async () => {
      const { body } = await scim.call('GET', `/Schemas/${userSchema}`);
      const attributes = body['attributes'] as readonly (Json & { readonly subAttributes?: readonly Json[] })[];
      const required = attributes.filter(({ subAttributes = [] }) =>
        subAttributes.some((sub) => sub['name'] === 'value' && sub['required']),
      );
      assert.deepEqual(
        required.map(({ name }) => name),
        ['emails'],
      );
      const enterprise = (await scim.call('GET', `/Schemas/${enterpriseSchema}`)).body['attributes'] as readonly Json[];
      const manager = enterprise.find(({ name }) => name === 'manager')?.['subAttributes'] as readonly Json[];
      assert.equal(manager.find(({ name }) => name === 'displayName')?.['mutability'], 'readOnly');
    });

    it("manager: displayName and $ref are the manager's own, and gone with it; what a client sends as displayName is ignored", async () => {
      const boss = await scim.newUser('boss', { displayName: 'The Boss' });
      const user = await scim.newUser('led', { [enterpriseSchema]: { manager: { value: boss.id, displayName: 'Nobody' } } });
      const managerOf = async (): Promise<unknown> => ((await found(`/Users/${user.id}`))[enterpriseSchema] as Json)['manager'];
      assert.deepEqual(await managerOf(), { value: boss.id, $ref: `${scim.base}/Users/${boss.id}`, displayName: 'The Boss' });
      await scim.call('PATCH', `/Users/${boss.id}`, patchBody({ op: 'replace', path: 'displayName', value: 'New Boss' }));
      assert.equal(((await managerOf()) as Json)['displayName'], 'New Boss');
      const put = await scim.call('PUT', `/Users/${user.id}`, { ...userBody('led'), [enterpriseSchema]: { manager: { value: boss.id } } });
      assert.equal((put.body['meta'] as Json)['version'], 'W/"1"', 'nothing changed');
      const byRef = `${enterpriseSchema}:manager.$ref eq "${scim.base}/Users/${boss.id}"`;
      assert.deepEqual(idsOf(await found(`/Users?filter=${q(byRef)}`)), [user.id]);
      await assertRefusal(
        await scim.fetch(
          'PATCH',
          `/Users/${user.id}`,
          patchBody({ op: 'replace', path: `${enterpriseSchema}:manager.displayName`, value: 'x' }),
        ),
        'scim.invalidPath',
        { text: 'The path names no attribute that can change.' },
      );
      await scim.call('DELETE', `/Users/${boss.id}`);
      assert.deepEqual(await managerOf(), { value: boss.id });
    });

    it('$ref in filters: eq with an address of this tenant, pr, and nothing else', async () => {
      const user = await scim.newUser('referred');
      const group = await scim.newGroup('Referred', [user.id]);
      const cases: readonly (readonly [string, string, readonly unknown[]])[] = [
        ['/Users', `groups.$ref eq "${scim.base}/Groups/${group.id}"`, [user.id]],
        ['/Users', `groups[$ref eq "${scim.base}/Groups/${group.id}"]`, [user.id]],
        ['/Users', `groups.$ref eq "https://elsewhere.example/scim/v2/Groups/${group.id}"`, []],
        ['/Users', `groups.$ref eq "${scim.base}/Groups/${group.id}/x"`, []],
        ['/Users', `userName eq "referred" and groups.$ref pr`, [user.id]],
        ['/Groups', `members.$REF eq "${scim.base}/Users/${user.id}"`, [group.id]],
      ];
      for (const [path, filter, ids] of cases) assert.deepEqual(idsOf(await found(`${path}?filter=${q(filter)}`)), ids, filter);
      for (const filter of ['groups.$ref sw "http"', 'groups.$ref ne "x"', 'groups.$ref eq null', 'groups[$ref co "x"]']) {
        const { body } = await scim.call('GET', `/Users?filter=${q(filter)}`);
        assert.equal(body['scimType'], 'invalidFilter', filter);
      }
    });

    it('7.13 scim.invalidValue: a certificate that is no base64', async () => {
      const send = (name: string, value: string): Promise<Response> =>
        scim.fetch('POST', '/Users', { ...userBody(name), x509Certificates: [{ value }] });
      for (const value of ['%%%', 'YQ=', 'abcde', 'Y Q==', 'YQ==YQ=='])
        await assertRefusal(await send('certless', value), 'scim.invalidValue', { text: 'value is not base64.' });
      for (const [at, value] of ['YQ==', 'YQ', 'YWI=', 'YWJj', '-_-_'].entries())
        assert.equal((await send(`cert${at}`, value)).status, 201);
    });

    it('sortBy emails: the primary address; whoever has none comes last', async () => {
      const emails = (...values: readonly string[]): Json => ({ emails: values.map((value, at) => ({ value, primary: at === 0 })) });
      const b = await scim.newUser('sort1', emails('b@sort.example', '0@sort.example'));
      const c = await scim.newUser('sort2', emails('C@sort.example'));
      const a = await scim.newUser('sort3', emails('a@sort.example', 'z@sort.example'));
      const filter = `filter=${q('userName sw "sort"')}`;
      for (const sortBy of ['emails', 'emails.value', 'Emails.Value']) {
        assert.deepEqual(idsOf(await found(`/Users?${filter}&sortBy=${sortBy}`)), [a.id, b.id, c.id]);
        assert.deepEqual(idsOf(await found(`/Users?${filter}&sortBy=${sortBy}&sortOrder=descending`)), [c.id, b.id, a.id]);
      }
      const whole = await found('/Users?sortBy=emails&count=200');
      assert.equal(idsOf(whole).length, whole['totalResults']);
      const first = await found('/Users?sortBy=emails&count=2&cursor');
      const rest = await found(`/Users?sortBy=emails&count=200&cursor=${q(String(first['nextCursor']))}`);
      assert.deepEqual([...idsOf(first), ...idsOf(rest)], idsOf(whole));
      assert.equal((await scim.call('GET', '/Users?sortBy=emails.type')).body['scimType'], 'invalidValue');
      assert.equal((await scim.call('GET', '/Groups?sortBy=emails')).body['scimType'], 'invalidValue');
    });

    it('groups.value: members in order of creation by index, cursor and count; the count follows every change', async () => {
      const users: string[] = [];
      for (let at = 0; at < 7; at += 1) users.push((await scim.newUser(`member-${at}`)).id);
      const group = await scim.newGroup('Counted', users.toReversed());
      const filter = `filter=${q(`groups.value eq "${group.id}"`)}`;
      const whole = await found(`/Users?${filter}`);
      assert.deepEqual([idsOf(whole), whole['totalResults']], [users, 7]);
      const pages: unknown[] = [];
      for (let cursor: unknown = ''; cursor !== undefined; ) {
        const page = await found(`/Users?${filter}&count=3&cursor=${q(String(cursor))}`);
        assert.equal(page['totalResults'], 7);
        pages.push(...idsOf(page));
        cursor = page['nextCursor'];
      }
      assert.deepEqual(pages, users);
      const third = await found(`/Users?${filter}&startIndex=6&count=3`);
      assert.deepEqual([idsOf(third), third['totalResults']], [users.slice(5), 7]);
      assert.deepEqual(idsOf(await found(`/Users?filter=${q(`groups[value eq "${group.id}"]`)}&count=2`)), users.slice(0, 2));
      assert.deepEqual(idsOf(await found(`/Users?${filter}&sortBy=userName&sortOrder=descending&count=2`)), users.toReversed().slice(0, 2));
      const total = async (): Promise<unknown> => (await found(`/Users?${filter}&count=0`))['totalResults'];
      await scim.call('DELETE', `/Users/${users[0]}`);
      assert.equal(await total(), 6);
      await scim.call('PATCH', `/Groups/${group.id}`, patchBody({ op: 'remove', path: `members[value eq "${users[1]}"]` }));
      assert.equal(await total(), 5);
      await scim.call('PUT', `/Groups/${group.id}`, { displayName: 'Counted', members: [{ value: users[1] }, { value: users[2] }] });
      assert.equal(await total(), 2);
      await scim.call('DELETE', `/Groups/${group.id}`);
      assert.deepEqual([await total(), idsOf(await found(`/Users?${filter}`))], [0, []]);
    });

    it('an or of keys finds what each of them finds, once, in order', async () => {
      const one = await scim.newUser('or-one', { externalId: 'or-1' });
      const two = await scim.newUser('or-two', { externalId: 'or-2' });
      const search = async (filter: string): Promise<readonly unknown[]> => idsOf(await found(`/Users?filter=${q(filter)}`));
      assert.deepEqual(await search('userName eq "or-two" or externalId eq "or-1"'), [one.id, two.id]);
      assert.deepEqual(await search('userName eq "or-one" or externalId eq "or-1" or emails.value eq "or-one@example.com"'), [one.id]);
      assert.deepEqual(await search('(userName eq "or-one" or externalId eq "or-2") and not (userName eq "or-one")'), [two.id]);
      assert.deepEqual(await search('not (userName sw "or-" or userName pr)'), []);
    });

    it('RFC 7644 3.7: users of one bulk are created together; who cannot be is answered alone, the others are there', async () => {
      const data = (name: string): Json => userBody(name);
      const post = (bulkId: string, body: unknown): Json => ({ method: 'POST', path: '/Users', bulkId, data: body });
      await scim.newUser('bulk-taken');
      const Operations = [
        ...Array.from({ length: 120 }, (_, at) => post(`u${at}`, data(`bulk-${at}`))),
        post('taken', data('BULK-taken')),
        post('again', data('bulk-7')),
        post('wrong', { userName: 'bulk-wrong' }),
        post('u3', data('bulk-samebulkid')),
        { method: 'POST', path: '/Groups', bulkId: 'g', data: { displayName: 'Bulked', members: [{ value: 'bulkId:u119' }] } },
        post('last', { ...data('bulk-last'), active: false }),
      ];
      const { status, body } = await scim.call('POST', '/Bulk', { Operations });
      assert.equal(status, 200);
      const results = body['Operations'] as readonly Json[];
      const statuses = results.map((result) => result['status']);
      assert.deepEqual(statuses.slice(120), ['409', '409', '400', '400', '201', '201']);
      assert.ok(statuses.slice(0, 120).every((one) => one === '201'));
      assert.deepEqual(Object.keys(results[5]!).sort(), ['bulkId', 'location', 'method', 'status', 'version']);
      const made = await found(String(results[5]!['location']).slice(scim.base.length));
      assert.deepEqual(
        [made['userName'], (made['meta'] as Json)['version'], (made['meta'] as Json)['location']],
        ['bulk-5', results[5]!['version'], results[5]!['location']],
      );
      assert.equal((await found(`/Users?filter=${q('userName sw "bulk-"')}&count=0`))['totalResults'], 122);
      assert.equal((await found(`/Users?filter=${q('userName eq "bulk-last"')}`))['totalResults'], 1);
    });
  });
}
