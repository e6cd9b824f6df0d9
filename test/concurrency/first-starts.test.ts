// Several nodes that start at once on an empty database make one deployment: one root tenant, one administrator's link, one
// operator token.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openPostgres } from '../../src/storage/engine/dialects/postgres.ts';
import { migrate } from '../../src/storage/engine/migrations/migrator.ts';
import { createTestDatabase, databases, onServer, someoneWaitsFor } from '../support/databases.ts';
import { createDataFolder, runGatehouse } from '../support/gatehouse-process.ts';
import { hasPrivatePostgres, startPrivatePostgres } from '../support/private-postgres.ts';

const nodes = 3;

for (const name of databases.filter((candidate) => candidate === 'postgres'))
  describe('first starts at once', () => {
    it(`${nodes} nodes make one administrator's link, and all serve`, async () => {
      const own = await createTestDatabase(name);
      const folder = createDataFolder();
      const environment = {
        GATEHOUSE_DATABASE_URL: own.databaseUrl!,
        GATEHOUSE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        GATEHOUSE_LOG_LEVEL: 'warn',
      };
      const started = Array.from({ length: nodes }, () =>
        runGatehouse(folder.path, { args: ['serve', '--listen', '127.0.0.1:0'], environment }),
      );
      try {
        const urls = await Promise.all(started.map(({ ready }) => ready));
        for (const url of urls) assert.equal((await fetch(`${url}/v1/idp/oidc/jwks`)).status, 200);
        const told = started.map(({ stderr }) => stderr()).join('\n');
        for (const notice of [/^Administrator \(once, 7 days\)/gm, /^Operator token \(once\)/gm])
          assert.equal(told.match(notice)?.length, 1, `${notice} in ${told}`);
        await onServer(own.databaseUrl!, async (client) => {
          const { rows } = await client.query(
            'SELECT (SELECT count(*)::int FROM tenants) AS tenants, (SELECT count(*)::int FROM setup_tokens) AS links, (SELECT count(*)::int FROM clients) AS clients',
          );
          assert.deepEqual(rows, [{ tenants: 1, links: 1, clients: 1 }]);
        });
      } finally {
        for (const node of started) node.signal('SIGKILL');
        for (const node of started) await node.ended;
        folder.remove();
        await own.drop();
      }
    });
  });

if (hasPrivatePostgres)
  describe('two deployments on one server that is new', () => {
    for (const role of ['gatehouse_service', 'gatehouse_search'])
      it(`one migrates while the other has made ${role} and not committed it: both are migrated`, async () => {
        const postgres = await startPrivatePostgres();
        const fresh = new URL(postgres.url);
        fresh.pathname = '/fresh';
        try {
          await onServer(postgres.url, async (other) => {
            await other.query(`DROP OWNED BY ${role}`);
            await other.query(`DROP ROLE ${role}`);
            await other.query('CREATE DATABASE fresh TEMPLATE template0');
            await other.query('BEGIN');
            await other.query(`CREATE ROLE ${role} NOLOGIN ${role === 'gatehouse_search' ? 'BYPASSRLS' : ''}`);
            const owner = openPostgres({ url: fresh.href, poolMax: 1, timeoutMs: 20_000, asService: false });
            const migrating = migrate(owner);
            await someoneWaitsFor(other);
            await other.query('COMMIT');
            assert.ok((await migrating).length > 20);
            await owner.close();
          });
        } finally {
          await postgres.remove();
        }
      });
  });
