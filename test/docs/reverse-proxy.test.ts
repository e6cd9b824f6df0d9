// The proxy configurations of the how-to, run by nginx and Caddy in front of a server. Only addresses and TLS are changed. What
// must hold behind each: pages and redirects name the public URL, a custom domain is found by its Host, and the client's address
// is what the proxy saw, whatever the client claims.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { blocksOf } from '../support/documents.ts';
import { freePort } from '../support/free-port.ts';
import { findJudge } from '../support/judge-binaries.ts';
import { callSystem, createTestTenant, type Managed } from '../support/management.ts';
import { nginx, spawnNginx, takesConnections } from '../support/nginx.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const document = 'docs/how-to/reverse-proxy.md';
const configurationOf = (language: string): string => blocksOf(document).find((block) => block.language === language)!.text;
/** Another loopback address than the proxy's, so that client and proxy can be told apart. */
const clientAddress = '127.0.0.2';
const triesMax = 5;

interface Proxy {
  readonly name: string;
  readonly start: (folder: string, publicPort: number, upstreamPort: number) => ChildProcess;
}

const caddy = findJudge('caddy');
const proxies: Proxy[] = [];
if (nginx !== undefined)
  proxies.push({
    name: 'nginx',
    start: (folder, publicPort, upstreamPort) => {
      const site = configurationOf('nginx')
        .replace('listen 443 ssl http2;', `listen 127.0.0.1:${publicPort};`)
        .replace(/^ *ssl_certificate.*\n/gm, '')
        .replace('127.0.0.1:8080', `127.0.0.1:${upstreamPort}`)
        .replace('server_name id.example.com;', 'server_name _;');
      return spawnNginx(folder, site);
    },
  });
if (caddy !== undefined)
  proxies.push({
    name: 'Caddy',
    start: (folder, publicPort, upstreamPort) => {
      const site = configurationOf('caddyfile')
        .replace('id.example.com', `http://:${publicPort}`)
        .replace('{', '{\n\tbind 127.0.0.1')
        .replace('127.0.0.1:8080', `127.0.0.1:${upstreamPort}`);
      writeFileSync(join(folder, 'Caddyfile'), `{\n\tadmin off\n\tauto_https off\n}\n${site}`);
      const environment = { PATH: process.env['PATH'], HOME: folder };
      return spawn(caddy, ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')], {
        env: environment,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
    },
  });

for (const proxy of proxies)
  describe(`behind ${proxy.name}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-proxy-'));
    let child: ChildProcess;
    let server: TestServer;
    let tenant: Managed;
    let publicUrl: string;

    before(async () => {
      for (let tries = 1; ; tries++) {
        const [publicPort, upstreamPort] = [await freePort(), await freePort()];
        const home = join(folder, String(tries));
        mkdirSync(home);
        child = proxy.start(home, publicPort, upstreamPort);
        const said: string[] = [];
        child.stderr!.on('data', (chunk: Buffer) => said.push(chunk.toString()));
        if (!(await takesConnections(child, publicPort))) {
          assert.ok(tries < triesMax && /address already in use/i.test(said.join('')), said.join(''));
          continue;
        }
        publicUrl = `http://127.0.0.1:${publicPort}`;
        const flags = { listen: `127.0.0.1:${upstreamPort}`, public_url: publicUrl, trusted_proxies: '127.0.0.1' };
        server = await startTestServer('sqlite', { flags });
        break;
      }
      tenant = await createTestTenant(server);
    });
    after(async () => {
      await server?.close();
      if (child.exitCode === null) {
        const ended = new Promise((resolve) => child.once('close', resolve));
        child.kill('SIGTERM');
        await ended;
      }
      rmSync(folder, { recursive: true, force: true });
    });

    /** A request from the client's address. */
    const ask = (path: string, headers: Readonly<Record<string, string>> = {}, body?: string) =>
      new Promise<{ readonly status: number; readonly requestId: string; readonly text: string }>((resolve, reject) => {
        const sent = request(
          `${publicUrl}${path}`,
          { localAddress: clientAddress, headers, method: body === undefined ? 'GET' : 'POST', agent: false },
          (answer) => {
            let text = '';
            answer.on('data', (chunk: Buffer) => {
              text += chunk.toString();
            });
            answer.on('end', () => resolve({ status: answer.statusCode!, requestId: String(answer.headers['x-request-id']), text }));
          },
        );
        sent.on('error', reject);
        sent.end(body);
      });

    it('discovery names the public URL', async () => {
      const { status, text } = await ask('/.well-known/openid-configuration');
      assert.equal(status, 200, text);
      assert.equal(JSON.parse(text).issuer, publicUrl);
    });

    it('the client’s address is what the proxy saw, not what the client claims', async () => {
      const form = { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': '203.0.113.9' };
      const refused = await ask(`/t/${tenant.slug}/v1/idp/oidc/token`, form, 'grant_type=client_credentials&client_id=nobody');
      assert.equal(refused.status, 401);
      const explained = await tenant.call('GET', `/events/${refused.requestId}`);
      const text = await explained.text();
      assert.equal(explained.status, 200, text);
      assert.ok(text.includes(`"${clientAddress}"`), text);
      assert.ok(!text.includes('203.0.113.9'), text);
    });

    it('a tenant’s own domain is found by its Host', async () => {
      const answer = await callSystem(server, 'PATCH', `/tenants/${tenant.id}`, { domain: 'https://login.acme.example' });
      assert.equal(answer.status, 200, await answer.text());
      const { status, text } = await ask('/.well-known/openid-configuration', { host: 'login.acme.example' });
      assert.equal(status, 200, text);
      assert.equal(JSON.parse(text).issuer, 'https://login.acme.example');
    });
  });
