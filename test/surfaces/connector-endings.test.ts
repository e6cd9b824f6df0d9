// Whom a connector is to end, it ends (design 16, section 4): also whose account waits for a person because the target refused a change of it,
// and however slowly people leave, no more of them than anybody was asked about.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ConnectorWorld, startConnectorWorld } from '../support/connectors.ts';
import { databases } from '../support/databases.ts';
import { createTestUser, type Json } from '../support/management.ts';

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

    it('a group whose new name was refused with 409 loses the member it lost here', async () => {
      await world.fresh();
      const cas = await createTestUser(world.tenant, 'cas@example.com');
      const group = await world.tenant.make('POST', '/groups', { display_name: 'Vault' });
      await world.tenant.make('POST', `/groups/${group['id']}/members`, { user_id: cas.id });
      await world.connect({ groups: [String(group['id'])] });
      await world.run();
      const membersThere = async (): Promise<unknown> =>
        ((await world.scim('GET', '/Groups'))['Resources'] as readonly Json[])[0]?.['members'] ?? [];
      assert.equal(((await membersThere()) as readonly unknown[]).length, 1);
      world.proxy.intercept = ({ method, body }) =>
        method === 'PATCH' && JSON.stringify(body).includes('Taken') ? [409, {}, '{"detail":"taken"}'] : undefined;
      await world.tenant.make('PATCH', `/groups/${group['id']}`, { display_name: 'Taken' });
      await world.run();
      await world.tenant.make('DELETE', `/groups/${group['id']}/members/${cas.id}`);
      await world.run();
      assert.deepEqual(await membersThere(), []);
    });

    it('a member who is none any more at the target keeps nobody else in the group there', async () => {
      await world.fresh();
      const group = await world.tenant.make('POST', '/groups', { display_name: 'Keys' });
      const people: Json[] = [];
      for (const name of ['dia', 'eli', 'fox']) {
        const person = await createTestUser(world.tenant, `${name}@example.com`);
        people.push(person as unknown as Json);
        await world.tenant.make('POST', `/groups/${group['id']}/members`, { user_id: person.id });
      }
      await world.connect({ groups: [String(group['id'])] });
      await world.run();
      const groupThere = async (): Promise<Json> => ((await world.scim('GET', '/Groups'))['Resources'] as readonly Json[])[0]!;
      const there = await world.userThere('dia@example.com');
      const path = `members[value eq "${there?.id}"]`;
      await world.scim('PATCH', `/Groups/${(await groupThere())['id']}`, {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
        Operations: [{ op: 'remove', path }],
      });
      for (const { id: user } of people.slice(0, 2)) await world.tenant.make('DELETE', `/groups/${group['id']}/members/${user}`);
      await world.run();
      const left = ((await groupThere())['members'] as readonly Json[]).map(({ display }) => display);
      assert.deepEqual(left, ['fox@example.com']);
    });
  });
}
