// Connectors while others work on them: what a person decides is written over by nobody.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type ConnectorWorld, hourMs, startConnectorWorld } from '../support/connectors.ts';
import { databases, onServer, overtaken } from '../support/databases.ts';
import { createTestUser, type Json } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';

for (const database of databases) {
  describe(`connectors at once on ${database}`, () => {
    let world: ConnectorWorld;
    before(async () => {
      world = await startConnectorWorld(database);
    });
    beforeEach(() => world.fresh());
    after(() => world?.close());

    /** Ann, whom the application did not take. */
    const failed = async () => {
      world.proxy.intercept = ({ method }) => (method === 'POST' ? [500] : undefined);
      const { id: user } = await createTestUser(world.tenant, 'ann@example.com');
      const { id } = await world.connect();
      await world.run();
      const resolve = (body: Json): Promise<Response> => world.tenant.call('POST', `/connectors/${id}/links/${user}/resolve`, body);
      const stateOf = async () => (await world.linksOf(id)).find((link) => link['id'] === user)?.['state'];
      assert.equal(await stateOf(), 'failed');
      return { id, user, resolve, stateOf };
    };

    it('a link that is in hand is resolved when it no longer is: the answer would be written over what was decided', async () => {
      const { user, resolve, stateOf } = await failed();
      for (const decision of [{ action: 'ignore' }, { action: 'adopt', remote_id: 'theirs' }, { action: 'create' }]) {
        let refused: Response | undefined;
        world.proxy.intercept = async ({ method, body }) => {
          if (method !== 'POST' || body['userName'] !== 'ann@example.com') return undefined;
          refused ??= await resolve(decision);
          return [500];
        };
        await world.advance(12 * hourMs);
        await world.run();
        assert.ok(refused !== undefined, 'it was tried again');
        await assertRefusal(refused, 'management.conflict', { text: 'The person or group is being provisioned.', kind: 'state' });
        assert.equal(await stateOf(), 'failed');
      }
      const { state, id: resolved } = (await (await resolve({ action: 'ignore' })).json()) as Json;
      assert.deepEqual([resolved, state], [user, 'ignored']);
    });

    if (database === 'postgres')
      it('a link that is gone, or settled, since it was read is not resolved', async () => {
        const { user, resolve, stateOf } = await failed();
        const meanwhile = (statement: string): Promise<Response> =>
          overtaken(
            world.server.database,
            (session) => session.query(statement, [user]),
            () => resolve({ action: 'ignore' }),
          );
        const settled = await meanwhile("UPDATE connector_links SET state = 'linked', remote_id = 'theirs' WHERE local_id = $1");
        await assertRefusal(settled, 'management.conflict', { text: 'The person or group is being provisioned.', kind: 'state' });
        assert.equal(await stateOf(), 'linked');
        await onServer(world.server.database.databaseUrl!, (session) =>
          session.query("UPDATE connector_links SET state = 'failed' WHERE local_id = $1", [user]),
        );
        await assertRefusal(await meanwhile('DELETE FROM connector_links WHERE local_id = $1'), 'management.not_found');
      });

    if (database === 'postgres')
      it('everybody is gone through again where that is asked for while the last of them are marked', async () => {
        const { id: user } = await createTestUser(world.tenant, 'ann@example.com');
        const { id } = await world.connect();
        await world.run();
        world.proxy.take();
        await onServer(world.server.database.databaseUrl!, async (session) => {
          await session.query('UPDATE connector_states SET sync_after = $1 WHERE connector_id = $2', [user, id]);
          await session.query("UPDATE connector_links SET hash = 'of before' WHERE local_id = $1", [user]);
        });
        await overtaken(
          world.server.database,
          (session) => session.query("UPDATE connector_states SET sync_after = '' WHERE connector_id = $1", [id]),
          () => world.run(),
        );
        assert.deepEqual(
          world.proxy.take().map((asked) => asked.replace(/ .*/, '')),
          ['PATCH'],
        );
      });
  });
}
