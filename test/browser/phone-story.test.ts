// The story of a web phone at 390 px: an invitation before the camera, installing, sign-ins at a desktop by number and by code, the
// sign-in of its own browser, a relayed link, a forgery, a loss, a recovery. Screenshots go where GATEHOUSE_TEST_SCREENSHOTS says.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { textsOf } from '../../src/phone-page/app/texts.ts';
import { createPerson } from '../support/account.ts';
import { hasChromium } from '../support/chromium.ts';
import { databases } from '../support/databases.ts';
import { changeSettings, type TestUser, unlimited } from '../support/enrolled-phone.ts';
import { desktopView, openWatched } from '../support/page-check.ts';
import {
  denyAs,
  heading,
  type OpenedPhone,
  openPhoneBench,
  type PhoneBench,
  readResult,
  takeInvitation,
  tap,
  unfold,
} from '../support/web-phone-page.ts';

const texts = textsOf('en');
const beforeCameraBytesMax = 60_000;
const transferredBytesMax = 150_000;

/** How many keys the browser still holds. */
const keysLeft = `new Promise((done) => {
  const opened = indexedDB.open('gatehouse-phone');
  opened.onsuccess = () => {
    const all = opened.result.transaction('keys').objectStore('keys').count();
    all.onsuccess = () => done(all.result);
  };
})`;

if (hasChromium)
  for (const database of databases)
    describe(`the story of a web phone in Chromium, ${database}`, () => {
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
      const signIn = (page: Page): Promise<void> => bench.signIn(page, person);
      const atDesktop = async (): Promise<Page> => {
        const { page } = await openWatched(bench.browser, new URL(bench.tenant.baseUrl).origin, { viewport: desktopView });
        await signIn(page);
        return page;
      };
      const numberOn = async (page: Page): Promise<string> => (await page.textContent('#approve-number')) ?? '';
      const codeOn = async (page: Page): Promise<string> =>
        ((await page.getAttribute('#in-browser', 'href')) ?? '').replace('/phone#', '/scan#');

      it('an invitation before the camera, installed, a desktop signs in by number, another by its code, a third is denied', async () => {
        const { page, seen, cdp } = await open();
        await page.goto(`${bench.tenant.baseUrl}/phone`);
        await heading(page, texts.setUp);
        await bench.look(page, 'start');
        // As the server sent them: the camera's files come by way of the service worker, and a page counts nothing for those.
        const light = bench.sentBytes();
        assert.ok(light > 10_000 && light < beforeCameraBytesMax, `${light} bytes before the camera`);
        await tap(page, texts.scan); // nothing to see yet
        await heading(page, texts.scan);
        await bench.look(page, 'camera');
        await tap(page, texts.cancel);
        await heading(page, texts.setUp);
        bench.camera.show(await invite());
        await tap(page, texts.scan);
        await page.getByRole('button', { name: texts.createKey }).waitFor();
        const heavy = bench.sentBytes();
        assert.ok(heavy > light && heavy < transferredBytesMax, `${heavy} bytes with the camera`);
        await takeInvitation(page, (where) => bench.look(page, where));
        const { installabilityErrors } = await cdp.send('Page.getInstallabilityErrors');
        assert.deepEqual(
          installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== 'in-incognito'), // contexts of tests are
          [],
        );

        const first = await atDesktop();
        await page.getByLabel(texts.number).fill(await numberOn(first));
        await bench.look(page, 'approval');
        await tap(page, texts.approve);
        await first.waitForURL(/\/account/);
        await bench.look(page, 'approved');
        await readResult(page, texts.approved);
        await bench.look(page, 'home');

        const second = await atDesktop();
        bench.camera.show(await codeOn(second));
        await tap(page, texts.scan);
        await heading(page, texts.signIn);
        // What waits is asked for meanwhile, and hides nothing of this screen.
        await page.waitForResponse((response) => new URL(response.url()).pathname.endsWith('/device/approvals'));
        await bench.look(page, 'sign-in');
        await tap(page, texts.show);
        await page.getByLabel(texts.number).fill(await numberOn(second)); // another screen's code spares no number
        await tap(page, texts.approve);
        await second.waitForURL(/\/account/);
        await readResult(page, texts.approved);

        const third = await atDesktop();
        await page.getByLabel(texts.number).waitFor();
        await unfold(page, texts.deny);
        await bench.look(page, 'deny');
        await tap(page, texts.notMe);
        await heading(third, 'The request was declined');
        await readResult(page, texts.denied);
        await unfold(page, texts.activity);
        await page.getByText(` · ${texts.denied}`).waitFor();
        await bench.look(page, 'activity');
        assert.equal(await page.getByText(` · ${texts.approved}`).count(), 2);
        assert.deepEqual(seen, []);
        for (const opened of [first, second, third, page]) await opened.context().close();
      });

      it('in its own browser the page that waits leads to it: two taps, no number; nothing happens before the first', async () => {
        const { page, seen } = await enrolled();
        const login = await page.context().newPage();
        await signIn(login);
        const link = login.locator('#in-browser');
        assert.equal(await link.getAttribute('target'), '_blank'); // the page that waits stays; a new tab would lack the authenticator
        await page.goto((await link.getAttribute('href')) ?? '');
        await page.bringToFront();
        await heading(page, texts.signIn);
        await tap(page, texts.show);
        await page.getByRole('button', { name: texts.approve }).waitFor();
        assert.equal(await page.getByLabel(texts.number).count(), 0);
        await bench.look(page, 'same-browser');
        await tap(page, texts.approve);
        await page.getByText(texts.back).waitFor();
        await login.waitForURL(/\/account/);
        assert.deepEqual(seen, []);
        await page.context().close();
      });

      it('a relayed link spares no number, a wrong one denies, and a dead code says so', async () => {
        const { page, seen } = await enrolled();
        const attacker = await atDesktop();
        const link = await codeOn(attacker);
        await page.goto(link); // the page of the link leads to the phone of this browser
        await page.locator('#in-browser').click();
        await tap(page, texts.show);
        const number = await numberOn(attacker);
        await page.getByLabel(texts.number).fill(number === '11' ? '12' : '11');
        await tap(page, texts.approve);
        await page.getByText(texts.wrongNumber).waitFor();
        await heading(attacker, 'The request was declined');
        await page.goto('about:blank');
        await page.goto(link.replace('/scan#', '/phone#'));
        await tap(page, texts.show);
        await page.getByText(texts.codeDead).waitFor();
        assert.deepEqual(seen, []);
        for (const opened of [attacker, page]) await opened.context().close();
      });

      it('lost: revoked elsewhere it says so, forgets its keys, and takes a new invitation', async () => {
        const { page } = await enrolled();
        const { items } = await bench.tenant.make<{ items: readonly { id: string; key_protection: string }[] }>(
          'GET',
          `/users/${person.id}/devices`,
        );
        assert.deepEqual(
          items.map(({ key_protection: protection }) => protection),
          ['webauthn'],
        );
        assert.equal((await bench.tenant.call('DELETE', `/devices/${items[0]!.id}`)).status, 204);
        await page.getByText(texts.revoked).waitFor();
        assert.equal(await page.evaluate(keysLeft), 0);
        await tap(page, texts.next);
        await page.getByLabel(texts.link).fill(await invite());
        await tap(page, texts.open);
        await takeInvitation(page);
        await page.context().close();
      });

      it('a second phone is let in by the first, which types the number that the second shows', async () => {
        const first = await enrolled();
        const second = await open();
        await second.page.goto((await invite()).replace('/enroll#', '/phone#'));
        await tap(second.page, texts.createKey);
        await tap(second.page, texts.proveKey);
        await heading(second.page, texts.otherDevice);
        await bench.look(second.page, 'second');
        await heading(first.page, texts.newDevice);
        await first.page.getByLabel(texts.number).fill((await second.page.textContent('.number')) ?? '');
        await bench.look(first.page, 'second asks');
        await tap(first.page, texts.approve);
        await second.page.getByText(texts.nothingWaits).waitFor();
        await readResult(first.page, texts.approved);
        assert.deepEqual([...first.seen, ...second.seen], []);
        for (const opened of [first.page, second.page]) await opened.context().close();
      });

      it('lost and recovered: the link of an administrator ends the old phone, and the new browser becomes the phone', async () => {
        const lost = await enrolled();
        const body = { reason: 'Lost phone, shown passport', mail: false };
        const { recovery_url: url } = await bench.tenant.make<{ recovery_url: string }>('POST', `/users/${person.id}/recoveries`, body);
        const found = await open();
        await found.page.goto(url);
        await found.page.click('#continue');
        await found.page.click('#web-phone');
        await takeInvitation(found.page); // the lost phone is asked nothing
        await lost.page.getByText(texts.revoked).waitFor();
        const desktop = await atDesktop();
        await found.page.getByLabel(texts.number).fill(await numberOn(desktop));
        await tap(found.page, texts.approve);
        await desktop.waitForURL(/\/account/);
        assert.deepEqual([...lost.seen, ...found.seen], []);
        for (const opened of [lost.page, found.page, desktop]) await opened.context().close();
      });

      it('forged: an approval by script that has nobody verified decides nothing', async () => {
        const { page, setVerified } = await enrolled();
        const desktop = await atDesktop();
        await page.addInitScript(`(() => {
          const get = CredentialsContainer.prototype.get;
          CredentialsContainer.prototype.get = function ({ publicKey }) {
            return get.call(this, { publicKey: { ...publicKey, userVerification: 'discouraged' } });
          };
        })()`);
        await page.reload();
        const refused = page.waitForResponse(/\/approve$/);
        await page.getByLabel(texts.number).fill(await numberOn(desktop));
        await setVerified(false);
        await tap(page, texts.approve);
        const answer = await refused;
        assert.deepEqual([answer.status(), ((await answer.json()) as { kind: string }).kind], [401, 'bad_signature']);
        assert.equal(await numberOn(desktop), await page.getByLabel(texts.number).inputValue());
        for (const opened of [page, desktop]) await opened.context().close();
      });

      it('where attestation is enforced: looking and denying work, approving and enrolling say that browsers are no phones here', async () => {
        const { page, seen } = await enrolled();
        const other = await open();
        await other.page.goto((await invite()).replace('/enroll#', '/phone#'));
        const settings = { ...unlimited, login_methods: ['phone', 'email_pin'] };
        await changeSettings(bench.server, { ...settings, attestation: { mode: 'enforce' } }, bench.tenant.id);
        await tap(other.page, texts.createKey);
        await other.page.getByText(texts.disabled).waitFor();
        const desktop = await atDesktop();
        assert.equal(await desktop.locator('#in-browser').count(), 0);
        await page.getByLabel(texts.number).fill(await numberOn(desktop));
        await tap(page, texts.approve);
        await page.getByText(texts.disabled).waitFor();
        await denyAs(page, texts.mistake);
        await heading(desktop, 'The request was declined');
        await changeSettings(bench.server, settings, bench.tenant.id);
        assert.deepEqual(seen, []);
        for (const opened of [page, other.page, desktop]) await opened.context().close();
      });
    });
