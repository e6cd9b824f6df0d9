// Work on a thread of its own: started by its first wake, asked and stopped over a channel, and started again when it ended by an error.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLog } from '../../src/platform/log.ts';
import { wokenOnThread } from '../../src/platform/woken-thread.ts';
import type { CountingGiven, CountingTold } from '../support/counting-thread.ts';

const file = new URL('../support/counting-thread.ts', import.meta.url);

function startCounting(dieAt: number) {
  const told: CountingTold[] = [];
  const logged: string[] = [];
  const log = createLog('info', { write: (line) => void logged.push(line) });
  const ends: string[] = [];
  let started = 0;
  const given = (): CountingGiven => {
    started += 1;
    return { dieAt: started === 1 ? dieAt : 0 };
  };
  const woken = wokenOnThread<CountingGiven, CountingTold>(
    { name: 'counting', file, given, onTold: (one) => void told.push(one), onEnd: () => void ends.push('end') },
    log,
  );
  return { woken, told, logged, ends, started: () => started };
}

describe('what is woken on a thread', () => {
  it('is started by its first wake, does what it is woken for, and ends when it is stopped', async () => {
    const { woken, told, ends, started } = startCounting(0);
    await woken.settled();
    assert.equal(started(), 0);
    woken.wake();
    woken.wake();
    await woken.settled();
    assert.deepEqual(told, [{ wakes: 1 }, { wakes: 2 }]);
    await woken.stop();
    assert.deepEqual(told.at(-1), { wakes: 2, isStopped: true });
    assert.deepEqual(ends, ['end']);
    woken.wake();
    await woken.settled();
    assert.equal(started(), 1);
  });

  it('that was never woken stops at once', async () => {
    const { woken, started } = startCounting(0);
    await woken.stop();
    assert.equal(started(), 0);
  });

  it('is started again by the next wake after an error, which is logged; who waits is not left waiting', async () => {
    const { woken, told, logged, started } = startCounting(1);
    woken.wake();
    await woken.settled();
    assert.deepEqual(told, []);
    assert.match(logged.join(''), /"thread":"counting".*died as told/);
    woken.wake();
    await woken.settled();
    assert.deepEqual(told, [{ wakes: 1 }]);
    assert.equal(started(), 2);
    await woken.stop();
  });
});
