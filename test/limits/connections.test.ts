// Limits of connections at n and n+1: requests that are not answered yet, answers that are not taken, and what all of them hold.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import {
  begunPerConnectionMax,
  bodyPartBytes,
  connectionBytesMax,
  crowdedConnections,
  idleWhenCrowdedMs,
  pipelinedInHandMax,
  stalledAnswerMs,
  unansweredPerConnectionMax,
  unsentPerConnectionBytesMax,
} from '../../src/contract/limits.ts';
import { createServer } from '../../src/http/server.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { databases } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { openSocket } from '../support/raw-http.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const requests = (count: number, last = ''): string =>
  Array.from(
    { length: count },
    (_none, index) => `GET /v1/idp/oidc/jwks HTTP/1.1\r\nHost: h\r\n${index === count - 1 ? last : ''}\r\n`,
  ).join('');

const timeouts = { headersMs: 15_000, requestMs: 30_000, keepAliveMs: 65_000, checkEveryMs: 5000 };

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

describe('requests that are begun', () => {
  const start = async (answer: () => Promise<unknown>) => {
    let begun = 0;
    const app = createServer(() => '127.0.0.1', systemClock, { ...timeouts, stalledMs: 600_000 });
    app.get('/', async () => {
      begun += 1;
      return answer();
    });
    app.post('/', async () => {
      begun += 1;
      return answer();
    });
    app.post('/refused', { onRequest: async (_request, reply) => reply.code(403).send('refused') }, async () => 'never');
    /** How long each part is that the HTTP parser was handed. */
    const parts: number[] = [];
    const open = new Set<Socket>();
    const [nodes, ...ours] = app.server.listeners('connection') as ((socket: Socket) => void)[];
    app.server.removeAllListeners('connection');
    app.server.on('connection', (socket: Socket) => {
      nodes!.call(app.server, socket);
      const [parse] = socket.listeners('data') as ((chunk: Buffer) => void)[];
      socket.removeListener('data', parse!);
      socket.on('data', (chunk: Buffer) => {
        parts.push(chunk.length);
        parse!(chunk);
      });
      for (const listener of ours) listener.call(app.server, socket);
    });
    const closed: (number | undefined)[] = [];
    app.server.on('connection', (socket: Socket) => {
      const { remotePort } = socket;
      open.add(socket);
      socket.once('close', () => {
        open.delete(socket);
        closed.push(remotePort);
      });
    });
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    const asking: Socket[] = [];
    /** A connection that reads nothing until it is told to. */
    const ask = async (bytes: string): Promise<Socket> => {
      const socket = await openSocket(url);
      asking.push(socket);
      socket.on('error', () => undefined);
      socket.write(bytes);
      return socket;
    };
    const reach = (count: number): Promise<unknown> => eventually(() => begun === count);
    const close = async (): Promise<void> => {
      for (const socket of asking) socket.destroy();
      await app.close();
    };
    return { close, ask, reach, open, closed, parts, begun: () => begun };
  };
  const get = (count: number): string => 'GET / HTTP/1.1\r\nHost: h\r\n\r\n'.repeat(count);
  const last = 'GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n';
  const answersIn = (text: string): number => [...text.matchAll(/HTTP\/1\.1 200 /g)].length;

  it('begunPerConnectionMax at once, the next one when one of them is answered, in order', async () => {
    const gate = Promise.withResolvers<void>();
    const { close, ask, reach, begun } = await start(() => gate.promise.then(() => 'done'));
    const socket = await ask(get(begunPerConnectionMax) + last);
    const answers = allOf(socket);
    await reach(begunPerConnectionMax);
    const other = await ask(last); // who comes later on a connection of its own is begun at once
    const theirs = allOf(other);
    await reach(begunPerConnectionMax + 1);
    gate.resolve();
    assert.equal(answersIn(await answers), begunPerConnectionMax + 1);
    assert.equal(answersIn(await theirs), 1);
    assert.equal(begun(), begunPerConnectionMax + 2);
    await close();
  });
  it('bodies between them, in pieces and with what looks like the end of a head', async () => {
    const { close, ask, reach } = await start(async () => 'done');
    const body = 'a\r\n\r\nb\r\n\r\n'.repeat(30);
    const post = (more = ''): string =>
      `POST / HTTP/1.1\r\nHost: h\r\n${more}Content-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const all = post() + get(2) + post() + post('Connection: close\r\n');
    const socket = await ask(all.slice(0, 700));
    const answers = allOf(socket);
    await reach(3);
    for (let at = 700; at < all.length; at += 150) {
      socket.write(all.slice(at, at + 150));
      await wait(1);
    }
    assert.equal(answersIn(await answers), 5);
    await close();
  });
  const post = (path: string, body: string): string =>
    `POST ${path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  for (const path of ['/', '/refused'])
    it(`a body of nothing but ends of heads comes in few parts: ${path}`, async () => {
      const { close, ask, parts } = await start(async () => 'done');
      const body = '\r\n\r\n'.repeat(10_000);
      const socket = await ask(post(path, body).slice(0, -4)); // the last of it when the rest was handed on
      const answers = allOf(socket);
      await eventually(() => parts.reduce((sum, bytes) => sum + bytes, 0) > body.length);
      socket.write('\r\n\r\n');
      assert.match(await answers, path === '/' ? /^HTTP\/1\.1 200 / : /^HTTP\/1\.1 403 /);
      assert.ok(parts.length < (2 * body.length) / bodyPartBytes, String(parts.length));
      await close();
    });
  it('bodyPartBytes: within a body no end of a head is looked for before', async () => {
    const { close, ask, parts } = await start(async () => 'done');
    const handed = async (bytes: number): Promise<readonly number[]> => {
      parts.length = 0;
      const body = `${'a'.repeat(bytes)}\r\n\r\nb`;
      assert.equal(answersIn(await allOf(await ask(post('/', body)))), 1);
      return parts.slice(1); // without the head
    };
    assert.deepEqual(await handed(bodyPartBytes - 1), [bodyPartBytes + 4]);
    assert.deepEqual(await handed(bodyPartBytes), [bodyPartBytes + 4, 1]);
    await close();
  });
  it('bodyPartBytes: what may hide in a part of a body is no more than one connection may have', () => {
    const shortest = 'GET / HTTP/1.1\r\nHost:\r\n\r\n';
    assert.ok(Math.ceil(bodyPartBytes / shortest.length) + 1 <= unansweredPerConnectionMax);
  });
  it('CONNECT ends a connection, and nothing behind it is handed on', async () => {
    const { close, ask, parts, begun } = await start(async () => 'done');
    const connect = 'CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n';
    assert.match(await allOf(await ask(connect + get(3))), /^HTTP\/1\.1 400 [\s\S]*"The request is malformed."}$/);
    assert.deepEqual(parts, [connect.length]);
    assert.equal(begun(), 0);
    assert.equal(answersIn(await allOf(await ask(last))), 1);
    await close();
  });
  it('what broke off is no longer in hand', async () => {
    const gate = Promise.withResolvers<void>();
    const { close, ask, reach, open } = await start(() => gate.promise.then(() => 'done'));
    let count = 0;
    for (let round = 0; round < 3; round += 1) {
      const asking: Socket[] = [];
      for (let left = pipelinedInHandMax; left > 0; left -= begunPerConnectionMax) asking.push(await ask(get(begunPerConnectionMax)));
      count += pipelinedInHandMax;
      await reach(count); // as many as if nobody had been there before
      for (const socket of asking) socket.destroy();
      await eventually(() => open.size === 0);
    }
    gate.resolve();
    await close();
  });
  it('pipelinedInHandMax in hand: of each connection one, and the others when theirs is answered', async () => {
    const gate = Promise.withResolvers<void>();
    const { close, ask, reach } = await start(() => gate.promise.then(() => 'done'));
    for (let left = pipelinedInHandMax - 2; left > 0; left -= begunPerConnectionMax) await ask(get(Math.min(left, begunPerConnectionMax)));
    await reach(pipelinedInHandMax - 2);
    await ask(get(2));
    await reach(pipelinedInHandMax);
    const waiting = await ask(get(1) + last);
    await ask(get(1));
    await reach(pipelinedInHandMax + 2); // one each
    const answers = allOf(waiting);
    gate.resolve();
    assert.equal(answersIn(await answers), 2);
    await close();
  });
  it('unsentPerConnectionBytesMax: none behind an answer that is not taken', async () => {
    const bytes = Buffer.alloc(connectionBytesMax / 4);
    const { close, ask, reach, begun } = await start(async () => bytes);
    assert.ok(bytes.length > unsentPerConnectionBytesMax);
    const socket = await ask(get(1));
    await reach(1);
    await once(socket, 'readable');
    socket.write(last);
    (await ask(last)).resume();
    await reach(2); // of another connection
    const text = await allOf(socket);
    assert.equal(begun(), 3);
    assert.equal(answersIn(text), 2);
    await close();
  });
  it('connectionBytesMax of all connections: those that hold most are cut off', async () => {
    const bytes = Buffer.alloc(Math.floor(connectionBytesMax * 0.4));
    const { close, ask, reach, open } = await start(async () => bytes);
    const quiet = await ask('');
    for (const count of [1, 2]) {
      await ask(get(1));
      await reach(count);
    }
    await wait(1500); // looked at meanwhile
    assert.equal(open.size, 3);
    await ask(get(1));
    await eventually(() => open.size < 4);
    assert.equal(open.size, 3);
    assert.ok([...open].some(({ remotePort }) => remotePort === quiet.localPort));
    await close();
  });
  it('connectionBytesMax also beside more than crowdedConnections', async () => {
    const bytes = Buffer.alloc(Math.floor(connectionBytesMax * 0.4));
    const gate = Promise.withResolvers<void>();
    let isLarge = false;
    const { close, ask, reach, open, closed } = await start(async () => (isLarge ? bytes : gate.promise.then(() => 'done')));
    for (let count = 0; count <= crowdedConnections; count += 1) await ask(get(1)); // none of them is idle
    await reach(crowdedConnections + 1);
    isLarge = true;
    const holding: (number | undefined)[] = [];
    for (let count = 1; count <= 3; count += 1) {
      holding.push((await ask(get(1))).localPort);
      await reach(crowdedConnections + 1 + count);
    }
    await eventually(() => closed.length > 0);
    assert.ok(holding.includes(closed[0]));
    assert.ok(open.size > crowdedConnections);
    gate.resolve();
    await close();
  });
  it('idleWhenCrowdedMs: idle ones end where more than half of it waits', async () => {
    const bytes = Buffer.alloc(Math.floor(connectionBytesMax * 0.6));
    const { close, ask, reach, open } = await start(async () => bytes);
    const since = performance.now(); // before the server knows of it
    const quiet = await ask('');
    await ask(get(1));
    await reach(1);
    quiet.resume();
    await once(quiet, 'close');
    assert.ok(performance.now() - since >= idleWhenCrowdedMs);
    await eventually(() => open.size === 1);
    await close();
  });
  it('crowdedConnections: idle ones end where there are more', async () => {
    const { close, ask, open } = await start(async () => 'done');
    for (let count = 0; count < crowdedConnections; count += 1) await ask('');
    await eventually(() => open.size === crowdedConnections);
    await wait(idleWhenCrowdedMs + 1000);
    assert.equal(open.size, crowdedConnections);
    await ask('');
    await eventually(() => open.size <= 1);
    await close();
  });
});

describe('answers that are not taken', () => {
  const answerBytes = connectionBytesMax / 2; // more than any buffers between take, less than what all connections may hold
  const start = async (stalledMs: number) => {
    const app = createServer(() => '127.0.0.1', systemClock, { ...timeouts, stalledMs });
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
