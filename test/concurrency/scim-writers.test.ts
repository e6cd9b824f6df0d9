// Races on SCIM resources, with real parallel requests on both databases: no lost update, no second creation.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { assertRefusal } from '../support/refusal.ts';
import {
  type Json,
  makeOrganization,
  organizationCaller,
  patchBody,
  rootTenant,
  type ScimCaller,
  startScim,
  userBody,
} from '../support/scim.ts';

const tally = (statuses: readonly number[]): Readonly<Record<number, number>> =>
  Object.fromEntries(Object.entries(Object.groupBy(statuses, String)).map(([status, list]) => [status, list!.length]));

for (const database of databases) {
  describe(`SCIM races (${database})`, () => {
    let scim: ScimCaller;
    before(async () => {
      // A hundred at once are to be answered however busy the machine: nobody is to give up on the database meanwhile.
      scim = await startScim(database);
    });
    after(() => scim.close());
    const versionOf = (body: Json): number => Number(/\d+/.exec(String((body['meta'] as Json)['version']))?.[0]);

    it('100 conditional writers on one user: as many version steps as 200s, the rest 412', async () => {
      const user = await scim.newUser('contended');
      const path = `/Users/${user.id}`;
      let version = 1;
      let won = 0;
      for (let round = 0; round < 3; round += 1) {
        const writers = Array.from({ length: 100 }, (_, at) =>
          scim.call('PATCH', path, patchBody({ op: 'replace', path: 'title', value: `${round}-${at}` }), { 'if-match': `W/"${version}"` }),
        );
        const counts = tally((await Promise.all(writers)).map((result) => result.status));
        assert.deepEqual(counts, { 200: 1, 412: 99 });
        won += 1;
        version = versionOf((await scim.call('GET', path)).body);
        assert.equal(version, 1 + won);
      }
    });

    it('100 at once who each guessed another version: a step for every 200, the rest 412', async () => {
      const user = await scim.newUser('guessed');
      const path = `/Users/${user.id}`;
      const results = await Promise.all(
        Array.from({ length: 100 }, (_, at) =>
          scim.call('PATCH', path, patchBody({ op: 'replace', path: 'title', value: `${at}` }), { 'if-match': `W/"${1 + (at % 10)}"` }),
        ),
      );
      const { 200: done = 0, 412: refused = 0, ...others } = tally(results.map((result) => result.status));
      assert.deepEqual(others, {});
      assert.ok(done >= 1 && done <= 10, `${done} were done`);
      assert.equal(done + refused, 100);
      const versions = results.filter((result) => result.status === 200).map((result) => versionOf(result.body));
      assert.deepEqual(
        versions.toSorted((a, b) => a - b),
        Array.from({ length: done }, (_, step) => 2 + step),
      );
      assert.equal(versionOf((await scim.call('GET', path)).body), 1 + done);
    });

    it('100 writers at once without a condition: every one counts once', async () => {
      const user = await scim.newUser('unconditional');
      const path = `/Users/${user.id}`;
      const writers = Array.from({ length: 100 }, (_, at) =>
        scim.call('PATCH', path, patchBody({ op: 'replace', path: 'title', value: `${at}` })),
      );
      assert.deepEqual(tally((await Promise.all(writers)).map((result) => result.status)), { 200: 100 });
      assert.equal(versionOf((await scim.call('GET', path)).body), 101);
    });

    it('20 parallel creates of one userName, of one email, of one group: one 201 each', async () => {
      const parallel = async (path: string, body: (at: number) => Json): Promise<void> => {
        const results = await Promise.all(Array.from({ length: 20 }, (_, at) => scim.call('POST', path, body(at))));
        assert.deepEqual(tally(results.map((result) => result.status)), { 201: 1, 409: 19 });
      };
      await parallel('/Users', (at) => ({ ...userBody(`same${at}`), userName: at % 2 === 0 ? 'Same' : 'sAME' }));
      await parallel('/Users', (at) => ({ userName: `mail${at}`, emails: [{ value: 'One@Example.com', primary: true }] }));
      await parallel('/Groups', () => ({ displayName: 'One' }));
      const total = await scim.call('GET', `/Users?count=0`);
      const listed = await scim.call('GET', `/Users?count=200&attributes=id`);
      assert.equal(total.body['totalResults'], (listed.body['Resources'] as readonly Json[]).length);
    });

    it('25 parallel additions of different members: all are in, each a version', async () => {
      const ids: string[] = [];
      for (let at = 0; at < 25; at += 1) ids.push((await scim.newUser(`member${at}`)).id);
      const group = await scim.newGroup('Busy');
      const added = await Promise.all(
        ids.map((value) => scim.call('PATCH', `/Groups/${group.id}`, patchBody({ op: 'add', path: 'members', value: [{ value }] }))),
      );
      assert.deepEqual(tally(added.map((result) => result.status)), { 204: 25 });
      const after = (await scim.call('GET', `/Groups/${group.id}`)).body;
      assert.deepEqual((after['members'] as readonly Json[]).map((member) => member['value']).toSorted(), ids.toSorted());
      assert.equal(versionOf(after), 26);
    });

    it('a member deleted while it is added: never a member that is gone', async () => {
      const group = await scim.newGroup('Vanishing');
      for (let round = 0; round < 10; round += 1) {
        const { id } = await scim.newUser(`vanishing${round}`);
        const [added, deleted] = await Promise.all([
          scim.call('PATCH', `/Groups/${group.id}`, patchBody({ op: 'add', path: 'members', value: [{ value: id }] })),
          scim.call('DELETE', `/Users/${id}`),
        ]);
        assert.ok(added.status === 204 || added.status === 400, String(added.status));
        assert.equal(deleted.status, 204);
      }
      assert.equal((await scim.call('GET', `/Groups/${group.id}`)).body['members'], undefined);
    });

    for (const [path, body] of [
      ['/Groups', { displayName: 'Left' }],
      ['/Users', userBody('left')],
    ] as const)
      it(`scim.resource_not_found: ${path} of an organisation that is deleted while one is made`, async () => {
        const { id: tenant } = await rootTenant(scim.server);
        const organization = await makeOrganization(scim.server, `leaving${path.toLowerCase().replace('/', '-')}`);
        const caller = await organizationCaller(scim.server, organization);
        const { database: storage, jobs } = scim.server.gatehouse.services;
        await jobs.stop(); // what they write is not of the request in whose middle the organisation is deleted
        const { write } = storage;
        let isDeleted = false;
        Object.assign(storage, {
          write: async (...given: Parameters<typeof write>) => {
            Object.assign(storage, { write });
            await write(tenant, (queries) => queries.deleteFrom('organizations').where('id', '=', organization).execute());
            isDeleted = true;
            return write(...given);
          },
        });
        await assertRefusal(await caller.fetch('POST', path, body), 'scim.resource_not_found');
        assert.ok(isDeleted);
      });
  });
}
