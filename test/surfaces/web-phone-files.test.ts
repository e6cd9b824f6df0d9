// {base_url}/phone over HTTP: the page and its policy, its modules under an address that names their content, manifest and worker.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createTestTenant, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

describe('the files of the web phone', () => {
  let server: TestServer;
  let tenant: Managed;
  before(async () => {
    server = await startTestServer('sqlite');
    tenant = await createTestTenant(server);
  });
  after(() => server.close());

  const page = async (): Promise<{ readonly text: string; readonly headers: Headers; readonly modules: readonly string[] }> => {
    const response = await fetch(`${tenant.baseUrl}/phone`);
    assert.equal(response.status, 200);
    const text = await response.text();
    return {
      text,
      headers: response.headers,
      modules: [...text.matchAll(/rel="modulepreload" href="([^"]+)"/g)].map((match) => match[1]!),
    };
  };

  it('the page lets scripts come from the app’s own address only, and text become nothing', async () => {
    const { headers, modules, text } = await page();
    const policy = (headers.get('content-security-policy') ?? '').split('; ');
    const app = modules[0]!.slice(0, modules[0]!.indexOf('/app/') + '/app/'.length + 17);
    assert.match(app, /\/phone\/app\/[\w-]{16}\/$/);
    const nonce = /<style nonce="([^"]+)">/.exec(text)?.[1];
    assert.deepEqual(policy, [
      "default-src 'none'",
      `script-src ${app}`,
      `style-src 'nonce-${nonce}'`,
      "connect-src 'self'",
      `worker-src ${tenant.baseUrl}/phone/worker.js ${app}`,
      "manifest-src 'self'",
      "img-src 'self' data:",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      'trusted-types gatehouse-worker',
    ]);
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.match(headers.get('permissions-policy') ?? '', /^camera=\(self\), microphone=\(\).*publickey-credentials-get=\(self\)/);
  });

  it('every module is JavaScript, kept for ever, and imports modules that are there', async () => {
    const { modules } = await page();
    assert.ok(modules.length > 15);
    for (const address of modules) {
      const response = await fetch(address, { headers: { 'accept-encoding': 'br' } });
      assert.deepEqual([response.status, response.headers.get('content-encoding')], [200, 'br'], address);
      assert.match(response.headers.get('content-type') ?? '', /^text\/javascript/);
      assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable');
      const text = await response.text();
      assert.doesNotMatch(text, /^import type|: Promise<|\.ts'/m);
      for (const [, target] of text.matchAll(/from '([^']+)'/g))
        assert.ok(modules.includes(new URL(target!, address).href), `${address}: ${target}`);
      const plain = await fetch(address, { headers: { 'accept-encoding': 'identity' } });
      assert.equal(await plain.text(), text);
    }
  });

  it('404 not_found: another content, another file, a path out of the folder, an entry for other platforms', async () => {
    const [address] = (await page()).modules;
    const app = address!.slice(0, address!.lastIndexOf('/app/') + 5);
    const home = `${tenant.baseUrl}/phone/app`;
    const paths = [`${app}other.js`, `${app}%2e%2e%2fsdk%2fdevice.js`, `${app}worker.js`, `${app.replace(/app\/$/, '')}sdk/node.js`];
    for (const path of [...paths, `${home}/${'A'.repeat(16)}/app/main.js`]) await assertRefusal(await fetch(path), 'management.not_found');
  });

  it('the manifest makes it installable per tenant; the worker serves its page alone', async () => {
    const manifest = await fetch(`${tenant.baseUrl}/phone/manifest.webmanifest`);
    assert.match(manifest.headers.get('content-type') ?? '', /^application\/manifest\+json/);
    assert.deepEqual(await manifest.json(), {
      id: `${tenant.baseUrl}/phone`,
      name: `Tenant ${tenant.slug}`,
      short_name: `Tenant ${tenant.slug}`,
      start_url: `${tenant.baseUrl}/phone`,
      scope: `${tenant.baseUrl}/phone`,
      display: 'standalone',
      background_color: '#4a45d6',
      theme_color: '#4a45d6',
      icons: [180, 192, 512].map((size) => ({
        src: `${tenant.baseUrl}/phone/icons/${size}.png`,
        sizes: `${size}x${size}`,
        type: 'image/png',
        purpose: size === 180 ? 'any' : 'any maskable',
      })),
    });
    for (const size of [180, 192, 512]) {
      const icon = await fetch(`${tenant.baseUrl}/phone/icons/${size}.png`);
      assert.deepEqual([icon.status, icon.headers.get('content-type')], [200, 'image/png']);
      const bytes = Buffer.from(await icon.arrayBuffer());
      assert.deepEqual([bytes.toString('latin1', 1, 4), bytes.readUInt32BE(16), bytes.readUInt32BE(20)], ['PNG', size, size]);
    }
    await assertRefusal(await fetch(`${tenant.baseUrl}/phone/icons/64.png`), 'management.not_found');
    const worker = await fetch(`${tenant.baseUrl}/phone/worker.js?v=1`);
    assert.equal(worker.headers.get('service-worker-allowed'), new URL(`${tenant.baseUrl}/phone`).pathname);
    assert.doesNotMatch(await worker.text(), /\/v1\b|^interface /m);
  });

  it('the reader of codes comes with the camera: a worker that may load its package’s files and nothing else', async () => {
    const { modules, text } = await page();
    const scanner = /data-scanner="([^"]+)"/.exec(text)?.[1] ?? '';
    assert.ok(scanner.endsWith('/app/scan-worker.js') && !modules.includes(scanner));
    const response = await fetch(scanner);
    const app = scanner.slice(0, -'app/scan-worker.js'.length);
    assert.equal(response.headers.get('content-security-policy'), `default-src 'none'; script-src ${app}`);
    assert.match(await response.text(), /from '\.\.\/qr\/decode\.js'/);
    for (const file of ['decode.js', 'index.js']) {
      const served = await fetch(`${app}qr/${file}`);
      assert.equal(await served.text(), readFileSync(new URL(file, import.meta.resolve('qr')), 'utf8'));
    }
  });

  it('the page, a module and the worker are compressed for whoever takes Brotli, and for nobody else', async () => {
    const { modules } = await page();
    for (const address of [`${tenant.baseUrl}/phone`, modules[0]!, `${tenant.baseUrl}/phone/worker.js`]) {
      const asked = async (codings: string): Promise<readonly [coding: string | null, bytes: number, text: string]> => {
        const response = await fetch(address, { headers: { 'accept-encoding': codings } });
        assert.equal(response.headers.get('vary'), 'accept-encoding');
        const text = (await response.text()).replaceAll(/nonce="[^"]+"/g, '');
        return [response.headers.get('content-encoding'), Number(response.headers.get('content-length')), text];
      };
      const [, bytes, text] = await asked('identity');
      for (const codings of ['br', 'gzip, deflate, br', 'BR;q=0.5, *;q=0', 'gzip , br ; q=0.001']) {
        const [coding, fewer, same] = await asked(codings);
        assert.deepEqual([coding, fewer < bytes * 0.6, same], ['br', true, text], codings);
      }
      for (const codings of ['br;q=0', 'gzip, br;q=0.000', 'brotli', 'gzip', ''])
        assert.deepEqual(await asked(codings), [null, bytes, text], codings);
    }
  });

  it('all of it takes less than 60 kB, even with a plainer compression', async () => {
    const { modules } = await page();
    const all = [`${tenant.baseUrl}/phone`, ...modules, `${tenant.baseUrl}/phone/worker.js`];
    const sizes = await Promise.all(all.map(async (address) => gzipSync(await (await fetch(address)).text()).byteLength));
    assert.ok(sizes.reduce((sum, size) => sum + size, 0) < 60_000);
  });
});
