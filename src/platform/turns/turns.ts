// Turns at something that bears so many at once for each who asks: calls to the hooks of one tenant, look-ups and connections. Who comes
// later waits in order behind their own, and gives up when there is no time left.

export interface Turns {
  /** A turn, to be given back; undefined when none came before the signal. */
  readonly take: (key: string, until: AbortSignal) => Promise<(() => void) | undefined>;
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
    take: async (key, until) => {
      if (until.aborted) return undefined;
      const line = lines.get(key) ?? { running: 0, waiting: new Set() };
      lines.set(key, line);
      const giveBack = giverBack(key, line);
      if (line.running < atOnceMax) {
        line.running += 1;
        return giveBack;
      }
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const go = (): void => resolve(true);
      const giveUp = (): void => resolve(!line.waiting.delete(go));
      line.waiting.add(go);
      until.addEventListener('abort', giveUp, { once: true });
      const isMine = await promise;
      until.removeEventListener('abort', giveUp);
      return isMine ? giveBack : undefined;
    },
  };
}
