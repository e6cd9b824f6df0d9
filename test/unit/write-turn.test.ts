// Turns of threads that write one embedded database: one at a time, given on when they end or their thread does, and not waited for for ever.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { StorageUnavailable } from '../../src/storage/engine/database.ts';
import { createTurnMemory, createWriteTurn, endTurn } from '../../src/storage/engine/dialects/write-turn.ts';
import type { AddingGiven } from '../support/adding-thread.ts';

describe('turns to write', () => {
  it('go to one thread at a time: nobody sees another half-way', async () => {
    const memory = createTurnMemory();
    const sum = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    const given: AddingGiven = { memory, sum, times: 200 };
    const file = new URL('../support/adding-thread.ts', import.meta.url);
    const threads = Array.from({ length: 3 }, () => new Worker(file, { workerData: given }));
    const codes = await Promise.all(threads.map((thread) => new Promise((resolve) => thread.once('exit', resolve))));
    assert.deepEqual(codes, [0, 0, 0]);
    assert.equal(new Int32Array(sum)[0], 600);
  });

  it('of a thread that has died are ended by who started it', async () => {
    const memory = createTurnMemory();
    const died = 77;
    new Int32Array(memory)[0] = died + 1;
    const taking = createWriteTurn(memory).take();
    endTurn(memory, died + 1); // another thread's end is none of this one
    assert.equal(await Promise.race([taking, new Promise((done) => setTimeout(done, 20, 'waits'))]), 'waits');
    endTurn(memory, died);
    (await taking)();
    (await createWriteTurn(memory).take())();
  });

  it('are not waited for for ever', async () => {
    const memory = createTurnMemory();
    new Int32Array(memory)[0] = 78;
    await assert.rejects(createWriteTurn(memory, 20).take(), StorageUnavailable);
  });
});
