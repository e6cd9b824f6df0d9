// Judges whether work grows linearly, in CPU time of this thread (a busy machine does not count): the best of several runs
// at n and at 4n. Quadratic work takes 16 times as long at every attempt; linear work is under the bound at one of a few.
import assert from 'node:assert/strict';

const runs = 3;
const attempts = 6;
const ratioMax = 10;
/** Milliseconds of processor time of one measurement: some machines count it in steps of 12. */
const measuredMsMin = 60;

/** `make` prepares the work of a size, which can be done again; only the work itself is measured. */
export function assertLinear(make: (n: number) => () => void, n: number): void {
  const seen: string[] = [];
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const small = leastCpuMs(make(n));
    const large = leastCpuMs(make(4 * n));
    if (large < ratioMax * small) return;
    seen.push(`n ${small.toFixed(2)} ms, 4n ${large.toFixed(2)} ms`);
  }
  assert.fail(`more than linear at every attempt: ${seen.join('; ')}`);
}

function leastCpuMs(work: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run += 1) least = Math.min(least, cpuMsOf(work));
  return least;
}

/** Milliseconds of one turn, of as many as are long enough to be measured. */
function cpuMsOf(work: () => void): number {
  const before = process.threadCpuUsage();
  for (let turns = 1; ; turns += 1) {
    work();
    const { user, system } = process.threadCpuUsage(before);
    const ms = (user + system) / 1000;
    if (ms >= measuredMsMin) return ms / turns;
  }
}
