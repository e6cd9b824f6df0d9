// Caddy with the on-demand configuration of the how-to in front of a server: a name gets a certificate once DNS shows that it is a
// tenant's, and never before. Only addresses and the issuer of certificates are changed.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { startDns } from '../support/dns-server.ts';
import { blocksOf } from '../support/documents.ts';
import { freePort } from '../support/free-port.ts';
import { findJudge } from '../support/judge-binaries.ts';
import { createTestTenant, type Json } from '../support/management.ts';
import { takesConnections } from '../support/nginx.ts';
import { startTestServer } from '../support/server.ts';

const caddy = findJudge('caddy');

/** What discovery says at a name; rejects while there is no certificate for it. */
const issuerAt = (port: number, host: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const asked = request(
      // Caddy's own authority signs here: what counts is whether there is a certificate at all.
      {
        port,
        host: '127.0.0.1',
        servername: host,
        headers: { host },
        path: '/.well-known/openid-configuration',
        rejectUnauthorized: false,
        agent: false,
      },
      (answer) => {
        let text = '';
        answer.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        answer.on('end', () => resolve(String((JSON.parse(text) as Json)['issuer'])));
      },
    );
    asked.on('error', reject);
    asked.end();
  });

if (caddy !== undefined)
  describe('names that Caddy asks for', () => {
    it('a certificate is got for a verified name alone, and the tenant is there once the domain is in force', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'gatehouse-caddy-'));
      const dns = await startDns();
      const server = await startTestServer('sqlite', { flags: { dns_servers: dns.address } });
      const port = await freePort();
      const configuration = blocksOf('docs/how-to/reverse-proxy.md')
        .filter(({ language }) => language === 'caddyfile')
        .at(-1)!
        .text.replace('{', `{\n\tadmin off\n\thttps_port ${port}\n\tauto_https disable_redirects\n\tskip_install_trust`)
        .replace('on_demand\n', 'on_demand\n\t\tissuer internal\n')
        .replace('https:// {', 'https:// {\n\tbind 127.0.0.1')
        .replaceAll('127.0.0.1:8080', new URL(server.url).host);
      writeFileSync(join(folder, 'Caddyfile'), configuration);
      const child = spawn(caddy, ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')], {
        env: { PATH: process.env['PATH'], HOME: folder },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const said: string[] = [];
      child.stderr.on('data', (chunk: Buffer) => said.push(chunk.toString()));
      try {
        assert.ok(await takesConnections(child, port), said.join(''));
        const tenant = await createTestTenant(server);
        const asked = await tenant.make('PUT', '/domain', { domain: 'login.acme.example' });
        await assert.rejects(issuerAt(port, 'login.acme.example'), /alert/);
        const [{ name, value }] = (asked['pending'] as { readonly records: readonly [{ readonly name: string; readonly value: string }] })
          .records;
        dns.records.set(name, [value]);
        await tenant.make('POST', '/domain/check');
        assert.equal(await issuerAt(port, 'login.acme.example'), server.url, 'the root tenant, until the domain is in force');
        await tenant.make('POST', '/domain/activate');
        assert.equal(await issuerAt(port, 'login.acme.example'), 'https://login.acme.example');
        await assert.rejects(issuerAt(port, 'else.example'), /alert/);
      } finally {
        const ended = new Promise((resolve) => child.once('close', resolve));
        child.kill('SIGTERM');
        await ended;
        await server.close();
        await dns.close();
        rmSync(folder, { recursive: true, force: true });
      }
    });
  });
