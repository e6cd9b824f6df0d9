// `provision` of one person asks the target (design 21, 2): an account that was deleted or changed there comes back, and the answer is what
// was seen, never what was remembered. On both databases.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ConnectorWorld, startConnectorWorld } from '../support/connectors.ts';
import { databases } from '../support/databases.ts';
import { createTestUser, type Json } from '../support/management.ts';

for (const database of databases)
  describe(`provision of one person on ${database}`, () => {
    let world: ConnectorWorld;
    let id: string;
    let person: string;
    before(async () => {
      world = await startConnectorWorld(database);
      await world.fresh();
      person = (await createTestUser(world.tenant, 'ada@example.com', { title: 'Countess' })).id;
      ({ id } = await world.connect());
      await world.run();
      // A turn of its own, begun by the events below, would ask the target as well; one person is provisioned while it is disabled too.
      await world.tenant.make('PATCH', `/connectors/${id}`, { enabled: false });
      world.proxy.take();
    });
    after(() => world?.close());
    const provision = (): Promise<Json> => world.tenant.make('POST', `/connectors/${id}/provision`, { user_id: person });
    const remoteId = async (): Promise<string> => (await world.userThere('ada@example.com'))!.id;

    it('who is there as they should be is looked at and sent nothing', async () => {
      const there = await remoteId();
      const done = await provision();
      assert.deepEqual([done['state'], done['remote_id']], ['linked', there]);
      assert.deepEqual(world.proxy.take(), [`GET /Users/${there}`]);
    });

    it('an account that is gone there is put back, and the answer names the new one', async () => {
      const lost = await remoteId();
      await world.scim('DELETE', `/Users/${lost}`);
      const done = await provision();
      const there = await remoteId();
      assert.notEqual(there, lost);
      assert.deepEqual([done['state'], done['remote_id']], ['linked', there]);
      assert.deepEqual(world.proxy.take(), [`GET /Users/${lost}`, 'GET /Users', 'POST /Users']);
      assert.deepEqual(await world.linksOf(id), [done]);
    });

    it('what somebody changed there is as here again', async () => {
      const there = await remoteId();
      const operations = [{ op: 'replace', path: 'title', value: 'Queen' }];
      await world.scim('PATCH', `/Users/${there}`, {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
        Operations: operations,
      });
      assert.equal((await provision())['state'], 'linked');
      assert.equal((await world.userThere('ada@example.com'))?.['title'], 'Countess');
      assert.deepEqual(world.proxy.take(), [`GET /Users/${there}`, `PATCH /Users/${there}`]);
    });

    it('a target that does not answer is told, and never taken for an account that is there or gone', async () => {
      const there = await remoteId();
      world.proxy.intercept = () => [500, {}, 'broken'];
      const done = await provision();
      world.proxy.intercept = undefined;
      assert.deepEqual(
        [done['state'], done['reason'], done['request'], done['answer'], done['remote_id']],
        ['failed', 'status_500', `GET /Users/${there}`, 'broken', there],
      );
      assert.equal((await provision())['state'], 'linked');
    });

    it('asked by eight at once, one account is made', async () => {
      await world.scim('DELETE', `/Users/${await remoteId()}`);
      world.proxy.take();
      const path = `/connectors/${id}/provision`;
      const answers = await Promise.all(Array.from({ length: 8 }, () => world.tenant.call('POST', path, { user_id: person })));
      for (const { status } of answers) assert.ok(status === 200 || status === 409, String(status));
      assert.equal(world.proxy.take().filter((one) => one === 'POST /Users').length, 1);
      assert.equal((await world.usersThere()).filter(({ userName }) => userName === 'ada@example.com').length, 1);
    });

    it('who left here, and is gone there too, is nobody there', async () => {
      const lost = await remoteId();
      await world.scim('DELETE', `/Users/${lost}`);
      await world.tenant.make('POST', `/users/${person}/suspend`);
      world.proxy.take();
      const done = await provision();
      assert.deepEqual([done['state'], done['remote_id']], ['off', null]);
      assert.deepEqual(world.proxy.take(), [`GET /Users/${lost}`]);
      assert.deepEqual(await world.linksOf(id), []);
    });
  });
