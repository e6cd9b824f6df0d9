// PostgreSQL that stalls, is exhausted, dies at a commit or comes back: 503 with Retry-After soon, nothing late, recovery.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, afterEach, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import type { TenantId } from '../../src/domain/ids.ts';
import { type Database, StorageUnavailable } from '../../src/storage/engine/database.ts';
import { insertAuditEvent } from '../../src/storage/records/audit-events.ts';
import { createTestDatabase, databases, onServer, type TestDatabase } from '../support/databases.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { startTcpProxy, type TcpProxy, targetOf, throughProxy } from '../support/tcp-proxy.ts';

for (const name of databases.filter((candidate) => candidate === 'postgres')) {
  describe('PostgreSQL outages', () => {
    let proxy: TcpProxy;
    let own: TestDatabase;
    let server: TestServer;
    let database: Database;
    const tenant = randomUUID() as TenantId;
    before(async () => {
      own = await createTestDatabase(name);
      proxy = await startTcpProxy(targetOf(own.databaseUrl!, 5432));
      const proxied = { ...own, databaseUrl: throughProxy(own.databaseUrl!, proxy) };
      server = await startTestServer(name, {
        database: proxied,
        flags: { database_pool_max: '4', database_timeout_ms: '1000', trusted_proxies: '127.0.0.1/32' },
      });
      database = server.gatehouse.services.database;
    });
    afterEach(() => {
      proxy.resume();
      proxy.accept();
    });
    after(async () => {
      await server.close();
      await proxy.close();
      await own.drop();
    });
    /** A path whose answer needs the database: a tenant nobody has asked for. */
    const askForUnknownTenant = (): Promise<Response> => {
      asked += 1;
      // Each from an address of its own: one may ask for twenty such names a second.
      const headers = { 'x-forwarded-for': `10.0.${asked >> 8}.${asked & 255}` };
      return fetch(`${server.url}/t/n${randomUUID().slice(0, 8)}/v1/idp/oidc/jwks`, { headers });
    };
    let asked = 0;
    const write = (target: string): Promise<void> =>
      database.write(tenant, (queries) => insertAuditEvent(queries, tenant, server.clock.nowMs(), { type: 'user.updated', target }));
    const targets = async (): Promise<readonly (string | null)[]> => {
      const rows = await database.read(tenant, (queries) => queries.selectFrom('audit_events').select('target').orderBy('id').execute());
      return rows.map((row) => row.target);
    };
    const works = async (): Promise<void> => assert.equal((await askForUnknownTenant()).status, 404);

    it('oauth.unavailable, management.unavailable: stalled under load, each answered, then recovery and nothing late', async () => {
      await write('before');
      proxy.stall();
      const late = write('late').then(
        () => assert.fail('acknowledged while PostgreSQL was silent'),
        (error: unknown) => assert.ok(error instanceof StorageUnavailable, String(error)),
      );
      const answers = Promise.all(Array.from({ length: 150 }, async () => assertRefusal(await askForUnknownTenant(), 'oauth.unavailable')));
      const ready = assertRefusal(await fetch(`${server.url}/health/ready`), 'management.unavailable');
      const bodies = await answers;
      await Promise.all([late, ready]);
      assert.equal(new Set(bodies).size, 1);
      assert.equal((await fetch(`${server.url}/health/live`)).status, 200);
      proxy.resume();
      await works();
      assert.equal((await fetch(`${server.url}/health/ready`)).status, 200);
      await server.gatehouse.services.database.system((queries) => sql`SELECT pg_sleep(0)`.execute(queries));
      await otherSessionsEnded();
      assert.deepEqual(await targets(), ['before']);
    });
    it('accesses beyond those that may wait are refused at once: memory stays bounded', async () => {
      proxy.stall();
      const outcomes = Array.from({ length: 5200 }, () =>
        database.read(tenant, (queries) => queries.selectFrom('users').select('id').execute()),
      );
      const first = await Promise.race(outcomes.map((outcome, index) => outcome.catch(() => index)));
      assert.ok(Number(first) >= 5000, `the first refusal was of access ${first}`);
      const all = await Promise.allSettled(outcomes);
      assert.ok(all.every((outcome) => outcome.status === 'rejected' && outcome.reason instanceof StorageUnavailable));
      proxy.resume();
      await works();
    });
    it('exhausted connections: 503, and answers again when one is free', async () => {
      const { promise: held, resolve: release } = Promise.withResolvers<void>();
      const holders = Array.from({ length: 4 }, () =>
        database.system(async (queries) => {
          for (let turn = 0; turn < 10; turn += 1) {
            await Promise.race([held, new Promise((done) => setTimeout(done, 400).unref())]);
            await sql`SELECT 1`.execute(queries);
          }
        }),
      );
      await assertRefusal(await askForUnknownTenant(), 'oauth.unavailable');
      release();
      await Promise.all(holders);
      await works();
    });
    it('unknown outcome of a commit: the answer of COMMIT is lost', async () => {
      proxy.cutAt('insert into "audit_events"', 'COMMIT', 'after');
      await assert.rejects(write('committed unheard'), StorageUnavailable);
      assert.deepEqual(await targets(), ['before', 'committed unheard']);
    });
    it('unknown outcome of a commit: COMMIT never arrives', async () => {
      proxy.cutAt('insert into "audit_events"', 'COMMIT', 'before');
      await assert.rejects(write('never committed'), StorageUnavailable);
      assert.deepEqual(await targets(), ['before', 'committed unheard']);
    });
    it('connections cut in the middle and refused: 503, then recovery', async () => {
      proxy.refuse();
      await assertRefusal(await askForUnknownTenant(), 'oauth.unavailable');
      await assertRefusal(await fetch(`${server.url}/health/ready`), 'management.unavailable');
      proxy.accept();
      await works();
      await write('after');
      assert.deepEqual(await targets(), ['before', 'committed unheard', 'after']);
    });
    it('a server that ends every session (restart, failover) costs no answer after it', async () => {
      await onServer(own.databaseUrl!, (client) =>
        client.query(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
        ),
      );
      const statuses = [];
      for (let turn = 0; turn < 6; turn += 1) statuses.push((await askForUnknownTenant()).status);
      assert.ok(
        statuses.every((status) => status === 404 || status === 503),
        statuses.join(),
      );
      assert.equal(statuses.at(-1), 404);
    });

    /** Waits until PostgreSQL has closed the sessions whose clients went away. */
    async function otherSessionsEnded(): Promise<void> {
      await onServer(own.databaseUrl!, async (client) => {
        for (;;) {
          const { rows } = await client.query(
            "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND (state = 'active' OR state LIKE 'idle in%') AND pid <> pg_backend_pid()",
          );
          if (rows[0].n === 0) return;
        }
      });
    }
  });
}
