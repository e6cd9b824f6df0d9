// The system's Chromium for browser tests. Absent: the tests are not defined, unless GATEHOUSE_TEST_REQUIRE names chromium.
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { isRequired } from './databases.ts';

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));

export const hasChromium = executablePath !== undefined;

if (isRequired('chromium') && !hasChromium)
  throw new Error('GATEHOUSE_TEST_REQUIRE names chromium: expected /usr/bin/chromium, found none');

/** A headless browser that speaks to nobody but the pages it is given. The caller closes it. */
export const launchChromium = (args: readonly string[] = []): Promise<Browser> => chromium.launch(chromiumOptions(args));

/** How it is started. */
export function chromiumOptions(args: readonly string[] = []) {
  if (executablePath === undefined) throw new Error('expected Chromium, found none');
  return {
    executablePath,
    args: [
      '--no-sandbox',
      '--headless',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      ...args,
    ],
  };
}
