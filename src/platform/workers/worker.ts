// The worker's end of the channel to its supervisor. A process that `serve` started by itself has none.
import cluster from 'node:cluster';
import { setTimeout as wait } from 'node:timers/promises';
import type { FromWorker, Readings, ToWorker } from './messages.ts';

/** Longer than the supervisor waits for workers that are silent. */
const supervisorTimeoutMs = 9000;

export interface SupervisorLink {
  /** Told once, when this worker is to keep the jobs of its node. */
  readonly onKeep: (listener: () => void) => void;
  /** Told when another worker found something to do for the keeper. */
  readonly onWake: (listener: () => void) => void;
  readonly wakeKeeper: () => void;
  /** Told before it is asked to stop, when load balancers are given time to notice. */
  readonly onDrain: (listener: () => void) => void;
  readonly onStop: (listener: () => void) => void;
  readonly onReadMetrics: (read: () => Promise<Readings>) => void;
  /** What every worker of the node counted; undefined while the supervisor is silent. */
  readonly readNodeMetrics: () => Promise<readonly Readings[] | undefined>;
  readonly tellReady: (publicUrl: string) => void;
}

/** The link of a worker; undefined in a process of its own. A worker whose supervisor is gone ends. */
export function joinSupervisor(): SupervisorLink | undefined {
  if (!cluster.isWorker) return undefined;
  process.channel?.unref(); // listening for messages keeps no finished process alive
  const tell = (message: FromWorker): void => void (process.connected && process.send?.(message));
  const on = <Name extends ToWorker['gatehouse']>(
    name: Name,
    listener: (message: Extract<ToWorker, { gatehouse: Name }>) => void,
  ): void => {
    const isIt = (message: ToWorker): message is Extract<ToWorker, { gatehouse: Name }> => message.gatehouse === name;
    process.on('message', (message: ToWorker) => isIt(message) && listener(message));
  };
  const questions = new Map<number, (all: readonly Readings[]) => void>();
  let lastQuestion = 0;
  on('node-metrics', ({ id, all }) => questions.get(id)?.(all));
  return {
    onKeep: (listener) => on('keep', listener),
    onWake: (listener) => on('wake', listener),
    wakeKeeper: () => tell({ gatehouse: 'wake' }),
    onDrain: (listener) => on('drain', listener),
    onStop: (listener) => {
      on('stop', listener);
      process.once('disconnect', listener); // without connections node:cluster ends the channel before the message is read
    },
    onReadMetrics: (read) => on('read-metrics', ({ id }) => void read().then((values) => tell({ gatehouse: 'metrics', id, values }))),
    readNodeMetrics: async () => {
      const id = ++lastQuestion;
      const answer = new Promise<readonly Readings[]>((resolve) => questions.set(id, resolve));
      tell({ gatehouse: 'read-node-metrics', id });
      const all = await Promise.race([answer, wait(supervisorTimeoutMs, undefined, { ref: false })]);
      questions.delete(id);
      return all;
    },
    tellReady: (publicUrl) => tell({ gatehouse: 'ready', publicUrl }),
  };
}
