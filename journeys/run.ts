// `npm run journeys`: what people do on their first days, in Chromium, by what pages and documents say; prints each with its clicks
// and its limit, and fails where one does not end or takes more. Needs ports 8080 and 3000, as the documents do.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchChromium } from '../test/support/chromium.ts';
import { signInAdministrator } from './administrator.ts';
import { followExpressGuide, startFromClone } from './newcomer.ts';
import { tasks } from './tasks.ts';
import { giveAuthenticator, openWalker, ways } from './walker.ts';

const newcomerSecondsMax = 180;

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-journeys-'));
const browser = await launchChromium();
let failed = 0;
const row = (task: string, ...cells: readonly string[]): void =>
  console.log([task.padEnd(48), ...cells.map((cell) => cell.padEnd(12))].join(' '));
const startedAt = performance.now();
const gatehouse = await startFromClone(folder);
try {
  await followExpressGuide(browser, gatehouse);
  const seconds = (performance.now() - startedAt) / 1000;
  if (seconds > newcomerSecondsMax) failed += 1;
  row('Newcomer: clone to claims in an own Express app', `${seconds.toFixed(0)} s`, `of ${newcomerSecondsMax} s`);
  const administrator = await signInAdministrator(browser, gatehouse);
  row('Task', 'at most', ...ways);
  for (const task of tasks) {
    const cells: string[] = [];
    for (const way of ways) {
      if (task.isGuest === true && way === 'no script') {
        cells.push('-');
        continue;
      }
      const walker = await openWalker(browser, way, task.isGuest === true ? undefined : administrator.signedIn);
      try {
        const given = (await task.prepare?.(administrator, way)) ?? '';
        if (task.isGuest === true) await giveAuthenticator(walker.page);
        await walker.page.goto(task.isGuest === true ? given : administrator.console);
        await task.walk(walker, given);
        const isOver = walker.clicks() > task.clicksMax;
        if (isOver) failed += 1;
        cells.push(`${walker.clicks()}${isOver ? ' TOO MANY' : ''}`);
      } catch (error) {
        failed += 1;
        cells.push('FAILED');
        console.error(`${task.name}, ${way}, at ${walker.page.url()}: ${(error as Error).message.split('\n', 3).join(' ')}`);
      } finally {
        await walker.close();
      }
    }
    row(task.name, String(task.clicksMax), ...cells);
  }
} finally {
  await browser.close();
  await gatehouse.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failed === 0 ? 0 : 1;
