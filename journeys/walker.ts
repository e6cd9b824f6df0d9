// Somebody at the pages: finds what a page shows by its words, presses and types, and counts. By mouse, by keyboard (Tab to
// it, then Enter or Space), on a phone's width, or without scripts. Knows no selector of ours, only names and labels.
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';

export type Way = 'mouse' | 'keyboard' | 'phone' | 'no script';
export const ways: readonly Way[] = ['mouse', 'keyboard', 'phone', 'no script'];

export interface Walker {
  readonly page: Page;
  readonly way: Way;
  readonly clicks: () => number;
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
  readonly reload: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const viewports = { mouse: [1280, 800], keyboard: [1280, 800], phone: [390, 844], 'no script': [1280, 800] } as const;
const patienceMs = 30_000;
/** A page with more stops than this is not one to be used by keyboard. */
const tabsMax = 200;

/** What a browser keeps of being signed in. */
export type SignedIn = Awaited<ReturnType<BrowserContext['storageState']>>;

/** Opens a browser of its own for somebody, signed in already where told so. */
export async function openWalker(browser: Browser, way: Way, signedIn?: SignedIn): Promise<Walker> {
  const [width, height] = viewports[way];
  const context = await browser.newContext({
    viewport: { width, height },
    javaScriptEnabled: way !== 'no script',
    reducedMotion: 'reduce',
    locale: 'en-GB',
    ...(signedIn === undefined ? {} : { storageState: signedIn }),
  });
  const page = await context.newPage();
  page.setDefaultTimeout(patienceMs);
  let clicks = 0;
  const pressOnce = async (target: Locator): Promise<void> => {
    clicks += 1;
    if (way === 'keyboard') await pressByKey(page, target);
    else await target.click();
    await page.waitForLoadState();
  };
  const press = async (name: string | RegExp): Promise<void> => {
    const all = anyNamed(page, name);
    await all.first().waitFor({ state: 'attached' });
    const target = all.filter({ visible: true }).first();
    if (way === 'phone' && (await target.count()) === 0) await pressOnce(anyNamed(page, 'Menu').first());
    await pressOnce(target);
  };
  return {
    page,
    way,
    press,
    clicks: () => clicks,
    type: (label, text) => page.getByLabel(label).filter({ visible: true }).first().fill(text),
    choose: async (label, option) => void (await page.getByLabel(label).first().selectOption({ label: option })),
    attach: (label, path) => page.getByLabel(label).first().setInputFiles(path),
    search: async (text) => {
      await page.getByRole('main').getByRole('searchbox').fill(text);
      await page.keyboard.press('Enter');
      await page.waitForLoadState();
    },
    enter: async () => {
      await page.keyboard.press('Enter');
      await page.waitForLoadState();
    },
    sees: (text) => page.getByText(text).filter({ visible: true }).first().waitFor(),
    reload: async () => void (await page.reload()),
    close: () => context.close(),
  };
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

/** Tab until it has the focus, then the key that people press on it. */
async function pressByKey(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let tabs = 0; tabs < tabsMax; tabs += 1) {
    if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) {
      const isTicked = await target.evaluate((element) => element.matches('input[type=checkbox], input[type=radio]'));
      await page.keyboard.press(isTicked ? 'Space' : 'Enter');
      return;
    }
    await page.keyboard.press('Tab');
  }
  throw new Error(`expected to reach ${String(target)} by Tab, found ${tabsMax} other stops before it`);
}
