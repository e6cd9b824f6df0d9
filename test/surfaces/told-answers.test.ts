// What targets answer and what events tell of addresses: nothing there that signs anybody in.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ConnectorWorld, startConnectorWorld } from '../support/connectors.ts';
import { databases } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createTestUser, type Json } from '../support/management.ts';

interface FeedAnswer {
  readonly items: readonly Json[];
  readonly next: number;
}

const secret = 'hush "hush"/+';

for (const database of databases) {
  describe(`what targets answer on ${database}`, () => {
    let world: ConnectorWorld;
    before(async () => {
      world = await startConnectorWorld(database);
    });
    after(() => world?.close());

    for (const auth of [
      { type: 'bearer', token: secret },
      { type: 'basic', username: 'gate', password: secret },
    ])
      it(`a target that echoes its request shows no ${auth.type} credential`, async () => {
        await world.fresh();
        await createTestUser(world.tenant, 'ann@example.com');
        world.proxy.intercept = ({ headers }) => [
          400,
          {},
          `you sent ${headers.authorization} ${JSON.stringify({ secret })} ${encodeURIComponent(secret)} ${Buffer.from(secret).toString('base64')}`,
        ];
        const { id } = await world.connect({ auth });
        await world.run();
        const shown = JSON.stringify([await world.linksOf(id), await world.statusOf(id)]);
        assert.match(shown, /you sent (Bearer|Basic) \*\*\* /);
        const spelt = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
        for (const text of [...spelt, Buffer.from(secret).toString('base64'), Buffer.from(`gate:${secret}`).toString('base64')])
          assert.ok(!shown.includes(text) && !shown.includes(JSON.stringify(text).slice(1, -1)), text);
        world.proxy.intercept = undefined;
      });

    it('events of webhooks tell the address without its query', async () => {
      const { tenant } = world;
      const { id, url } = await tenant.make('POST', '/webhooks', { url: 'https://receiver.example/in?key=canary' });
      assert.equal(url, 'https://receiver.example/in?key=canary');
      await tenant.make('DELETE', `/webhooks/${id}`);
      // Whoever delivers may have numbered the first by now: a page ends there, and the next one has the second.
      const told: string[] = [];
      let after = 0;
      await eventually(async () => {
        const page = await tenant.make<FeedAnswer>('GET', `/events/feed?types=webhook.*&limit=100&after=${after}`);
        told.push(...page.items.map((item) => JSON.stringify(item)).filter((text) => text.includes(String(id))));
        after = page.next;
        return told.length === 2;
      });
      assert.deepEqual(
        told.map((text) => /"url":"([^"]*)"/.exec(text)?.[1]),
        ['https://receiver.example/in', 'https://receiver.example/in'],
      );
    });
  });
}
