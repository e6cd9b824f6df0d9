// Background work by the clock of its timers: when turns come, and that stopping ends them.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createJobs, type Job } from '../../src/platform/jobs.ts';
import type { Log } from '../../src/platform/log.ts';

const idle = { name: 'woken', wake: () => undefined, settled: async () => undefined, stop: async () => undefined };
const log = { error: () => undefined } as unknown as Log; // nothing fails here

it('a job has a turn each interval, and a first one sooner where it says so, until the jobs stop', async (test) => {
  test.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const turns: string[] = [];
  const job = (name: string, more: Partial<Job> = {}): Job => ({ name, everyMs: 10_000, run: async () => void turns.push(name), ...more });
  const jobs = createJobs({ own: [], kept: [job('late'), job('soon', { firstMs: 1000 })], woken: idle }, log, () => undefined);
  const pass = async (ms: number): Promise<readonly string[]> => {
    test.mock.timers.tick(ms);
    await new Promise<void>((resolve) => setImmediate(resolve)); // turns that are over
    return turns.splice(0);
  };
  jobs.keep();
  assert.deepEqual(await pass(999), []);
  assert.deepEqual(await pass(1), ['soon']);
  assert.deepEqual(await pass(8999), []);
  assert.deepEqual(await pass(1), ['late', 'soon']);
  assert.deepEqual(await pass(10_000), ['late', 'soon']);
  await jobs.stop();
  assert.deepEqual(await pass(20_000), []);
});
