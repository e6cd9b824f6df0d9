// Time comes from the composition root so that tests can own it. Nothing else in the house reads Date.now().

export interface Clock {
  /** Milliseconds since the Unix epoch. */
  readonly nowMs: () => number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

/** Whole seconds since the epoch, as JWT claims want them (RFC 7519 2, NumericDate). */
export const nowSeconds = (clock: Clock): number => Math.floor(clock.nowMs() / 1000);
