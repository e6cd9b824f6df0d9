// A customer whose own provider is another Gatehouse, on a site of its own: connected by the set-up link alone, by OpenID Connect and by SAML.
// Keycloak's part is test/interop/broker-keycloak.test.ts.
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { reachesLoopback } from '../support/ciba.ts';
import { type CompanyProvider, connectByLink } from '../support/connect-by-link.ts';
import { databases } from '../support/databases.ts';
import { startDns, type TestDns } from '../support/dns-server.ts';
import { freePort } from '../support/free-port.ts';
import { pinOf } from '../support/mailbox.ts';
import { createTestClient, createTestTenant, createTestUser, jsonOf, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const domain = 'globex.example';

/** Another server, on another site than ours, with one tenant: the company's own. */
function gatehouseOf(there: TestServer, tenant: Managed): CompanyProvider {
  let people = 0;
  return {
    name: 'Gatehouse',
    domain,
    asOpenId: async (callback) => {
      const client = await createTestClient(tenant, { redirect_uris: [callback] });
      return { issuer: tenant.baseUrl, clientId: client.client_id, clientSecret: client.client_secret };
    },
    asSaml: {
      metadata: async () => (await fetch(`${tenant.baseUrl}/v1/idp/saml/metadata`)).text(),
      trust: async (ours) => {
        const headers = { authorization: `Bearer ${tenant.token}`, 'content-type': 'application/samlmetadata+xml' };
        await jsonOf(await fetch(`${tenant.managementApi}/service-providers/import`, { method: 'POST', body: ours, headers }), 201);
      },
    },
    person: async () => {
      people += 1;
      const email = `person-${people}@${domain}`;
      await createTestUser(tenant, email, { name: { given_name: 'Grace', family_name: 'Hopper' } });
      return email;
    },
    signIn: async (page, email) => {
      await page.waitForURL(`${there.url}/**`);
      await page.fill('#identifier', email);
      await page.click('#continue');
      await page.waitForSelector('#pin');
      await page.fill('#pin', await pinOf(there, email));
      await page.click('#verify');
    },
  };
}

if (hasChromium)
  describe('A company whose own provider is another Gatehouse, in Chromium', () => {
    let browser: Browser;
    let there: TestServer;
    let provider: CompanyProvider;
    let dns: TestDns;
    before(async () => {
      browser = await launchChromium();
      dns = await startDns();
      const listen = `127.0.0.1:${await freePort()}`;
      there = await startTestServer('sqlite', { flags: { listen, public_url: `http://${listen}` } });
      provider = gatehouseOf(there, await createTestTenant(there, { slug: 'globex', settings: { login_methods: ['email_pin'] } }));
    });
    after(async () => {
      await browser?.close();
      await there?.close();
      await dns?.close();
    });

    for (const [at, kind] of (['oidc', 'saml'] as const).entries()) {
      const database = databases[at % databases.length]!;
      it(`by ${kind}, on ${database}`, async () => {
        const server = await startTestServer(database, { flags: { dns_servers: dns.address, ...reachesLoopback } });
        try {
          await connectByLink({ server, dns, browser, kind, provider });
        } finally {
          await server.close();
        }
      });
    }
  });
