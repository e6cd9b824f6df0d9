// The tasks of `npm run journeys`, each once, by mouse on a desktop, at a server in this process: what pages say and what tasks read of them
// part here and not at a release. By keyboard, on a phone, in the dark and without scripts they are walked there.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { type Administrator, administratorOf } from '../../journeys/administrator.ts';
import { allTasks } from '../../journeys/all-tasks.ts';
import { walkTask } from '../../journeys/walk-task.ts';
import { openWalker, type SignedIn } from '../../journeys/walker.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { reachesLoopback } from '../support/ciba.ts';
import { createConsoleTenant } from '../support/console.ts';
import { pinOf } from '../support/mailbox.ts';
import { keepScreenshot } from '../support/page-check.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const way = 'mouse';

if (hasChromium)
  describe(`tasks of an administrator, by ${way}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-tasks-'));
    let server: TestServer;
    let browser: Browser;
    let administrator: Administrator;
    before(async () => {
      server = await startTestServer('sqlite', { flags: reachesLoopback });
      browser = await launchChromium();
      const { tenant, email } = await createConsoleTenant(server, { role: 'user', admin_roles: ['owner'] });
      const signedIn = await signIn(`${tenant.baseUrl}/console`, email);
      await tenant.make('PATCH', '/settings', { login_methods: ['passkey', 'phone', 'email_pin'] });
      administrator = administratorOf(browser, { baseUrl: tenant.baseUrl, call: tenant.make, signedIn, folder });
    });
    after(async () => {
      await administrator?.close();
      await browser?.close();
      await server?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    async function signIn(at: string, email: string): Promise<SignedIn> {
      const { page, type, enter, sees, close } = await openWalker(browser, way);
      await page.goto(at);
      await type(/email/i, email);
      await enter();
      await sees('Check your email');
      await type('Code', await pinOf(server, email));
      await enter();
      await page.waitForURL('**/console');
      const signedIn = await page.context().storageState();
      await close();
      return signedIn;
    }

    for (const task of allTasks)
      it(task.name, async () => {
        const { faults } = await walkTask(browser, administrator, task, way, (page) => keepScreenshot(page, `journey ${task.name}`));
        assert.deepEqual(faults, []);
      });
  });
