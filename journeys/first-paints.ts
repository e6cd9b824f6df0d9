// How soon pages show something, by Chromium's own figures: of each page that a walker comes by, once. A figure to read, as the bench's are;
// nothing fails by it.
import type { Page } from 'playwright-core';
import type { Way } from './walker.ts';

/** On loopback. */
export const firstPaintBarMs = 300;

interface FirstPaint {
  readonly at: string;
  readonly ms: number;
}

export interface FirstPaints {
  /** Notes the page that is shown, where it was not noted yet. */
  readonly note: (page: Page, way: Way) => Promise<void>;
  readonly of: (way: Way) => PaintFigures | undefined;
}

export interface PaintFigures {
  readonly pages: number;
  readonly medianMs: number;
  readonly slowest: FirstPaint;
}

/**
 * When the document began, and how long after it was asked for something of it could be read; nothing until then. What a form did before it
 * sent the browser here is not of this page.
 */
const paintOfDocument = `(() => {
  const [paint] = performance.getEntriesByName('first-contentful-paint');
  const [{ redirectEnd }] = performance.getEntriesByType('navigation');
  return paint && [performance.timeOrigin, paint.startTime - redirectEnd];
})()`;

export function firstPaints(): FirstPaints {
  const noted = new Map<Way, Map<number, FirstPaint>>();
  return {
    async note(page, way) {
      // A page that is just leaving is noted by the next look.
      const paint = await page.evaluate<[begun: number, ms: number] | undefined>(paintOfDocument).catch(() => undefined);
      if (paint === undefined) return;
      const own = noted.get(way) ?? new Map<number, FirstPaint>();
      noted.set(way, own.set(paint[0], { at: new URL(page.url()).pathname, ms: paint[1] }));
    },
    of(way) {
      const sorted = [...(noted.get(way)?.values() ?? [])].toSorted((left, right) => left.ms - right.ms);
      const slowest = sorted.at(-1);
      return slowest && { pages: sorted.length, medianMs: sorted[Math.floor((sorted.length - 1) / 2)]!.ms, slowest };
    },
  };
}
