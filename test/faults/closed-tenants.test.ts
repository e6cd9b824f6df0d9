// A tenant that is closed because it moves: whoever reads the events of tenants leaves it alone, until it is open here or deleted.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { TenantId } from '../../src/domain/ids.ts';
import { randomId } from '../../src/platform/random.ts';
import { listTenantsWithConnectors } from '../../src/storage/registry/extending/connectors.ts';
import { listTenantsWithStreams } from '../../src/storage/registry/extending/ssf-streams.ts';
import { listTenantsWithWebhooks } from '../../src/storage/registry/extending/webhooks.ts';
import { closeTenant, openTenant } from '../../src/storage/tenant-moves.ts';
import { untilStatus } from '../support/command-line.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant } from '../support/management.ts';
import { startTestServer } from '../support/server.ts';

const lists = [listTenantsWithWebhooks, listTenantsWithStreams, listTenantsWithConnectors];

for (const name of databases) {
  it(`a router that asks a node on ${name} hears of a tenant that was opened, before the node has`, async () => {
    const server = await startTestServer(name);
    try {
      const id = (await createTestTenant(server, { slug: 'acme' })).id as TenantId; // an id the server gave
      const { database } = server.gatehouse.services;
      const asked = () => fetch(`${server.url}/health/group?path=/t/acme/`);
      await closeTenant(database, id, randomId(), async () => undefined);
      await untilStatus(asked, 503);
      const setMoving = (moving: string | null) =>
        database.writeClosed(id, (queries) => queries.updateTable('tenants').set({ moving }).where('tenant_id', '=', id).execute());
      await setMoving('from:x'); // without a word to the nodes
      assert.equal((await asked()).status, 404);
      await setMoving(null);
      assert.equal((await asked()).status, 200);
    } finally {
      await server.close();
    }
  });

  it(`a closed tenant has nothing to be told of it on ${name}, and has when it is open again`, async () => {
    const server = await startTestServer(name);
    try {
      const id = (await createTestTenant(server, { slug: 'acme' })).id as TenantId; // an id the server gave
      const { database } = server.gatehouse.services;
      await database.write(id, (queries) =>
        queries.updateTable('tenants').set({ has_webhooks: 1, has_streams: 1, has_connectors: 1 }).where('tenant_id', '=', id).execute(),
      );
      const listed = () => Promise.all(lists.map((list) => database.systemRead(async (queries) => (await list(queries)).includes(id))));
      assert.deepEqual(await listed(), [true, true, true]);
      await closeTenant(database, id, randomId(), async () => undefined);
      assert.deepEqual(await listed(), [false, false, false]);
      await openTenant(database, id, async () => undefined);
      assert.deepEqual(await listed(), [true, true, true]);
    } finally {
      await server.close();
    }
  });
}
