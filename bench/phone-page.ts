// The web phone's first screen on a slow phone: from opening {base_url}/phone with nothing cached until its first control is drawn and no
// task of more than 50 ms follows, with Chromium's processor slowed four times. Design 12, section 8.
import { setTimeout as wait } from 'node:timers/promises';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { launchWholeChromium } from '../test/support/chromium.ts';
import { startGatehouse } from './process.ts';
import { atMost, type Bench, type Figure, interleave } from './table.ts';

const rounds = 5;
/** How long nothing may happen before the page is at rest. */
const quietMs = 1500;
const barMs = 1500;

interface Opening extends Readonly<Record<string, number>> {
  readonly interactiveMs: number;
  readonly drawnMs: number;
  readonly busyMs: number;
  /** Processor time of the page's main thread, the slowing down included: other programs on the machine do not change it. */
  readonly cpuMs: number;
}

interface Conditions {
  readonly slowness: number;
  /** Bytes a second and milliseconds; absent: as fast as it goes. */
  readonly network?: { readonly bytesPerSecond: number; readonly latencyMs: number };
}

const slow = { slowness: 4 };
const narrow = { bytesPerSecond: 200_000, latencyMs: 0 };

export const phonePage: Bench = async () => {
  const [server, browser] = await Promise.all([startGatehouse(), launchWholeChromium()]);
  const open = (conditions: Conditions) => () => opening(browser, `${server.url}/phone`, conditions);
  try {
    const found = await interleave(rounds, {
      full: open({ slowness: 1 }),
      slow: open(slow),
      narrow: open({ ...slow, network: narrow }),
      distant: open({ ...slow, network: { ...narrow, latencyMs: 150 } }),
    });
    return [
      figure('web phone interactive, processor as it is', found.full),
      { ...figure('web phone interactive, processor 4 times slower', found.slow), ...barOf(found.slow) },
      { ...figure('the same over 1.6 Mbit/s', found.narrow), ...barOf(found.narrow) },
      figure('the same, 150 ms away', found.distant),
    ];
  } finally {
    await browser.close();
    await server.stop();
  }
};

const barOf = ({ interactiveMs }: Opening) => {
  const { bar, met } = atMost('', '', interactiveMs, 'ms', barMs);
  return { bar: bar!, met: met! };
};

const figure = (what: string, { interactiveMs, drawnMs, busyMs, cpuMs }: Opening): Figure => ({
  id: 'phone',
  what,
  value: interactiveMs,
  unit: 'ms',
  more: { first_control_ms: drawnMs, long_tasks_ms: busyMs, main_thread_cpu_ms: cpuMs },
});

async function opening(browser: Browser, url: string, { slowness, network }: Conditions): Promise<Opening> {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
  try {
    const page = await context.newPage();
    const cdp = await context.newCDPSession(page);
    await addAuthenticator(cdp);
    if (network !== undefined)
      await cdp.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: network.latencyMs,
        downloadThroughput: network.bytesPerSecond,
        uploadThroughput: network.bytesPerSecond,
      });
    await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: slowness });
    await page.addInitScript(watch);
    await page.goto(url);
    const { drawnMs, lastMs, busyMs } = await atRest(page);
    const { metrics } = await cdp.send('Performance.getMetrics');
    const seconds = metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0;
    return { interactiveMs: lastMs, drawnMs, busyMs, cpuMs: seconds * 1000 };
  } finally {
    await context.close();
  }
}

interface Seen extends Readonly<Record<'drawnMs' | 'lastMs' | 'busyMs', number>> {
  readonly isAtRest: boolean;
}

async function atRest(page: Page): Promise<Seen> {
  const isAtRest = `seen.drawnMs > 0 && performance.now() > seen.lastMs + ${quietMs}`;
  for (;;) {
    const seen = (await page.evaluate(`({ ...seen, isAtRest: ${isAtRest} })`)) as Seen; // made by the script below
    if (seen.isAtRest) return seen;
    await wait(quietMs / 3);
  }
}

/** Phones have one; without, the page says that this browser cannot be one. */
async function addAuthenticator(cdp: CDPSession): Promise<void> {
  await cdp.send('WebAuthn.enable');
  const options = { protocol: 'ctap2', transport: 'internal', hasUserVerification: true, isUserVerified: true } as const;
  await cdp.send('WebAuthn.addVirtualAuthenticator', { options });
}

/** Runs in the page: notes when the first control is there and when the last long task ended. */
const watch = `
  globalThis.seen = { drawnMs: 0, lastMs: 0, busyMs: 0 };
  const drawn = new MutationObserver(() => {
    if (document.querySelector('main input, main button') === null) return;
    drawn.disconnect();
    requestAnimationFrame(() => setTimeout(() => {
      seen.drawnMs = performance.now();
      seen.lastMs = Math.max(seen.lastMs, seen.drawnMs);
    }));
  });
  drawn.observe(document, { childList: true, subtree: true });
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) {
      seen.lastMs = Math.max(seen.lastMs, startTime + duration);
      seen.busyMs += duration;
    }
  }).observe({ type: 'longtask', buffered: true });`;
