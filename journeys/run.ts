// `npm run journeys`: what people do on their first days and on later ones, in Chromium, by what pages and documents say; prints each with its
// clicks and its limit, keeps a picture of where each ends, and fails where one does not end, takes more, or comes by a page that is too wide,
// too long or too heavy. Prints how soon pages showed something. Needs ports 8080 and 3000, as the documents do.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchWholeChromium } from '../test/support/chromium.ts';
import { allTasks } from './all-tasks.ts';
import { startAsAdministrator } from './first-administrator.ts';
import { firstPaintBarMs } from './first-paints.ts';
import { followExpressGuide, startFromClone } from './newcomer.ts';
import { isWalkedBy, walkTask } from './walk-task.ts';
import { ways } from './walker.ts';

const newcomerSecondsMax = 180;
const pictures = join(import.meta.dirname, '..', '.test-results', 'journeys');

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-journeys-'));
rmSync(pictures, { recursive: true, force: true });
mkdirSync(pictures, { recursive: true });
const fileOf = (...words: readonly string[]): string =>
  join(
    pictures,
    `${words
      .join(' ')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '')}.png`,
  );
const browser = await launchWholeChromium();
let failed = 0;
const row = (task: string, ...cells: readonly string[]): void =>
  console.log([task.padEnd(70), ...cells.map((cell) => cell.padEnd(10))].join(' ').trimEnd());
const startedAt = performance.now();
// Tasks have providers, mail servers and applications of others on this machine, where a server calls nobody unless it is told.
process.env['GATEHOUSE_EGRESS_ALLOW'] = '127.0.0.0/8,::1/128';
const gatehouse = await startFromClone(folder);
try {
  await followExpressGuide(browser, gatehouse);
  const seconds = (performance.now() - startedAt) / 1000;
  if (seconds > newcomerSecondsMax) failed += 1;
  row('Newcomer: clone to claims in an own Express app', `${seconds.toFixed(0)} s`, `of ${newcomerSecondsMax} s`);
  const administrator = await startAsAdministrator(browser, gatehouse);
  row('Task', 'at most', ...ways);
  for (const task of allTasks) {
    const cells: string[] = [];
    const told: string[] = [];
    for (const way of ways) {
      if (!isWalkedBy(task, way)) {
        cells.push('-');
        continue;
      }
      const { clicks, faults } = await walkTask(browser, administrator, task, way, async (page) => {
        await page.screenshot({ path: fileOf(task.name, way), fullPage: true });
      });
      cells.push(faults.length === 0 ? String(clicks) : 'FAILED');
      told.push(...faults.map((fault) => `  ${way}: ${fault}`));
    }
    row(task.name, String(task.clicksMax), ...cells);
    for (const line of told) console.error(line);
    if (told.length > 0) failed += 1;
  }
  row('First paint with content', 'bar', ...ways);
  const figures = ways.map((way) => administrator.paints.of(way));
  row('  median, in ms', String(firstPaintBarMs), ...figures.map((figure) => figure?.medianMs.toFixed(0) ?? '-'));
  row('  slowest, in ms', String(firstPaintBarMs), ...figures.map((figure) => figure?.slowest.ms.toFixed(0) ?? '-'));
  for (const [at, figure] of figures.entries())
    if (figure !== undefined) console.log(`  ${ways[at]}: slowest of ${figure.pages} pages was ${figure.slowest.at}`);
  await administrator.close();
  console.log(`Pictures: ${pictures}`);
} finally {
  await browser.close();
  await gatehouse.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failed === 0 ? 0 : 1;
