// No commit unanswered: whatever was written for a request that a client still waits for, the client is told. A recorder keeps what was
// answered; afterwards it is compared with what the database holds. Under an event loop that is held up, while the server stops, and
// when the bytes behind a request cannot be read.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { TenantId } from '../../src/domain/ids.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, type Managed } from '../support/management.ts';
import { openSocket } from '../support/raw-http.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases)
  describe(`no commit unanswered on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
    });
    after(() => server.close());

    /** A request that makes a user of this name, in two pieces as clients send them. */
    const pieces = (name: string): readonly [string, string] => {
      const url = new URL(`${tenant.managementApi}/users`);
      const body = JSON.stringify({ user_name: name });
      const head = [
        `POST ${url.pathname} HTTP/1.1`,
        `Host: ${url.host}`,
        `Authorization: Bearer ${tenant.token}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
      ];
      return [`${head.join('\r\n')}\r\n\r\n`, body];
    };
    const committed = async (start: string): Promise<ReadonlySet<string>> => {
      const rows = await server.gatehouse.services.database.read(tenant.id as TenantId, (queries) =>
        queries
          .selectFrom('users')
          .select('user_name')
          .where('tenant_id', '=', tenant.id as TenantId)
          .where('user_name_key', '>=', start)
          .where('user_name_key', '<', `${start}~`)
          .execute(),
      );
      return new Set(rows.map(({ user_name: name }) => name ?? ''));
    };
    /** Makes users one after another on one kept connection until it ends; gives the names that were answered, by status. */
    const makeUsers = async (start: string, count: number): Promise<ReadonlyMap<string, number>> => {
      const answered = new Map<string, number>();
      const socket = await openSocket(server.url);
      const read = readerOf(socket);
      for (let index = 0; index < count; index += 1) {
        const name = `${start}-${index}`;
        const [head, body] = pieces(name);
        socket.write(head);
        await new Promise(setImmediate);
        socket.write(body);
        const status = await read();
        if (status === undefined) break;
        answered.set(name, status);
      }
      socket.destroy();
      return answered;
    };
    const compare = async (start: string, all: readonly ReadonlyMap<string, number>[]): Promise<number> => {
      const answered = new Map(all.flatMap((one) => [...one]));
      const stored = await committed(start);
      assert.deepEqual(
        [...stored].filter((name) => answered.get(name) !== 201),
        [],
        'committed and not answered',
      );
      assert.deepEqual(
        [...answered].filter(([name, status]) => status === 201 && !stored.has(name)),
        [],
        'answered and not committed',
      );
      return stored.size;
    };

    it('with an event loop that is held up at every turn', async () => {
      const sleeper = new Int32Array(new SharedArrayBuffer(4));
      let isOver = false;
      const turn = (): void => {
        if (isOver) return;
        Atomics.wait(sleeper, 0, 0, 15);
        setImmediate(turn);
      };
      turn();
      const connections = 60;
      const each = 10;
      const all = await Promise.all(Array.from({ length: connections }, (_none, index) => makeUsers(`held-${index}`, each)));
      isOver = true;
      assert.equal(
        all.reduce((sum, one) => sum + one.size, 0),
        connections * each,
        'each is answered, if only that there is too much to do',
      );
      assert.ok((await compare('held-', all)) >= connections);
    });
    for (const [what, bytes] of [
      ['bytes that are no request', '\u0000\u0001 nonsense\r\n\r\n'],
      ['a header that is too large', `GET / HTTP/1.1\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`],
      ['a request whose length is none', 'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n'],
    ] as const)
      it(`${what} behind a request: it is answered first, then they are`, async () => {
        const start = `behind-${what.length}`;
        const socket = await openSocket(server.url);
        const chunks: Buffer[] = [];
        socket.on('data', (chunk: Buffer) => chunks.push(chunk));
        socket.on('error', () => undefined); // it may be reset once all was answered
        socket.write(pieces(start).join('') + bytes);
        await once(socket, 'close');
        const statuses = [
          ...Buffer.concat(chunks)
            .toString('latin1')
            .matchAll(/HTTP\/1\.1 (\d{3}) /g),
        ].map(([, status]) => Number(status));
        assert.equal(statuses[0], 201, statuses.join());
        assert.ok(statuses.length === 2 && statuses[1]! >= 400);
        assert.deepEqual([...(await committed(start))], [start]);
      });
    it('while the server stops', async () => {
      const running = Array.from({ length: 30 }, (_none, index) => makeUsers(`stop-${index}`, 1000));
      while ((await committed('stop-')).size < 60) await new Promise(setImmediate);
      await server.gatehouse.app.close();
      const all = await Promise.all(running);
      assert.ok((await compare('stop-', all)) >= 60);
    });
  });

/** Reads one answer after another from a kept connection: gives the status, or undefined when the connection has ended. */
function readerOf(socket: Socket): () => Promise<number | undefined> {
  let received = '';
  let isEnded = false;
  let look = (): void => undefined;
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
    look();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isEnded = true;
    look();
  });
  return () =>
    new Promise((resolve) => {
      look = () => {
        const end = received.indexOf('\r\n\r\n');
        const length = Number(/content-length: (\d+)/i.exec(received.slice(0, end))?.[1] ?? 0);
        if (end !== -1 && received.length >= end + 4 + length) {
          const status = Number(received.slice(9, 12));
          received = received.slice(end + 4 + length);
          look = () => undefined;
          resolve(status);
        } else if (isEnded) resolve(undefined);
      };
      look();
    });
}
