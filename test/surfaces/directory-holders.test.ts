// Whoever has power and is in a directory (design 17 and 20, 1): who controls the directory neither ends them unasked nor changes what they are
// called or mailed to.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { type Answered, type AnsweredWorld, crowd, openAnsweredWorld, personEntry } from '../support/directory-runs.ts';
import { createTestUser } from '../support/management.ts';

for (const database of databases) {
  describe(`whoever has power and is in a directory, on ${database}`, () => {
    let world: AnsweredWorld;
    let answered: Answered;
    before(async () => {
      world = await openAnsweredWorld(database);
      ({ answered } = world);
    });
    beforeEach(() => world.begin());
    after(() => world?.close());
    const copied: AnsweredWorld['copied'] = (people, fields) => world.copied(people, fields);
    const states = (): Promise<readonly string[]> => world.states();
    const suspended = (): Promise<number> => world.suspended();

    it('whoever holds a role ends by approval alone, and the last owner never', async () => {
      const { id } = await copied(crowd(0, 3));
      const idOf = async (name: string): Promise<string> => (await world.person(name))!.id;
      for (const name of ['p0', 'p1']) await world.tenant.make('PUT', `/users/${await idOf(name)}/roles`, { roles: ['owner'] });
      answered.people = [personEntry('other')];
      assert.equal((await world.sync(id))['ended'], 1, 'p2');
      assert.deepEqual(await states(), ['other: active', 'p0: active', 'p1: active', 'p2: suspended']);
      const status = await world.statusOf(id);
      assert.deepEqual([status['state'], status['waiting_for_approval']], ['waiting_for_approval', 2]);
      await world.tenant.make('POST', `/directories/${id}/approve`);
      await world.run();
      const found = await states();
      assert.equal(found.filter((state) => /^p[01]: active$/.test(state)).length, 1, found.join());
      const [refused] = await world.linksOf(id, '?state=conflict');
      assert.match(String(refused?.['reason']), /another owner/);
    });

    it('whoever came to hold a role after an approval waits for another one', async () => {
      const { id } = await copied(crowd(0, 50));
      answered.people = crowd(25, 50);
      await world.sync(id);
      await world.tenant.make('PATCH', `/directories/${id}`, { enabled: false });
      assert.deepEqual(await world.tenant.make('POST', `/directories/${id}/approve`), { approved: 25 });
      await world.tenant.make('PUT', `/users/${(await world.person('p0'))!.id}/roles`, { roles: ['owner'] });
      await world.tenant.make('PATCH', `/directories/${id}`, { enabled: true });
      await world.run();
      assert.equal(await suspended(), 24);
      assert.equal((await world.statusOf(id))['waiting_for_approval'], 1);
    });

    it('whoever manages an organisation ends by approval alone', async () => {
      const { id } = await copied(crowd(0, 3), { deprovision: 'delete' });
      await world.tenant.make('POST', '/organization-roles', { name: 'manager', manage: true });
      const organization = await world.tenant.make('POST', '/organizations', { name: 'acme', display_name: 'Acme' });
      const manager = await world.person('p0');
      await world.tenant.make('PUT', `/organizations/${organization['id']}/members/${manager?.id}`, { roles: ['manager'] });
      answered.people = [personEntry('other')];
      assert.equal((await world.sync(id))['ended'], 2);
      assert.deepEqual(await states(), ['other: active', 'p0: active']);
      assert.equal((await world.statusOf(id))['waiting_for_approval'], 1);
      await world.tenant.make('POST', `/directories/${id}/approve`);
      await world.run();
      assert.deepEqual(await states(), ['other: active']);
    });

    it('whoever came to hold a role is not renamed, and their mail goes where it went; without it they are kept again', async () => {
      const { id } = await copied([personEntry('ann')]);
      const ann = (await world.person('ann'))!.id;
      await world.tenant.make('PUT', `/users/${ann}/roles`, { roles: ['owner'] });
      answered.people = [personEntry('ann', { attributes: { uid: ['ann'], mail: ['thief@evil.example'] } })];
      assert.equal((await world.sync(id))['conflicts'], 1);
      assert.deepEqual((await world.person('ann'))?.emails[0]?.['value'], 'ann@corp.example');
      assert.match(String((await world.linksOf(id, '?state=conflict'))[0]?.['reason']), /holds a role/);
      await createTestUser(world.tenant, 'another@owner.example', { admin_roles: ['owner'] });
      await world.tenant.make('PUT', `/users/${ann}/roles`, { roles: [] });
      await world.sync(id);
      assert.deepEqual((await world.person('ann'))?.emails[0]?.['value'], 'thief@evil.example');
    });

    it('whoever manages an organisation is adopted by nobody', async () => {
      const ann = await createTestUser(world.tenant, 'ann@corp.example');
      await world.tenant.make('POST', '/organization-roles', { name: 'manager', manage: true });
      const organization = await world.tenant.make('POST', '/organizations', { name: 'acme', display_name: 'Acme' });
      await world.tenant.make('PUT', `/organizations/${organization['id']}/members/${ann.id}`, { roles: ['manager'] });
      const { id } = await copied([personEntry('ann')], { match: 'email' });
      assert.match(String((await world.linksOf(id, '?state=conflict'))[0]?.['reason']), /manages an organisation/);
      assert.equal((await world.person('ann@corp.example'))?.id, ann.id);
    });
  });
}
