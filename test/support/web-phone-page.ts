// The web phone in a real browser: pages at 390 px with a virtual authenticator that verifies its person, what a person taps, and
// sign-ins that wait for them.
import assert from 'node:assert/strict';
import type { Browser, BrowserContextOptions, CDPSession, Page } from 'playwright-core';
import { createApproval, subjectKeyOf } from '../../src/approvals/approval.ts';
import { textsOf } from '../../src/phone-page/app/texts.ts';
import { findApproval } from '../../src/storage/sign-in/approvals.ts';
import { createAccountTenant, domainTenant } from './account.ts';
import { launchChromium } from './chromium.ts';
import type { DatabaseName } from './databases.ts';
import { changeSettings, createEnrollmentToken, type TestUser, unlimited } from './enrolled-phone.ts';
import { createFakeCamera, type FakeCamera } from './fake-camera.ts';
import type { Managed } from './management.ts';
import { assertAccessible, keepScreenshots, openWatched, phoneView } from './page-check.ts';
import { startTestServer, type TestServer } from './server.ts';

export interface OpenedPhone {
  readonly page: Page;
  readonly seen: readonly string[];
  readonly setVerified: (isUserVerified: boolean) => Promise<void>;
  readonly cdp: CDPSession;
}

const texts = textsOf('en');

export const tap = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
export const heading = (page: Page, name: string): Promise<void> => page.getByRole('heading', { name, exact: true }).waitFor();
export const unfold = (page: Page, name: string): Promise<void> => page.getByText(name, { exact: true }).click();

/** What became of a request stands there until it is dismissed. */
export async function readResult(page: Page, text: string): Promise<void> {
  await page.getByRole('status').getByText(text, { exact: true }).waitFor();
  await tap(page, texts.next);
}

export async function denyAs(page: Page, reason: string): Promise<void> {
  await unfold(page, texts.deny);
  await tap(page, reason);
  await readResult(page, texts.denied);
}

/** From the screen that offers the invitation to the enrolled phone: two taps. `look` sees each screen. */
export async function takeInvitation(page: Page, look: (where: string) => Promise<void> = async () => undefined): Promise<void> {
  await heading(page, texts.setUp);
  await look('invitation');
  await tap(page, texts.createKey);
  await heading(page, texts.almost);
  await look('proof');
  await tap(page, texts.proveKey);
  await page.getByText(texts.nothingWaits).waitFor();
}

export async function openPhone(browser: Browser, tenant: Managed, options: BrowserContextOptions = {}): Promise<OpenedPhone> {
  const { page, seen } = await openWatched(browser, new URL(tenant.baseUrl).origin, { viewport: phoneView, ...options });
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  const setVerified = (isUserVerified: boolean): Promise<void> =>
    cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }).then(() => undefined);
  return { page, seen, setVerified, cdp };
}

/** Opens an invitation as a link in the browser and takes it. */
export async function enrolIn(
  { page }: Pick<OpenedPhone, 'page'>,
  server: TestServer,
  tenant: Managed,
  person: TestUser,
  look?: (where: string) => Promise<void>,
): Promise<void> {
  await page.goto(`${tenant.baseUrl}/enroll#v=1&t=${await createEnrollmentToken(server, person)}`);
  await page.locator('#in-browser').click();
  await takeInvitation(page, look);
}

const windows = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';

/** A sign-in that waits for the person. */
export async function askPerson(
  server: TestServer,
  tenant: Managed,
  person: TestUser,
): Promise<{ readonly id: string; readonly number: string }> {
  const domain = await domainTenant(server, tenant);
  const made = await server.gatehouse.services.database.write(person.tenant, (queries) =>
    createApproval(queries, domain, {
      kind: 'oidc_login',
      userId: person.id,
      subjectKey: subjectKeyOf(person.id, ''),
      onDevices: true,
      withNumber: true,
      lifetimeSeconds: 300,
      initiatedIp: '192.0.2.7',
      initiatedUserAgent: windows,
      scope: 'openid profile',
    }),
  );
  assert.ok(made.ok);
  return { id: made.approvalId, number: made.number! };
}

/** Its state, and how it was decided. */
export async function decisionOf(server: TestServer, person: TestUser, id: string): Promise<readonly (string | null | undefined)[]> {
  const row = await server.gatehouse.services.database.read(person.tenant, (queries) => findApproval(queries, person.tenant, id));
  return [row?.state, row?.method ?? row?.deny_reason ?? null];
}

export interface PhoneBench {
  readonly server: TestServer;
  readonly tenant: Managed;
  readonly browser: Browser;
  readonly camera: FakeCamera;
  /** Bytes of the phone's page and files that the server has sent so far, to pages and to workers. */
  readonly sentBytes: () => number;
  readonly open: (options?: BrowserContextOptions) => Promise<OpenedPhone>;
  readonly enrolled: (person: TestUser) => Promise<OpenedPhone>;
  /** The link of an invitation to enrol. */
  readonly invite: (person: TestUser) => Promise<string>;
  /** Signs in at the account page as far as the page that waits for the phone. */
  readonly signIn: (page: Page, person: TestUser) => Promise<void>;
  /** Clean by axe; a screenshot where GATEHOUSE_TEST_SCREENSHOTS says. */
  readonly look: (page: Page, name: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** A server with a tenant whose people sign in by phone, and a browser with a camera that shows a file. */
export async function openPhoneBench(database: DatabaseName): Promise<PhoneBench> {
  let sentBytes = 0;
  const server = await startTestServer(database, {
    flags: { listen: 'localhost:0', access_log: '1' }, // browsers take no IP address for a credential
    accessLog: (line) => {
      const { route, bytes } = JSON.parse(line) as { readonly route: string; readonly bytes: number };
      if (route.startsWith('/phone')) sentBytes += bytes;
    },
  });
  const tenant = await createAccountTenant(server);
  await changeSettings(server, { ...unlimited, login_methods: ['phone', 'email_pin'] }, tenant.id);
  const camera = createFakeCamera();
  const browser = await launchChromium(camera.args);
  const permissions = ['camera', 'clipboard-read', 'clipboard-write'];
  const open = (options: BrowserContextOptions = {}): Promise<OpenedPhone> => openPhone(browser, tenant, { permissions, ...options });
  return {
    server,
    tenant,
    browser,
    camera,
    sentBytes: () => sentBytes,
    open,
    enrolled: async (person) => {
      const phone = await open();
      await enrolIn(phone, server, tenant, person);
      return phone;
    },
    invite: async (person) => (await tenant.make<{ qr_uri: string }>('POST', `/users/${person.id}/enrollments`)).qr_uri,
    signIn: async (page, person) => {
      await page.goto(`${tenant.baseUrl}/account`);
      await page.fill('#identifier', person.email);
      await page.click('#continue');
      await page.click('#use-phone');
      await page.waitForSelector('svg.qr');
    },
    look: async (page, name) => {
      await assertAccessible(page, name);
      await keepScreenshots(page, `phone-${name}`);
    },
    close: async () => {
      await browser.close();
      camera.close();
      await server.close();
    },
  };
}
