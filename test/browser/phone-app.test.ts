// What the app of the web phone does at 390 px beside deciding: links, cameras, iOS, no connection, an old key, pushes, and that no
// other service worker comes in. Screenshots go where GATEHOUSE_TEST_SCREENSHOTS says.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { textsOf } from '../../src/phone-page/app/texts.ts';
import { createPerson } from '../support/account.ts';
import { hasChromium, launchWholeChromium } from '../support/chromium.ts';
import { databases } from '../support/databases.ts';
import { until } from '../support/deliveries.ts';
import type { TestUser } from '../support/enrolled-phone.ts';
import {
  enrolIn,
  heading,
  type OpenedPhone,
  openPhone,
  openPhoneBench,
  type PhoneBench,
  takeInvitation,
  tap,
  unfold,
} from '../support/web-phone-page.ts';

const texts = textsOf('en');

if (hasChromium)
  for (const database of databases)
    describe(`the app of the web phone in Chromium, ${database}`, () => {
      let bench: PhoneBench;
      let person: TestUser;
      before(async () => {
        bench = await openPhoneBench(database);
      });
      after(() => bench?.close());
      beforeEach(async () => {
        person = await createPerson(bench.tenant);
      });

      const open = (options: BrowserContextOptions = {}): Promise<OpenedPhone> => bench.open(options);
      const enrolled = (): Promise<OpenedPhone> => bench.enrolled(person);
      const invite = (): Promise<string> => bench.invite(person);

      it('a pasted link enrols, one of another site is opened there after a tap, other text is no link; by keyboard alone', async () => {
        const { page, seen } = await open();
        await page.goto(`${bench.tenant.baseUrl}/phone`);
        await heading(page, texts.setUp);
        const paste = async (text: string): Promise<void> => {
          await page.getByLabel(texts.link).focus();
          await page.keyboard.type(text);
          await page.keyboard.press('Enter');
        };
        await paste('https://id.example/elsewhere');
        await page.getByText(texts.notALink).waitFor();
        await page.reload();
        await heading(page, texts.setUp);
        await paste('https://id.example/enroll#v=1&t=abc');
        await heading(page, texts.elsewhere('id.example'));
        assert.equal(await page.getByRole('link', { name: texts.open }).getAttribute('href'), 'https://id.example/phone#v=1&t=abc');
        await bench.look(page, 'elsewhere');
        await page.getByRole('button', { name: texts.cancel }).press('Enter');
        await heading(page, texts.setUp);
        await paste(await invite());
        await page.getByRole('button', { name: texts.createKey }).press('Enter');
        await page.getByRole('button', { name: texts.proveKey }).press('Enter');
        await page.getByText(texts.nothingWaits).waitFor();
        assert.deepEqual(seen, []);
        await page.context().close();
      });

      it('the browser’s own detector reads codes where there is one; without a camera one pastes', async () => {
        const { page } = await open();
        const link = await invite();
        await page.addInitScript(`globalThis.BarcodeDetector = class {
          static getSupportedFormats() { return Promise.resolve(['qr_code']); }
          detect() { return Promise.resolve([{ rawValue: ${JSON.stringify(link)} }]); }
        }`);
        await page.goto(`${bench.tenant.baseUrl}/phone`);
        await tap(page, texts.scan);
        await page.getByRole('button', { name: texts.createKey }).waitFor();
        const names = (await page.evaluate(`performance.getEntriesByType('resource').map((entry) => entry.name)`)) as readonly string[];
        assert.ok(!names.some((name) => name.includes('scan-worker')));
        await page.addInitScript(`navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotAllowedError'))`);
        await page.goto(`${bench.tenant.baseUrl}/phone`);
        await tap(page, texts.scan);
        await page.getByText(texts.noCamera).waitFor();
        await page.context().close();
      });

      it('iOS: a tab does not enrol; it copies the invitation, and the installed app takes it', async () => {
        const { page, seen } = await open();
        const link = await invite();
        await page.addInitScript(`Object.defineProperty(navigator, 'standalone', { value: false })`);
        await page.goto(link.replace('/enroll#', '/phone#'));
        await heading(page, texts.homeScreen);
        await bench.look(page, 'home-screen');
        await tap(page, texts.copy);
        await page.getByText(texts.copied).waitFor();
        assert.equal(await page.evaluate('navigator.clipboard.readText()'), link);
        assert.deepEqual(seen, []);
        await page.context().close();
        const app = await open();
        await app.page.addInitScript(`Object.defineProperty(navigator, 'standalone', { value: true })`);
        await app.page.goto(`${bench.tenant.baseUrl}/phone`);
        await app.page.getByLabel(texts.link).fill(link);
        await tap(app.page, texts.open);
        await takeInvitation(app.page);
        await app.page.context().close();
      });

      it('opens without a connection from its first visit on, and says so', async () => {
        const { page } = await enrolled();
        await page.evaluate('navigator.serviceWorker.ready');
        await page.context().setOffline(true);
        await page.reload();
        await page.getByText(texts.offline).waitFor();
        await bench.look(page, 'offline');
        await page.context().setOffline(false);
        await page.getByText(texts.offline).waitFor({ state: 'hidden' });
        await page.context().close();
      });

      it('the key is renewed by the button, and by itself after ninety days, not before', async () => {
        const { page } = await enrolled();
        const { database: store } = bench.server.gatehouse.services;
        const pop = () =>
          store.read(person.tenant, (queries) =>
            queries
              .selectFrom('device_keys as k')
              .innerJoin('devices as d', (join) => join.onRef('d.tenant_id', '=', 'k.tenant_id').onRef('d.id', '=', 'k.device_id'))
              .select(['k.device_id', 'k.public_key', 'k.rotated_at'])
              .where('d.tenant_id', '=', person.tenant)
              .where('d.user_id', '=', person.id)
              .where('k.purpose', '=', 'pop')
              .executeTakeFirstOrThrow(),
          );
        const first = await pop();
        await unfold(page, texts.thisPhone);
        await tap(page, texts.renewKey);
        await page.getByText(texts.keyRenewed).waitFor();
        const second = await pop();
        assert.notEqual(second.public_key, first.public_key);
        const age = (days: number) =>
          store.write(person.tenant, (queries) =>
            queries
              .updateTable('device_keys')
              .set({ rotated_at: bench.server.clock.nowMs() - days * 86_400_000, previous_until: 0 })
              .where('tenant_id', '=', person.tenant)
              .where('device_id', '=', second.device_id)
              .execute(),
          );
        await age(89);
        const asked = page.waitForResponse(/\/v1\/device\/self$/);
        await page.reload();
        await asked;
        await page.getByText(texts.nothingWaits).waitFor();
        assert.equal((await pop()).public_key, second.public_key);
        await age(91);
        const rotated = page.waitForResponse(/\/keys\/rotate\/confirm$/);
        await page.reload();
        assert.equal((await rotated).status(), 200);
        assert.notEqual((await pop()).public_key, second.public_key);
        await page.context().close();
      });

      it('pushes: asked for by a tap, told to the server, and each is shown, one notification an approval', {
        timeout: 60_000,
      }, async (test) => {
        const whole = await launchWholeChromium(); // the other one shows no notifications
        test.after(() => whole.close());
        const { page, cdp, seen } = await openPhone(whole, bench.tenant);
        const endpoint = 'https://updates.push.services.mozilla.com/wpush/v2/gAAAA'; // no browser of a test reaches a push service
        const point = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'der', type: 'spki' }).subarray(26);
        await page.addInitScript(`
          PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
            globalThis.subscribedWith = [...applicationServerKey];
            return { endpoint: '${endpoint}', toJSON: () => ({ endpoint: '${endpoint}', keys: {
              p256dh: '${point.toString('base64url')}', auth: '${Buffer.alloc(16, 7).toString('base64url')}' } }) };
          };
          Object.defineProperty(Notification, 'permission', { get: () => localStorage.getItem('allowed') ?? 'default' });
          Notification.requestPermission = async () => { localStorage.setItem('allowed', 'granted'); return 'granted'; };`);
        await enrolIn({ page }, bench.server, bench.tenant, person);
        const providerOf = async (): Promise<unknown> =>
          (await bench.tenant.make<{ items: readonly { push_provider: string }[] }>('GET', `/users/${person.id}/devices`)).items[0]
            ?.push_provider;
        assert.equal(await providerOf(), 'none');
        await bench.look(page, 'notify');
        await page.context().grantPermissions(['notifications']);
        await tap(page, texts.notify);
        await page.getByText(texts.notified).waitFor();
        assert.equal(await providerOf(), 'web');
        assert.equal(((await page.evaluate('subscribedWith')) as readonly number[]).length, 65);
        assert.equal(await page.getByRole('button', { name: texts.notify }).count(), 0);

        const registered = new Promise<string>((resolve) => {
          cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
            const own = registrations.find(({ scopeURL }) => scopeURL.endsWith('/phone'));
            if (own !== undefined) resolve(own.registrationId);
          });
        });
        await cdp.send('ServiceWorker.enable');
        const { origin } = new URL(bench.tenant.baseUrl);
        const push = async (data: string): Promise<void> => {
          await cdp.send('ServiceWorker.deliverPushMessage', { origin, registrationId: await registered, data });
        };
        // Chromium's own record of what it displays: getNotifications() loses some, as Chromium closes them itself where there is no desktop.
        const displayed: string[] = [];
        const sentence = 'A request waits for your decision.';
        const { host } = new URL(bench.tenant.baseUrl);
        const wanted = [`${sentence} one`, `${sentence} one`, `${sentence} two`, `${host} `]; // one tag, one notification
        cdp.on(
          'BackgroundService.backgroundServiceEventReceived',
          ({ backgroundServiceEvent: { eventName, instanceId, eventMetadata } }) => {
            const title = eventMetadata.find(({ key }) => key === 'Title')?.value;
            if (eventName === 'Notification displayed') displayed.push(`${title} ${instanceId}`);
          },
        );
        await cdp.send('BackgroundService.setRecording', { service: 'notifications', shouldRecord: true });
        await cdp.send('BackgroundService.startObserving', { service: 'notifications' });
        for (const id of ['one', 'one', 'two']) await push(JSON.stringify({ type: 'approval', approval_id: id, body: sentence }));
        await push('no JSON');
        await until(() => displayed.length === wanted.length);
        assert.deepEqual(displayed.sort(), wanted.sort());
        assert.deepEqual(seen, []);
      });

      it('no other service worker comes in: another scope, another path, a module of the app', async () => {
        const { page } = await enrolled();
        await page.evaluate('navigator.serviceWorker.ready');
        const { worker, scanner } = (await page.evaluate(`({ ...document.querySelector('#app').dataset })`)) as Record<string, string>;
        const attempt = (at: Page, address: string, options: object): Promise<unknown> =>
          at.evaluate(
            `navigator.serviceWorker.register(${JSON.stringify(address)}, ${JSON.stringify(options)}).then(() => 'taken', () => 'refused')`,
          );
        const home = new URL(`${bench.tenant.baseUrl}/phone`).pathname;
        for (const address of [worker!, scanner!, `${bench.tenant.baseUrl}/account`])
          assert.equal(await attempt(page, address, {}), 'refused');
        // Where no page forbids it, the server does: its worker may serve its own page alone, and nothing else is a worker.
        const plain = await page.context().newPage();
        await plain.goto(`${bench.tenant.baseUrl}/phone/manifest.webmanifest`);
        for (const [address, scope] of [
          [worker!, '/'],
          [worker!, new URL(`${bench.tenant.baseUrl}/`).pathname],
          [scanner!, home],
          [`${bench.tenant.baseUrl}/phone/icons/192.png`, home],
        ] as const)
          assert.equal(await attempt(plain, address, { scope, type: 'module' }), 'refused', `${address} for ${scope}`);
        await page.context().close();
      });
    });
