// The pages links lead to, in Chromium: `/setup` of an administrator and `/approve` of a mailed request, in every state, both
// widths and schemes and all four languages: clean by axe, within their policy, usable without scripts.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { createSetupToken, setupLink } from '../../src/administration/admin-setup.ts';
import { languages } from '../../src/domain/language.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { cibaGrantType } from '../support/ciba.ts';
import { basic, postForm } from '../support/client-credentials.ts';
import { createClient, createUser, rootTenant, type TestClient } from '../support/fixtures.ts';
import { mailsTo } from '../support/mailbox.ts';
import { assertAccessible, inViews, openWatched } from '../support/page-check.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { xssCorpus } from '../support/xss.ts';

if (hasChromium)
  describe('Pages of mailed links in Chromium', () => {
    let server: TestServer;
    let tenant: Tenant;
    let client: TestClient;
    let browser: Browser;
    before(async () => {
      server = await startTestServer('sqlite');
      tenant = await rootTenant(server.gatehouse.services);
      const ciba = { grantTypes: [cibaGrantType], backchannelTokenDeliveryMode: 'poll' } as const;
      client = await createClient(server.gatehouse.services, tenant, { name: 'Harbour Bank', ...ciba });
      browser = await launchChromium();
    });
    after(async () => {
      await browser?.close();
      await server?.close();
    });

    const newSetupLink = async (): Promise<string> =>
      setupLink(server.url, await createSetupToken(server.gatehouse.services, tenant.id, { user: null }, { actor: 'system' }));

    /** The link a CIBA request mails. */
    const newApprovalLink = async (message: string, name = client.name): Promise<string> => {
      const user = await createUser(server.gatehouse.services, tenant);
      const from = name === client.name ? client : await createClient(server.gatehouse.services, tenant, { ...kindOf(client), name });
      const form = { scope: 'openid', login_hint: user.email, binding_message: message };
      const answer = await postForm(`${server.url}/v1/idp/oidc/bc-authorize`, form, basic(from.clientId, from.secret));
      assert.equal(answer.status, 200, await answer.clone().text());
      return /^http\S+$/m.exec((await mailsTo(server, user.email))[0]?.text ?? '')?.[0] ?? '';
    };
    const kindOf = ({ grantTypes, backchannelTokenDeliveryMode }: TestClient) => ({ grantTypes, backchannelTokenDeliveryMode });

    for (const language of languages) {
      it(`setup in ${language}: the form, a refused one, the QR code, a used link`, async () => {
        const { page, seen } = await openWatched(browser, server.url, { locale: language });
        const look = (where: string): Promise<void> =>
          inViews(page, language === 'en' ? 'all' : 'two', async (view) => {
            assert.equal(await page.getAttribute('html', 'lang'), language, where);
            await assertAccessible(page, `${where} ${view} in ${language}`);
          });
        const link = await newSetupLink();
        await page.goto(link);
        assert.equal(await page.inputValue('#token'), link.split('#')[1]);
        await look('form');
        await page.fill('#email', 'ada@localhost');
        await page.fill('#display-name', 'Ada');
        await page.evaluate("document.getElementById('token').value = 'wrong'");
        await page.click('#continue');
        await page.waitForSelector('#alert');
        assert.equal(await page.inputValue('#display-name'), 'Ada');
        await look('refused');
        const second = await newSetupLink();
        await page.goto(second); // in the same tab, in which only the part after the # changes
        for (let tries = 0; tries < 100 && (await page.inputValue('#token')) === 'wrong'; tries += 1) await page.waitForTimeout(20);
        assert.equal(await page.inputValue('#token'), second.split('#')[1]);
        await page.fill('#email', `ada-${language}@harbour.example`);
        await page.click('#continue');
        await page.waitForSelector('#qr svg');
        await look('done');
        assert.deepEqual(seen, []);
        await page.context().close();
      });

      it(`an approval in ${language}: pending, approved, refused`, async () => {
        const { page, seen } = await openWatched(browser, server.url, { locale: language });
        const look = (where: string): Promise<void> =>
          inViews(page, language === 'en' ? 'all' : 'two', async (view) => {
            assert.equal(await page.getAttribute('html', 'lang'), language, where);
            await assertAccessible(page, `${where} ${view} in ${language}`);
          });
        for (const [button, state] of [
          ['#approve', '#approved'],
          ['#deny', '#denied'],
        ] as const) {
          await page.goto(await newApprovalLink('Pay 10 € to Eve'));
          await look('pending');
          await page.click(button);
          await page.waitForSelector(state);
          await look(state);
        }
        assert.deepEqual(seen, []);
        await page.context().close();
      });
    }

    it('without scripts the code of the link is pasted, and a mailed request is decided', async () => {
      const { page, seen } = await openWatched(browser, server.url, { javaScriptEnabled: false });
      const link = await newSetupLink();
      await page.goto(link);
      await page.fill('#email', 'pasted@harbour.example');
      await page.fill('#token', link.split('#')[1] ?? '');
      await page.click('#continue');
      await page.waitForSelector('#qr svg');
      await page.goto(await newApprovalLink('Pay'));
      await page.click('#not-me');
      await page.waitForSelector('#denied');
      assert.deepEqual(seen, []);
      await page.context().close();
    });

    it('hostile names of an application run nothing', async () => {
      const { page, seen } = await openWatched(browser, server.url);
      for (const text of xssCorpus) {
        await page.goto(await newApprovalLink(text, text));
        assert.equal(await page.textContent('#binding-message'), text);
        assert.equal(await page.evaluate('window.pwned'), undefined, text);
      }
      assert.deepEqual(seen, []);
      await page.context().close();
    });
  });
