// Limits of one connection at n and n+1: requests that are not answered yet, and answers that are not taken.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { stalledAnswerMs, unansweredPerConnectionMax } from '../../src/contract/limits.ts';
import { createServer } from '../../src/http/server.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { databases } from '../support/databases.ts';
import { openSocket } from '../support/raw-http.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const requests = (count: number, last = ''): string =>
  Array.from(
    { length: count },
    (_none, index) => `GET /v1/idp/oidc/jwks HTTP/1.1\r\nHost: h\r\n${index === count - 1 ? last : ''}\r\n`,
  ).join('');

/** What the other side sent until it ended or reset the connection. */
async function allOf(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => undefined); // a reset is an end too
  await once(socket, 'close');
  return Buffer.concat(chunks).toString('latin1');
}

for (const database of databases) {
  describe(`pipelining on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());

    it('unansweredPerConnectionMax requests at once are answered', async () => {
      const socket = await openSocket(server.url);
      socket.write(requests(unansweredPerConnectionMax, 'Connection: close\r\n'));
      assert.equal([...(await allOf(socket)).matchAll(/HTTP\/1\.1 200 /g)].length, unansweredPerConnectionMax);
    });
    it('one more destroys the connection', async () => {
      const socket = await openSocket(server.url);
      socket.write(requests(unansweredPerConnectionMax + 1));
      assert.equal(await allOf(socket), '');
      assert.equal((await fetch(`${server.url}/v1/idp/oidc/jwks`)).status, 200);
    });
    it('as many one after another as one likes', async () => {
      const socket = await openSocket(server.url);
      const answers = allOf(socket);
      let seen = 0;
      const turns = 3 * unansweredPerConnectionMax;
      for (let turn = 1; turn <= turns; turn += 1) {
        socket.write(requests(1, turn === turns ? 'Connection: close\r\n' : ''));
        if (turn < turns) await once(socket, 'data');
        seen += 1;
      }
      assert.equal([...(await answers).matchAll(/HTTP\/1\.1 200 /g)].length, seen);
    });
  });
}

describe('answers that are not taken', () => {
  const answerBytes = 64 * 1024 * 1024; // more than any buffers between take
  const start = async (stalledMs: number) => {
    const app = createServer(() => '127.0.0.1', systemClock, {
      headersMs: 15_000,
      requestMs: 30_000,
      keepAliveMs: 65_000,
      checkEveryMs: 5000,
      stalledMs,
    });
    app.get('/', async () => Buffer.alloc(answerBytes));
    const closed = Promise.withResolvers<void>();
    app.server.on('connection', (socket: Socket) => socket.once('close', () => closed.resolve()));
    const socket = await openSocket(await app.listen({ host: '127.0.0.1', port: 0 }));
    socket.on('error', () => undefined);
    socket.write('GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n');
    return { app, socket, closed: closed.promise };
  };
  it('stalledAnswerMs: a client that takes nothing of its answer any more is cut off', async () => {
    assert.equal(stalledAnswerMs, 10_000);
    const { app, socket, closed } = await start(300);
    await closed; // the client never reads
    socket.destroy();
    await app.close();
  });
  it('one that takes some of it now and then is not', async () => {
    const stalledMs = 1500;
    const { app, socket } = await start(stalledMs);
    const startedAtMs = performance.now();
    let bytes = 0;
    for (let ended = false; !ended; ) {
      const chunk: Buffer | null = socket.read();
      if (chunk !== null) bytes += chunk.length;
      else if (socket.readableEnded) ended = true;
      else await Promise.race([once(socket, 'readable'), once(socket, 'end')]);
      if (performance.now() - startedAtMs < 2 * stalledMs) await wait(20);
    }
    assert.ok(bytes > answerBytes && performance.now() - startedAtMs > stalledMs, String(bytes));
    await app.close();
  });
});
