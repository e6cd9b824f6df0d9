// A thread for test/unit/woken-thread.test.ts: tells how often it was woken, and dies by an error at the wake it is told to.
import { serveThread, threadOf } from '../../src/platform/woken-thread.ts';

export interface CountingGiven {
  /** 0: at none. */
  readonly dieAt: number;
}

export interface CountingTold {
  readonly wakes: number;
  readonly isStopped?: true;
}

const { given, tell } = threadOf<CountingGiven, CountingTold>();
let wakes = 0;
serveThread({
  wake: () => {
    wakes += 1;
    if (wakes === given.dieAt) throw new Error('died as told');
    tell({ wakes });
  },
  settled: async () => undefined,
  stop: async () => tell({ wakes, isStopped: true }),
});
