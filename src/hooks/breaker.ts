// Spares a hook that keeps failing, and those who would wait for it: after ten failures in a row nobody asks for ten seconds, then
// one does, and its success or failure decides for the others. Of one process; a hook that was changed starts anew.
import type { Clock } from '../platform/clock.ts';

const failuresMax = 10;
const pauseMs = 10_000;
const keysMax = 10_000;

interface Breaker {
  /** Milliseconds until somebody may ask again; 0: this caller may, and says what came of it. */
  readonly waitMs: (key: string) => number;
  readonly succeeded: (key: string) => void;
  readonly failed: (key: string) => void;
}

export function createBreaker(clock: Clock): Breaker {
  const failing = new Map<string, { readonly failures: number; readonly closedUntilMs: number }>();
  return {
    waitMs: (key) => {
      const state = failing.get(key);
      if (state === undefined || state.failures < failuresMax) return 0;
      const nowMs = clock.nowMs();
      if (nowMs < state.closedUntilMs) return state.closedUntilMs - nowMs;
      failing.set(key, { ...state, closedUntilMs: nowMs + pauseMs });
      return 0;
    },
    succeeded: (key) => void failing.delete(key),
    failed: (key) => {
      const failures = (failing.get(key)?.failures ?? 0) + 1;
      if (failing.size >= keysMax && !failing.has(key)) failing.delete(failing.keys().next().value!);
      failing.set(key, { failures, closedUntilMs: clock.nowMs() + pauseMs });
    },
  };
}
