// What every page must be in a real browser: clean by axe, as wide as its window, within its policy, silent to other origins.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { pageHeightMax } from '../../journeys/page-bounds.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

export interface WatchedPage {
  readonly page: Page;
  /** Policy violations, page errors and requests to other origins. */
  readonly seen: readonly string[];
}

/** A page in a context of its own that is watched; the caller closes the context. */
export async function openWatched(browser: Browser, origin: string, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const page = await (await browser.newContext({ reducedMotion: 'reduce', locale: 'en-GB', ...options })).newPage();
  const seen: string[] = [];
  page.on('console', (message) => {
    if (/Content Security Policy|Refused/.test(message.text())) seen.push(message.text());
  });
  page.on('pageerror', (error) => seen.push(String(error)));
  page.on('dialog', (dialog) => {
    seen.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'data:' && url.origin !== origin) seen.push(request.url());
  });
  return { page, seen };
}

/** What axe judges by: WCAG 2.2 AA and its best practices. */
const allRules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** What can come out otherwise once the same elements are laid out otherwise. */
const layoutRules = ['color-contrast', 'link-in-text-block', 'target-size', 'scrollable-region-focusable'];
/** What can come out otherwise once the colours are others. */
const colourRules = ['color-contrast', 'link-in-text-block'];

/** A dark scheme may change colours alone, by custom properties of the root: this finds what it does beside that. */
const besideColours = `[...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
  .filter((rule) => rule instanceof CSSMediaRule && rule.conditionText.includes('prefers-color-scheme'))
  .flatMap((rule) => [...rule.cssRules])
  .filter((rule) => rule.selectorText !== ':root' || [...rule.style].some((name) => !name.startsWith('--')))
  .map((rule) => rule.cssText)`;

/** What decides how axe judges a page, as it is now. */
interface Looks {
  /** The markup, and which of its elements are shown; never the same where a frame shows something of its own. */
  readonly elements: string;
  readonly styles: string;
  readonly width: number;
  readonly isDark: boolean;
  /** What style sheets can tell elements by, wherever they are: their way from the root, by tags, classes, types, roles, states and names of attributes. */
  readonly ways: readonly string[];
}

const looks = `(() => {
  const all = [...document.querySelectorAll('*')];
  const ways = new Map([[null, '']]);
  for (const element of all) {
    const told = [...element.attributes].map(({ name, value }) => (/^(?:class|type|role|aria-(?:invalid|sort))$/.test(name) ? name + '=' + value : name)).join(' ');
    ways.set(element, ways.get(element.parentElement) + '>' + element.localName + '[' + told + ']');
  }
  return {
    elements: [
      document.querySelector('iframe') === null ? '' : Math.random(),
      document.documentElement.outerHTML,
      all.map((element) => Number(element.checkVisibility({ visibilityProperty: true }))).join(''),
    ].join('\\n'),
    styles: [...document.styleSheets].map((sheet) => [...sheet.cssRules].map((rule) => rule.cssText).join()).join(),
    width: innerWidth,
    isDark: matchMedia('(prefers-color-scheme: dark)').matches,
    ways: [...new Set(ways.values())],
  };
})()`;

/** In this process: digests of what all rules found nothing in, alone and with a width; and of the ways to elements whose colours were judged. */
const judged = new Set<string>();
const digest = (text: string): string => createHash('sha256').update(text).digest('base64');

/**
 * The rules that are left to show. The same elements, shown in a page of the same markup and styles, were judged by all rules before: the
 * layout can differ by the width alone, and once that is the same too, colours can, which is all that a scheme may change; a page shows
 * them as one of its template did, in which the same styles found the same ways to elements.
 */
async function rulesLeft(page: Page): Promise<{ readonly rules: readonly string[]; readonly passed: () => void }> {
  const { elements, styles, width, isDark, ways } = (await page.evaluate(looks)) as Looks;
  const there = digest(`${elements}\n${styles}`);
  const [laidOut, seen, painted] = [`${there} ${width}`, `${there} ${width} ${isDark}`, digest(`${width} ${isDark} ${styles}`)];
  const painting = ways.map((way) => `${painted} ${way}`);
  const passed = (): void => {
    for (const key of [there, laidOut, seen, ...painting]) judged.add(key);
  };
  if (judged.has(seen) || (judged.has(laidOut) && painting.every((way) => judged.has(way)))) return { rules: [], passed };
  return { rules: judged.has(laidOut) ? colourRules : judged.has(there) ? layoutRules : allRules, passed };
}

/** No finding of axe, no scheme that changes more than colours, and no sideways scrolling of the page. */
export async function assertAccessible(page: Page, where: string): Promise<void> {
  // A click waits until its page has begun, which may be before that page has any element.
  await page.waitForLoadState();
  const { rules, passed } = await rulesLeft(page);
  if (rules.length > 0) await assertRules(page, where, rules);
  passed();
  assert.deepEqual(await page.evaluate(besideColours), [], `${where}: a scheme changes more than colours`);
  await assertFits(page, where);
}

async function assertRules(page: Page, where: string, rules: readonly string[]): Promise<void> {
  const hasAxe = await page.evaluate(`typeof axe === 'object'`); // from before, in this document
  if (hasAxe !== true) await page.evaluate(axeSource);
  // Of what is no violation axe then works out one example: nobody reads it.
  const options = JSON.stringify({ runOnly: rules, resultTypes: ['violations'] });
  const violations = (await page.evaluate(`axe.run(document, ${options}).then((result) => result.violations)`)) as readonly Violation[]; // axe's result
  assert.deepEqual(
    violations.map(({ id, nodes }) => [where, id, nodes[0]?.html, nodes[0]?.failureSummary]),
    [],
  );
}

/** The page is no wider than its window. */
export async function assertFits(page: Page, where: string): Promise<void> {
  assert.equal(
    await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
    0,
    `${where} scrolls sideways`,
  );
}

/** The page, in a window as wide as a desktop's, is no longer than may be. */
export async function assertShort(page: Page, where: string): Promise<void> {
  const height = Number(await page.evaluate('document.documentElement.scrollHeight'));
  assert.ok(height <= pageHeightMax, `${where} is ${height} px high`);
}

/** The narrowest screen pages are made for. */
export const narrowView = { width: 320, height: 700 } as const;
export const phoneView = { width: 390, height: 844 } as const;
export const desktopView = { width: 1280, height: 800 } as const;

/** The first two have both widths and both schemes. */
const views = [
  ['phone light', phoneView, 'light'],
  ['desktop dark', desktopView, 'dark'],
  ['phone dark', phoneView, 'dark'],
  ['desktop light', desktopView, 'light'],
] as const;
export type ViewName = (typeof views)[number][0];

/** Runs the work in both widths and both colour schemes: in each of the four for `all`, else in two that have each once. */
export async function inViews(page: Page, which: 'all' | 'two', work: (view: ViewName) => Promise<void>): Promise<void> {
  for (const [name, size, colorScheme] of views.slice(0, which === 'all' ? 4 : 2)) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    await work(name);
  }
}

const screenshots = process.env['GATEHOUSE_TEST_SCREENSHOTS'];

/** Writes the whole page to the folder GATEHOUSE_TEST_SCREENSHOTS names, under a name made of letters, digits and hyphens; without one does nothing. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  if (screenshots === undefined) return;
  const file = name.replaceAll(/[^A-Za-z0-9]+/g, '-').replaceAll(/^-|-$/g, '');
  await page.screenshot({ path: join(screenshots, `${file}.png`), fullPage: true });
}

/** The same of one page in three looks: light, dark, and as wide as a phone. */
export async function keepScreenshots(page: Page, name: string): Promise<void> {
  if (screenshots === undefined) return;
  const before = page.viewportSize();
  for (const [look, size, colorScheme] of [
    ['desktop dark', desktopView, 'dark'],
    ['phone light', phoneView, 'light'],
    ['desktop light', desktopView, 'light'],
  ] as const) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    await keepScreenshot(page, `${name} ${look}`);
  }
  if (before !== null) await page.setViewportSize(before);
}
