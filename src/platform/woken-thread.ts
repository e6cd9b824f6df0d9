// Something that is woken, on a thread of its own: both ends of the channel to it. The thread is started when it is first woken, so
// that a process with nothing to do for it pays nothing; one that ends by an error is started again at its next wake.
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import type { Woken } from './jobs.ts';
import type { Log } from './log.ts';

type ToThread = { readonly ask: 'wake' } | { readonly ask: 'settle'; readonly id: number } | { readonly ask: 'stop' };

type FromThread<Told> = { readonly settled: number } | { readonly told: Told };

interface ThreadOptions<Given, Told> {
  readonly name: string;
  /** Its module, which calls `serveThread`. */
  readonly file: URL;
  /** What it is started with; a copy is made of it. */
  readonly given: () => Given;
  /** Takes what it tells. */
  readonly onTold: (told: Told) => void;
  /** It has ended, by whatever. */
  readonly onEnd: (threadId: number) => void;
}

interface Running {
  readonly worker: Worker;
  readonly ended: Promise<unknown>;
  readonly waiting: Map<number, () => void>;
}

/** What is woken on another thread, seen from this one. */
export function wokenOnThread<Given, Told>({ name, file, given, onTold, onEnd }: ThreadOptions<Given, Told>, log: Log): Woken {
  let running: Running | undefined;
  let isStopping = false;
  let lastId = 0;
  const start = (): Running => {
    const worker = new Worker(file, { name, workerData: given(), execArgv: ['--disable-warning=ExperimentalWarning'] });
    const { threadId } = worker;
    const waiting = new Map<number, () => void>();
    const started: Running = { worker, ended: once(worker, 'exit').catch(() => undefined), waiting };
    worker.on('message', (message: FromThread<Told>) => {
      if ('told' in message) onTold(message.told);
      else waiting.get(message.settled)?.();
    });
    worker.on('error', (error) => log.error({ thread: name, err: error }, 'a thread ended; the next that is to be done starts another'));
    worker.on('exit', () => {
      if (running === started) running = undefined;
      onEnd(threadId);
      for (const settled of waiting.values()) settled();
    });
    worker.unref(); // it keeps no finished process alive
    return started;
  };
  const ask = ({ worker }: Running, message: ToThread): void => worker.postMessage(message);
  return {
    name,
    wake: () => {
      if (isStopping) return;
      running ??= start();
      ask(running, { ask: 'wake' });
    },
    settled: async () => {
      if (running === undefined) return;
      const { waiting } = running;
      const id = ++lastId;
      const settled = new Promise<void>((resolve) => waiting.set(id, resolve));
      ask(running, { ask: 'settle', id });
      await settled;
      waiting.delete(id);
    },
    stop: async () => {
      isStopping = true;
      if (running === undefined) return;
      running.worker.ref();
      ask(running, { ask: 'stop' });
      await running.ended;
    },
  };
}

/** What a thread was started with, and how it tells its starter something. */
export const threadOf = <Given, Told>(): { readonly given: Given; readonly tell: (told: Told) => void } => ({
  given: workerData as Given, // of `wokenOnThread`, which its starter gave the same types
  tell: (told) => parentPort?.postMessage({ told } satisfies FromThread<Told>),
});

/**
 * Leaves the processor to the other threads where there is not enough for all: what this one does can wait. Only on Linux, where priorities are
 * a thread's own; elsewhere that of the whole process would change. A sandbox may refuse it, and then nothing changes.
 */
export function stepBack(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL); // 0: the thread that asks
  } catch {
    // as said
  }
}

/** Serves the thread's starter until it says stop. */
export function serveThread({ wake, settled, stop }: Omit<Woken, 'name'>): void {
  parentPort?.on('message', async (message: ToThread) => {
    if (message.ask === 'wake') return wake();
    if (message.ask === 'settle') {
      await settled();
      return parentPort?.postMessage({ settled: message.id } satisfies FromThread<never>);
    }
    await stop();
    process.exit(); // of this thread
  });
}
