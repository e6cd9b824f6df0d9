// Background work: named jobs that run at an interval, never twice at a time, and stop cleanly. A process runs its own; what one
// process of a node is enough for is run by its keeper: the only process, or the worker that was named (workers/supervisor.ts).
// A job that throws is logged and tried again at its next turn. Nothing here knows what the jobs do.
import type { Log } from './log.ts';

export interface Job {
  readonly name: string;
  readonly everyMs: number;
  /** The first turn comes so long after the start, where a whole interval is too long for what waits. */
  readonly firstMs?: number;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** What is done whenever it is woken, also while it is at it. */
export interface Woken {
  readonly name: string;
  readonly wake: () => void;
  /** Resolves when it has nothing in hand. */
  readonly settled: () => Promise<void>;
  /** Takes nothing more; resolves when nothing is in hand. */
  readonly stop: () => Promise<void>;
}

interface JobList {
  /** Run in every process. */
  readonly own: readonly Job[];
  /** Run in the keeper. */
  readonly kept: readonly Job[];
  /** Woken in the keeper. */
  readonly woken: Woken;
}

export interface Jobs {
  /** Starts the timers of the process's own jobs. */
  readonly start: () => void;
  /** Makes this process the keeper of its node. */
  readonly keep: () => void;
  /** Does here what waits to be woken, without keeping the node. */
  readonly keepWoken: () => void;
  /** There is something to do for what waits to be woken: wakes it, or tells the keeper. */
  readonly wake: () => void;
  /** Runs a job now, once, and waits for it (used by tests and by writers that must not wait for the next turn). */
  readonly runNow: (name: string) => Promise<void>;
  /** Stops timers, aborts waiting work and resolves when nothing runs any more. */
  readonly stop: () => Promise<void>;
}

/** @param wakeKeeper tells the keeper of this node, when that is another process */
export function createJobs({ own, kept, woken }: JobList, log: Log, wakeKeeper: () => void): Jobs {
  const abort = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  const running = new Map<string, Promise<void>>();
  let isKeeper = false;
  const runOnce = (job: Job): Promise<void> => {
    const previous = running.get(job.name);
    if (previous !== undefined) return previous;
    const work = job
      .run(abort.signal)
      .catch((error: unknown) => {
        if (!abort.signal.aborted) log.error({ job: job.name, err: error }, 'background job failed');
      })
      .finally(() => running.delete(job.name));
    running.set(job.name, work);
    return work;
  };
  const startTimers = (jobs: readonly Job[]): void => {
    for (const job of jobs) {
      const turn = (): void => void runOnce(job);
      timers.push(setInterval(turn, job.everyMs).unref());
      if (job.firstMs !== undefined) timers.push(setTimeout(turn, job.firstMs).unref());
    }
  };
  const keepWoken = (): void => {
    isKeeper = true;
  };
  return {
    start: () => startTimers(own),
    keep: () => {
      keepWoken();
      startTimers(kept);
    },
    keepWoken,
    wake: () => {
      if (isKeeper) woken.wake();
      else wakeKeeper();
    },
    runNow: async (name) => {
      if (name === woken.name) {
        woken.wake();
        return woken.settled();
      }
      const job = [...own, ...kept].find((candidate) => candidate.name === name);
      if (job === undefined) throw new Error(`no job named ${name}`);
      await running.get(name);
      await runOnce(job);
    },
    stop: async () => {
      abort.abort();
      for (const timer of timers) clearTimeout(timer);
      await Promise.all([woken.stop(), ...running.values()]);
    },
  };
}
