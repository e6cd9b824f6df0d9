// /docs over HTTP: the documents of the package as pages, only at the public URL, and nothing else of the disk.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { createTestTenant } from '../support/management.ts';
import { sendRaw } from '../support/raw-http.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const root = join(import.meta.dirname, '..', '..');
const documents = globSync('docs/**/*.md', { cwd: root });
const pages = documents.map((file) => (file === 'docs/README.md' ? '' : `/${file.replace(/^docs\//, '').replace(/\.md$/, '')}`));
/** Pages that list every contract row or every operation are as long as those lists; all others keep to the bar. */
const long = ['/contract', '/api'];
const bytesMax = 60_000;

for (const database of databases) {
  describe(`documents on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());

    const get = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
      fetch(`${server.url}/docs${path}`, { headers, redirect: 'manual' });

    it('every document is a page with a title, a place in the navigation, a nonce policy and no style or script of its own', async () => {
      assert.ok(pages.length > 10);
      for (const page of pages) {
        const response = await get(page);
        const text = await response.text();
        assert.equal(response.status, 200, page);
        assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
        const nonce = /style-src 'nonce-([^']+)'/.exec(response.headers.get('content-security-policy') ?? '')?.[1];
        assert.ok(nonce !== undefined, page);
        assert.equal(
          response.headers.get('content-security-policy'),
          `default-src 'none'; style-src 'nonce-${nonce}'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'`,
        );
        assert.ok(text.includes(`<style nonce="${nonce}">`), page);
        assert.doesNotMatch(text, /<script|\sstyle="|\son[a-z]+="|javascript:/i, page);
        assert.equal(text.match(/<h1/g)?.length, 1, `${page} has one title`);
        if (page !== '') assert.ok(text.includes(`<a href="/docs${page}" aria-current="page">`), page);
        if (!long.includes(page)) assert.ok(Buffer.byteLength(text) < bytesMax, `${page}: ${Buffer.byteLength(text)} bytes`);
      }
    });

    it('every link of every page leads to a page, an anchor or a picture that is there', async () => {
      const texts = new Map<string, string>();
      const load = async (path: string): Promise<string | undefined> => {
        const known = texts.get(path);
        if (known !== undefined) return known;
        const response = await fetch(`${server.url}${path}`);
        if (response.status !== 200) return undefined;
        const text = response.headers.get('content-type') === 'image/png' ? '' : await response.text();
        texts.set(path, text);
        return text;
      };
      let checked = 0;
      const dead: string[] = [];
      for (const page of pages) {
        const text = (await load(`/docs${page}`)) ?? '';
        for (const [, target] of text.matchAll(/(?:href|src)="((?:\/docs|#)[^"]*)"/g)) {
          const [path, anchor] = target!.split('#', 2);
          const found = await load(path === '' ? `/docs${page}` : path!);
          if (found === undefined || (anchor !== undefined && !found.includes(`id="${anchor}"`))) dead.push(`${page}: ${target}`);
          checked++;
        }
      }
      assert.deepEqual(dead, []);
      assert.ok(checked > 100, `${checked} links`);
    });

    it('pictures are PNGs that may be kept for an hour', async () => {
      const response = await get('/images/explain.png');
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('content-type'), 'image/png');
      assert.equal(response.headers.get('cache-control'), 'public, max-age=3600');
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), readFileSync(join(root, 'docs/images/explain.png')));
    });

    it('unknown pages and pictures are management.not_found, as a page for people', async () => {
      for (const path of [
        '/no-such-page',
        '/contract.md',
        '/contract/',
        '/README',
        '/decisions',
        '/images/none.png',
        '/images/',
        '/CONTRACT',
      ])
        await assertRefusal(await get(path), 'management.not_found');
      const page = await get('/no-such-page', { accept: 'text/html' });
      assert.equal(page.status, 404);
      assert.match(await page.text(), /<dd class="mono" id="error">not_found</);
    });

    it('no path leads to anything else of the disk', async () => {
      const names = [
        '../package.json',
        '..%2fpackage.json',
        '..%2Fpackage',
        '%2e%2e/package.json',
        '....//package',
        '/etc/passwd',
        '%2fetc%2fpasswd',
      ];
      for (const name of [
        ...names,
        '..\\package.json',
        'images/..%2f..%2fpackage.json',
        'images/%2e%2e%2fcontract.md',
        'how-to/../../package',
      ]) {
        const head = `GET /docs/${name} HTTP/1.1\r\nHost: ${new URL(server.url).host}\r\nConnection: close\r\n\r\n`;
        await assertRefusal(await sendRaw(server.url, head), 'management.not_found');
      }
    });

    it('only reads: other methods are 405 with Allow', async () => {
      const response = await fetch(`${server.url}/docs`, { method: 'POST' });
      assert.equal(response.status, 405);
      assert.equal(response.headers.get('allow'), 'GET, HEAD');
      assert.equal((await fetch(`${server.url}/docs/contract`, { method: 'HEAD' })).status, 200);
    });

    it('a tenant has no documents of its own', async () => {
      const tenant = await createTestTenant(server);
      for (const path of ['/docs', '/docs/contract', '/docs/images/explain.png'])
        await assertRefusal(await fetch(`${tenant.baseUrl}${path}`), 'management.not_found');
    });
  });
}
