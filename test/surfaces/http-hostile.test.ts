// Requests that no honest client sends: the right envelope, early, never a 5xx and never a library's words.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { RowId } from '../../src/contract/catalogue.ts';
import { headerBytesMax, jsonDepthMax, managementBodyBytesMax } from '../../src/contract/limits.ts';
import { createServer } from '../../src/http/server.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { databases } from '../support/databases.ts';
import { openSocket, readAnswer, sendRaw } from '../support/raw-http.ts';
import { assertRefusal } from '../support/refusal.ts';
import { operatorToken, startTestServer, type TestServer } from '../support/server.ts';

type Envelope = 'oauth' | 'management' | 'scim';
interface Endpoint {
  readonly envelope: Envelope;
  readonly prefix: string;
  /** A path that takes POST with a body of this type. */
  readonly post: string;
  readonly type: string;
  /** How a body over the limit is answered when not by 413. */
  readonly tooLarge?: RowId;
  /** Authentication comes before the body; credentials are not this file's subject. */
  readonly authenticatesFirst?: true;
}

const form = 'application/x-www-form-urlencoded';
const endpoints: readonly Endpoint[] = [
  { envelope: 'oauth', prefix: '/v1/idp/oidc', post: '/v1/idp/oidc/token', type: form },
  { envelope: 'management', prefix: '/v1/system', post: '/v1/system/tenants', type: 'application/json' },
  { envelope: 'management', prefix: '/v1/management', post: '/v1/management/clients', type: 'application/json', authenticatesFirst: true },
  { envelope: 'oauth', prefix: '/v1/idp/saml', post: '/v1/idp/saml/sso', type: form, tooLarge: 'saml.invalid_request' },
  { envelope: 'scim', prefix: '/scim/v2', post: '/scim/v2/Users', type: 'application/scim+json' },
  {
    envelope: 'management',
    prefix: '/v1/device',
    post: '/v1/device/registration/start',
    type: 'application/json',
    authenticatesFirst: true,
  },
];
const row = (envelope: Envelope, name: string): RowId => `${envelope}.${name}` as RowId;

for (const database of databases) {
  describe(`hostile HTTP on ${database}`, () => {
    let server: TestServer;
    let host: string;
    before(async () => {
      server = await startTestServer(database);
      host = new URL(server.url).host;
    });
    after(() => server.close());
    const raw = (head: string, body: string | Uint8Array = ''): Promise<Response> =>
      sendRaw(server.url, Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), Buffer.from(body as Uint8Array)]));
    const get = (path: string, ...headers: readonly string[]): Promise<Response> =>
      raw([`GET ${path} HTTP/1.1`, `Host: ${host}`, ...headers].join('\r\n'));
    const system = (body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
      fetch(`${server.url}/v1/system/tenants`, {
        method: 'POST',
        headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json', 'x-protocol-version': '1', ...headers },
        body: body as string,
      });

    for (const { envelope, prefix, post, type, authenticatesFirst, tooLarge } of endpoints) {
      it(`${prefix}: unknown routes, tenants and methods`, async () => {
        await assertRefusal(await get(`${prefix}/nowhere-at-all`, 'X-Protocol-Version: 1'), row(envelope, 'not_found'));
        await assertRefusal(
          await get(`/t/nobody${post}`, 'X-Protocol-Version: 1'),
          prefix === '/v1/system' ? 'management.not_found' : row(envelope, 'not_found'),
        );
        const response = await fetch(`${server.url}${post}`, { method: 'PATCH', headers: { 'x-protocol-version': '1' } });
        assert.ok([405, 404].includes(response.status), String(response.status));
        await assertRefusal(response, row(envelope, response.status === 405 ? 'method_not_allowed' : 'not_found'));
      });
      it(`${prefix}: bad percent-encoding and NUL in the path`, async () => {
        for (const path of [`${prefix}/%`, `${prefix}/%zz`, `${prefix}/%c3%28`, `${prefix}/a%00b`, `${post}?a=%00`])
          await assertRefusal(await get(path, 'X-Protocol-Version: 1'), row(envelope, 'malformed'));
      });
      it(`${prefix}: two Content-Type headers are its own malformed, whichever comes first and whether they agree`, async () => {
        const bodies = new Set<string>();
        for (const types of [
          [type, 'text/plain'],
          ['text/plain', type],
          [type, type],
        ]) {
          const head = [
            `POST ${post} HTTP/1.1`,
            `Host: ${host}`,
            'X-Protocol-Version: 1',
            ...types.map((value) => `Content-Type: ${value}`),
          ];
          bodies.add(await assertRefusal(await raw([...head, 'Content-Length: 1'].join('\r\n'), 'a'), row(envelope, 'malformed')));
        }
        assert.equal(bodies.size, 1);
      });
      if (authenticatesFirst) continue;
      it(`${prefix}: content types and encodings it does not take`, async () => {
        const send = (headers: Readonly<Record<string, string>>, body: string | Uint8Array): Promise<Response> =>
          fetch(`${server.url}${post}`, { method: 'POST', headers: { 'x-protocol-version': '1', ...headers }, body: body as string });
        for (const wrong of [
          'text/plain',
          'application/xml',
          'multipart/form-data; boundary=a',
          'text/json',
          'nonsense',
          type === form ? 'application/json' : form,
        ])
          await assertRefusal(await send({ 'content-type': wrong }, 'a=b'), row(envelope, 'unsupported_media_type'));
        for (const encoding of ['gzip', 'br', 'deflate, gzip', 'x-unknown'])
          await assertRefusal(
            await send({ 'content-type': type, 'content-encoding': encoding }, gzipSync('{}')),
            row(envelope, 'unsupported_media_type'),
          );
      });
      it(`${prefix}: a body of 10 MB is refused early, with or without its length`, async () => {
        const refused = tooLarge ?? row(envelope, 'payload_too_large');
        const headers = `POST ${post} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: ${type}\r\nX-Protocol-Version: 1`;
        await assertRefusal(await raw(`${headers}\r\nContent-Length: 10485760`, 'a'.repeat(1000)), refused);
        const chunk = `10000\r\n${'a'.repeat(65_536)}\r\n`;
        await assertRefusal(await raw(`${headers}\r\nTransfer-Encoding: chunked`, `${chunk.repeat(20)}0\r\n\r\n`), refused);
      });
    }

    it('a form that is not UTF-8 cannot be read: it would be taken to say something else', async () => {
      const send = (path: string, body: string): Promise<Response> =>
        raw(
          `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: ${form}\r\nContent-Length: ${body.length}`,
          Buffer.from(body, 'latin1'),
        );
      for (const path of ['token', 'par', 'introspect', 'revoke', 'bc-authorize'])
        await assertRefusal(await send(`/v1/idp/oidc/${path}`, 'client_id=a&grant_type=authorization_code&code=\xff'), 'oauth.malformed');
      await assertRefusal(await send('/v1/idp/saml/sso', 'SAMLRequest=\xff'), 'oauth.malformed');
    });

    it('7.7 UserInfo: what cannot be read is 401 with a reason, as every failure there', async () => {
      const path = '/v1/idp/oidc/userinfo';
      const twice = ['Content-Type: text/plain', `Content-Type: ${form}`, 'Content-Length: 1'];
      const requests = [
        raw([`POST ${path} HTTP/1.1`, `Host: ${host}`, ...twice].join('\r\n'), 'a'),
        raw([`POST ${path}?a=b HTTP/1.1`, `Host: ${host}`, ...twice].join('\r\n'), 'a'),
        get(`${path}?a=%00`),
      ];
      for (const response of await Promise.all(requests)) {
        assert.equal(response.headers.has('www-authenticate'), false);
        await assertRefusal(response, 'userinfo.unauthorized', { fields: { reason: 'invalid_token' } });
      }
    });

    it('404: an id longer than any of ours is of nothing, in the envelope of its surface', async () => {
      for (const length of [100, 101, 5000]) {
        await assertRefusal(await get(`/v1/idp/saml/metadata/${'a'.repeat(length)}`), 'oauth.not_found');
        await assertRefusal(
          await get(`/v1/system/tenants/${'a'.repeat(length)}`, `Authorization: Bearer ${operatorToken}`),
          'management.not_found',
        );
      }
    });

    it('management.malformed: JSON that two parsers could read differently', async () => {
      const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
      const bad: readonly (string | Uint8Array)[] = [
        '{"slug":"a","slug":"b"}',
        '{"slug":"a","sl\\u0075g":"b"}',
        '{"__proto__":{"slug":"x"}}',
        '{"a":{"\\u005f_proto__":1}}',
        '{"slug":"a\\u0000b","name":"x"}',
        '{',
        '',
        '{"a":1}x',
        "{'a':1}",
        '{"a":01}',
        '[1,]',
        '\ufeff{}',
        '{"a":NaN}',
        Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
        deep(jsonDepthMax + 1),
        deep(5000),
        '['.repeat(20_000),
      ];
      for (const body of bad) await assertRefusal(await system(body), 'management.malformed');
      const known = await system(deep(jsonDepthMax));
      assert.equal(((await known.json()) as Record<string, string>)['error'], 'invalid_request');
      assert.equal(known.status, 400);
      for (const body of ['null', '[]', '1', '"a"', '{"constructor":{"prototype":{"admin":true}},"slug":"x","name":"x"}'])
        assert.equal((await system(body)).status, 400);
      assert.equal(({} as Record<string, unknown>)['admin'], undefined);
      assert.equal((await system('{"slug":"backslash","name":"a \\\\u0000 b"}')).status, 201);
    });
    it('management.payload_too_large at managementBodyBytesMax + 1, not at managementBodyBytesMax', async () => {
      const padded = (bytes: number): string => `{"slug":"padded"${' '.repeat(bytes - 17)}}`;
      assert.equal(padded(managementBodyBytesMax).length, managementBodyBytesMax);
      assert.equal((await system(padded(managementBodyBytesMax))).status, 400);
      await assertRefusal(await system(padded(managementBodyBytesMax + 1)), 'management.payload_too_large');
    });
    it('http.headers_too_large: 64 KB of headers, or a path of 64 KB', async () => {
      await assertRefusal(await get('/v1/idp/oidc/jwks', `X-Long: ${'a'.repeat(65_536)}`), 'http.headers_too_large');
      await assertRefusal(await get(`/${'a'.repeat(65_536)}`), 'http.headers_too_large');
      assert.equal((await get('/v1/idp/oidc/jwks', `X-Long: ${'a'.repeat(headerBytesMax - 500)}`)).status, 200);
    });
    it('http.bad_request_line: what is no HTTP request, or an ambiguous one', async () => {
      const bytes: readonly string[] = [
        'nonsense\r\n\r\n',
        '\0\0\0\0\r\n\r\n',
        '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n',
        'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
        'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n',
        'GET / HTTP/9.9\r\nHost: x\r\n\r\n',
        'FOO / HTTP/1.1\r\nHost: x\r\n\r\n',
        `GET /v1/idp/oidc/jwks HTTP/1.1\r\n\r\n`,
        `GET /v1/idp/oidc/jwks HTTP/1.1\r\nHost: ${host}\r\nHost: evil.example\r\n\r\n`,
        `GET / HTTP/1.1\r\nHost: ${host}\r\nBad Header: 1\r\n\r\n`,
        `GET / HTTP/1.1\r\nHost: ${host}\r\nX: a\0b\r\n\r\n`,
        `POST /v1/idp/oidc/token HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
        `POST /v1/idp/oidc/token HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
        `POST /v1/idp/oidc/token HTTP/1.1\r\nHost: ${host}\r\nContent-Length: -1\r\n\r\n`,
        `CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n`,
        `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Type: ${form}\r\nContent-Type: application/json\r\nContent-Length: 1\r\n\r\na`,
      ];
      const bodies = new Set<string>();
      for (const text of bytes)
        bodies.add(await assertRefusal(await sendRaw(server.url, Buffer.from(text, 'latin1')), 'http.bad_request_line'));
      assert.equal(bodies.size, 1);
    });
    it('odd but readable requests are answered as ordinary ones', async () => {
      assert.equal((await get('/v1/idp/oidc/jwks', 'Expect: tea')).status, 200);
      assert.equal((await get('/v1/idp/oidc/jwks', 'Upgrade: websocket', 'Connection: Upgrade')).status, 200);
      assert.equal((await raw('GET /v1/idp/oidc/jwks HTTP/1.0')).status, 200);
      for (const path of [
        '//v1/idp/oidc/jwks',
        '/v1/idp/oidc/../../../etc/passwd',
        '/v1/idp/oidc/jwks/',
        '/t/__proto__/v1/idp/oidc/jwks',
        '/t/constructor/v1/idp/oidc/jwks',
        '/t/%00/v1/idp/oidc/jwks',
        '/t//v1/idp/oidc/jwks',
        '/t/main/v1/idp/oidc/jwks',
        '/t',
        '/t/',
        '/*',
      ])
        assert.equal((await get(path)).status, 404, path);
      for (const name of ['*', 'http://evil.example/v1/idp/oidc/jwks']) assert.ok((await get(name)).status < 500, name);
    });
    it('Host and forwarded headers name nothing: the issuer stays the configured one', async () => {
      const issuer = async (...headers: readonly string[]): Promise<unknown> => {
        const response = await raw(['GET /.well-known/openid-configuration HTTP/1.1', ...headers].join('\r\n'));
        return ((await response.json()) as Record<string, unknown>)['issuer'];
      };
      for (const name of ['evil.example', '[', 'a b', '', "'; DROP TABLE tenants; --", 'x'.repeat(5000), host.toUpperCase()])
        assert.equal(await issuer(`Host: ${name}`), server.url, name);
      assert.equal(
        await issuer(`Host: ${host}`, 'X-Forwarded-Host: evil.example', 'X-Forwarded-Proto: https', 'Forwarded: host=evil.example'),
        server.url,
      );
    });
    it('repeated Authorization is no credential', async () => {
      await assertRefusal(
        await get('/v1/system/tenants', `Authorization: Bearer ${operatorToken}`, 'Authorization: Bearer other'),
        'management.unauthorized',
      );
      await assertRefusal(
        await get('/v1/system/tenants', `Authorization: Bearer ${operatorToken}`, `authorization: Bearer ${operatorToken}`),
        'management.unauthorized',
      );
      assert.equal((await get('/v1/system/tenants', `Authorization: Bearer ${operatorToken}`)).status, 200);
    });
    it('E17: 2,000 idle and half-sent connections, others are served', async () => {
      const sockets: Socket[] = [];
      try {
        for (let batch = 0; batch < 20; batch += 1)
          sockets.push(...(await Promise.all(Array.from({ length: 100 }, () => openSocket(server.url)))));
        for (const [index, socket] of sockets.entries()) {
          socket.on('error', () => undefined);
          if (index % 2 === 0) socket.write('POST /v1/idp/oidc/token HTTP/1.1\r\nX: ');
        }
        for (let turn = 0; turn < 20; turn += 1) assert.equal((await fetch(`${server.url}/v1/idp/oidc/jwks`)).status, 200);
      } finally {
        for (const socket of sockets) socket.destroy();
      }
    });
  });
}

describe('slow requests', () => {
  it('http.timeout: headers that never end, a body that never ends, one byte at a time', async () => {
    const app = createServer(() => '127.0.0.1', systemClock, { headersMs: 150, requestMs: 300, keepAliveMs: 1000, checkEveryMs: 50 });
    app.post('/', async () => 'never');
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    try {
      const slow = async (first: string, drip: boolean): Promise<string> => {
        const socket = await openSocket(url);
        socket.on('error', () => undefined);
        const answer = readAnswer(socket);
        socket.write(first);
        const timer = drip ? setInterval(() => socket.write('a'), 40) : undefined;
        try {
          return await assertRefusal(await answer, 'http.timeout');
        } finally {
          clearInterval(timer);
          socket.destroy();
        }
      };
      const bodies = await Promise.all([
        slow('', false),
        slow('GET / HTTP/1.1\r\n', false),
        slow('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ', true),
        slow('POST / HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\n', true),
      ]);
      assert.equal(new Set(bodies).size, 1);
    } finally {
      await app.close();
    }
  });
});
