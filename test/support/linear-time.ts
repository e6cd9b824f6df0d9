// Judges whether work grows linearly: the best of several runs at n and at 4n. Quadratic work would take 16 times as long;
// the bound of 10 leaves room for a busy machine.
import assert from 'node:assert/strict';

/** `make` prepares the work of a size; only the work itself is timed. */
export function assertLinear(make: (n: number) => () => void, n: number): void {
  const small = best(make(n));
  const large = best(make(4 * n));
  assert.ok(large < 10 * small + 1, `4n took ${large.toFixed(2)} ms, n took ${small.toFixed(2)} ms`);
}

function best(work: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 7; run += 1) {
    const start = performance.now();
    work();
    least = Math.min(least, performance.now() - start);
  }
  return least;
}
