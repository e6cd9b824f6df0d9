// Background work: named jobs that run one after another at an interval and stop cleanly.
// A job that throws is logged and tried again at its next turn. Nothing here knows what the jobs do.
import type { Log } from './log.ts';

export interface Job {
  readonly name: string;
  readonly everyMs: number;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export interface Jobs {
  /** Starts the timers. */
  readonly start: () => void;
  /** Runs a job now, once, and waits for it (used by tests and by writers that must not wait for the next turn). */
  readonly runNow: (name: string) => Promise<void>;
  /** Stops timers, aborts waiting work and resolves when nothing runs any more. */
  readonly stop: () => Promise<void>;
}

export function createJobs(jobs: readonly Job[], log: Log): Jobs {
  const abort = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  const running = new Map<string, Promise<void>>();
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
  return {
    start: () => {
      for (const job of jobs) timers.push(setInterval(() => void runOnce(job), job.everyMs).unref());
    },
    runNow: async (name) => {
      const job = jobs.find((candidate) => candidate.name === name);
      if (job === undefined) throw new Error(`no job named ${name}`);
      await running.get(name);
      await runOnce(job);
    },
    stop: async () => {
      abort.abort();
      for (const timer of timers) clearInterval(timer);
      await Promise.all(running.values());
    },
  };
}
