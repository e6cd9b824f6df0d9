// When a socket that listens may be closed: what the kernel has taken and we have not accepted is cut off by closing, and whoever sent
// something on it cannot know whether it was done.
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';

/** A turn this short held nothing but a look at what came, so that hardly anything can have come since. Node accepts one connection a turn. */
const shortMs = 0.2;
const waitMsMax = 1000;

/**
 * Resolves right after a short turn of the event loop in which nothing was accepted, or after a second without one. `accepted`: how many
 * so far, or undefined while there is no moment to close.
 */
export async function quietTurn(accepted: () => number | undefined): Promise<void> {
  const untilMs = performance.now() + waitMsMax;
  await turn(); // the rest of the one in which we were asked
  while (performance.now() < untilMs) {
    const [before, beganMs] = [accepted(), performance.now()];
    if (before === undefined) await wait(1);
    await turn(); // right after what came was looked at
    if (before !== undefined && accepted() === before && performance.now() - beganMs <= shortMs) return;
  }
}
