// A thread for test/unit/write-turn.test.ts: adds one to a number in two steps with a pause between, in a turn of its own each time.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { createWriteTurn } from '../../src/storage/engine/dialects/write-turn.ts';

export interface AddingGiven {
  readonly memory: SharedArrayBuffer;
  readonly sum: SharedArrayBuffer;
  readonly times: number;
}

const { memory, sum, times } = workerData as AddingGiven; // of the test that starts it
const number = new Int32Array(sum);
const { take } = createWriteTurn(memory);
for (let time = 0; time < times; time += 1) {
  const giveBack = await take();
  const found = number[0]!;
  await nextTurn();
  number[0] = found + 1;
  giveBack();
}
