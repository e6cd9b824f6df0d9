// The pictures of the documents, made of the product as it is: a tenant with people, phones and a week behind it, looked at as documents
// show it. They go where GATEHOUSE_TEST_PICTURES says (`GATEHOUSE_TEST_PICTURES=docs/images`); without it the pages are walked all the same.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { TenantId, UserId } from '../../src/domain/ids.ts';
import { addActivity } from '../../src/storage/records/activity-counts.ts';
import { noteProvenSteps } from '../../src/storage/records/first-steps.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { createConsoleTenant } from '../support/console.ts';
import { enrolledPhone } from '../support/enrolled-phone.ts';
import { pinOf } from '../support/mailbox.ts';
import { callSystem, createTestUser, type Json, type Managed } from '../support/management.ts';
import { openWatched } from '../support/page-check.ts';
import { createPhone } from '../support/phone.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const folder = process.env['GATEHOUSE_TEST_PICTURES'];
const root = join(import.meta.dirname, '..', '..');
const hourMs = 3_600_000;
/** Of each day of the week that is behind, the oldest first. */
const week = [
  [412, 9],
  [438, 14],
  [401, 8],
  [466, 21],
  [489, 12],
  [173, 4],
  [298, 11],
] as const;
const refusals = ['client.invalid_client', 'token.code_invalid', 'authorize.unauthorized', 'login.conflict'] as const;
const names = ['Grace Hopper', 'Mary Jackson', 'Katherine Johnson', 'Radia Perlman', 'Hedy Lamarr', 'Joan Clarke'] as const;

if (hasChromium)
  describe('Pictures of the documents', () => {
    let server: TestServer;
    let browser: Browser;
    let tenant: Managed;
    let email: string;
    let grace: string;
    let page: Page;
    const made = new Set<string>();
    before(async () => {
      server = await startTestServer('sqlite');
      browser = await launchChromium();
      ({ tenant, email } = await createConsoleTenant(server, { display_name: 'Ada Lovelace', role: 'user', admin_roles: ['owner'] }));
      await callSystem(server, 'PATCH', `/tenants/${tenant.id}`, { name: 'Harbour' });
      const ids: string[] = [];
      for (const name of names) {
        const address = `${name.toLowerCase().replace(' ', '.')}@harbour.example`;
        ids.push(String((await createTestUser(tenant, address, { display_name: name })).id));
      }
      grace = ids[0]!;
      const group = await tenant.make('POST', '/groups', { display_name: 'Dispatch' });
      for (const user_id of ids.slice(1, 4)) await tenant.make('POST', `/groups/${String(group['id'])}/members`, { user_id });
      const client = { name: 'Berth planner', redirect_uris: ['https://berths.harbour.example/cb'], access_policy: 'assigned' };
      const { client_id: planner } = await tenant.make('POST', '/clients', client);
      await tenant.make('POST', `/clients/${String(planner)}/assignments`, { group_id: group['id'] });
      await tenant.make('POST', `/clients/${String(planner)}/assignments`, { user_id: grace });
      await tenant.make('POST', '/clients', { name: 'Pilot app', type: 'public', redirect_uris: ['https://pilots.harbour.example/cb'] });
      await tenant.make('POST', '/resources', {
        name: 'Tides',
        identifier: 'https://tides.harbour.example',
        scopes: [{ name: 'tides:read' }],
      });
      await tenant.make('PATCH', '/settings', { device: { additional_device: 'admin' } });
      const user = { tenant: tenant.id as TenantId, id: grace as UserId, email: '' }; // ids the server gave
      for (const device of [
        { name: 'Grace’s phone', model: 'iPhone 17', platform: 'ios', os_version: '26.1', app_version: '2.4' },
        { name: 'Tablet on the quay', model: 'Galaxy Tab S11', platform: 'android', os_version: '16', app_version: '2.4' },
      ])
        await enrolledPhone(server, user, createPhone(tenant.baseUrl, server.clock.nowMs), device);
      await tenant.make('PATCH', '/settings', { device: { additional_device: 'existing_device' } });
      await spendAWeek();
      ({ page } = await openWatched(browser, server.url, { viewport: { width: 1280, height: 860 }, colorScheme: 'light' }));
    });
    after(async () => {
      await browser?.close();
      await server?.close();
    });

    async function spendAWeek(): Promise<void> {
      const thisHour = Math.floor(server.clock.nowMs() / hourMs) * hourMs;
      const counts = week.flatMap(([signIns, refused], at) => {
        const hourAtMs = thisHour - (week.length - 1 - at) * 24 * hourMs;
        const rows = refusals.map((row, place) => ({
          hourAtMs,
          name: `refusal:${row}`,
          n: Math.max(1, Math.round(refused / (place + 2))),
        }));
        return [{ hourAtMs, name: 'sign_in', n: signIns }, ...rows];
      });
      await server.gatehouse.services.database.write(tenant.id as TenantId, async (queries) => {
        await addActivity(queries, tenant.id as TenantId, counts);
        await noteProvenSteps(queries, tenant.id as TenantId, ['application', 'people', 'sign-in']);
      });
    }

    const picture = async (name: string, expected: string, height = 860): Promise<void> => {
      await page.setViewportSize({ width: 1280, height });
      await page.waitForSelector(`main h1:has-text("${expected}"), h1:has-text("${expected}")`);
      made.add(name);
      if (folder !== undefined) await page.screenshot({ path: join(isAbsolute(folder) ? folder : join(root, folder), `${name}.png`) });
    };
    const signIn = async (address: string): Promise<void> => {
      await page.fill('#identifier', address);
      await page.press('#identifier', 'Enter');
      const choice = page.locator('#use-email');
      await page.waitForSelector('#pin, #use-email');
      if ((await choice.count()) > 0) await choice.click();
      await page.waitForSelector('#pin');
      await page.fill('#pin', await pinOf(server, address));
      await page.press('#pin', 'Enter');
    };

    it('the overview, a person’s phones, who may use an application, and the wizard for directories', async () => {
      const at = `${tenant.baseUrl}/console`;
      await page.goto(at);
      await signIn(email);
      await page.waitForURL('**/console');
      await picture('console', 'Overview', 1180);
      await page.goto(`${at}/users/${grace}/devices`);
      await picture('console-phones', 'Grace Hopper');
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/clients?search=Berth');
      await page.goto(`${at}/clients/${String(items[0]!['client_id'])}/access`);
      await picture('console-access', 'Berth planner');
      await page.goto(`${at}/scim`);
      await picture('console-scim', 'Directories');
    });

    it('a refusal that is explained', async () => {
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/clients?search=Berth');
      const wrong = Buffer.from(`${String(items[0]!['client_id'])}:not-the-secret`).toString('base64');
      const refused = await fetch(`${tenant.baseUrl}/v1/idp/oidc/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${wrong}` },
        body: new URLSearchParams({ grant_type: 'authorization_code', code: 'x', redirect_uri: 'https://berths.harbour.example/cb' }),
      });
      assert.equal(refused.status, 401);
      await page.goto(`${tenant.baseUrl}/console/explain?request_id=${refused.headers.get('x-request-id')}`);
      await picture('explain', 'Explain', 620);
    });

    it('the phones on the account page', async () => {
      await page.context().clearCookies();
      await page.goto(`${tenant.baseUrl}/account/devices`);
      await signIn('grace.hopper@harbour.example');
      await page.waitForURL('**/account/devices');
      await picture('account', 'Phones', 700);
    });

    it('every picture that documents show is one of these', () => {
      const files = globSync(['README.md', 'docs/**/*.md'], { cwd: root });
      const shown = files.flatMap((file) =>
        [...readFileSync(join(root, file), 'utf8').matchAll(/!\[[^\]]*\]\([^)]*images\/([a-z-]+)\.png\)/g)].map(([, name]) => name!),
      );
      assert.ok(shown.length > 5);
      assert.deepEqual([...new Set(shown)].toSorted(), [...made].toSorted());
    });
  });
