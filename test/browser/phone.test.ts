// The web phone in Chromium at 390 px with its virtual authenticator: an invitation, enrolling by two taps, sign-ins approved by
// number and denied, nobody verified, no connection, removal. Nothing is asked of anybody else, the policy holds, screens are clean
// by axe, and no script can read the keys.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { languages } from '../../src/domain/language.ts';
import { textsOf } from '../../src/phone-page/app/texts.ts';
import { createAccountTenant, createPerson } from '../support/account.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { databases } from '../support/databases.ts';
import { changeSettings, type TestUser } from '../support/enrolled-phone.ts';
import { eventually } from '../support/eventually.ts';
import type { Managed } from '../support/management.ts';
import { assertAccessible, openWatched, phoneView } from '../support/page-check.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import {
  askPerson,
  decisionOf,
  denyAs,
  enrolIn,
  heading,
  type OpenedPhone,
  openPhone,
  readResult,
  tap,
  unfold,
} from '../support/web-phone-page.ts';

const texts = textsOf('en');
const transferredBytesMax = 60_000;

if (hasChromium)
  for (const database of databases)
    describe(`web phone in Chromium, ${database}`, () => {
      let server: TestServer;
      let tenant: Managed;
      let browser: Browser;
      before(async () => {
        server = await startTestServer(database, { flags: { listen: 'localhost:0' } }); // browsers take no IP address for a credential
        tenant = await createAccountTenant(server);
        browser = await launchChromium();
      });
      after(async () => {
        await browser?.close();
        await server?.close();
      });

      const open = (options?: BrowserContextOptions): Promise<OpenedPhone> => openPhone(browser, tenant, options);
      const ask = (person: TestUser) => askPerson(server, tenant, person);
      const stored = (person: TestUser, id: string) => decisionOf(server, person, id);

      it('invitation, two taps, approved by number, denied, nobody verified, a wrong number, no connection, removed', async () => {
        const opened = await open();
        const { page, seen } = opened;
        const person = await createPerson(tenant);
        await enrolIn(opened, server, tenant, person, (where) => assertAccessible(page, where));
        await assertAccessible(page, 'enrolled');

        const first = await ask(person);
        await page.getByLabel(texts.number).fill(first.number);
        await assertAccessible(page, 'approval');
        const shown = await page.innerText('#app');
        for (const part of ['Chrome on Windows', '192.0.2.7', texts.scopes, 'see your name and profile', texts.asksSignIn])
          assert.ok(shown.includes(part), `${part}: ${shown}`);
        assert.doesNotMatch(shown, /Mozilla|AppleWebKit/);
        assert.equal(await page.getByText(texts.ready, { exact: true }).count(), 0, 'the request alone is on the screen');
        const sizes = await Promise.all(
          [texts.approve, texts.deny].map((name) => page.getByRole('button', { name, exact: true }).boundingBox()),
        );
        assert.deepEqual([sizes[0]?.width, sizes[0]?.height, sizes[0]?.y], [sizes[1]?.width, sizes[1]?.height, sizes[1]?.y]);
        await page.context().setOffline(true);
        await page.getByText(texts.offline).waitFor();
        await page.context().setOffline(false);
        await page.getByText(texts.offline).waitFor({ state: 'hidden' });
        await tap(page, texts.approve);
        await readResult(page, texts.approved);
        assert.deepEqual(await stored(person, first.id), ['approved', 'phone_web']);
        await heading(page, texts.ready);
        await page.getByText(texts.lastUsed('')).waitFor();
        await page.getByText(texts.notificationsOff).waitFor();

        const second = await ask(person);
        await denyAs(page, texts.mistake);
        assert.deepEqual(await stored(person, second.id), ['denied', 'mistake']);

        const third = await ask(person);
        await page.getByLabel(texts.number).fill(third.number);
        await opened.setVerified(false);
        await tap(page, texts.approve);
        await page.getByText(texts.notVerified).waitFor();
        assert.deepEqual(await stored(person, third.id), ['pending', null]);
        await opened.setVerified(true);
        await page.getByLabel(texts.number).fill(third.number === '11' ? '12' : '11');
        await tap(page, texts.approve);
        await page.getByText(texts.wrongNumber).waitFor();
        assert.deepEqual(await stored(person, third.id), ['denied', 'match_failed']);

        await page.evaluate('navigator.serviceWorker.ready');
        await page.reload();
        await page.getByText(texts.nothingWaits).waitFor();
        await page.context().setOffline(true);
        await page.reload();
        await page.getByText(texts.offline).waitFor();
        await page.context().setOffline(false);
        await page.getByText(texts.offline).waitFor({ state: 'hidden' });

        await unfold(page, texts.thisPhone);
        await eventually(async () => (await page.getByLabel(texts.name).inputValue()) === texts.browser, 'the name of the phone');
        await assertAccessible(page, 'this phone');
        await tap(page, texts.remove);
        await heading(page, texts.removeQuestion);
        await tap(page, texts.remove);
        await heading(page, texts.setUp);
        assert.deepEqual(seen, []);
        await page.context().close();
      });

      it('no script reads the keys, no other text becomes code, and the app is small', async () => {
        const opened = await open();
        const { page, seen } = opened;
        await enrolIn(opened, server, tenant, await createPerson(tenant));
        const exported = await page.evaluate(`new Promise((done) => {
          const opened = indexedDB.open('gatehouse-phone');
          opened.onsuccess = () => {
            const all = opened.result.transaction('keys').objectStore('keys').getAll();
            all.onsuccess = async () => {
              const { key } = all.result.find((stored) => stored.purpose === 'pop');
              const tries = ['pkcs8', 'jwk', 'raw'].map((format) => crypto.subtle.exportKey(format, key).then(() => 'read', () => 'refused'));
              done([key.extractable, ...(await Promise.all(tries)), ...all.result.map((stored) => Object.keys(stored).join())].sort());
            };
          };
        })`);
        assert.deepEqual(exported, ['purpose,credentialId', 'purpose,key', false, 'refused', 'refused', 'refused'].sort());
        const markup = await page.evaluate(
          `(() => { try { document.body.innerHTML = '<b>'; return 'taken'; } catch { return 'refused'; } })()`,
        );
        assert.equal(markup, 'refused');
        const other = await page.evaluate(
          `navigator.serviceWorker.register('${tenant.baseUrl}/account').then(() => 'taken', () => 'refused')`,
        );
        assert.equal(other, 'refused');
        const sizes = (await page.evaluate(
          `performance.getEntriesByType('resource').map((entry) => entry.transferSize)`,
        )) as readonly number[];
        const transferred = sizes.reduce((sum, size) => sum + size, 0);
        assert.ok(sizes.length > 10 && transferred < transferredBytesMax, `${transferred} bytes in ${sizes.length} requests`);
        assert.ok(
          seen.every((line) => line.includes('TrustedHTML') || line.includes('TrustedScriptURL')),
          seen.join('\n'),
        );
        await page.context().close();
      });

      it('several persons in one browser, each approves for themselves', async () => {
        const opened = await open();
        const { page, seen } = opened;
        const [one, two] = [
          await createPerson(tenant),
          await createPerson(tenant, { name: { given_name: 'Grace', family_name: 'Hopper' } }),
        ];
        await enrolIn(opened, server, tenant, one);
        await enrolIn(opened, server, tenant, two);
        const { id, number } = await ask(one);
        await unfold(page, texts.thisPhone);
        await page.getByRole('button', { name: 'Ada Lovelace' }).click();
        await page.getByLabel(texts.number).fill(number);
        await tap(page, texts.approve);
        await readResult(page, texts.approved);
        assert.deepEqual(await stored(one, id), ['approved', 'phone_web']);
        assert.deepEqual(seen, []);
        await page.context().close();
      });

      it('speaks four languages, says what it needs, and is not offered where browsers may be no phones', async () => {
        for (const language of languages) {
          const { page, seen } = await open({ locale: language });
          await page.goto(`${tenant.baseUrl}/phone`);
          await heading(page, textsOf(language).setUp);
          await assertAccessible(page, `invitation, ${language}`);
          assert.deepEqual(seen, []);
          await page.context().close();
        }
        const { page } = await openWatched(browser, new URL(tenant.baseUrl).origin, { viewport: phoneView });
        await page.goto(`${tenant.baseUrl}/phone#v=1&t=${'A'.repeat(43)}`);
        await page.getByRole('alert').getByText(texts.noAuthenticator).waitFor();
        await changeSettings(server, { device: { web_phones: false } }, tenant.id);
        await page.goto(`${tenant.baseUrl}/enroll#v=1&t=${'A'.repeat(43)}`);
        assert.equal(await page.locator('#in-browser').count(), 0);
        await page.context().close();
      });
    });
