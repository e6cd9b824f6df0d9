// Limits counted in this process and decided without waiting, for what must cost next to nothing: look-ups of unknown names, refusals
// that are stored. A key has `burst` tokens and gets one back every `refillMs`. The keys known are bounded; the one not asked for
// longest is forgotten first.

interface TokenBuckets {
  /** Takes a token. Gives 0, or the milliseconds until there is one again. */
  readonly take: (key: string, nowMs: number) => number;
  /** Puts back a token that turned out not to be needed. */
  readonly giveBack: (key: string) => void;
}

interface TokenBucketOptions {
  readonly burst: number;
  readonly refillMs: number;
  readonly keysMax: number;
}

/** Per key only the moment is kept at which its bucket will be full again. */
export function createTokenBuckets({ burst, refillMs, keysMax }: TokenBucketOptions): TokenBuckets {
  const fullAt = new Map<string, number>();
  const set = (key: string, atMs: number): void => {
    fullAt.delete(key);
    fullAt.set(key, atMs);
    if (fullAt.size > keysMax) fullAt.delete(fullAt.keys().next().value!);
  };
  return {
    take: (key, nowMs) => {
      const found = fullAt.get(key);
      // Further away than a whole bucket takes it is of before the clock was set back, and says nothing: nobody is locked out by that.
      const isKnown = found !== undefined && found <= nowMs + burst * refillMs;
      const before = isKnown ? Math.max(found, nowMs) : nowMs;
      const after = before + refillMs;
      const waitMs = after - nowMs - burst * refillMs;
      set(key, waitMs > 0 ? before : after);
      return Math.max(0, waitMs);
    },
    giveBack: (key) => {
      const found = fullAt.get(key);
      if (found !== undefined) fullAt.set(key, found - refillMs);
    },
  };
}
