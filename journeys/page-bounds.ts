// What every page a walker comes by must keep: as wide as its window, no longer than people scroll, and small enough to send.
import type { Page } from 'playwright-core';

export const pageBytesMax = 60_000;
/** On a desktop's width, where nothing stands below one another that could stand side by side. */
export const pageHeightMax = 2_500;
const desktopWidth = 1280;
const looksMax = 20;

/** What the page does not keep of it, in words; nothing when all is well. */
export async function faultsOfPage(page: Page): Promise<readonly string[]> {
  const { width, height, over, bytes } = await measured(page);
  const at = new URL(page.url()).pathname;
  return [
    ...(over > 0 ? [`${at} is ${over} px wider than a screen of ${width} px`] : []),
    ...(width >= desktopWidth && height > pageHeightMax ? [`${at} is ${height} px high, of ${pageHeightMax} px at most`] : []),
    ...(bytes > pageBytesMax ? [`${at} has ${bytes} bytes, of ${pageBytesMax} at most`] : []),
  ];
}

const sizes = `(({ clientWidth, scrollWidth, scrollHeight }) => [clientWidth, scrollWidth - clientWidth, scrollHeight])(document.documentElement)`;

/** A page that sends itself may go while it is looked at: then its successor is. */
async function measured(page: Page) {
  for (let look = 1; ; look += 1)
    try {
      await page.waitForLoadState();
      const [width, over, height] = await page.evaluate<[number, number, number]>(sizes);
      return { width, over, height, bytes: Buffer.byteLength(await page.content()) };
    } catch (error) {
      if (look >= looksMax || !/navigat|context was destroyed/i.test(String(error))) throw error;
    }
}
