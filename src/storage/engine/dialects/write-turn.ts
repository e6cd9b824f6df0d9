// Whose turn it is to write the embedded database, among the threads of a process. SQLite would let a thread that finds the other writing
// sleep until it has done so, and with it everything that thread does; who waits for a turn goes on with the rest.
import { threadId } from 'node:worker_threads';
import { StorageUnavailable } from '../database.ts';

export interface WriteTurn {
  /** Resolves when no other thread writes, with what gives the turn back. @throws StorageUnavailable when that takes too long */
  readonly take: () => Promise<() => void>;
}

/** One memory for all threads of a process: the one whose turn it is, 0 when it is nobody's. */
export const createTurnMemory = (): SharedArrayBuffer => new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);

const mark = (thread: number): number => thread + 1;

/** The turns of this thread, which asks for one at a time. */
export function createWriteTurn(memory: SharedArrayBuffer, waitMsMax = 5000): WriteTurn {
  const cell = new Int32Array(memory);
  const giveBack = (): void => endTurn(memory, threadId);
  return {
    take: async () => {
      const untilMs = performance.now() + waitMsMax;
      for (;;) {
        const holder = Atomics.compareExchange(cell, 0, 0, mark(threadId));
        if (holder === 0) return giveBack;
        const leftMs = untilMs - performance.now();
        if (leftMs <= 0) throw new StorageUnavailable('another thread writes the embedded database');
        const alive = setTimeout(() => undefined, leftMs); // such a wait by itself keeps no thread alive
        await Atomics.waitAsync(cell, 0, holder, leftMs).value;
        clearTimeout(alive);
      }
    },
  };
}

/** Ends the turn of a thread, also of one that has died in it. */
export function endTurn(memory: SharedArrayBuffer, thread: number): void {
  const cell = new Int32Array(memory);
  if (Atomics.compareExchange(cell, 0, mark(thread), 0) === mark(thread)) Atomics.notify(cell, 0);
}
