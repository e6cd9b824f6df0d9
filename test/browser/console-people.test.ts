// Many people at the console in Chromium (design 23, part 2): three hundred from a spreadsheet with three faults, until who has not come is
// reminded; each page clean by axe, under 60 kB and no wider than the screen, in both widths and schemes.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { createConsoleTenant, signInInBrowser } from '../support/console.ts';
import { createTestUser, type Managed } from '../support/management.ts';
import { assertAccessible, inViews, keepScreenshot, openWatched } from '../support/page-check.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const pageBytesMax = 60_000;

if (hasChromium)
  describe('Many people in Chromium', () => {
    let server: TestServer;
    let browser: Browser;
    before(async () => {
      server = await startTestServer('sqlite');
      browser = await launchChromium();
    });
    after(async () => {
      await browser?.close();
      await server?.close();
    });

    const open = async (tenant: Managed, email: string): Promise<{ readonly page: Page; readonly seen: readonly string[] }> => {
      const { page, seen } = await openWatched(browser, server.url, { bypassCSP: true });
      await signInInBrowser(server, page, { tenant, email });
      return { page, seen };
    };
    const look = async (page: Page, name: string): Promise<void> => {
      const bytes = Buffer.byteLength(await page.content());
      assert.ok(bytes <= pageBytesMax, `${name} has ${bytes} bytes`);
      await inViews(page, 'all', async (view) => {
        await assertAccessible(page, `${name} ${view}`);
        await keepScreenshot(page, `console ${name} ${view}`);
      });
    };

    it('three hundred are invited from a spreadsheet with three faults, which are mended where they stand', async () => {
      const { tenant, email } = await createConsoleTenant(server);
      await tenant.make('POST', '/groups', { display_name: 'Design' });
      const { page, seen } = await open(tenant, email);
      await page.click('#menu a:text-is("People")');
      await page.click('#primary');
      await page.click('#spreadsheet');
      const lines = Array.from({ length: 300 }, (_one, at) => `person${at}@company.example,Grace ${at},Hopper,Design`);
      lines[10] = 'person10 company.example,Grace 10,Hopper,Design';
      lines[20] = 'person20@company.example,Grace 20,Hopper,Desing';
      lines[30] = 'person1@company.example,Grace 30,Hopper,Design';
      await page.fill('#lines', `email,given name,family name,groups\n${lines.join('\n')}`);
      await look(page, 'spreadsheet');
      await page.click('#check');
      await page.waitForSelector('#invite-all');
      await look(page, 'spreadsheet checked');
      assert.equal(await page.textContent('#invite-all'), 'Invite 297 people by mail');
      await page.click('#invite-all');
      await page.waitForSelector('#notice');
      await look(page, 'spreadsheet done');
      await page.fill('input[value^="person10 "]', 'person10@company.example,Grace 10,Hopper,Design');
      await page.fill('input[value*="Desing"]', 'person20@company.example,Grace 20,Hopper,Design');
      await page.fill('input[value*="Grace 30"]', '');
      await page.click('#mend');
      await page.waitForSelector('#go-on');
      await look(page, 'spreadsheet to go on');
      await page.click('#go-on');
      await page.waitForSelector('#notice.good');
      assert.match((await page.textContent('#notice')) ?? '', /^299 people were invited\./);
      await page.click('#waiting-people');
      await look(page, 'who has not come');
      await page.check('input[name=id] >> nth=0');
      await page.click('#bulk-invite');
      await look(page, 'who has not come reminded');
      await page.click('#sure');
      assert.match((await page.textContent('#notice')) ?? '', / is invited\.$/);
      assert.deepEqual(seen, []);
      await page.context().close();
    });

    it('something done to many shows how far it is', async () => {
      const { tenant, email } = await createConsoleTenant(server);
      const people = Array.from({ length: 300 }, (_one, at) => ({ emails: [{ value: `many${at}@company.example` }] }));
      for (let start = 0; start < people.length; start += 50)
        await tenant.make('POST', '/invitations', { people: people.slice(start, start + 50), invite: 'none' });
      await createTestUser(tenant, 'boss@company.example', { role: 'admin', admin_roles: ['owner'] });
      const { page, seen } = await open(tenant, email);
      await page.goto(`${tenant.baseUrl}/console/users`);
      await page.check('#all-found');
      await page.click('#bulk-delete');
      const word = await page.textContent('label[for=typed] code');
      await page.fill('#typed', word ?? '');
      await look(page, 'many asked');
      await page.click('#sure');
      await page.waitForSelector('#notice.partly');
      await look(page, 'many done');
      assert.match((await page.textContent('#notice')) ?? '', /300 people are deleted\./);
      assert.deepEqual(seen, []);
      await page.context().close();
    });

    it('a SAML application is handed over on one page', async () => {
      const { tenant, email } = await createConsoleTenant(server);
      const body = {
        entity_id: 'https://wiki.example/saml',
        name: 'Wiki',
        acs: [{ url: 'https://wiki.example/acs' }],
        idp_initiated_allowed: true,
      };
      const { id } = await tenant.make<{ readonly id: string }>('POST', '/service-providers', body);
      const { page, seen } = await open(tenant, email);
      await page.goto(`${tenant.baseUrl}/console/service-providers/${id}/handover`);
      await look(page, 'handover');
      assert.deepEqual(seen, []);
      await page.context().close();
    });

    it('a directory gets its token by a button', async () => {
      const { tenant, email } = await createConsoleTenant(server);
      const { page, seen } = await open(tenant, email);
      await page.click('#menu a:text-is("Directories")');
      await look(page, 'directories before');
      await page.fill('#token-name', 'Okta');
      await page.click('#new-token');
      await page.waitForSelector('#scim-token');
      await look(page, 'directories with a token');
      assert.equal(await page.textContent('#notice'), 'The token was made, and it works.');
      assert.deepEqual(seen, []);
      await page.context().close();
    });
  });
