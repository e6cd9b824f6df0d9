// Whom a connector is to end, it ends (design 16, section 4): also whose account waits for a person because the target refused a change of it,
// and however slowly people leave, no more of them than anybody was asked about.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ConnectorWorld, startConnectorWorld } from '../support/connectors.ts';
import { databases } from '../support/databases.ts';
import { createTestUser } from '../support/management.ts';

for (const database of databases) {
  describe(`endings of connectors on ${database}`, () => {
    let world: ConnectorWorld;
    before(async () => {
      world = await startConnectorWorld(database);
    });
    after(() => world?.close());

    const isActive = async (name: string): Promise<boolean | undefined> => (await world.userThere(name))?.active;

    it('runs of an hour that delete accounts count together', async () => {
      await world.fresh();
      const people: { readonly id: string }[] = [];
      for (let at = 0; at < 41; at += 1) people.push(await createTestUser(world.tenant, `r${at}@example.com`));
      const { id } = await world.connect({ deprovision: 'delete' });
      await world.run();
      assert.equal((await world.usersThere()).length, 41);
      const remove = async (from: number, to: number): Promise<void> => {
        await world.tenant.make('PATCH', `/connectors/${id}`, { enabled: false });
        for (const { id: user } of people.slice(from, to)) await world.tenant.make('DELETE', `/users/${user}`);
        await world.tenant.make('PATCH', `/connectors/${id}`, { enabled: true });
        await world.run();
      };
      await remove(0, 15);
      assert.equal((await world.usersThere()).length, 26);
      await remove(15, 30);
      assert.equal((await world.usersThere()).length, 26, 'thirty together wait');
      assert.deepEqual(await world.tenant.make('POST', `/connectors/${id}/approve`), { approved: 15 });
      await world.run();
      assert.equal((await world.usersThere()).length, 11);
    });

    it('an account that a change of was refused with 409 ends with the person, suspended or deleted', async () => {
      await world.fresh();
      const ann = await createTestUser(world.tenant, 'ann@example.com');
      const ben = await createTestUser(world.tenant, 'ben@example.com');
      const { id } = await world.connect();
      await world.run();
      world.proxy.intercept = ({ method, body }) =>
        method === 'PATCH' && JSON.stringify(body).includes('Taken') ? [409, {}, '{"detail":"taken"}'] : undefined;
      for (const { id: user } of [ann, ben]) await world.tenant.make('PATCH', `/users/${user}`, { title: 'Taken' });
      await world.run();
      assert.equal((await world.statusOf(id)).links['conflict'], 2);
      await world.tenant.make('DELETE', `/users/${ben.id}`);
      await world.run();
      assert.equal(await isActive('ben@example.com'), false, 'deleted');
      await world.tenant.make('POST', `/users/${ann.id}/suspend`);
      await world.run();
      assert.equal(await isActive('ann@example.com'), false, 'suspended');
    });
  });
}
