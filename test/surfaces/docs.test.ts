// /docs over HTTP: the documents of the package as pages, only at the public URL, and nothing else of the disk.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { docsQueryCharsMax } from '../../src/contract/limits.ts';
import { otherNames } from '../../src/docs-site/other-names.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant } from '../support/management.ts';
import { sendRaw } from '../support/raw-http.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const root = join(import.meta.dirname, '..', '..');
const documents = globSync('docs/**/*.md', { cwd: root });
const pages = documents.map((file) => (file === 'docs/README.md' ? '' : `/${file.replace(/^docs\//, '').replace(/\.md$/, '')}`));
/** Pages that list every contract row or every operation are as long as those lists; all others keep to the bar. */
const long = ['/reference/events', '/contract', '/api'];
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
          `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
        );
        assert.ok(text.includes(`<style nonce="${nonce}">`), page);
        assert.doesNotMatch(text, /\sstyle="|\son[a-z]+="|javascript:/i, page);
        assert.deepEqual(text.match(/<script[^>]*>/g), [`<script nonce="${nonce}">`], page);
        assert.equal(text.match(/<h1/g)?.length, 1, `${page} has one title`);
        const isListed = page !== '' && !/^\/(?:decisions|reference\/api)\//.test(page); // these are reached from a listed page
        assert.equal(text.includes(`<a href="/docs${page}" aria-current="page">`), isListed, page);
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

    const search = async (query: string): Promise<{ readonly text: string; readonly found: readonly string[] }> => {
      const response = await get(`/search?q=${encodeURIComponent(query)}`);
      assert.equal(response.status, 200);
      const text = await response.text();
      return {
        text,
        found: [...text.matchAll(/<li><a href="([^"]+)">/g)].map(([, path]) => path!).filter((path) => !isNavigation(text, path)),
      };
    };
    const isNavigation = (text: string, path: string): boolean => text.indexOf(`<a href="${path}">`) < text.indexOf('<main');

    it('a search finds the section that has the words, by their beginnings and with a letter wrong', async () => {
      assert.ok((await search('PgBouncer')).found.some((path) => path.startsWith('/docs/how-to/three-nodes')));
      assert.ok((await search('pgbounc')).found.length > 0);
      assert.ok((await search('pgbuoncer')).found.length > 0);
      const { found } = await search('qqzzxxjj');
      assert.deepEqual(found, []);
      assert.ok(!(await search('')).text.includes('class="found"><li>'));
    });

    it('the first page has five doors, and all documents are one link away', async () => {
      const page = await (await get('')).text();
      const main = page.slice(page.indexOf('<main'));
      assert.deepEqual(
        [...main.matchAll(/<h2[^>]*>([^<]+)/g)].map(([, title]) => title),
        ['Sign people in', 'Protect an API', 'Connect a company', 'Run it', 'Look it up'],
      );
      assert.match(main, /href="\/docs\/contents"/);
      assert.ok(!(await (await get('/contents')).text()).includes('<h2>More</h2>'), 'a document is not among the contents');
    });

    /** What people of other products type, and the page that must be first. */
    for (const [query, wanted] of [
      ['SSO', 'how-to/sign-in-with-others'],
      ['single sign-on', 'how-to/sign-in-with-others'],
      ['SAML', 'how-to/saml-with-a-service-provider'],
      ['MFA', 'how-to/sign-in-by-phone'],
      ['2FA', 'how-to/sign-in-by-phone'],
      ['two-factor authentication', 'how-to/sign-in-by-phone'],
      ['TOTP', 'how-to/sign-in-by-phone'],
      ['passwordless', 'how-to/sign-in-by-phone'],
      ['password', 'passkeys'],
      ['WebAuthn', 'passkeys'],
      ['M2M', 'how-to/machines'],
      ['service account', 'how-to/machines'],
      ['client credentials', 'how-to/client-credentials-api'],
      ['verify JWT', 'how-to/client-credentials-api'],
      ['token exchange', 'how-to/service-to-service'],
      ['impersonation', 'how-to/service-to-service'],
      ['MCP', 'how-to/mcp-server'],
      ['AI agents', 'how-to/agents'],
      ['CI', 'how-to/deploy-without-secrets'],
      ['import', 'migrating-from-keycloak'],
      ['migrate from Auth0', 'migrating-from-auth0'],
      ['CSV', 'console#people-from-a-spreadsheet'],
      ['bulk import', 'console#people-from-a-spreadsheet'],
      ['SCIM', 'how-to/scim-entra'],
      ['directory sync', 'how-to/ldap'],
      ['LDAP', 'how-to/ldap'],
      ['logout', 'concepts#sessions'],
      ['single logout', 'concepts#sessions'],
      ['session lifetime', 'concepts#sessions'],
      ['step-up', 'concepts#approvals'],
      ['webhook', 'how-to/webhooks'],
      ['audit log', 'console'],
      ['logs', 'operating#watching'],
      ['social login', 'how-to/sign-in-with-others'],
      ['RBAC', 'how-to/administrators'],
      ['permissions', 'how-to/administrators'],
      ['B2B', 'how-to/organizations'],
      ['multi-tenant', 'concepts#tenants-and-base_url'],
      ['branding', 'how-to/branding'],
      ['white label', 'how-to/branding'],
      ['email templates', 'how-to/mails'],
      ['SMTP', 'how-to/mails#your-own-mail-server'],
      ['custom domain', 'how-to/reverse-proxy#custom-domains'],
      ['custom claims', 'how-to/mappings'],
      ['user metadata', 'how-to/custom-attributes'],
      ['lost phone', 'how-to/lost-phone'],
      ['account recovery', 'how-to/lost-phone'],
      ['backup codes', 'account#recovery-codes-and-the-lost-phone'],
      ['backup', 'operating#back-up-and-restore'],
      ['upgrade', 'operating#upgrades'],
      ['key rotation', 'operating#keys'],
      ['metrics', 'operating#watching'],
      ['rate limit', 'operating#floods-and-load'],
      ['k8s', 'how-to/install#kubernetes'],
      ['high availability', 'how-to/three-nodes'],
      ['terraform', 'command-line#a-tenant-as-a-document'],
      ['mTLS', 'how-to/client-certificates'],
      ['DPoP', 'how-to/fapi2'],
      ['device flow', 'how-to/sign-in-a-device'],
      ['dynamic client registration', 'how-to/register-clients'],
      ['SPA', 'how-to/oidc-react'],
      ['Python', 'how-to/oidc-fastapi'],
      ['push notifications', 'device-plane#pushes'],
      ['login failed', 'troubleshooting'],
    ] as const)
      it(`“${query}” finds ${wanted} first, guides before decisions`, async () => {
        const text = await (await get(`/search?q=${encodeURIComponent(query)}`)).text();
        const list = text.slice(text.indexOf('class="found"'));
        const found = [...list.matchAll(/<li><a href="\/docs\/([^"]+)">/g)].map(([, path]) => path!);
        assert.equal(found[0], wanted, found.slice(0, 5).join(', '));
        assert.ok(!found.slice(0, 2).some((path) => path.startsWith('decisions')), found.join(', '));
      });

    it('every page that has other names is a page, and every section a section', async () => {
      for (const path of Object.keys(otherNames)) {
        const [page, anchor] = path.split('#');
        const response = await get(`/${page}`);
        assert.equal(response.status, 200, path);
        if (anchor !== undefined) assert.ok((await response.text()).includes(`id="${anchor}"`), path);
      }
    });

    it('what is searched for is shown as text', async () => {
      const { text } = await search('"><script>alert(1)</script>');
      assert.ok(!text.includes('<script>alert'));
      assert.ok(text.includes('&#60;script&#62;'));
    });

    it(`no more than ${docsQueryCharsMax} characters are searched for`, async () => {
      const most = `PgBouncer${' '.repeat(docsQueryCharsMax - 10)}x`;
      assert.equal(most.length, docsQueryCharsMax);
      assert.ok((await search(most)).text.includes(`value="${most}"`));
      assert.ok((await search(`${most}y`)).text.includes(`value="${most}"`));
    });

    it('pictures are PNGs that may be kept for an hour', async () => {
      const response = await get('/images/explain.png');
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('content-type'), 'image/png');
      assert.equal(response.headers.get('cache-control'), 'public, max-age=3600');
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), readFileSync(join(root, 'docs/images/explain.png')));
    });

    it('a drawing is an SVG that may run nothing when it is opened by itself', async () => {
      const response = await get('/images/architecture.svg');
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('content-type'), 'image/svg+xml');
      assert.equal(response.headers.get('content-security-policy'), "default-src 'none'; style-src 'unsafe-inline'; sandbox");
      assert.equal(await response.text(), readFileSync(join(root, 'docs/images/architecture.svg'), 'utf8'));
      assert.match(await (await get('/architecture')).text(), /<img src="\/docs\/images\/architecture\.svg" alt="Who uses/);
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
