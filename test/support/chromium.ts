// The system's Chromium for browser tests. Absent: the tests are not defined, unless GATEHOUSE_TEST_REQUIRE names chromium.
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { isRequired } from './databases.ts';

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));
/** The same engine without the browser's own windows, for a third of the processor time; it shows no notifications. */
const shellPath = '/usr/bin/chromium-headless-shell';

export const hasChromium = executablePath !== undefined;

if (isRequired('chromium') && !hasChromium)
  throw new Error('GATEHOUSE_TEST_REQUIRE names chromium: expected /usr/bin/chromium, found none');

/** A headless browser that speaks to nobody but the pages it is given. The caller closes it. */
export const launchChromium = (args: readonly string[] = []): Promise<Browser> =>
  launch(existsSync(shellPath) ? shellPath : executablePath, args);

/** The same with all that a browser shows beside pages. */
export const launchWholeChromium = (args: readonly string[] = []): Promise<Browser> => launch(executablePath, args);

function launch(path: string | undefined, args: readonly string[]): Promise<Browser> {
  if (path === undefined) throw new Error('expected Chromium, found none');
  return chromium.launch({
    executablePath: path,
    args: [
      '--no-sandbox',
      '--headless',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      // Scripts of pages are over before a compiler that optimises pays: a fifth of the processor time of the pages.
      '--js-flags=--no-maglev,--no-opt',
      ...args,
    ],
  });
}
