// Where elliptic-curve signatures are made. A lone request is signed at once on the event loop: 30 microseconds are less
// than any hand-over. A batch (several in one turn of the loop) is shared with one other thread, eight a message, which costs the
// event loop a microsecond each instead of the eight of Node's own asynchronous sign. RSA takes half a millisecond and
// always goes to Node's thread pool. One of several workers of a node signs without the other thread: its cores are theirs. docs/decisions/0004-signing-thread.md has the measurements.
import cluster from 'node:cluster';
import { Worker } from 'node:worker_threads';
import type { SigningKey } from './jwt.ts';
import { signBytes, signBytesNow } from './signing.ts';
import type { FromWorker, ToWorker } from './signing-worker.ts';

/** Requests in one turn of the event loop that make a batch. */
const batchMin = 4;
/** Signatures in flight to the other thread; what exceeds it is signed here, which balances the two threads. */
const inFlightMax = 64;
/** Signatures in one message: small enough that the first are answered while the others are still being made. */
const messageMax = 8;
const keysSentMax = 1000;

interface Job {
  readonly key: SigningKey;
  readonly input: string;
  readonly resolve: (signature: string) => void;
  readonly reject: (error: unknown) => void;
}

let waiting: Job[] = [];

/** Signs a JWS signing input (ASCII); gives the base64url signature. */
export function signInput(key: SigningKey, input: string): Promise<string> {
  if (key.alg === 'RS256')
    return signBytes(key.alg, key.privateKey, Buffer.from(input, 'latin1')).then((bytes) => bytes.toString('base64url'));
  return new Promise((resolve, reject) => {
    if (waiting.push({ key, input, resolve, reject }) === 1) setImmediate(signWaiting);
  });
}

function signWaiting(): void {
  const jobs = waiting;
  waiting = [];
  const thread = jobs.length >= batchMin && !cluster.isWorker ? otherThread() : undefined;
  const shared = thread === undefined ? 0 : Math.max(0, Math.min(jobs.length, inFlightMax - thread.inFlight()));
  if (thread !== undefined && shared > 0) thread.sign(jobs.slice(0, shared));
  for (let index = shared; index < jobs.length; index += 1) signHere(jobs[index]!);
}

function signHere({ key, input, resolve, reject }: Job): void {
  try {
    resolve(signBytesNow(key.alg, key.privateKey, Buffer.from(input, 'latin1')).toString('base64url'));
  } catch (error) {
    reject(error);
  }
}

interface OtherThread {
  readonly inFlight: () => number;
  readonly sign: (jobs: readonly Job[]) => void;
}

let started: OtherThread | undefined;

/** The other thread, started by the first batch. If it ever fails, what is in flight is signed here and the next batch starts another. */
function otherThread(): OtherThread {
  started ??= startThread(() => {
    started = undefined;
  });
  return started;
}

function startThread(onEnd: () => void): OtherThread {
  // The compiled package has .js files beside each other just as the sources have .ts files.
  const file = new URL(`./signing-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
  const worker = new Worker(file, {
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 },
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const messages: (readonly Job[])[] = [];
  const sent = new Set<string>();
  let inFlight = 0;
  const post = (message: ToWorker): void => worker.postMessage(message);
  const end = (): void => {
    onEnd();
    for (const job of messages.splice(0).flat()) signHere(job);
  };
  worker.on('message', (signatures: FromWorker) => {
    const jobs = messages.shift() ?? [];
    inFlight -= jobs.length;
    const parts = signatures.split(' ');
    jobs.forEach((job, index) => {
      const signature = parts[index];
      if (signature === undefined || signature === '') signHere(job);
      else job.resolve(signature);
    });
  });
  worker.on('error', end);
  worker.on('exit', end);
  worker.unref(); // it never keeps a finished process alive
  return {
    inFlight: () => inFlight,
    sign: (jobs) => {
      if (sent.size > keysSentMax) {
        sent.clear();
        post({ kind: 'forget' });
      }
      for (const [kid, own] of byKey(jobs)) {
        if (!sent.has(kid)) {
          sent.add(kid);
          post({ kind: 'key', kid, alg: own[0]!.key.alg, key: own[0]!.key.privateKey });
        }
        for (let start = 0; start < own.length; start += messageMax) {
          const message = own.slice(start, start + messageMax);
          messages.push(message);
          inFlight += message.length;
          post({ kind: 'sign', kid, inputs: message.map((job) => job.input).join(' ') });
        }
      }
    },
  };
}

/** Jobs by the key they are for; nearly always one. */
function byKey(jobs: readonly Job[]): ReadonlyMap<string, readonly Job[]> {
  const { kid } = jobs[0]!.key;
  return jobs.every((job) => job.key.kid === kid) ? new Map([[kid, jobs]]) : Map.groupBy(jobs, (job) => job.key.kid);
}
