// SCIM groups on both databases: members by delta, versions, console-managed groups unseen, large groups streamed.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { GroupId, UserId } from '../../src/domain/ids.ts';
import { insertMadeMembers } from '../../src/storage/people/directories/scim-members.ts';
import { addMembers } from '../../src/storage/people/group-writer.ts';
import { groupSchema, type Json, patchBody, rootTenant, type ScimCaller, scimPlaces, startScim } from '../support/scim.ts';

for (const { database, directory } of scimPlaces) {
  describe(`SCIM groups of ${directory} (${database})`, () => {
    let scim: ScimCaller;
    let users: readonly string[];
    before(async () => {
      scim = await startScim(database, {}, directory);
      const made: string[] = [];
      for (const name of ['a', 'b', 'c', 'd']) made.push((await scim.newUser(name)).id);
      users = made;
    });
    after(() => scim.close());
    const read = async (id: string, query = ''): Promise<Json> => (await scim.call('GET', `/Groups/${id}${query}`)).body;
    const memberIds = async (id: string): Promise<readonly unknown[]> =>
      (((await read(id))['members'] ?? []) as readonly Json[]).map((member) => member['value']);
    const versionOf = async (id: string): Promise<unknown> => ((await read(id))['meta'] as Json)['version'];
    const values = (...positions: readonly number[]): readonly Json[] => positions.map((at) => ({ value: users[at] }));

    it('a group comes back with its members; 201 with Location and ETag', async () => {
      const created = await scim.call('POST', '/Groups', {
        schemas: [groupSchema],
        displayName: 'Whole',
        externalId: 'g-1',
        members: values(0, 1),
      });
      assert.equal(created.status, 201);
      const { id, meta, ...rest } = created.body;
      const location = `${scim.base}/Groups/${id}`;
      assert.equal(created.headers.get('location'), location);
      assert.equal(created.headers.get('etag'), 'W/"1"');
      const member = (at: number, display: string): Json => ({
        value: users[at],
        $ref: `${scim.base}/Users/${users[at]}`,
        display,
        type: 'User',
      });
      assert.deepEqual(rest, {
        schemas: [groupSchema],
        externalId: 'g-1',
        displayName: 'Whole',
        members: [member(0, 'a'), member(1, 'b')],
      });
      assert.equal((meta as Json)['location'], location);
      assert.deepEqual(await read(String(id)), created.body);
      const user = (await scim.call('GET', `/Users/${users[0]}`)).body;
      assert.deepEqual(user['groups'], [{ value: id, $ref: location, display: 'Whole', type: 'direct' }]);
    });

    it('PATCH of members: delta only, 204 with ETag, no-op without a new version', async () => {
      const { id } = await scim.newGroup('Delta', [users[0]!]);
      const steps: readonly (readonly [Json, readonly number[], string])[] = [
        [{ op: 'add', path: 'members', value: values(1) }, [0, 1], 'W/"2"'],
        [{ op: 'add', path: 'members', value: values(0, 1) }, [0, 1], 'W/"2"'],
        [{ op: 'Add', value: { members: values(2) } }, [0, 1, 2], 'W/"3"'],
        [{ op: 'remove', path: `members[value eq "${users[1]}"]` }, [0, 2], 'W/"4"'],
        [{ op: 'remove', path: 'members', value: values(1) }, [0, 2], 'W/"4"'],
        [{ op: 'remove', path: 'members', value: values(2) }, [0], 'W/"5"'],
        [{ op: 'replace', path: 'members', value: values(2, 3) }, [2, 3], 'W/"6"'],
        [{ op: 'replace', path: 'members', value: values(3, 2) }, [2, 3], 'W/"6"'],
        [{ op: 'replace', path: 'members', value: [] }, [], 'W/"7"'],
        [{ op: 'replace', path: 'displayName', value: 'Delta 2' }, [], 'W/"8"'],
        [{ op: 'add', path: 'externalId', value: 'x' }, [], 'W/"9"'],
      ];
      for (const [operation, members, version] of steps) {
        const response = await scim.fetch('PATCH', `/Groups/${id}`, patchBody(operation));
        assert.equal(response.status, 204, JSON.stringify(operation));
        assert.equal(await response.text(), '');
        assert.equal(response.headers.get('etag'), version, JSON.stringify(operation));
        assert.deepEqual(
          await memberIds(id),
          members.map((at) => users[at]),
        );
        assert.equal(await versionOf(id), version);
      }
      const asked = await scim.call(
        'PATCH',
        `/Groups/${id}?attributes=displayName`,
        patchBody({ op: 'add', path: 'members', value: values(0) }),
      );
      assert.equal(asked.status, 200);
      assert.deepEqual(asked.body, { schemas: [groupSchema], id, displayName: 'Delta 2' });
    });

    it('PATCH is atomic: a refused operation undoes those before it', async () => {
      const group = await scim.newGroup('Atomic', [users[0]!]);
      const patch = patchBody(
        { op: 'remove', path: 'members', value: values(0) },
        { op: 'replace', path: 'displayName', value: 'x' },
        { op: 'add', path: 'members', value: [{ value: 'nobody' }] },
      );
      assert.equal((await scim.call('PATCH', `/Groups/${group.id}`, patch)).status, 400);
      assert.deepEqual(await read(group.id), group);
    });

    it('PUT without members leaves them, with [] clears them', async () => {
      const { id } = await scim.newGroup('Put', [users[0]!, users[1]!]);
      const kept = await scim.call('PUT', `/Groups/${id}`, { displayName: 'Put 2' });
      assert.equal(kept.status, 200);
      assert.equal((kept.body['members'] as readonly Json[]).length, 2);
      const same = await scim.call('PUT', `/Groups/${id}`, { displayName: 'Put 2', members: values(1, 0) });
      assert.equal(same.headers.get('etag'), 'W/"2"');
      const cleared = await scim.call('PUT', `/Groups/${id}`, { displayName: 'Put 2', members: [] });
      assert.equal(cleared.body['members'], undefined);
      assert.equal(cleared.headers.get('etag'), 'W/"3"');
    });

    it('DELETE frees the name; 404 afterwards', async () => {
      const { id } = await scim.newGroup('Gone', [users[0]!]);
      assert.equal((await scim.call('DELETE', `/Groups/${id}`)).status, 204);
      assert.equal((await scim.call('GET', `/Groups/${id}`)).status, 404);
      await scim.newGroup('GONE');
    });

    it('a deleted, suspended or unknown member: only live users can be added', async () => {
      const gone = await scim.newUser('gone-member');
      await scim.call('DELETE', `/Users/${gone.id}`);
      const suspended = await scim.newUser('suspended-member', { active: false });
      const { id } = await scim.newGroup('Live', [suspended.id]);
      assert.deepEqual(await memberIds(id), [suspended.id]);
      const texts = new Set<unknown>();
      for (const value of [gone.id, 'nobody', id]) {
        const result = await scim.call('PATCH', `/Groups/${id}`, patchBody({ op: 'add', path: 'members', value: [{ value }] }));
        assert.equal(result.status, 400);
        texts.add(JSON.stringify(result.body));
      }
      assert.equal(texts.size, 1);
    });

    it('a group of 5,000 is streamed whole, in lists too, and can be left out', async () => {
      const { database: db } = scim.server.gatehouse.services;
      const tenant = await rootTenant(scim.server);
      const { id } = await scim.newGroup('Large');
      const ids = Array.from({ length: 5000 }, (_, at) => `01900000-0000-7000-8000-${String(at).padStart(12, '0')}` as UserId);
      await db.write(tenant.id, async (queries) => {
        for (let start = 0; start < ids.length; start += 1000) {
          const rows = ids.slice(start, start + 1000).map((user) => ({
            tenant_id: tenant.id,
            id: user,
            user_name: user,
            user_name_key: user,
            state: 'active',
            origin: 'scim',
            role: 'user',
            version: 1,
            created_at: 1,
            updated_at: 1,
          }));
          await queries
            .insertInto('users')
            .values(rows as never)
            .execute(); // nullable columns left out
          const { organization } = scim;
          const these = rows.map(({ id }) => id);
          if (organization !== undefined) await insertMadeMembers(queries, { tenant: tenant.id, organization }, these, []);
        }
        const { organization } = scim;
        await addMembers(queries, db.dialect, { tenant: tenant.id, organization }, id as GroupId, ids);
      });
      assert.deepEqual(await memberIds(id), ids);
      const list = await scim.call('GET', `/Groups?filter=${encodeURIComponent('displayName eq "large"')}`);
      assert.equal(((list.body['Resources'] as readonly Json[])[0]!['members'] as readonly Json[]).length, 5000);
      assert.equal((await read(id, '?excludedAttributes=members'))['members'], undefined);
      const values = (await read(id, '?attributes=members.value'))['members'] as readonly Json[];
      assert.deepEqual(values[0], { value: ids[0] });
    });
  });
}
