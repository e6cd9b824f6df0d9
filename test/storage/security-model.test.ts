// docs/security-model.md names every table that knows its tenant and has no row-level security, and no other: PostgreSQL's catalog is asked.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { databases, onServer } from '../support/databases.ts';
import { startTestServer } from '../support/server.ts';

const document = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'security-model.md'), 'utf8');

for (const name of databases.filter((database) => database === 'postgres'))
  it('the security model names the tables without row-level security', async (test) => {
    const server = await startTestServer(name);
    test.after(() => server.close());
    const paragraph = /^- \*\*Tables without row-level security\.\*\*.*\n(?: {2}.*\n)*/m.exec(document)?.[0] ?? '';
    const named = new Set([...paragraph.matchAll(/`([a-z_]+)`/g)].map(([, table]) => table));
    await onServer(server.database.databaseUrl!, async (client) => {
      const { rows } = await client.query(`SELECT DISTINCT c.relname AS table FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND a.attname IN ('tenant', 'tenant_id') AND NOT c.relrowsecurity`);
      assert.deepEqual([...named].toSorted(), rows.map(({ table }) => table).toSorted());
    });
  });
