// The first run (design 13, section 1): where a server is, what it tells, the sample tenant, and what is open to whoever tries it
// out on this machine and to nobody else.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { listTenants } from '../../src/storage/registry/tenants.ts';
import { databases } from '../support/databases.ts';
import { createClient } from '../support/fixtures.ts';
import { createDataFolder, runGatehouse } from '../support/gatehouse-process.ts';
import { goldenReleases } from '../support/golden.ts';
import { startGoldenServer } from '../support/golden-server.ts';
import { beginLogin } from '../support/login.ts';
import { callJson, callSystem, clientCredentialsToken, jsonOf } from '../support/management.ts';
import { openSocket, readAnswer } from '../support/raw-http.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const portOf = (server: TestServer): number => (server.gatehouse.app.server.address() as AddressInfo).port; // listening on TCP
const htmlOf = (url: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(url, { headers: { accept: 'text/html', ...headers }, redirect: 'manual' });

/** A request with a Host of one's own, which fetch does not allow. */
async function askAs(port: number, host: string, path: string, more: readonly string[] = []): Promise<Response> {
  const socket = await openSocket(`http://127.0.0.1:${port}`);
  const answer = readAnswer(socket);
  socket.write([`GET ${path} HTTP/1.1`, `Host: ${host}`, 'Accept: text/html', 'Connection: close', ...more, '', ''].join('\r\n'));
  return answer;
}

describe('a first start of the program', () => {
  const folder = createDataFolder();
  after(() => folder.remove());
  const start = (...args: readonly string[]) =>
    runGatehouse(folder.path, { args: ['serve', '--data', folder.path, ...args], environment: { GATEHOUSE_LOG_LEVEL: 'silent' } });
  /** What a start wrote to standard error, after a work with its URL. */
  const run = async (
    work: (url: string) => Promise<void>,
    ...args: readonly string[]
  ): Promise<{ readonly url: string; readonly stdout: string; readonly stderr: string }> => {
    const server = start(...args);
    const url = await server.ready;
    await work(url).finally(() => server.signal('SIGTERM'));
    const { stdout, stderr } = await server.ended;
    return { url, stdout, stderr };
  };

  it('is localhost at both loopback addresses, prints one ready line, and tells what to open', async () => {
    const { url, stdout, stderr } = await run(
      async (at) => {
        const { port } = new URL(at);
        for (const host of ['127.0.0.1', '[::1]', 'localhost'])
          assert.equal((await jsonOf(await fetch(`http://${host}:${port}/.well-known/openid-configuration`), 200))['issuer'], at);
      },
      '--listen',
      'localhost:0',
    );
    assert.match(url, /^http:\/\/localhost:\d+$/);
    assert.equal(stdout, `gatehouse ready ${url}\n`);
    const secret = '[A-Za-z0-9_-]{43}';
    assert.match(
      stderr,
      new RegExp(
        `^Administrator \\(once, 7 days\\)  ${url}/setup#${secret}
Sign in as ada@example\\.com    ${url}/t/sample/try
Read the mailed code          ${url}/dev/mail
Console, documents            ${url}/console, /docs
Operator token \\(once\\)         ${secret}\n$`,
      ),
    );
  });

  it('any loopback --listen alone gives localhost; the next start tells no secret again', async () => {
    const { url, stderr } = await run(async (at) => void (await fetch(at)), '--listen', '127.0.0.1:0');
    assert.match(url, /^http:\/\/localhost:\d+$/);
    assert.doesNotMatch(stderr, /Administrator|Operator token/);
    assert.match(stderr, /^Sign in as ada@example\.com {4}http:\/\/localhost:\d+\/t\/sample\/try$/m);
  });

  it('data that was served at an address stays there', async () => {
    const named = await run(async () => undefined, '--listen', '127.0.0.1:0', '--public-url', 'http://127.0.0.1:8080');
    assert.equal(named.url, 'http://127.0.0.1:8080');
    const { url } = await run(
      async (at) => void (await jsonOf(await fetch(`${at}/.well-known/openid-configuration`), 200)),
      '--listen',
      'localhost:0',
    );
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it('a port another program has at ::1 is refused: browsers might go there', async () => {
    const other = createServer().listen(0, '::1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo; // listening on TCP
    try {
      const server = start('--listen', `localhost:${port}`);
      await assert.rejects(server.ready);
      const { code, stderr } = await server.ended;
      assert.equal(code, 1);
      assert.match(stderr, /expected a free port, found another program at ::1/);
    } finally {
      other.close();
    }
  });
});

describe('pages at a loopback address', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer('sqlite', { flags: { dev: '0' } });
  });
  after(() => server.close());
  const at = (): string => `http://127.0.0.1:${portOf(server)}`;

  it('lead to localhost with path and query; programs and posts are answered where they are', async () => {
    for (const path of ['/docs', '/console?x=1', '/t/acme/account', '/setup', '/dev/mail', '/enroll', '/phone']) {
      const answer = await htmlOf(`${at()}${path}`);
      assert.deepEqual([answer.status, answer.headers.get('location')], [302, `${server.url}${path}`], path);
    }
    assert.equal((await fetch(`${at()}/setup`)).status, 200);
    assert.equal((await jsonOf(await fetch(`${at()}/.well-known/openid-configuration`), 200))['issuer'], server.url);
    assert.equal((await fetch(`${at()}/setup`, { method: 'POST', headers: { accept: 'text/html' } })).status, 400);
    assert.equal((await htmlOf(`${server.url}/setup`)).status, 200);
  });

  it('no other Host is led anywhere, and none chooses where', async () => {
    for (const host of ['evil.example', '127.0.0.1.evil.example', `127.0.0.1:1`, '127.0.0.1'])
      assert.equal((await askAs(portOf(server), host, '/setup')).headers.get('location'), null, host);
    const answer = await askAs(portOf(server), `127.0.0.1:${portOf(server)}`, '/setup//evil.example');
    assert.equal(answer.headers.get('location'), `${server.url}/setup//evil.example`);
  });

  it('a public URL that is an address leads nowhere', async () => {
    const other = await startTestServer('sqlite', { flags: { public_url: 'http://127.0.0.1:8080' } });
    try {
      assert.equal((await askAs(portOf(other), '127.0.0.1:8080', '/setup')).status, 200);
    } finally {
      await other.close();
    }
  });
});

describe('the mailbox of a developer', () => {
  const open = async (flags: Readonly<Record<string, string>>, work: (server: TestServer) => Promise<void>): Promise<void> => {
    const server = await startTestServer('sqlite', { flags, withSample: true });
    await work(server).finally(() => server.close());
  };
  const ada = 'ada@example.com';
  /** ada's sign-in at the sample tenant up to the code. */
  const reachCode = async (server: TestServer) => {
    const tenant = (await server.gatehouse.services.tenants.bySlug('sample'))!;
    const { createClient } = await import('../support/fixtures.ts');
    const client = await createClient(server.gatehouse.services, tenant);
    const login = await beginLogin(server, tenant, client);
    await login.post('identify', { identifier: ada });
    await login.post('method', { method: 'email_pin' });
    return login;
  };

  it('shows ada’s code, and the code page leads there', () =>
    open({ dev: '0' }, async (server) => {
      const login = await reachCode(server);
      const page = await (await login.get('', { accept: 'text/html' })).text();
      assert.ok(page.includes(`id="dev-mail" href="${server.url}/dev/mail"`), page);
      const mail = await htmlOf(`${server.url}/dev/mail`);
      assert.equal(mail.status, 200);
      const text = await mail.text();
      assert.ok(text.includes(ada));
      const [, pin] = /\b(\d{6})\b/.exec(text.slice(text.indexOf('class="mono"')))!;
      assert.deepEqual(await jsonOf(await login.post('pin', { pin: pin! }), 200), { state: 'approved' });
    }));

  it('management.not_found: closed for another Host, through a proxy, below a tenant, and no link leads there', () =>
    open({ dev: '0' }, async (server) => {
      const port = portOf(server);
      const own = `localhost:${port}`;
      const closed = [
        await askAs(port, 'evil.example', '/dev/mail'),
        await askAs(port, own, '/dev/mail', ['X-Forwarded-For: 203.0.113.7']),
        await askAs(port, own, '/dev/mail', ['Forwarded: for=203.0.113.7']),
        await askAs(port, own, '/t/sample/dev/mail'),
      ];
      for (const answer of closed) assert.equal(answer.status, 404);
      await assertRefusal(await fetch(`${server.url}/dev/mail`, { headers: { 'x-real-ip': '203.0.113.7' } }), 'management.not_found');
      const login = await reachCode(server);
      const page = await (await login.get('', { accept: 'text/html', 'x-forwarded-for': '203.0.113.7' })).text();
      assert.ok(!page.includes('dev-mail'));
    }));

  it('GATEHOUSE_DEV=1 lets in others, as a container’s', () =>
    open({ dev: '1' }, async (server) => {
      assert.equal((await askAs(portOf(server), 'elsewhere.example', '/dev/mail', ['X-Forwarded-For: 203.0.113.7'])).status, 200);
    }));

  it('management.not_found: a public URL off loopback and SMTP close it, with GATEHOUSE_DEV=1 too; there is no sample tenant', async () => {
    for (const flags of [
      { dev: '0', public_url: 'https://id.example.com' },
      { dev: '1', public_url: 'https://id.example.com' },
      { dev: '1', smtp_url: 'smtp://127.0.0.1:1' },
    ])
      await open(flags, async (server) => {
        const host = new URL(server.url).host;
        assert.equal((await askAs(portOf(server), host, '/dev/mail')).status, 404, JSON.stringify(flags));
        assert.equal(await server.gatehouse.services.tenants.bySlug('sample'), undefined, JSON.stringify(flags));
        assert.doesNotMatch(server.gatehouse.notices.join('\n'), /ada@|dev\/mail/);
      });
  });
});

for (const database of databases)
  describe(`ways to sign in of a new tenant on ${database}`, () => {
    /** What the settings show and a sign-in offers. */
    const methodsWith = async (flags: Readonly<Record<string, string>>, settings?: Readonly<Record<string, unknown>>): Promise<unknown> => {
      const server = await startTestServer(database, { flags });
      try {
        const { services } = server.gatehouse;
        // The public URL may be another host: the tests speak to the port.
        const local = `http://127.0.0.1:${portOf(server)}`;
        const made = await jsonOf(await callSystem({ ...server, url: local }, 'POST', '/tenants', { slug: 'acme', name: 'Acme' }), 201);
        const { client_id: id, client_secret: secret } = made['admin_client'] as Readonly<Record<string, string>>; // of the contract
        const token = await clientCredentialsToken(`${local}/t/acme`, id!, secret!);
        const settingsAt = `${local}/t/acme/v1/management/settings`;
        if (settings !== undefined) await jsonOf(await callJson(settingsAt, token, 'PATCH', settings), 200);
        const shown = await jsonOf(await callJson(settingsAt, token, 'GET'), 200);
        const tenant = (await services.tenants.bySlug('acme'))!;
        const login = await beginLogin(server, tenant, await createClient(services, tenant));
        const { methods } = await jsonOf<{ readonly methods: unknown }>(
          await fetch(login.location.replace(services.publicUrl, local), { headers: { cookie: login.cookie, accept: 'application/json' } }),
          200,
        );
        return { shown: shown['login_methods'], methods };
      } finally {
        await server.close();
      }
    };
    const all = { shown: ['passkey', 'phone', 'email_pin'], methods: ['phone', 'passkey', 'email_pin'] };
    const withoutMail = { shown: ['passkey', 'phone'], methods: ['phone', 'passkey'] };

    it('passkey, phone and, where mail reaches somebody, a mailed code', async () => {
      assert.deepEqual(await methodsWith({ dev: '1' }), all);
      assert.deepEqual(await methodsWith({ dev: '0', smtp_url: 'smtp://127.0.0.1:1' }), all);
      assert.deepEqual(await methodsWith({ dev: '0' }), database === 'sqlite' ? all : withoutMail);
    });

    it('no mailed code where no mail can be sent, whatever else is set, unless it was chosen', async () => {
      const production = { dev: '0', public_url: 'https://id.example.com' };
      assert.deepEqual(await methodsWith(production), withoutMail);
      assert.deepEqual(await methodsWith(production, { pin: { length: 8 } }), withoutMail);
      assert.deepEqual(await methodsWith(production, { login_methods: ['email_pin'] }), { shown: ['email_pin'], methods: ['email_pin'] });
    });
  });

for (const release of goldenReleases)
  for (const name of databases)
    it(`tenants of release ${release} on ${name} have their ways to sign in written down, and ask for no mailed code`, async () => {
      const golden = await startGoldenServer(release, name);
      try {
        const { database } = golden.server.gatehouse.services;
        const rows = await database.systemRead((queries) => listTenants(queries, { afterSlug: '', limit: 100 }));
        assert.ok(rows.length > 1);
        for (const { slug, settings } of rows) assert.ok(Object.hasOwn(JSON.parse(settings), 'login_methods'), slug);
      } finally {
        await golden.close();
      }
    });
