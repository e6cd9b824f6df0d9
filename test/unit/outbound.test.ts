// The guarded way out: what it reaches, what it refuses before a byte is sent, and its caps.
import assert from 'node:assert/strict';
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { connectionsAtOnceMax } from '../../src/contract/limits.ts';
import { isPublicAddress, parseCidrs } from '../../src/platform/net/address-ranges.ts';
import { createOutbound, type OutboundOptions, type OutboundRequest } from '../../src/platform/net/outbound.ts';
import { makeCertificate, newP256, pemOf } from '../support/attestation-ca.ts';
import { until } from '../support/deliveries.ts';
import { der, sequence } from '../support/der-build.ts';

const loopback = ['127.0.0.0/8'];
const call = (url: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  url,
  share: 'somebody',
  method: 'GET',
  timeoutMs: 3000,
  responseBytesMax: 1000,
  ...more,
});
const resolveTo =
  (...addresses: readonly string[]): NonNullable<OutboundOptions['resolve']> =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
const failed = (reason: string): object => ({ ok: false, reason });

const seen: { method: string; url: string; host: string; headers: NodeJS.Dict<string | string[]>; body: string }[] = [];

const answer: RequestListener = (request, response) => {
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    seen.push({ method: request.method!, url: request.url!, host: request.headers.host!, headers: request.headers, body });
    const [, path, count] = request.url!.split('/');
    if (path === 'redirect') response.writeHead(302, { location: '/elsewhere' }).end('moved');
    else if (path === 'bytes') response.end('x'.repeat(Number(count)));
    else if (path === 'endless') response.write('x'.repeat(100));
    else if (path === 'broken') response.writeHead(200, { 'content-length': '50' }).end('short', () => request.socket.destroy());
    else if (path === 'drop' && Number(count) === seen.length) request.socket.destroy();
    else if (path !== 'silent') response.writeHead(200, { 'content-type': 'application/json', 'x-seen': 'yes' }).end('{"a":"é"}');
  });
};

describe('outgoing HTTP', () => {
  let plain: Server;
  let secure: Server;
  let ca: string;
  let port: number;
  let securePort: number;
  before(async () => {
    const keys = newP256();
    const names = sequence(der(0x82, Buffer.from('keys.example')));
    const issuer = { name: 'keys.example', key: keys.privateKey };
    ca = pemOf(
      makeCertificate({
        subject: 'keys.example',
        publicKey: keys.publicKey,
        issuer,
        authority: true,
        extensions: [{ oid: '2.5.29.17', value: names }],
      }),
    );
    plain = createHttpServer(answer);
    secure = createHttpsServer({ key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }), cert: ca }, answer) as Server;
    for (const server of [plain, secure]) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    port = (plain.address() as AddressInfo).port;
    securePort = (secure.address() as AddressInfo).port;
  });
  after(async () => {
    for (const server of [plain, secure]) {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    }
  });

  it('https: name and port kept in Host, certificate checked against the name, connection to the checked address', async () => {
    const outbound = createOutbound({ allow: loopback, resolve: resolveTo('127.0.0.1'), ca });
    seen.length = 0;
    const result = await outbound.fetch(call(`https://keys.example:${securePort}/jwks?a=1`, { headers: { authorization: 'Bearer t' } }));
    assert.equal(result.ok && result.status, 200);
    assert.equal(result.ok && result.body, '{"a":"é"}');
    assert.equal(result.ok && result.headers['x-seen'], 'yes');
    assert.deepEqual(
      [seen[0]?.method, seen[0]?.url, seen[0]?.host, seen[0]?.headers['authorization']],
      ['GET', '/jwks?a=1', `keys.example:${securePort}`, 'Bearer t'],
    );
    const other = await outbound.fetch(call(`https://other.example:${securePort}/jwks`));
    assert.deepEqual(other, failed('network'));
  });
  it('https: an unknown issuer is refused', async () => {
    const outbound = createOutbound({ allow: loopback, resolve: resolveTo('127.0.0.1') });
    assert.deepEqual(await outbound.fetch(call(`https://keys.example:${securePort}/`)), failed('network'));
  });
  it('http on an allowed address; POST sends its body with its length', async () => {
    const outbound = createOutbound({ allow: loopback });
    seen.length = 0;
    const result = await outbound.fetch(
      call(`http://127.0.0.1:${port}/hook`, { method: 'POST', body: 'a=é', headers: { 'content-type': 'text/plain' } }),
    );
    assert.equal(result.ok, true);
    assert.deepEqual(
      [seen[0]?.method, seen[0]?.body, seen[0]?.headers['content-length'], seen[0]?.headers['connection']],
      ['POST', 'a=é', '4', 'close'],
    );
  });
  it('keepsConnection: kept for the same addresses, new for a name that moves, replaced when the other side closed it', async () => {
    let opened = 0;
    const count = (): void => {
      opened += 1;
    };
    plain.on('connection', count);
    let addresses = ['127.0.0.1'];
    const outbound = createOutbound({ allow: loopback, resolve: (...asked) => resolveTo(...addresses)(...asked) });
    const ask = async (method: 'GET' | 'POST' = 'GET'): Promise<void> => {
      const result = await outbound.fetch(call(`http://hook.example:${port}/`, { method, keepsConnection: true }));
      assert.equal(result.ok && result.status, 200, JSON.stringify(result));
    };
    await ask();
    await ask();
    assert.equal(opened, 1);
    assert.equal(seen.at(-1)?.headers['connection'], 'keep-alive');
    addresses = ['127.0.0.1', '127.0.0.2'];
    await ask();
    assert.equal(opened, 2);
    addresses = ['10.0.0.1'];
    assert.deepEqual(await outbound.fetch(call('https://hook.example/', { keepsConnection: true })), failed('refused_address'));
    addresses = ['127.0.0.1'];
    for (const method of ['GET', 'POST'] as const) {
      plain.closeIdleConnections();
      await ask(method);
    }
    plain.off('connection', count);
  });
  for (const [method, times] of [
    ['POST', 1],
    ['PATCH', 1],
    ['PUT', 2],
    ['DELETE', 2],
    ['GET', 2],
  ] as const)
    it(`${method} on a kept connection that ends after it was read is sent ${times === 1 ? 'once' : 'again'}`, async () => {
      const outbound = createOutbound({ allow: loopback });
      seen.length = 0;
      const sent = (): ReturnType<typeof outbound.fetch> =>
        outbound.fetch(call(`http://127.0.0.1:${port}/drop/2`, { method, keepsConnection: true, ...(method !== 'GET' && { body: '{}' }) }));
      assert.equal((await sent()).ok, true);
      const second = await sent();
      if (times === 1) assert.deepEqual(second, failed('network'));
      else assert.equal(second.ok, true);
      assert.equal(seen.length, 1 + times);
    });
  it('the system resolver finds localhost', async () => {
    const outbound = createOutbound({ allow: ['127.0.0.0/8', '::1'] });
    assert.equal((await outbound.fetch(call(`http://localhost:${port}/`))).ok, true);
    assert.deepEqual(await createOutbound({ allow: [] }).fetch(call(`https://localhost:${port}/`)), failed('refused_address'));
  });
  it('connectionsAtOnceMax: so many calls of a share at once, one more waits behind its own, nobody else does', async () => {
    const outbound = createOutbound({ allow: loopback });
    seen.length = 0;
    const ended = Array.from({ length: connectionsAtOnceMax + 1 }, () => new AbortController());
    const calls = ended.map(({ signal }) =>
      outbound.fetch(call(`http://127.0.0.1:${port}/silent`, { share: 'a', timeoutMs: 60_000, signal })),
    );
    await until(() => seen.length === connectionsAtOnceMax);
    assert.equal((await outbound.fetch(call(`http://127.0.0.1:${port}/`, { share: 'b' }))).ok, true);
    assert.equal(seen.length, connectionsAtOnceMax + 1, 'what was asked for another share alone');
    assert.deepEqual(await outbound.fetch(call(`http://127.0.0.1:${port}/`, { share: 'a', timeoutMs: 20 })), failed('busy'));
    ended[0]!.abort();
    await until(() => seen.length === connectionsAtOnceMax + 2);
    for (const one of ended) one.abort();
    for (const one of await Promise.all(calls)) assert.deepEqual(one, failed('timeout'));
  });
  it('a redirect is an answer, not a way', async () => {
    seen.length = 0;
    const result = await createOutbound({ allow: loopback }).fetch(call(`http://127.0.0.1:${port}/redirect`));
    assert.equal(result.ok && result.status, 302);
    assert.equal(seen.length, 1);
  });
  it('responseBytesMax: n arrives, n + 1 is too_large, an endless one is cut', async () => {
    const outbound = createOutbound({ allow: loopback });
    const exact = await outbound.fetch(call(`http://127.0.0.1:${port}/bytes/1000`));
    assert.equal(exact.ok && exact.body.length, 1000);
    assert.deepEqual(await outbound.fetch(call(`http://127.0.0.1:${port}/bytes/1001`)), failed('too_large'));
    assert.deepEqual(await outbound.fetch(call(`http://127.0.0.1:${port}/endless`, { responseBytesMax: 99 })), failed('too_large'));
  });
  it('timeoutMs covers a silent server, an endless body and a silent resolver', async () => {
    const outbound = createOutbound({ allow: loopback });
    assert.deepEqual(await outbound.fetch(call(`http://127.0.0.1:${port}/silent`, { timeoutMs: 50 })), failed('timeout'));
    assert.deepEqual(await outbound.fetch(call(`http://127.0.0.1:${port}/endless`, { timeoutMs: 50 })), failed('timeout'));
    const deaf = createOutbound({ allow: loopback, resolve: () => new Promise(() => undefined) });
    assert.deepEqual(await deaf.fetch(call('https://keys.example/', { timeoutMs: 50 })), failed('timeout'));
  });
  it('a body cut short, a closed port and an unknown name', async () => {
    const outbound = createOutbound({ allow: loopback, resolve: resolveTo() });
    assert.deepEqual(await outbound.fetch(call(`http://127.0.0.1:${port}/broken`)), failed('network'));
    assert.deepEqual(await outbound.fetch(call('http://127.0.0.1:1/')), failed('network'));
    assert.deepEqual(await outbound.fetch(call('https://nobody.example/')), failed('unresolved'));
    const failing = createOutbound({ allow: loopback, resolve: () => Promise.reject(new Error('ENOTFOUND')) });
    assert.deepEqual(await failing.fetch(call('https://nobody.example/')), failed('unresolved'));
  });

  for (const url of [
    'ftp://keys.example/',
    'file:///etc/passwd',
    'data:text/plain,a',
    'javascript:1',
    'not a url',
    '',
    'http://keys.example/',
  ])
    it(`refused_scheme: ${url || 'empty'}`, async () => {
      const outbound = createOutbound({ allow: loopback, resolve: resolveTo('93.184.216.34') });
      assert.deepEqual(await outbound.fetch(call(url)), failed('refused_scheme'));
    });

  const literals = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:a00:1]',
    '[64:ff9b::7f00:1]',
    '[fe80::1]',
    '[fd00::1]',
    '169.254.169.254',
    '0.0.0.0',
    '[::]',
    'user@1.1.1.1',
  ];
  for (const host of literals)
    it(`refused_address: https://${host}/`, async () => {
      assert.deepEqual(await createOutbound({ allow: [] }).fetch(call(`https://${host}/`)), failed('refused_address'));
    });
  it('refused_address: a name with a private, mapped or mixed answer', async () => {
    for (const addresses of [
      ['10.0.0.1'],
      ['::ffff:10.0.0.1'],
      ['93.184.216.34', '10.0.0.1'],
      ['2606:4700::1111', 'fd00::1'],
      ['93.184.216.34', '127.0.0.1'],
    ]) {
      const outbound = createOutbound({ allow: ['192.168.7.0/24'], resolve: resolveTo(...addresses) });
      assert.deepEqual(await outbound.fetch(call('https://keys.example/')), failed('refused_address'), addresses.join());
    }
  });
  it('the name is resolved once: a second answer is never asked for', async () => {
    let asked = 0;
    const rebinding: OutboundOptions['resolve'] = async () => {
      asked += 1;
      return [{ address: asked === 1 ? '127.0.0.1' : '10.0.0.1', family: 4 }];
    };
    const result = await createOutbound({ allow: loopback, resolve: rebinding }).fetch(call(`http://keys.example:${port}/`));
    assert.equal(result.ok, true);
    assert.equal(asked, 1);
  });
});

describe('address ranges', () => {
  const publicOnes = ['1.1.1.1', '93.184.216.34', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '::ffff:1.1.1.1'];
  const special = [
    '0.0.0.0',
    '0.1.2.3',
    '10.255.255.255',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.0.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
  ];
  const specialV6 = [
    '::',
    '::1',
    '::ffff:10.0.0.1',
    '::7f00:1',
    '64:ff9b::1',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    '4000::1',
    'fc00::1',
    'fe80::1',
    'fec0::1',
    'ff02::1',
  ];
  for (const address of publicOnes) it(`${address} is public`, () => assert.equal(isPublicAddress(address), true));
  for (const address of [...special, ...specialV6, 'fe80::1%eth0', '2606:4700::1%eth0', 'localhost', ''])
    it(`${address || 'nothing'} is not public`, () => assert.equal(isPublicAddress(address), false));
  it('a list that cannot be read names its entry', () => {
    assert.throws(() => parseCidrs(['10.0.0.0/8', 'ten']), /found ten$/);
    assert.throws(() => parseCidrs(['10.0.0.0/33']), /found 10\.0\.0\.0\/33$/);
  });
});
