// The fast path answers as Node's parser and Fastify do: the same bytes for plain requests, and nothing of its own for others.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { plainRequestBytesMax } from '../../src/http/plain-request.ts';
import { databases } from '../support/databases.ts';
import { createRandom } from '../support/fuzzed-request.ts';
import { createTestTenant, type Managed } from '../support/management.ts';
import { openSocket, sendRaw } from '../support/raw-http.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { sendBothWays } from '../support/two-ways.ts';

const mutations = Number(process.env['GATEHOUSE_TEST_FUZZ_REQUESTS'] ?? 600);
const parallel = 16;

for (const database of databases) {
  describe(`the fast path on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let credentials: string;
    let host: string;
    /** Requests Node's parser has seen. */
    let parsedRequests = 0;
    before(async () => {
      server = await startTestServer(database);
      const settings = { rate_limits: { client_auth_failures_per_ip: null } };
      tenant = await createTestTenant(server, { settings });
      credentials = `client_id=${tenant.adminClientId}&client_secret=${tenant.adminClientSecret}`;
      host = new URL(server.url).host;
      server.gatehouse.app.server.on('request', () => {
        parsedRequests += 1;
      });
      // Both tenants are known from here on.
      for (const base of [server.url, tenant.baseUrl]) await fetch(`${base}/v1/idp/oidc/jwks`);
    });
    after(() => server.close());

    const post = (path: string, form: string, ...headers: readonly string[]): Buffer =>
      Buffer.from(
        [
          `POST ${path} HTTP/1.1`,
          `Host: ${host}`,
          'Content-Type: application/x-www-form-urlencoded',
          `Content-Length: ${Buffer.byteLength(form)}`,
          ...headers,
          '',
          form,
        ].join('\r\n'),
      );
    const get = (path: string, ...headers: readonly string[]): Buffer =>
      Buffer.from([`GET ${path} HTTP/1.1`, `Host: ${host}`, ...headers, '', ''].join('\r\n'));
    const below = (path: string): string => `/t/${tenant.slug}/v1/idp/oidc${path}`;
    const grant = 'grant_type=client_credentials';
    const same = async (bytes: Buffer, status: number, isPlain: boolean, attempts = 3): Promise<string> => {
      const sent = bytes.toString('latin1').slice(0, 1000);
      const before = parsedRequests;
      const { plain, parsed } = await sendBothWays(server.url, bytes);
      assert.equal(plain, parsed, sent);
      assert.equal(plain.slice(0, 13), `HTTP/1.1 ${status} `, `${plain}\n${sent}`);
      // A tenant that a change of configuration made unknown is left to the parser once.
      if (isPlain && parsedRequests - before > 1 && attempts > 1) return same(bytes, status, isPlain, attempts - 1);
      // The other way it is always the parser's, which counts two or, when it is no request at all, none.
      assert.equal(parsedRequests - before === 1, isPlain, `${isPlain ? 'was not' : 'was'} plain: ${sent}`);
      return plain;
    };

    it('answers and refusals are the same bytes on both ways', async () => {
      const token = (form: string, ...headers: readonly string[]): Buffer => post(below('/token'), form, ...headers);
      const basic = `Authorization: Basic ${Buffer.from(credentials.replace(/client_id=(.*)&client_secret=(.*)/, '$1:$2')).toString('base64')}`;
      const issued = await same(token(`${grant}&${credentials}`), 200, true);
      assert.match(issued, /"access_token":"<\{.*"token_use":"access"/);
      await same(
        token(`${grant}&${credentials}&scope=users%3Aread`, 'User-Agent: x/1', 'Accept: */*', 'Connection: keep-alive'),
        200,
        true,
      );
      await same(token(`${grant}&${credentials}`, 'Origin: https://page.example', 'X-Forwarded-For: 192.0.2.1'), 200, true);
      await same(token(grant, basic), 200, true);
      await same(token(`${grant}&${credentials}`, basic), 401, true);
      await same(token(`${grant}&${credentials.slice(0, -1)}`), 401, true);
      await same(token(`${grant}&${credentials}&scope=other`), 400, true);
      await same(token(`${grant}&${credentials}&scope=%zz`), 400, true);
      await same(token(`${grant}&${grant}&${credentials}`), 400, true);
      await same(token(`grant_type=%22%3C&${credentials}`), 400, true);
      await same(post('/v1/idp/oidc/token', `${grant}&client_id=x&client_secret=y`), 401, true);
      await same(token(`${grant}&${credentials}`, 'DPoP: nonsense'), 400, true);
      await same(post(below('/introspect'), `${credentials}&token=x`), 200, true);
      await same(post(below('/introspect'), `${credentials}&token=x`, 'Accept: application/token-introspection+jwt'), 200, true);
      await same(post(below('/introspect'), credentials), 400, true);
      await same(post(below('/revoke'), `${credentials}&token=x`), 200, true);
      await same(post(below('/par'), `${credentials}&response_type=code`), 400, true);
      await same(post(below('/bc-authorize'), `${credentials}&login_hint=x`), 400, true);
      await same(get(below('/jwks')), 200, true);
      await same(get(below('/userinfo')), 401, true);
      await same(get(below('/userinfo'), `Authorization: Bearer ${tenant.token}`), 401, true);
      await same(post(below('/userinfo'), 'access_token=x'), 401, true);
    });

    it('whatever is not plain is left to the parser, with the same answer', async () => {
      const form = `${grant}&${credentials}`;
      const token = (...headers: readonly string[]): Buffer => post(below('/token'), form, ...headers);
      await same(token('Connection: close'), 200, false);
      await same(token('TE: trailers'), 200, false);
      await same(token('X-Twice: 1', 'x-twice: 2'), 200, false);
      await same(token('X-Text: \u00e9'), 200, false);
      await same(token('Content-Encoding: identity'), 200, false);
      await same(token('Expect: nothing'), 200, false);
      await same(post(below('/token'), `${form}&state=\u00e9`), 200, false);
      await same(post(`${below('/token')}?a=b`, form), 200, false);
      await same(post(`${below('/token')}?a=%00`, form), 400, false);
      await same(post(below('/t%6fken'), form), 200, false);
      await same(post('/t/nobody/v1/idp/oidc/token', form), 404, false);
      await same(post(below('/nowhere'), form), 404, false);
      await same(post(below('/token').toUpperCase(), form), 404, false);
      await same(get(below('/token')), 405, false);
      await same(Buffer.from(token().toString('latin1').replace('x-www-form-urlencoded', 'json')), 415, false);
      await same(
        Buffer.from(
          token()
            .toString('latin1')
            .replace(/Host.*\r\n/, ''),
        ),
        400,
        false,
      );
      await same(Buffer.from(token().toString('latin1').replace('HTTP/1.1', 'HTTP/1.0')), 200, false);
      await same(Buffer.from(token().toString('latin1').replaceAll('\r\n', '\n')), 400, false);
    });

    it(`${plainRequestBytesMax} bytes are plain, one more is left to the parser`, async () => {
      const [start, end] = [`${grant}&${credentials}&pad=`, plainRequestBytesMax];
      const bare = post(below('/token'), `${start}${'x'.repeat(5000)}`).length - 5000;
      const padded = (bytes: number): Buffer => post(below('/token'), start, `X-Pad: ${'x'.repeat(bytes - bare - 8)}`);
      const exact = [end - 1, end, end + 1, end + 2, end + 3].map(padded);
      for (const bytes of exact) await same(bytes, 200, bytes.length <= plainRequestBytesMax);
      assert.ok(exact.some(({ length }) => length === end) && exact.some(({ length }) => length === end + 1));
    });

    it('requests of one connection are answered in their order, whichever way they go', async () => {
      const plain = post(below('/token'), `${grant}&${credentials}`);
      const wrong = post(below('/token'), `${grant}&${credentials}x`);
      const odd = post(below('/introspect'), `${credentials}&token=x`, 'TE: trailers');
      const socket = await openSocket(server.url);
      let text = '';
      socket.setEncoding('latin1').on('data', (part: string) => {
        text += part;
      });
      const answers = (): readonly string[] => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => match[1]!);
      const until = async (count: number): Promise<void> => {
        while (answers().length < count) await new Promise((resolve) => socket.once('data', resolve));
      };
      socket.write(plain);
      await until(1);
      socket.write(wrong);
      await until(2);
      socket.write(plain); // pipelined: each of these comes while the one before is in hand
      await new Promise(setImmediate);
      socket.write(wrong);
      socket.write(Buffer.concat([odd, plain]));
      await until(6);
      socket.write(wrong);
      await until(7);
      socket.destroy();
      assert.deepEqual(answers(), ['200', '401', '200', '401', '200', '200', '401']);
    });

    it('a client that sends its end with its request is answered', async () => {
      const socket = await openSocket(server.url);
      let text = '';
      socket.setEncoding('latin1').on('data', (part: string) => {
        text += part;
      });
      socket.end(post(below('/token'), `${grant}&${credentials}`));
      await new Promise((resolve) => socket.once('close', resolve));
      assert.match(text, /^HTTP\/1\.1 200 /);
    });

    it(`${mutations} mutated requests are answered alike on both ways`, { timeout: 1_800_000 }, async () => {
      const random = createRandom(20_261_122);
      const seeds = [
        post(below('/token'), `${grant}&${credentials}&scope=users%3Aread`, 'Accept: */*', 'Connection: keep-alive'),
        post(below('/introspect'), `${credentials}&token=x`, 'Accept-Encoding: gzip'),
        get(below('/jwks'), 'User-Agent: a b', 'X-Forwarded-For: 192.0.2.1'),
      ];
      let done = 0;
      let answered = 0;
      const worker = async (): Promise<void> => {
        while (done < mutations) {
          done += 1;
          const bytes = mutate(random, seeds[done % seeds.length]!);
          const { plain, parsed } = await sendBothWays(server.url, bytes);
          assert.equal(plain, parsed, JSON.stringify(bytes.toString('latin1')));
          if (plain.startsWith('HTTP/1.1 2')) answered += 1;
        }
      };
      await Promise.all(Array.from({ length: parallel }, worker));
      assert.ok(answered > mutations / 20, `${answered} answered`);
      assert.equal((await sendRaw(server.url, seeds[0]!)).status, 200);
    });
  });
}

/** Pieces that mean something to a parser of HTTP. */
// biome-ignore format: a list
const pieces: readonly string[] = [
  '\r\n', '\n', '\r', ' ', '\t', ':', '\0', '\x7f', '\xe9', '%', '?', '#', '&', '=', '+', '"', '0', '-1', 'Content-Length: 0\r\n', 'Content-Length: 3\r\n', 'Transfer-Encoding: chunked\r\n',
  'Host: other\r\n', 'Connection: close\r\n', 'Connection: upgrade\r\nUpgrade: x\r\n', ' folded\r\n', 'X : y\r\n', ': y\r\n', 'Expect: 100-continue\r\n', 'Authorization: Basic eA==\r\n', 'HTTP/1.0', 'HTTP/2.0', 'GET ', 'PUT ', '\r\n\r\n',
];

/** One to three small changes: a byte, a piece put in, a piece taken out, a line twice. */
function mutate(random: () => number, seed: Buffer): Buffer {
  let text = seed.toString('latin1');
  const changes = 1 + Math.floor(random() * 3);
  for (let change = 0; change < changes; change += 1) {
    const at = Math.floor(random() * text.length);
    const kind = random();
    const lines = text.split('\r\n');
    const line = 1 + Math.floor(random() * (lines.length - 1));
    if (kind < 0.35) text = text.slice(0, at) + pieces[Math.floor(random() * pieces.length)]! + text.slice(at);
    else if (kind < 0.55) text = text.slice(0, at) + String.fromCharCode(Math.floor(random() * 256)) + text.slice(at + 1);
    else if (kind < 0.7) text = text.slice(0, at) + text.slice(at + 1 + Math.floor(random() * 6));
    else if (kind < 0.85)
      text = [...lines.slice(0, line), pieces[Math.floor(random() * pieces.length)]!.trim(), ...lines.slice(line)].join('\r\n');
    else text = [...lines.slice(0, line), lines[line]!, ...lines.slice(line)].join('\r\n');
  }
  return Buffer.from(text, 'latin1');
}
