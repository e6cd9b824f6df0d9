// Bodies refused for their size (413) from clients that go on writing: the answer arrives, whole, on every surface; what is read
// on is bounded in bytes, time and connections; who asks first is told before a byte of the body (RFC 9110 10.1.1).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { refusedBodyBytesMax, refusedBodyConnectionsMax, scimBodyBytesMax } from '../../src/contract/limits.ts';
import { createServer } from '../../src/http/server.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { findJudge } from '../support/judge-binaries.ts';
import { openSocket, readAnswer, sendRaw } from '../support/raw-http.ts';
import { assertRefusal } from '../support/refusal.ts';
import { type ScimCaller, startScim } from '../support/scim.ts';

const mebibyte = 1024 * 1024;
const tooLarge = { text: 'A bulk request has at most 1 MiB.' };
const judge = (name: string): string => fileURLToPath(new URL(`../interop/judges/${name}`, import.meta.url));

describe('bodies refused for their size', () => {
  let scim: ScimCaller;
  before(async () => {
    scim = await startScim('sqlite');
  });
  after(() => scim.close());

  const head = (path: string, bytes: number, more = '', type = 'application/scim+json'): string =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${scim.token}\r\nContent-Type: ${type}\r\nContent-Length: ${bytes}\r\n${more}\r\n`;
  const closed = async (socket: Socket): Promise<void> => {
    if (!socket.closed) await once(socket, 'close');
  };

  it('7.13 scim.tooLarge: read by a client that has written it all, after which the connection is closed', async () => {
    const socket = await openSocket(scim.server.url);
    const answer = readAnswer(socket);
    socket.write(head('/scim/v2/Bulk', 4 * mebibyte));
    const response = await answer; // before the first byte of the body
    assert.equal(response.headers.get('connection'), 'close');
    await assertRefusal(response, 'scim.tooLarge', tooLarge);
    socket.write(Buffer.alloc(4 * mebibyte));
    await closed(socket);
  });

  it('every surface: whole answers while four MiB are on their way', async () => {
    const cases = [
      ['/v1/idp/oidc/token', 'application/x-www-form-urlencoded'],
      ['/v1/management/clients', 'application/json'],
      ['/scim/v2/Users', 'application/scim+json'],
      ['/nowhere', 'text/plain'],
    ] as const;
    for (const [path, type] of cases) {
      const response = await sendRaw(
        scim.server.url,
        Buffer.concat([Buffer.from(head(path, 4 * mebibyte, '', type)), Buffer.alloc(4 * mebibyte)]),
      );
      assert.equal(response.status, 413, path);
      assert.ok(Object.keys((await response.json()) as object).length > 1, path);
    }
  });

  it('a chunked body over the limit', async () => {
    const chunks = Array.from({ length: 40 }, () => `10000\r\n${'x'.repeat(0x10000)}\r\n`).join('');
    const start = head('/scim/v2/Bulk', 0).replace('Content-Length: 0', 'Transfer-Encoding: chunked');
    await assertRefusal(await sendRaw(scim.server.url, `${start}${chunks}0\r\n\r\n`), 'scim.tooLarge', tooLarge);
  });

  it('Expect: 100-continue: 100 for a body that is taken, 413 alone for one that is not', async () => {
    const expect = 'Expect: 100-continue\r\n';
    const refused = await openSocket(scim.server.url);
    const answer = readAnswer(refused);
    refused.write(head('/scim/v2/Bulk', scimBodyBytesMax + 1, expect));
    await assertRefusal(await answer, 'scim.tooLarge', tooLarge);
    await closed(refused);
    const taken = await openSocket(scim.server.url);
    taken.write(head('/scim/v2/Bulk', 2, expect));
    const [first] = (await once(taken, 'data')) as [Buffer];
    assert.equal(first.toString(), 'HTTP/1.1 100 Continue\r\n\r\n');
    const last = readAnswer(taken);
    taken.write('{}');
    await assertRefusal(await last, 'scim.invalidValue', { text: 'Operations must be a list.' });
    taken.destroy();
  });

  /** A server of its own that reads refused bodies on for so long, and a request to it whose body is too large. */
  const listen = async (
    refusedBodyMs: number,
  ): Promise<{ readonly refuse: () => Promise<Socket>; readonly close: () => Promise<void> }> => {
    const app = createServer(() => '127.0.0.1', systemClock, {
      headersMs: 15_000,
      requestMs: 600_000,
      keepAliveMs: 65_000,
      checkEveryMs: 5000,
      refusedBodyMs,
    });
    app.post('/', async () => '');
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    const refuse = async (): Promise<Socket> => {
      const socket = await openSocket(url);
      socket.on('error', () => undefined); // the other side may hang up while we still send
      const answer = readAnswer(socket);
      socket.write(head('/', 4 * refusedBodyBytesMax));
      assert.equal((await answer).status, 413);
      return socket;
    };
    return { refuse, close: () => app.close() };
  };
  const long = 600_000;

  it('refusedBodyBytesMax: read on up to it, cut beyond', async () => {
    const server = await listen(long);
    const socket = await server.refuse();
    await new Promise<void>((resolve) => socket.write(Buffer.alloc(refusedBodyBytesMax), () => resolve()));
    assert.equal(socket.closed, false);
    socket.write(Buffer.alloc(1));
    await closed(socket);
    await server.close();
  });

  it('refusedBodyConnectionsMax: so many at a time, the next is closed at once; none keeps the server from closing', async () => {
    const server = await listen(long);
    const sockets: Socket[] = [];
    for (let count = 0; count < refusedBodyConnectionsMax; count += 1) sockets.push(await server.refuse());
    await closed(await server.refuse());
    assert.ok(sockets.every((socket) => !socket.closed));
    await server.close();
    await Promise.all(sockets.map(closed));
  });

  it('a client that stops writing is not waited for longer than the time set', async () => {
    const server = await listen(1);
    await closed(await server.refuse());
    await server.close();
  });

  const clients: readonly (readonly [string, readonly string[]])[] = [
    ['python3', [judge('write-first.py')]],
    ['java', [judge('WriteFirst.java')]],
    ['go', ['run', judge('write-first/main.go')]],
  ];
  for (const [program, command] of clients)
    if (findJudge(program) !== undefined)
      it(`4 MiB to /Bulk by a client in ${program} that writes first: 413 read 20 of 20`, async () => {
        const child = spawn(program, [...command, `${scim.base}/Bulk`, scim.token, String(4 * mebibyte), '20']);
        let said = '';
        for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += String(chunk)));
        await once(child, 'close');
        assert.equal(said, '413\n'.repeat(20));
      });
});
