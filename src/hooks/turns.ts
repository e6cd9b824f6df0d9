// Turns at something that bears so many at once: the calls to the hooks of one tenant. Who comes later waits in order, and gives up
// when there is no time left.

export interface Turns {
  /** A turn, to be given back; undefined when none came in time. */
  readonly take: (key: string, waitMs: number) => Promise<(() => void) | undefined>;
}

interface Line {
  running: number;
  readonly waiting: Set<() => void>;
}

export function createTurns(atOnceMax: number): Turns {
  const lines = new Map<string, Line>();
  const giverBack = (key: string, line: Line) => (): void => {
    const [next] = line.waiting;
    if (next !== undefined) {
      line.waiting.delete(next);
      next();
      return;
    }
    line.running -= 1;
    if (line.running === 0) lines.delete(key);
  };
  return {
    take: async (key, waitMs) => {
      const line = lines.get(key) ?? { running: 0, waiting: new Set() };
      lines.set(key, line);
      const giveBack = giverBack(key, line);
      if (line.running < atOnceMax) {
        line.running += 1;
        return giveBack;
      }
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const go = (): void => resolve(true);
      line.waiting.add(go);
      const timer = setTimeout(() => resolve(!line.waiting.delete(go)), waitMs);
      const isMine = await promise;
      clearTimeout(timer);
      return isMine ? giveBack : undefined;
    },
  };
}
