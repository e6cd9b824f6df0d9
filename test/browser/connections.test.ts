// The wizards of the console that end with somebody signed in, page by page in Chromium: other providers, SAML applications with the page for
// whoever runs them, tokens of directories. Each is clean by axe in both widths and schemes, no wider than the narrowest screen, short, and
// under 60 kB, also where something was refused or has come about.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { pageBytesMax } from '../../journeys/page-bounds.ts';
import { noteSignIns } from '../../src/storage/registry/last-sign-ins.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { reachesLoopback } from '../support/ciba.ts';
import { createConsoleTenant, signInInBrowser } from '../support/console.ts';
import type { Managed } from '../support/management.ts';
import { acs, entity, key, role } from '../support/metadata-host.ts';
import {
  assertAccessible,
  assertFits,
  assertShort,
  desktopView,
  inViews,
  keepScreenshot,
  narrowView,
  openWatched,
  type WatchedPage,
} from '../support/page-check.ts';
import { certificatePem, rsaKeys } from '../support/rsa-keys.ts';
import { signMetadata } from '../support/saml-requests.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { startUpstream, type TestUpstream } from '../support/upstream.ts';

if (hasChromium)
  describe('Wizards that end with somebody signed in, in Chromium', () => {
    let server: TestServer;
    let browser: Browser;
    let tenant: Managed;
    let upstream: TestUpstream;
    let watched: WatchedPage;
    before(async () => {
      server = await startTestServer('sqlite', { flags: reachesLoopback });
      browser = await launchChromium();
      upstream = await startUpstream(server.clock.nowMs);
      const made = await createConsoleTenant(server);
      tenant = made.tenant;
      watched = await openWatched(browser, server.url, { bypassCSP: true });
      const { page } = watched;
      await signInInBrowser(server, page, made);
    });
    after(async () => {
      await browser?.close();
      await upstream?.close();
      await server?.close();
    });

    const look = async (where: string, page: Page = watched.page): Promise<void> => {
      const bytes = Buffer.byteLength(await page.content());
      assert.ok(bytes <= pageBytesMax, `${where}: ${bytes} bytes`);
      await inViews(page, 'all', async (view) => {
        await assertAccessible(page, `${where} ${view}`);
        if (view === 'desktop dark') await assertShort(page, where);
        await keepScreenshot(page, `connections ${where} ${view}`);
      });
      await page.setViewportSize(narrowView);
      await assertFits(page, where);
      await page.setViewportSize(desktopView);
    };
    const go = (path: string): Promise<unknown> => watched.page.goto(`${tenant.baseUrl}/console${path}`);

    it('another provider: chosen, made, unreachable, changed, refused there, tried, shown', async () => {
      const { page } = watched;
      await go('/identity-providers/new');
      await look('choice of providers');
      for (const preset of ['google', 'microsoft', 'github', 'saml', 'oidc']) {
        await go(`/identity-providers/new?preset=${preset}`);
        await page.waitForSelector('#callback + .copier');
        await look(`new provider ${preset}`);
      }
      await page.fill('#field-name', 'Acme');
      await page.fill('#field-issuer', 'http://plain.example');
      await page.fill('#field-client_id', 'gatehouse');
      await page.fill('#field-client_secret', 'secret-of-gatehouse-at-acme-0123456789');
      await page.click('#save');
      await page.waitForSelector('#field-issuer-wrong');
      await look('new provider refused');
      await page.fill('#field-issuer', 'https://10.1.2.3');
      await page.fill('#field-client_secret', 'secret-of-gatehouse-at-acme-0123456789');
      await page.click('#save');
      await page.waitForSelector('#does-not-answer');
      await look('provider that does not answer');
      await page.fill('#field-issuer', upstream.issuer);
      await page.fill('#field-client_secret', 'secret-of-gatehouse-at-acme-0123456789');
      await page.click('#look-again');
      await page.waitForSelector('#try');
      await look('provider to try');
      upstream.lie({ tokenStatus: 401 });
      upstream.welcome({ sub: 'ada-1', email: 'ada@acme.example', email_verified: true, department: 'Engines' });
      await page.click('#try');
      await page.waitForSelector('#failed');
      await look('provider that refuses');
      upstream.lie({});
      await page.click('#try');
      await page.waitForSelector('#result');
      await look('provider tried');
      await page.click('#show');
      await page.waitForSelector('#shown');
      await look('provider shown');
      await go('/identity-providers');
      await look('providers');
      assert.deepEqual(
        watched.seen.filter((one) => !one.startsWith(upstream.origin)),
        [],
      );
    });

    it('a SAML application: imported or by hand, handed over, and the page for whoever runs it', async () => {
      const { page } = watched;
      await go('/service-providers/import');
      await page.fill('#metadata', '<EntityDescriptor');
      await page.click('#import');
      await page.waitForSelector('#notice');
      await look('metadata refused');
      await go('/service-providers/new');
      await look('new SAML application');
      const { id } = await tenant.make('POST', '/service-providers', {
        ...{ name: 'Wiki', entity_id: 'https://wiki.example/saml', acs: [{ url: 'https://wiki.example/acs' }] },
      });
      await go(`/service-providers/${String(id)}/handover`);
      await look('give them these');
      const { page: other, seen } = await openWatched(browser, server.url, { bypassCSP: true });
      await other.goto((await page.textContent('#link')) ?? '');
      await other.waitForSelector('[data-waits]');
      await look('handed over waiting', other);
      const { services } = server.gatehouse;
      const stored = (await services.tenants.bySlug(tenant.slug))!;
      await services.database.write(stored.id, (queries) =>
        noteSignIns(queries, stored.id, [{ kind: 'service_provider', id: String(id), atMs: server.clock.nowMs() }]),
      );
      await other.waitForSelector('#works');
      await look('handed over works', other);
      await page.reload();
      await page.waitForSelector('#works');
      await look('handed over seen here');
      await other.goto(`${tenant.baseUrl}/handed-over/made-up`);
      await look('handed over unknown', other);
      assert.deepEqual([...watched.seen.filter((one) => !one.startsWith(upstream.origin)), ...seen], []);
      await other.context().close();
    });

    it('a SAML application by its address: refused, shown, changed meanwhile, saved, updated', async () => {
      const { page } = watched;
      const pem = await certificatePem(rsaKeys());
      const entityId = `https://payroll.example/saml/${'long'.repeat(30)}`;
      const published = (url: string): string =>
        entity(
          entityId,
          role(key(pem, '') + acs(url) + acs(`https://payroll.example/${'artifact'.repeat(20)}`, 'index="9"').replace('POST', 'Artifact')),
        );
      let body = '<!doctype html><title>Sign in</title>';
      const host = createServer((_request, response) => void response.end(body));
      await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
      const { port } = host.address() as AddressInfo; // listening on TCP
      const give = async (address: string): Promise<void> => {
        await go('/service-providers/import');
        await page.fill('#field-metadata_url', address);
        await page.click('#import');
      };
      try {
        await go('/service-providers/import');
        await look('import of metadata');
        await give('https://10.1.2.3/metadata');
        await page.waitForSelector('#field-metadata_url-wrong');
        await look('import from an address that is not public');
        await give(`https://${'long'.repeat(15)}.invalid/${'long'.repeat(100)}`);
        await page.waitForSelector('#field-metadata_url-wrong');
        await look('import from a long address');
        await give(`http://127.0.0.1:${port}/metadata`);
        await page.waitForSelector('#field-metadata_url-wrong:has-text("There is no SAML metadata at this address")');
        body = published('https://payroll.example/acs');
        await page.click('#import');
        await page.waitForSelector('#preview');
        await look('import shown');
        body = published('https://payroll.example/other');
        await page.click('#save');
        await page.waitForSelector('#notice:has-text("changed since you looked")');
        await look('import changed meanwhile');
        await page.click('#save');
        await page.waitForSelector('#notice:has-text("was imported")');
        body = published('https://payroll.example/third');
        await give(`http://127.0.0.1:${port}/metadata`);
        await page.waitForSelector('#known');
        await look('import of one that is here');
      } finally {
        host.closeAllConnections();
        host.close();
      }
    });

    it('a SAML application from a file or text that is signed: refused, shown, saved as it was in the file', async () => {
      const { page } = watched;
      const pem = await certificatePem(rsaKeys());
      const entityId = 'https://federated.example/saml';
      const unsigned = entity(
        entityId,
        `\n  ${role(`\n  <!-- "it" -->\n${key(pem, '')}${acs('https://federated.example/acs')}`)}`,
        'ID="_m"',
      );
      const signed = `\ufeff<?xml version="1.0" encoding="UTF-8"?>\n${signMetadata(unsigned, rsaKeys().privateKey)}\n`.replaceAll(
        '\n',
        '\r\n',
      );
      const file = { name: 'federation.xml', mimeType: 'application/xml', buffer: Buffer.from(signed) };
      await go('/service-providers/import');
      await page.fill('#metadata', unsigned);
      await page.fill('#field-metadata_certificate', 'no certificate');
      await page.click('#import');
      await page.waitForSelector('#field-metadata_certificate-wrong');
      await look('import by no certificate');
      await page.fill('#field-metadata_certificate', pem);
      await page.click('#import');
      await page.waitForSelector('#notice:has-text("The document is not signed, and a signature is asked for.")');
      await page.fill('#metadata', signed);
      await page.click('#import');
      await page.waitForSelector('#preview:has-text("must be signed by")');
      await look('import of signed text shown');
      await go('/service-providers/import');
      await page.setInputFiles('#file', file);
      await page.fill('#field-metadata_certificate', pem);
      await page.click('#import');
      await page.waitForSelector('#preview:has-text("must be signed by")');
      await look('import of a signed file shown');
      await page.click('#save');
      await page.waitForSelector('#notice:has-text("was imported")');
      await go('/service-providers/import');
      await page.setInputFiles('#file', file);
      await page.click('#import');
      await page.waitForSelector('#known');
      await look('import of a signed file that is here');
      await page.click('#save');
      await page.waitForSelector('#notice:has-text("was imported")');
    });

    it('a token of a directory: made, listed, asked about, gone', async () => {
      const { page } = watched;
      await go('/scim');
      await look('directories');
      await page.fill('#token-name', 'Okta');
      await page.click('#new-token');
      await page.waitForSelector('#scim-token + .copier');
      await look('token made');
      await page.click('button:has-text("Revoke…")');
      await page.waitForSelector('#sure');
      await look('token asked about');
      await page.click('#sure');
      await page.waitForSelector('text=The token was revoked.');
      await look('token revoked');
    });
  });
