// R7: the decryption key of Play Integrity is in no database file or dump, answer, log line or audit record; a value that an
// earlier release stored clear is encrypted at the next start.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { sql } from 'kysely';
import type { TenantId } from '../../src/domain/ids.ts';
import { openPlayDecryptionKey } from '../../src/tokens/secret-settings.ts';
import { createTestDatabase, databases, onServer, type TestDatabase } from '../support/databases.ts';
import { createTestTenant, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/** Everything the database holds: the files of the embedded one, every row of every table of the other. */
async function dumpOf(database: TestDatabase): Promise<string> {
  const files = readdirSync(database.dataFolder).map((file) => readFileSync(join(database.dataFolder, file)).toString('latin1'));
  const rows: string[] = [];
  if (database.databaseUrl !== undefined)
    await onServer(database.databaseUrl, async (client) => {
      const tables = await client.query(`SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'`);
      for (const { table_name: table } of tables.rows) rows.push(JSON.stringify((await client.query(`SELECT * FROM "${table}"`)).rows));
      assert.ok(tables.rows.length > 30);
    });
  return [...files, ...rows].join('\n');
}

async function storedPlayIntegrity(server: TestServer, tenant: string): Promise<Readonly<Record<string, unknown>>> {
  const { rows } = await server.gatehouse.services.database.systemRead((queries) =>
    sql<{ settings: string }>`SELECT settings FROM tenants WHERE tenant_id = ${tenant}`.execute(queries),
  );
  const settings = JSON.parse(rows[0]!.settings) as { attestation: { play_integrity: Readonly<Record<string, unknown>> } };
  return settings.attestation.play_integrity;
}

const opened = async (server: TestServer, tenant: string): Promise<string | undefined> =>
  openPlayDecryptionKey(server.gatehouse.services.encryption, tenant as TenantId, await storedPlayIntegrity(server, tenant));

const keyPair = () => ({ decryption_key: `canary+${randomBytes(24).toString('base64')}`, verification_key: 'public-key' });

/** Every way the settings are read or changed, with its answers. */
async function useSettings(tenant: Managed, key: ReturnType<typeof keyPair>): Promise<string> {
  const answers = [
    await tenant.make('PATCH', '/settings', { attestation: { play_integrity: key } }),
    await tenant.make('GET', '/settings'),
    await tenant.make('PATCH', '/settings', { signup_enabled: true }),
    await tenant.make('GET', '/events'),
  ].map((answer) => JSON.stringify(answer));
  for (const wrong of [{ ...key, more: 1 }, { decryption_key: key.decryption_key }, [key]]) {
    const refused = await tenant.call('PATCH', '/settings', { attestation: { play_integrity: wrong } });
    assert.equal(refused.status, 400);
    answers.push(await refused.text());
  }
  return JSON.stringify(answers);
}

for (const name of databases) {
  describe(`secret settings on ${name}`, () => {
    it('the key is stored under the master key and found nowhere in clear', async () => {
      const database = await createTestDatabase(name);
      try {
        const server = await startTestServer(name, { database, flags: { log_level: 'debug' } });
        const tenant = await createTestTenant(server);
        const key = keyPair();
        const answers = await useSettings(tenant, key);
        const { decryption_key_encrypted: encrypted, ...others } = await storedPlayIntegrity(server, tenant.id);
        assert.deepEqual(others, { verification_key: 'public-key' });
        assert.match(String(encrypted), /^v1\.[\w-]{16}\.[\w-]+$/);
        assert.equal(await opened(server, tenant.id), key.decryption_key);
        await server.close();
        const everything = [await dumpOf(database), server.logLines.join('\n'), answers].join('\n');
        for (const trace of [key.decryption_key, Buffer.from(key.decryption_key).toString('base64').slice(0, 36)])
          assert.ok(!everything.includes(trace));
        assert.ok(everything.includes(String(encrypted)), 'the dump does hold what is stored');
        assert.ok(!answers.includes(String(encrypted)), 'nor is the encrypted value shown');
      } finally {
        await database.drop();
      }
    });

    it('a key of another tenant does not open', async () => {
      const server = await startTestServer(name);
      try {
        const [one, other] = [await createTestTenant(server), await createTestTenant(server)];
        await one.make('PATCH', '/settings', { attestation: { play_integrity: keyPair() } });
        const stored = await storedPlayIntegrity(server, one.id);
        assert.throws(() => openPlayDecryptionKey(server.gatehouse.services.encryption, other.id as TenantId, stored));
      } finally {
        await server.close();
      }
    });

    it('a key stored clear by an earlier release is encrypted at the start, once', async () => {
      const database = await createTestDatabase(name);
      try {
        const first = await startTestServer(name, { database });
        const tenant = await createTestTenant(first);
        const key = keyPair();
        const clear = JSON.stringify({ signup_enabled: true, attestation: { mode: 'monitor', play_integrity: key } });
        await first.gatehouse.services.database.system((queries) =>
          sql`UPDATE tenants SET settings = ${clear} WHERE tenant_id = ${tenant.id}`.execute(queries),
        );
        await first.close();
        assert.ok((await dumpOf(database)).includes(key.decryption_key));
        const second = await startTestServer(name, { database });
        assert.equal(await opened(second, tenant.id), key.decryption_key);
        await second.close();
        assert.ok(!(await dumpOf(database)).includes(key.decryption_key));
        const third = await startTestServer(name, { database });
        assert.equal(await opened(third, tenant.id), key.decryption_key, 'encrypted once');
        await third.close();
      } finally {
        await database.drop();
      }
    });
  });
}
