// Somebody at the pages: finds what a page shows by its words, presses and types, and counts. By mouse, by keyboard (Tab to it, then Enter
// or Space), on a phone's width, or without scripts. Knows no selector of ours, only names and labels.
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import type { FirstPaints } from './first-paints.ts';
import { faultsOfPage } from './page-bounds.ts';

interface Screen {
  readonly size: 'desktop' | 'phone';
  readonly colours: 'light' | 'dark';
  readonly by: 'mouse' | 'keys';
  readonly scripts: boolean;
  /** Tells what was left behind this way from what others left; none has another in it. */
  readonly mark: string;
}

const screens = {
  mouse: { size: 'desktop', colours: 'light', by: 'mouse', scripts: true, mark: 'maple' },
  keyboard: { size: 'desktop', colours: 'dark', by: 'keys', scripts: true, mark: 'cedar' },
  phone: { size: 'phone', colours: 'light', by: 'mouse', scripts: true, mark: 'birch' },
  'phone keys': { size: 'phone', colours: 'dark', by: 'keys', scripts: true, mark: 'hazel' },
  'no script': { size: 'desktop', colours: 'dark', by: 'mouse', scripts: false, mark: 'rowan' },
} as const satisfies Readonly<Record<string, Screen>>;

export type Way = keyof typeof screens;
export const ways = Object.keys(screens) as readonly Way[];

export const markOf = (way: Way): string => screens[way].mark;
export const hasScripts = (way: Way): boolean => screens[way].scripts;

export interface Walker {
  readonly page: Page;
  readonly way: Way;
  readonly clicks: () => number;
  /** What pages on the way do not keep of what every page must. */
  readonly faults: () => readonly string[];
  /** Presses the link, button, box or choice of this name; on a narrow page the menu first, when it hides there. */
  readonly press: (name: string | RegExp) => Promise<void>;
  /** Types into the field of this label, replacing what is there. */
  readonly type: (label: string | RegExp, text: string) => Promise<void>;
  /** Chooses of a list by what it shows. */
  readonly choose: (label: string | RegExp, option: string) => Promise<void>;
  /** Gives a file to the field of this label. */
  readonly attach: (label: string | RegExp, path: string) => Promise<void>;
  /** Types into the page's search box and sends it. */
  readonly search: (text: string) => Promise<void>;
  /** Sends the form one types in. */
  readonly enter: () => Promise<void>;
  /** @throws when the page does not show the text in time */
  readonly sees: (text: string | RegExp) => Promise<void>;
  /** What the page's main part shows of this: the first group, or all of it. @throws when it does not in time */
  readonly reads: (pattern: RegExp) => Promise<string>;
  /** To an address that somebody was given. */
  readonly goto: (url: string) => Promise<void>;
  readonly reload: () => Promise<void>;
  /** Has a last look at the page. */
  readonly look: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const sizes = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } } as const;
const patienceMs = 30_000;
const pauseMs = 50;
/** Of a page, in a message. */
const shownMax = 600;
/** A page with more stops than this is not one to be used by keyboard. */
const tabsMax = 200;
/** Applications of others, which are not there. */
const elsewhere = /^https:\/\/[\w.-]+\.example\//;

/** What a browser keeps of being signed in. */
export type SignedIn = Awaited<ReturnType<BrowserContext['storageState']>>;

interface Opened {
  /** Of the server whose pages are looked at. */
  readonly origin?: string;
  readonly signedIn?: SignedIn;
  /** Where to note how soon its pages show something. */
  readonly paints?: FirstPaints;
}

/** Opens a browser of its own for somebody, signed in already where told so. */
export async function openWalker(browser: Browser, way: Way, { origin, signedIn, paints }: Opened = {}): Promise<Walker> {
  const { size, colours, by, scripts } = screens[way];
  const context = await browser.newContext({
    viewport: sizes[size],
    colorScheme: colours,
    javaScriptEnabled: scripts,
    reducedMotion: 'reduce',
    locale: 'en-GB',
    ...(signedIn === undefined ? {} : { storageState: signedIn }),
  });
  await context.route(elsewhere, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>The application</title><h1>The application</h1>' }),
  );
  const page = await context.newPage();
  page.setDefaultTimeout(patienceMs);
  // What a page of ours redirects to is looked for in the network, where it is not: a whole browser loads it once more by itself.
  page.on('requestfailed', (request) => {
    if (request.isNavigationRequest() && elsewhere.test(request.url())) page.goto(request.url()).catch(() => undefined);
  });
  const faults = new Set<string>();
  const look = async (): Promise<void> => {
    if (origin === undefined || new URL(page.url()).origin !== origin) return;
    for (const fault of await faultsOfPage(page)) faults.add(fault);
    await paints?.note(page, way);
  };
  let clicks = 0;
  const pressOnce = async (target: Locator): Promise<void> => {
    await look();
    clicks += 1;
    if (by === 'keys') await pressByKey(page, target);
    else await target.click();
    await page.waitForLoadState();
  };
  const press = async (name: string | RegExp): Promise<void> => {
    const all = anyNamed(page, name);
    await told(page, name, all.first().waitFor({ state: 'attached' }));
    const target = all.filter({ visible: true }).first();
    if (size === 'phone' && (await target.count()) === 0) await pressOnce(anyNamed(page, 'Menu').first());
    await pressOnce(target);
  };
  const fieldOf = async (label: string | RegExp): Promise<Locator> => {
    const field = page.getByLabel(label).filter({ visible: true }).first();
    await told(page, label, field.waitFor());
    if (by === 'keys') await tabTo(page, field);
    return field;
  };
  const go = async (work: () => Promise<unknown>): Promise<void> => {
    await look();
    await work();
    await page.waitForLoadState();
  };
  return {
    page,
    way,
    press,
    clicks: () => clicks,
    faults: () => [...faults],
    type: async (label, text) => (await fieldOf(label)).fill(text),
    choose: async (label, option) => void (await (await fieldOf(label)).selectOption({ label: option })),
    attach: async (label, path) => (await fieldOf(label)).setInputFiles(path),
    search: async (text) => {
      const box = page.getByRole('main').getByRole('searchbox');
      if (by === 'keys') await tabTo(page, box);
      await box.fill(text);
      await go(() => page.keyboard.press('Enter'));
    },
    enter: () => go(() => page.keyboard.press('Enter')),
    sees: (text) => told(page, text, page.getByText(text).filter({ visible: true }).first().waitFor()),
    reads: (pattern) => readOf(page, pattern),
    goto: (url) => go(() => page.goto(url)),
    reload: () => go(() => page.reload()),
    look,
    close: () => context.close(),
  };
}

/** What is waited for; where it does not come, what is there instead is said. */
async function told(page: Page, what: string | RegExp, coming: Promise<void>): Promise<void> {
  try {
    await coming;
  } catch (error) {
    const shown = await page.innerText('body').catch(() => String(error));
    throw new Error(`expected ${what} at ${page.url()}, found ${shown.slice(0, shownMax)}`);
  }
}

/** Until the page's main part shows it, as people see it. */
async function readOf(page: Page, pattern: RegExp): Promise<string> {
  const untilMs = performance.now() + patienceMs;
  for (;;) {
    const shown = await page.innerText('main');
    const [all, first] = pattern.exec(shown) ?? [];
    if (all !== undefined) return first ?? all;
    if (performance.now() > untilMs) throw new Error(`expected ${pattern}, found ${shown.slice(0, shownMax)}`);
    await page.waitForTimeout(pauseMs);
  }
}

/** Lets a page make and use passkeys, as on a computer with a fingerprint reader. */
export async function giveAuthenticator(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
  });
}

/** What can be pressed under this name, seen or not. */
const anyNamed = (page: Page, name: string | RegExp): Locator =>
  (['link', 'button', 'checkbox', 'radio', 'tab', 'menuitem'] as const)
    .map((role) => page.getByRole(role, { name, exact: typeof name === 'string', includeHidden: true }))
    .reduce((all, one) => all.or(one))
    .or(page.locator('summary', { hasText: name }));

/** To it by Tab, then the key that people press on it. */
async function pressByKey(page: Page, target: Locator): Promise<void> {
  await tabTo(page, target);
  const isTicked = await target.evaluate((element) => element.matches('input[type=checkbox], input[type=radio]'));
  await page.keyboard.press(isTicked ? 'Space' : 'Enter');
}

/** Presses Tab until it has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let tabs = 0; tabs < tabsMax; tabs += 1) {
    if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`expected to reach ${String(target)} by Tab, found ${tabsMax} other stops before it`);
}
