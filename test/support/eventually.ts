// How tests wait for what another process or a later turn brings about: by looking until it is so, not for a time.
import { setTimeout as wait } from 'node:timers/promises';

const betweenLooksMs = 10;
/** The end of a wait that hangs: nothing that comes at all takes as long, on a machine however busy. */
const hangMs = 60_000;

/** Looks until `is` gives something true and gives that. Fails after a minute, naming what it waited for. */
export async function eventually<T>(is: () => T | Promise<T>, what = String(is)): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    const found = await is();
    if (found) return found;
    if (performance.now() - startedAt > hangMs) throw new Error(`waited ${hangMs / 1000} s in vain for: ${what}`);
    await wait(betweenLooksMs);
  }
}
