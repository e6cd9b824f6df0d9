// Whoever delivers is woken after the commit that queued something: not before it, not for what was rolled back, and not by other
// transactions beside it.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { noteQueued, wakingAfterCommit } from '../../src/storage/engine/after-commit.ts';
import type { Database, Queries } from '../../src/storage/engine/database.ts';
import { insertAuditEvent } from '../../src/storage/records/audit-events.ts';
import { databases } from '../support/databases.ts';
import { rootTenant } from '../support/fixtures.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const name of databases) {
  describe(`waking after a commit on ${name}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let database: Database;
    let woken = 0;
    const told: string[] = [];
    before(async () => {
      server = await startTestServer(name);
      tenant = await rootTenant(server.gatehouse.services);
      database = wakingAfterCommit(server.gatehouse.services.database, {
        wake: () => {
          woken += 1;
        },
        tell: (id) => void told.push(id),
      });
    });
    after(() => server.close());

    it('once for each transaction that queued, after it', async () => {
      woken = 0;
      await database.write(tenant.id, async (queries) => {
        noteQueued(queries);
        noteQueued(queries);
        await queries.selectFrom('tenants').select('slug').where('tenant_id', '=', tenant.id).execute();
        assert.equal(woken, 0);
      });
      assert.equal(woken, 1);
      await database.system(async (queries) => noteQueued(queries));
      assert.equal(woken, 2);
    });
    it('not for a transaction that queued nothing, also beside one that did', async () => {
      woken = 0;
      const quiet = database.write(tenant.id, async () => undefined);
      const queueing = database.write(tenant.id, async (queries) => noteQueued(queries));
      await Promise.all([quiet, queueing, database.system(async () => undefined)]);
      assert.equal(woken, 1);
    });
    it('tells the tenant of audit records once they are committed, and not of those rolled back', async () => {
      told.length = 0;
      const write = (queries: Queries) => insertAuditEvent(queries, tenant.id, server.clock.nowMs(), { type: 'user.updated' });
      await database.write(tenant.id, async (queries) => {
        await write(queries);
        await write(queries);
        assert.deepEqual(told, []);
      });
      assert.deepEqual(told, [tenant.id]);
      const failing = database.write(tenant.id, async (queries) => {
        await write(queries);
        throw new Error('rolled back');
      });
      await assert.rejects(failing, /rolled back/);
      await database.write(tenant.id, async () => undefined);
      assert.deepEqual(told, [tenant.id]);
    });
    it('not for what was rolled back, nor by the next transaction', async () => {
      woken = 0;
      const failing = database.write(tenant.id, async (queries) => {
        noteQueued(queries);
        throw new Error('rolled back');
      });
      await assert.rejects(failing, /rolled back/);
      await database.write(tenant.id, async () => undefined);
      assert.equal(woken, 0);
    });
  });
}
