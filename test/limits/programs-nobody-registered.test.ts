// How many programs nobody registered a tenant has: those that registered without a token are refused beyond it, of the documents of
// others the one goes that nobody used for longest.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { documentsPerTenantMax, openClientsPerTenantMax } from '../../src/domain/client/stranger.ts';
import type { TenantId } from '../../src/domain/ids.ts';
import type { Queries } from '../../src/storage/engine/database.ts';
import { authorize, type DocumentServer, loopbackUri, openTenant, register, startDocumentServer } from '../support/agents.ts';
import { databases } from '../support/databases.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { loopbackAllowed } from '../support/webhooks.ts';

const metadata = { client_name: 'My agent', redirect_uris: [loopbackUri], token_endpoint_auth_method: 'none' };

/** Rows like one that is there, with other values of some columns, which may speak of the number `n` from 1 to `count`. */
async function multiply(
  queries: Queries,
  table: 'clients' | 'client_documents',
  { tenant, like, count, other }: { tenant: string; like: string; count: number; other: Readonly<Record<string, string>> },
): Promise<void> {
  const { rows } = await sql<object>`SELECT * FROM ${sql.table(table)} WHERE tenant_id = ${tenant} AND client_id = ${like}`.execute(
    queries,
  );
  const columns = Object.keys(rows[0]!);
  const values = columns.map((column) => (other[column] === undefined ? sql.ref(`t.${column}`) : sql.raw(other[column])));
  await sql`WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${sql.lit(count)})
    INSERT INTO ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
    SELECT ${sql.join(values)} FROM ${sql.table(table)} AS t, numbers WHERE t.tenant_id = ${tenant} AND t.client_id = ${like}`.execute(
    queries,
  );
}

for (const database of databases)
  describe(`programs nobody registered on ${database}`, () => {
    let server: TestServer;
    let documents: DocumentServer;
    before(async () => {
      server = await startTestServer(database, { flags: loopbackAllowed });
      documents = await startDocumentServer(server);
    });
    after(async () => {
      await documents.close();
      await server.close();
    });

    it(`openClientsPerTenantMax: ${openClientsPerTenantMax} register, one more waits`, async () => {
      const at = await openTenant(server);
      const { client_id: like } = (await (await register(at, metadata)).json()) as { client_id: string };
      await server.gatehouse.services.database.write(at.id as TenantId, (queries) =>
        multiply(queries, 'clients', { tenant: at.id, like, count: openClientsPerTenantMax - 2, other: { client_id: "'open.' || n" } }),
      );
      assert.equal((await register(at, metadata)).status, 201);
      await assertRefusal(await register(at, metadata), 'oauth.rate_limited');
      assert.equal((await register(await openTenant(server), metadata)).status, 201);
    });

    it(`documentsPerTenantMax: of ${documentsPerTenantMax + 1} the one goes that was used longest ago`, async () => {
      const at = await openTenant(server);
      const { database: stored } = server.gatehouse.services;
      const use = async (path: string): Promise<void> => {
        const id = documents.publish(path, metadata);
        assert.equal((await authorize(at, { client_id: id })).status, 303);
      };
      await use('/first');
      await stored.write(at.id as TenantId, (queries) =>
        multiply(queries, 'client_documents', {
          tenant: at.id,
          like: documents.url('/first'),
          count: documentsPerTenantMax - 2,
          other: { client_id: "'https://seeded.example/' || n", used_at: 't.used_at - n' },
        }),
      );
      const kept = async (): Promise<readonly string[]> =>
        (
          await stored.read(at.id as TenantId, (queries) =>
            sql<{ id: string }>`SELECT client_id AS id FROM client_documents WHERE tenant_id = ${at.id}`.execute(queries),
          )
        ).rows.map(({ id }) => id);
      const oldest = `https://seeded.example/${documentsPerTenantMax - 2}`;
      await use('/nth');
      assert.equal((await kept()).length, documentsPerTenantMax);
      assert.ok((await kept()).includes(oldest));
      await use('/one-more');
      const left = await kept();
      assert.equal(left.length, documentsPerTenantMax);
      assert.ok(!left.includes(oldest));
      for (const path of ['/first', '/nth', '/one-more']) assert.ok(left.includes(documents.url(path)), path);
    });
  });
