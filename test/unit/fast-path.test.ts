// The connections of the fast path: order, silence, closing, and what happens while an answer is not there yet.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type FastPath, installFastPath, type PlainAnswerer } from '../../src/http/fast-path.ts';
import { PlainReply } from '../../src/http/plain-reply.ts';
import { openSocket } from '../support/raw-http.ts';

const plain = 'POST /plain HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1\r\n\r\na';
const other = plain.replace('Host', 'TE: trailers\r\nHost');

describe('connections of the fast path', () => {
  let server: Server;
  let path: FastPath;
  let url: string;
  /** Plain requests in hand, to be answered by the test. */
  let inHand: ((body: string | Error) => void)[];
  let silent: number;
  const endpoints = new Map<string, PlainAnswerer>([
    [
      'POST /plain',
      () =>
        new Promise((resolve, reject) => {
          inHand.push((body) => (body instanceof Error ? reject(body) : resolve(new PlainReply('id').send(body))));
        }),
    ],
  ]);
  beforeEach(async () => {
    inHand = [];
    silent = 0;
    server = createServer((_request, response) => response.end('parsed'));
    path = installFastPath(server, endpoints, { firstRequestMs: 200, betweenRequestsMs: 100 }, (socket) => {
      silent += 1;
      socket.end('silent');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as { port: number }).port}`; // listening on TCP
  });
  afterEach(() => {
    server.close();
    server.closeAllConnections();
  });

  /** A connection and what it has heard so far. */
  const open = async (): Promise<{
    socket: Socket;
    text: () => string;
    heard: (pattern: RegExp) => Promise<void>;
    closed: Promise<unknown>;
  }> => {
    const socket = await openSocket(url);
    let text = '';
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    socket.on('error', () => undefined);
    const heard = async (pattern: RegExp): Promise<void> => {
      while (!pattern.test(text.slice(-1000))) await once(socket, 'data');
    };
    return { socket, text: () => text, heard, closed: once(socket, 'close') };
  };
  const requests = async (count: number): Promise<void> => {
    while (inHand.length < count) await new Promise(setImmediate);
  };

  it('a pipelined request waits, and goes to the parser after the answer before it', async () => {
    const { socket, text, heard } = await open();
    socket.write(plain);
    await requests(1);
    socket.write(plain);
    socket.write(other);
    await new Promise((resolve) => setTimeout(resolve, 30));
    assert.equal(inHand.length, 1);
    inHand[0]!('first');
    await heard(/parsed.*parsed/s);
    assert.match(text(), /first.*parsed.*parsed/s);
    assert.equal(inHand.length, 1); // the parser has the connection for good
    socket.destroy();
  });

  it('text that is not ASCII is counted in bytes', async () => {
    const { socket, text, heard } = await open();
    socket.write(plain);
    await requests(1);
    inHand[0]!('né😀');
    await heard(/😀$/);
    assert.match(text(), /content-length: 7\r\n/);
    socket.destroy();
  });

  it('a handler that fails beyond its own refusals ends the connection', async () => {
    const { socket, text, closed } = await open();
    socket.write(plain);
    await requests(1);
    inHand[0]!(new Error('a fault'));
    await closed;
    assert.equal(text(), '');
  });

  it('silence: before the first request it is answered, after an answer the connection just ends', async () => {
    const [never, once] = [await open(), await open()];
    once.socket.write(plain);
    await requests(1);
    inHand[0]!('answer');
    await Promise.all([never.closed, once.closed]);
    assert.equal(never.text(), 'silent');
    assert.match(once.text(), /answer$/);
    assert.equal(silent, 1);
  });

  it('an answer may take longer than a connection may be silent', async () => {
    const { socket, heard } = await open();
    socket.write(plain);
    await requests(1);
    await new Promise((resolve) => setTimeout(resolve, 400));
    inHand[0]!('late');
    await heard(/late$/);
    socket.destroy();
  });

  it('draining closes waiting connections at once and others after their answer', async () => {
    const [waiting, busy] = [await open(), await open()];
    busy.socket.write(plain);
    await requests(1);
    path.drain();
    server.close();
    await waiting.closed;
    inHand[0]!('last');
    await busy.closed;
    assert.match(busy.text(), /\r\nConnection: close\r\n\r\nlast$/);
  });

  it('a client that reads nothing is left to the parser, which waits for it', async () => {
    const { socket, heard } = await open();
    socket.pause();
    socket.write(plain);
    await requests(1);
    inHand[0]!('x'.repeat(8 * 1024 * 1024));
    await new Promise(setImmediate);
    socket.write(plain);
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(inHand.length, 1);
    socket.resume();
    await heard(/parsed/);
    socket.destroy();
  });

  it('a client that leaves before its answer disturbs nobody', async () => {
    const [gone, stays] = [await open(), await open()];
    gone.socket.write(plain);
    await requests(1);
    gone.socket.resetAndDestroy();
    await gone.closed;
    inHand[0]!('nobody hears');
    stays.socket.write(plain);
    await requests(2);
    inHand[1]!('heard');
    await stays.heard(/heard$/);
    stays.socket.destroy();
  });
});
