// The console's first page stays as short as it is however much there is to tell: of surfaces and of refusals it shows those that matter most.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const rowsShown = 6;
/** One of each surface. */
const asked = [
  '/v1/idp/oidc/jwks',
  '/v1/idp/saml/metadata',
  '/scim/v2/Users',
  '/v1/management/users',
  '/v1/device/self',
  '/account',
  '/login/none',
  '/phone',
  '/docs',
] as const;
/** What is refused by a row of its own each. */
const refused = [
  ['GET', '/v1/idp/oidc/nowhere'],
  ['GET', '/v1/idp/oidc/authorize'],
  ['POST', '/v1/idp/oidc/token'],
  ['GET', '/v1/idp/oidc/userinfo'],
  ['GET', '/v1/idp/saml/sso'],
  ['GET', '/v1/management/nowhere'],
  ['GET', '/v1/management/users'],
  ['GET', '/scim/v2/Users'],
] as const;

for (const database of databases)
  describe(`overview of the console on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database, { flags: { metrics_listen: '127.0.0.1:0' } });
    });
    after(() => server.close());

    it('six surfaces, those asked most, and six refusals', async () => {
      const { tenant, email } = await createConsoleTenant(server);
      for (const path of asked) await fetch(`${tenant.baseUrl}${path}`, { redirect: 'manual' });
      for (const [method, path] of refused) await fetch(`${tenant.baseUrl}${path}`, { method });
      for (let turn = 0; turn < 40; turn += 1) await fetch(`${tenant.baseUrl}/v1/idp/saml/metadata`);
      const { visitor } = await openConsole(server, tenant, email);
      const page = await (await visitor.page('')).text();
      const rowsOf = (heading: string): readonly string[] => {
        const section = page.slice(page.indexOf(`<h2>${heading}</h2>`));
        return section.slice(0, section.indexOf('</section>')).match(/<li>.*?<\/li>/gs) ?? [];
      };
      const surfaces = rowsOf('Time to answer');
      assert.equal(surfaces.length, rowsShown, page);
      assert.match(surfaces[0]!, /saml/);
      assert.equal(rowsOf('Refusals by contract row').length, rowsShown);
    });
  });
