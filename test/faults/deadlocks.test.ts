// Two transactions that wait for rows of one another, on PostgreSQL: it ends one of them, which runs again when the other is done, so that
// nobody is answered 503 for a neighbour who came at the same moment. The other one here is a session beside the server.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sql } from 'kysely';
import type pg from 'pg';
import type { TenantId } from '../../src/domain/ids.ts';
import { StorageUnavailable } from '../../src/storage/engine/database.ts';
import { createTestDatabase, databases, onServer, someoneWaitsFor, type TestDatabase } from '../support/databases.ts';
import { clientCredentialsToken, createTestTenant, createTestUser, type Json } from '../support/management.ts';
import { startTestServer } from '../support/server.ts';
import { loopbackAllowed } from '../support/webhooks.ts';

if (databases.includes('postgres'))
  describe('writers that wait for one another', () => {
    it('a webhook is deleted while events are queued for it: 204, and nothing of it is left', () =>
      onOwnServer(async (own) => {
        const server = await startTestServer('postgres', { database: own, flags: loopbackAllowed });
        try {
          const tenant = await createTestTenant(server);
          // Disabled, so that the session below alone feeds it.
          const { id } = await tenant.make('POST', '/webhooks', { url: 'https://127.0.0.1:9/hook', enabled: false });
          await onServer(own.databaseUrl!, async (feeder) => {
            await begin(feeder);
            await feeder.query('UPDATE webhook_positions SET position = position WHERE webhook_id = $1', [id]);
            const deleted = tenant.call('DELETE', `/webhooks/${id}`);
            await someoneWaitsFor(feeder);
            await feeder.query('SELECT FROM webhooks WHERE id = $1 FOR KEY SHARE', [id]); // as a delivery's foreign key does
            await feeder.query('COMMIT');
            assert.equal((await deleted).status, 204);
          });
          assert.equal((await tenant.call('GET', `/webhooks/${id}`)).status, 404);
        } finally {
          await server.close();
        }
      }));
    it('a document whose writes are ended tells the one secret that counts', () =>
      onOwnServer(async (own) => {
        const server = await startTestServer('postgres', { database: own });
        try {
          const tenant = await createTestTenant(server);
          const robot = { type: 'confidential', grant_types: ['client_credentials'], token_endpoint_auth_method: 'client_secret_post' };
          const before = await tenant.make<Json>('POST', '/clients', { ...robot, name: 'Before' });
          const id = String(before['client_id']);
          const clients = [
            { ...robot, client_id: id, name: 'After' },
            { ...robot, client_id: 'another', name: 'New' },
          ];
          await onServer(own.databaseUrl!, async (other) => {
            await begin(other);
            await other.query('SELECT FROM clients WHERE client_id = $1 FOR UPDATE', [id]);
            const applied = tenant.make<Json>('POST', '/document', { document: { gatehouse: 1, clients } });
            await someoneWaitsFor(other);
            const copy = `jsonb_populate_record(c, '{"client_id":"another"}')`;
            await other.query(`INSERT INTO clients SELECT (${copy}).* FROM clients AS c WHERE client_id = $1`, [id]);
            await other.query('ROLLBACK');
            const { created, updated, secrets } = await applied;
            const told = secrets as readonly { readonly client_id: string; readonly client_secret: string }[];
            assert.deepEqual([created, updated, told.length], [1, 1, 1]);
            await clientCredentialsToken(tenant.baseUrl, told[0]!.client_id, told[0]!.client_secret);
          });
        } finally {
          await server.close();
        }
      }));
    for (const crossings of [3, 4])
      it(`a transaction that is ended ${crossings} times is ${crossings > 3 ? 'given up, and nothing of it is left' : 'done once'}`, () =>
        onOwnServer(async (own) => {
          const server = await startTestServer('postgres', { database: own });
          const { database } = server.gatehouse.services;
          try {
            const tenant = await createTestTenant(server);
            const [first, second] = [await createTestUser(tenant, 'a@example.com'), await createTestUser(tenant, 'b@example.com')];
            await onServer(own.databaseUrl!, async (other) => {
              let runs = 0;
              let crossed: Promise<unknown> = Promise.resolve();
              const written = database.write(tenant.id as TenantId, async (queries) => {
                const count = (id: string): Promise<unknown> =>
                  sql`UPDATE users SET title = coalesce(title, '') || 'x' WHERE tenant_id = ${tenant.id} AND id = ${id}`.execute(queries);
                runs += 1;
                await crossed;
                const crosses = runs <= crossings;
                const lock = (id: string): Promise<unknown> => other.query('SELECT FROM users WHERE id = $1 FOR UPDATE', [id]);
                if (crosses) {
                  await begin(other);
                  await lock(second.id);
                }
                await count(first.id);
                if (crosses) crossed = lock(first.id).then(() => other.query('COMMIT'));
                await count(second.id);
              });
              if (crossings > 3) await assert.rejects(written, StorageUnavailable);
              else await written;
              await crossed;
              assert.equal(runs, 4);
            });
            for (const { id } of [first, second])
              assert.equal((await tenant.make('GET', `/users/${id}`))['title'], crossings > 3 ? undefined : 'x');
          } finally {
            await server.close();
          }
        }));
  });

async function onOwnServer(work: (own: TestDatabase) => Promise<void>): Promise<void> {
  const own = await createTestDatabase('postgres');
  try {
    // After this time PostgreSQL looks whether who waits is waited for; a second otherwise.
    await onServer(own.databaseUrl!, (client) =>
      client.query(`ALTER DATABASE ${new URL(own.databaseUrl!).pathname.slice(1)} SET deadlock_timeout = '50ms'`),
    );
    await work(own);
  } finally {
    await own.drop();
  }
}

/** Begins a transaction that PostgreSQL does not end: it ends the other one. */
async function begin(client: pg.Client): Promise<void> {
  await client.query("SET deadlock_timeout = '1min'");
  await client.query('BEGIN');
}
