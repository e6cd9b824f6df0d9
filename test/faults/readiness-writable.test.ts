// A node is ready where it can write, and finds the server that can be written to among several: one that is away, one that became
// read-only, one that is a standby are none.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createTestDatabase, databases, onServer, type TestDatabase } from '../support/databases.ts';
import { freePort } from '../support/free-port.ts';
import { callSystem } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const backWithinMs = 5000;

async function soonReady({ url }: TestServer): Promise<void> {
  const startedAt = performance.now();
  for (;;) {
    const { status, body } = await fetch(`${url}/health/ready`);
    await body?.cancel();
    if (status === 200) return;
    assert.ok(performance.now() - startedAt < backWithinMs, `${status} after ${backWithinMs} ms`);
    await wait(50);
  }
}

/** The database's URL with other servers before its own. */
function behind({ databaseUrl }: TestDatabase, ...hosts: readonly string[]): string {
  const { host, username, pathname } = new URL(databaseUrl!);
  return `postgres://${username}@${[...hosts, host].join(',')}${pathname}?target_session_attrs=read-write`;
}

for (const name of databases.filter((candidate) => candidate === 'postgres'))
  describe('ready means writable', () => {
    it('management.unavailable: a server that became read-only, and is written to again', async () => {
      const own = await createTestDatabase(name);
      const server = await startTestServer(name, { database: own });
      const become = (setting: string): Promise<void> =>
        onServer(own.databaseUrl!, async (client) => {
          await client.query('SET default_transaction_read_only = off');
          await client.query(
            `ALTER DATABASE ${new URL(own.databaseUrl!).pathname.slice(1)} ${setting} default_transaction_read_only${setting === 'SET' ? ' = on' : ''}`,
          );
          await client.query(
            'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
          );
        });
      const write = (slug: string): Promise<Response> => callSystem(server, 'POST', '/tenants', { slug, name: slug });
      try {
        await soonReady(server);
        await become('SET');
        let refused = await write('one');
        // The first may meet a connection that was just ended; none is written.
        while (refused.status !== 503) refused = await write('one');
        await assertRefusal(refused, 'management.unavailable');
        await assertRefusal(await write('one'), 'management.unavailable');
        await assertRefusal(await fetch(`${server.url}/health/ready`), 'management.unavailable');
        await become('RESET');
        await soonReady(server);
        assert.equal((await write('one')).status, 201);
      } finally {
        await server.close();
        await own.drop();
      }
    });
    it('several hosts: one that is away is passed over', async () => {
      const own = await createTestDatabase(name);
      const away = `127.0.0.1:${await freePort()}`;
      const server = await startTestServer(name, { database: { ...own, databaseUrl: behind(own, away) } });
      try {
        await soonReady(server);
        assert.equal((await callSystem(server, 'POST', '/tenants', { slug: 'one', name: 'One' })).status, 201);
      } finally {
        await server.close();
        await own.drop();
      }
    });
    it('a URL that asks for a standby, and one that is none, are refused', async () => {
      const own = await createTestDatabase(name);
      try {
        const any = own.databaseUrl!.concat('?target_session_attrs=any');
        await assert.rejects(
          startTestServer(name, { database: { ...own, databaseUrl: any } }),
          /database_url: expected target_session_attrs=read-write or none, found any/,
        );
        await assert.rejects(
          startTestServer(name, { database: { ...own, databaseUrl: 'mysql://one' } }),
          /database_url: expected a URL such as postgres:/,
        );
      } finally {
        await own.drop();
      }
    });
  });
