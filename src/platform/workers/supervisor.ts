// The process above the workers of `serve --workers`: it starts them, holds their port (node:cluster hands out connections in turn), counts
// the limits they share, replaces those that die and names the one that keeps the node's jobs. It opens no database and answers no
// request, so there is little in it that can fail. docs/decisions/0017-workers.md has the reasons.
import cluster, { type Worker } from 'node:cluster';
import { setTimeout as wait } from 'node:timers/promises';
import { RateLimiterClusterMaster } from 'rate-limiter-flexible';
import type { Log } from '../log.ts';
import { quietTurn } from '../turns/quiet-turn.ts';
import type { FromWorker, Readings, ToWorker } from './messages.ts';
import { type HandedConnections, watchHanded } from './untaken-connections.ts';

interface Supervisor {
  /** The public URL, once every worker serves. */
  readonly ready: Promise<string>;
  /** Exit code, once no worker is left: 0 after `stop`, else that of the first worker, or 1 when too many died. */
  readonly ended: Promise<number>;
  /** Asks every worker to finish, after a time in which they say that they will; those that are left `graceMs` later are killed. */
  readonly stop: (delayMs: number, graceMs: number) => Promise<void>;
  /** The metrics of every worker that answers. */
  readonly readMetrics: () => Promise<readonly Readings[]>;
}

const pauseMs = 1000;
const pauseMaxMs = 30_000;
const minuteMs = 60_000;
const deathsAMinuteMax = 5;
/** A worker whose database is away takes some seconds to say so; Prometheus gives up after ten. */
const metricsTimeoutMs = 8000;

/** Starts `count` workers: the first alone, because a first start makes the deployment and a faulty configuration is told once; then the others. */
export function superviseWorkers(count: number, log: Log, onDeath: () => void): Supervisor {
  const alive = new Map<Worker, HandedConnections>();
  const serving = new Set<Worker>();
  const { promise: ready, resolve: allServe } = Promise.withResolvers<string>();
  const { promise: ended, resolve: end } = Promise.withResolvers<number>();
  const answers = createAnswers();
  const deaths = createDeaths();
  let keeper: Worker | undefined;
  let exitCode: number | undefined;
  let hasServed = false;
  const readMetrics = (): Promise<readonly Readings[]> =>
    answers.of([...serving], (worker, id) => tell(worker, { gatehouse: 'read-metrics', id }));
  const nameKeeper = (): void => {
    keeper = exitCode === undefined ? serving.values().next().value : undefined;
    if (keeper === undefined) return;
    tell(keeper, { gatehouse: 'keep' });
    log.info({ pid: keeper.process.pid }, 'a worker keeps the jobs of this node');
  };
  const endAll = (code: number, graceMs: number): void => {
    exitCode ??= code;
    for (const worker of alive.keys()) tell(worker, { gatehouse: 'stop' });
    setTimeout(() => alive.forEach((_handed, worker) => void worker.process.kill('SIGKILL')), graceMs).unref();
    if (alive.size === 0) end(exitCode);
  };
  const stop = async (delayMs: number, graceMs: number): Promise<void> => {
    exitCode ??= 0;
    if (delayMs > 0) for (const worker of alive.keys()) tell(worker, { gatehouse: 'drain' });
    await wait(delayMs);
    await closePort(serving, alive);
    endAll(exitCode, graceMs);
  };
  const onServing = (worker: Worker, publicUrl: string): void => {
    if (exitCode !== undefined) return;
    serving.add(worker);
    log.info({ pid: worker.process.pid }, 'a worker serves');
    if (keeper === undefined) nameKeeper();
    if (!hasServed) for (let started = 1; started < count; started += 1) start();
    hasServed = true;
    if (serving.size === count) allServe(publicUrl);
  };
  const onExit = (worker: Worker, code: number | null, signal: string | null): void => {
    alive.delete(worker);
    serving.delete(worker);
    answers.leave(worker);
    if (!hasServed) exitCode ??= code ?? 1;
    if (exitCode !== undefined && alive.size === 0) end(exitCode);
    if (exitCode !== undefined) return;
    onDeath();
    const waitMs = deaths.count();
    log.error({ pid: worker.process.pid, code, signal, replaced_in_ms: waitMs }, 'a worker died');
    if (worker === keeper) nameKeeper();
    if (waitMs !== undefined) setTimeout(() => exitCode === undefined && start(), waitMs);
    else {
      log.fatal(`expected fewer than ${deathsAMinuteMax} workers to die in a minute, found ${deathsAMinuteMax}: stopping`);
      endAll(1, pauseMs);
    }
  };
  const hear = (worker: Worker, message: FromWorker): void => {
    if (message.gatehouse === 'ready') onServing(worker, message.publicUrl);
    else if (message.gatehouse === 'wake') tell(keeper, { gatehouse: 'wake' });
    else if (message.gatehouse === 'metrics') answers.take(worker, message.id, message.values);
    else if (message.gatehouse === 'read-node-metrics')
      void readMetrics().then((all) => tell(worker, { gatehouse: 'node-metrics', id: message.id, all }));
  };
  const start = (): void => startWorker(alive, log, hear, onExit);
  new RateLimiterClusterMaster();
  start();
  return { ready, ended, stop, readMetrics };
}

/** Closes the port when no connection is on its way: those that wait in the supervisor for a worker to be free would be cut off. */
async function closePort(serving: ReadonlySet<Worker>, handedTo: ReadonlyMap<Worker, HandedConnections>): Promise<void> {
  const each = [...serving].map((worker) => handedTo.get(worker)!);
  const isOneFree = (): boolean => each.some(({ untaken }) => untaken() === 0);
  const handed = (): number => each.reduce((sum, { count }) => sum + count(), 0);
  if (each.length > 0) await quietTurn(() => (isOneFree() ? handed() : undefined));
  for (const worker of serving) worker.disconnect(); // with the last one node:cluster closes the port
}

function startWorker(
  alive: Map<Worker, HandedConnections>,
  log: Log,
  hear: (worker: Worker, message: FromWorker) => void,
  onExit: (worker: Worker, code: number | null, signal: string | null) => void,
): void {
  const worker = cluster.fork();
  alive.set(worker, watchHanded(worker));
  log.info({ pid: worker.process.pid }, 'a worker starts');
  worker.on('error', () => undefined); // of a message to a worker that is gone; its exit tells
  worker.on('message', (message: FromWorker) => hear(worker, message));
  worker.once('exit', (code, signal) => onExit(worker, code, signal));
}

function tell(worker: Worker | undefined, message: ToWorker): void {
  if (worker?.isConnected() === true) worker.send(message);
}

/** Counts deaths; gives how long to wait before the next start, or nothing when too many came in a minute. */
function createDeaths(): { readonly count: () => number | undefined } {
  let lately: readonly number[] = [];
  let waitMs = pauseMs / 2;
  return {
    count: () => {
      const now = performance.now();
      lately = lately.filter((atMs) => now - atMs < minuteMs);
      waitMs = lately.length === 0 ? pauseMs : Math.min(waitMs * 2, pauseMaxMs);
      lately = [...lately, now];
      return lately.length < deathsAMinuteMax ? waitMs : undefined;
    },
  };
}

interface Answers {
  readonly of: (asked: readonly Worker[], ask: (worker: Worker, id: number) => void) => Promise<readonly Readings[]>;
  readonly take: (worker: Worker, id: number, values: Readings) => void;
  /** No answer will come from this worker any more. */
  readonly leave: (worker: Worker) => void;
}

/** Questions to several workers; one that dies or is silent is left out. */
function createAnswers(): Answers {
  interface Question {
    readonly missing: Set<Worker>;
    readonly got: Readings[];
    readonly done: () => void;
  }
  const open = new Map<number, Question>();
  let last = 0;
  const miss = ({ missing, done }: Question, worker: Worker): void => {
    if (missing.delete(worker) && missing.size === 0) done();
  };
  return {
    of: async (asked, ask) => {
      const id = ++last;
      const { promise, resolve: done } = Promise.withResolvers<void>();
      const question: Question = { missing: new Set(asked), got: [], done };
      open.set(id, question);
      const timer = setTimeout(done, asked.length === 0 ? 0 : metricsTimeoutMs);
      for (const worker of asked) ask(worker, id);
      await promise;
      clearTimeout(timer);
      open.delete(id);
      return question.got;
    },
    take: (worker, id, values) => {
      const question = open.get(id);
      if (question?.missing.has(worker) !== true) return;
      question.got.push(values);
      miss(question, worker);
    },
    leave: (worker) => {
      for (const question of open.values()) miss(question, worker);
    },
  };
}
