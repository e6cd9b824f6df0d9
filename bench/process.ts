// Starts the measured servers, each in its own process with the pinned Node, and stops them by pid.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..');

export interface MeasuredProcess {
  readonly url: string;
  readonly pid: number;
  /** Milliseconds from spawn to the ready line. */
  readonly readyMs: number;
  /** Everything written to standard error so far. */
  readonly notices: () => string;
  /** Resident memory in MiB now. */
  readonly residentMib: () => number;
  /** Milliseconds of processor time used so far by the process and its live children, all threads. */
  readonly cpuMs: () => number;
  readonly stop: () => Promise<void>;
}

/** Starts a program that prints `<anything> ready <url>` when it answers. */
export async function startProcess(
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<MeasuredProcess> {
  const startedAt = performance.now();
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...environment }, cwd: tmpdir() });
  let notices = '';
  child.stderr.on('data', (chunk: Buffer) => {
    notices += chunk.toString();
  });
  const url = await readyUrl(child, () => notices);
  return {
    url,
    pid: child.pid!,
    readyMs: performance.now() - startedAt,
    notices: () => notices,
    residentMib: () => residentMib(child.pid!),
    cpuMs: () => cpuMs(child.pid!),
    stop: () => stopped(child),
  };
}

function readyUrl(child: ChildProcess, notices: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout!.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const match = /ready (http\S+)/.exec(text);
      if (match !== null) resolve(match[1]!);
    });
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`ended with ${code} before it was ready: ${notices()}`)));
  });
}

function stopped(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

function residentMib(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
}

/** Of every thread and child, from the scheduler's own nanoseconds: the ticks of /proc/pid/stat are too coarse for one request. */
export function cpuMs(pid: number): number {
  const own = tasksOf(pid).map((folder) => Number(readFileSync(`${folder}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e6);
  return [...own, ...childrenOf(pid).map(cpuMs)].reduce((sum, each) => sum + each, 0);
}

/** Processes that any thread of a process has started. */
export const childrenOf = (pid: number): readonly number[] =>
  tasksOf(pid)
    .flatMap((folder) => readFileSync(`${folder}/children`, 'utf8').split(' '))
    .filter((child) => child !== '')
    .map(Number);

const tasksOf = (pid: number): readonly string[] => readdirSync(`/proc/${pid}/task`).map((task) => `/proc/${pid}/task/${task}`);

export interface GatehouseProcess extends MeasuredProcess {
  readonly operatorToken: string;
}

/** Gatehouse on the embedded database in a folder of its own (or the given one), in development mode; GATEHOUSE_LISTEN: not at any free port. */
export async function startGatehouse(dataFolder?: string, environment: Readonly<Record<string, string>> = {}): Promise<GatehouseProcess> {
  const folder = dataFolder ?? mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  const operatorToken = 'operator-token-of-the-bench';
  const started = await startProcess(
    join(root, 'bin', 'gatehouse'),
    ['serve', '--listen', environment['GATEHOUSE_LISTEN'] ?? '127.0.0.1:0', '--data', folder],
    {
      GATEHOUSE_DEV: '1',
      GATEHOUSE_OPERATOR_TOKEN: operatorToken,
      GATEHOUSE_LOG_LEVEL: 'warn',
      ...environment,
    },
  );
  return {
    ...started,
    operatorToken,
    stop: async () => {
      await started.stop();
      if (dataFolder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** One of bench/peers in its own process. */
export function startPeer(name: string, environment: Readonly<Record<string, string>> = {}): Promise<MeasuredProcess> {
  return startProcess(process.execPath, ['--disable-warning=ExperimentalWarning', join(root, 'bench', 'peers', `${name}.ts`)], environment);
}
