// What stops a connector (design 16, section 4): a target that is busy, refuses us or fails, a run that would end many accounts, a crash, an
// address that is not to be reached.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ConnectorWorld, hourMs, startConnectorWorld } from '../support/connectors.ts';
import { databases } from '../support/databases.ts';
import { createTestUser, type Json } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';

for (const database of databases) {
  describe(`guards of connectors on ${database}`, () => {
    let world: ConnectorWorld;
    before(async () => {
      world = await startConnectorWorld(database);
    });
    after(() => world?.close());

    it('Retry-After is obeyed; one bad person stops none; 401 and many failures quarantine, an hourly probe or a person ends it', async () => {
      await world.fresh();
      const people = await Promise.all(Array.from({ length: 3 }, (_, at) => createTestUser(world.tenant, `p${at}@example.com`)));
      let isBusy = true;
      world.proxy.intercept = ({ method, body }) => {
        if (method === 'POST' && isBusy) return [429, { 'retry-after': '120' }];
        return method === 'POST' && body['userName'] === 'p0@example.com' ? [400, {}, 'no p0 here'] : undefined;
      };
      const { id } = await world.connect();
      await world.run();
      assert.equal((await world.statusOf(id))['state'], 'throttled');
      world.proxy.take();
      isBusy = false;
      await world.advance(110_000);
      await world.run();
      assert.deepEqual(world.proxy.take(), [], 'left alone');
      await world.advance(11_000);
      await world.run();
      assert.deepEqual((await world.usersThere()).map(({ userName }) => userName).toSorted(), ['p1@example.com', 'p2@example.com']);
      const [failed] = await world.linksOf(id, '?state=failed');
      assert.deepEqual(
        [failed?.['id'], failed?.['reason'], failed?.['answer'], failed?.['attempts']],
        [people[0]!.id, 'status_400', 'no p0 here', 1],
      );
      assert.ok(failed?.['next_attempt_at'] !== null);
      await world.advance(10_000);
      await world.run();
      assert.equal((await world.linksOf(id, '?state=failed'))[0]?.['attempts'], 2);

      world.proxy.intercept = () => [401];
      await createTestUser(world.tenant, 'p3@example.com');
      await world.run();
      const stopped = await world.statusOf(id);
      assert.deepEqual([stopped['state'], stopped['quarantine_reason']], ['quarantined', 'unauthorized']);
      world.proxy.take();
      world.proxy.intercept = undefined;
      await world.advance(hourMs - 60_000);
      await world.run();
      assert.deepEqual(world.proxy.take(), []);
      await world.advance(61_000);
      await world.run();
      assert.equal((await world.statusOf(id))['state'], 'idle');
      assert.ok((await world.userThere('p3@example.com')) !== undefined);

      world.proxy.intercept = ({ method }) => (method === 'POST' ? [500] : undefined);
      for (let at = 0; at < 25; at += 1) await createTestUser(world.tenant, `bad${at}@example.com`);
      await world.run();
      assert.equal((await world.statusOf(id))['quarantine_reason'], 'failing');
      world.proxy.intercept = undefined;
      await world.tenant.make('POST', `/connectors/${id}/resume`);
      await world.run();
      assert.equal((await world.usersThere()).length, 29);
      const types = (
        await world.tenant.make<{ readonly items: readonly Json[] }>('GET', '/events/feed?types=connector.*&limit=100')
      ).items.map(({ type }) => type);
      assert.deepEqual(types, [
        'connector.created',
        'connector.quarantined',
        'connector.resumed',
        'connector.quarantined',
        'connector.resumed',
      ]);
    });

    it('a run that would end more than 20 accounts and 10 % waits for approval; 20 do not', async () => {
      await world.fresh();
      const people: { readonly id: string }[] = [];
      for (let at = 0; at < 41; at += 1) people.push(await createTestUser(world.tenant, `q${at}@example.com`));
      const { id } = await world.connect();
      await world.run();
      assert.equal((await world.usersThere()).length, 41);
      for (const { id: user } of people.slice(0, 20)) await world.tenant.make('POST', `/users/${user}/suspend`);
      await world.run();
      assert.equal((await world.usersThere()).filter(({ active }) => active === false).length, 20);
      await world.advance(hourMs + 1);
      // All are seen together: the server's own turn does not send the first while the others are suspended.
      await world.tenant.make('PATCH', `/connectors/${id}`, { enabled: false });
      for (const { id: user } of people.slice(20)) await world.tenant.make('POST', `/users/${user}/suspend`);
      world.proxy.take();
      await world.tenant.make('PATCH', `/connectors/${id}`, { enabled: true });
      await world.run();
      assert.deepEqual(world.proxy.take(), []);
      const status = await world.statusOf(id);
      assert.deepEqual([status['state'], status['waiting_for_approval']], ['waiting_for_approval', 21]);
      await world.tenant.make('POST', `/users/${people[40]!.id}/activate`);
      await world.run();
      assert.deepEqual(world.proxy.take(), [], 'who came back is as they were');
      assert.deepEqual(await world.tenant.make('POST', `/connectors/${id}/approve`), { approved: 20 });
      await world.run();
      assert.equal((await world.usersThere()).filter(({ active }) => active === false).length, 40);
      await assertRefusal(await world.tenant.call('POST', `/connectors/${id}/approve`), 'management.conflict', {
        ...{ text: 'Nothing waits for approval.', kind: 'approval' },
      });
    });

    it('a crash between a request and its record makes nobody twice', async () => {
      await world.fresh();
      const fay = await createTestUser(world.tenant, 'fay@example.com');
      world.proxy.intercept = async ({ method }, forward) => {
        if (method !== 'POST') return undefined;
        await forward();
        return [200, {}, '<html>']; // as when the answer never arrived
      };
      const { id } = await world.connect();
      await world.run();
      assert.deepEqual(
        (await world.linksOf(id)).map(({ id: one, reason }) => [one, reason]),
        [[fay.id, 'not_json']],
      );
      world.proxy.intercept = undefined;
      await world.tenant.make('POST', `/connectors/${id}/resume`);
      await world.run();
      assert.deepEqual(
        (await world.usersThere()).map(({ userName }) => userName),
        ['fay@example.com'],
      );
      assert.equal((await world.statusOf(id)).links['linked'], 1);
    });

    it('a redirecting and a private target get nothing', async () => {
      await world.fresh();
      const lou = await createTestUser(world.tenant, 'lou@example.com');
      world.proxy.intercept = () => [302, { location: `${world.remote.baseUrl}/scim/v2/Users` }];
      const { id } = await world.connect();
      const hidden = await world.connect({ name: 'Metadata', base_url: 'https://169.254.169.254/scim' });
      await world.run();
      const reasonOf = async (one: string): Promise<unknown> =>
        (await world.linksOf(one)).find((link) => link['id'] === lou.id)?.['reason'];
      assert.deepEqual([await reasonOf(id), await reasonOf(hidden.id)], ['status_302', 'refused_address']);
      assert.deepEqual(await world.usersThere(), []);
    });
  });
}
