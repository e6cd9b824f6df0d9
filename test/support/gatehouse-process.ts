// The real program as a process: bin/gatehouse with arguments and environment, its output, and signals by pid.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operatorToken } from './server.ts';

const ownLauncher = join(import.meta.dirname, '..', '..', 'bin', 'gatehouse');

export interface ProcessOptions {
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** The launcher of another release; this one's by default. */
  readonly launcher?: string;
  /** A shell command before the launcher, e.g. `ulimit -f 100`. */
  readonly shell?: string;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface GatehouseProcess {
  readonly pid: number;
  /** Resolves with the public URL of the ready line; rejects when the process ends before it. */
  readonly ready: Promise<string>;
  readonly ended: Promise<Ended>;
  readonly signal: (signal: NodeJS.Signals) => void;
  readonly stdout: () => string;
  readonly stderr: () => string;
}

/** A data folder that `remove` takes away. */
export function createDataFolder(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Runs `gatehouse` with the given arguments in a clean environment; the folder is its working folder. */
export function runGatehouse(
  folder: string,
  { args = [], environment = {}, launcher = ownLauncher, shell }: ProcessOptions,
): GatehouseProcess {
  const options = { cwd: folder, env: { PATH: process.env['PATH'], HOME: folder, ...environment }, stdio: 'pipe' as const };
  const child =
    shell === undefined ? spawn(launcher, args, options) : spawn('/bin/sh', ['-c', `${shell}; exec "$0" "$@"`, launcher, ...args], options);
  let stdout = '';
  let stderr = '';
  const { promise: ready, resolve, reject } = Promise.withResolvers<string>();
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    const match = /^gatehouse ready (http\S+)\n/m.exec(stdout);
    if (match !== null) resolve(match[1]!);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const ended = endOf(child).then(({ code, signal }) => {
    reject(new Error(`gatehouse ended with ${code ?? signal} before it was ready: ${stderr}`));
    return { code, signal, stdout, stderr };
  });
  ready.catch(() => undefined); // whoever waits for it sees the failure
  return { pid: child.pid!, ready, ended, signal: (signal) => void child.kill(signal), stdout: () => stdout, stderr: () => stderr };
}

/** `gatehouse serve` on the embedded database of a folder, in development mode, with the operator token of the tests. */
export function serveEmbedded(folder: string, options: ProcessOptions = {}): GatehouseProcess {
  return runGatehouse(folder, {
    ...options,
    args: ['serve', '--listen', '127.0.0.1:0', '--data', folder, ...(options.args ?? [])],
    environment: { GATEHOUSE_DEV: '1', GATEHOUSE_LOG_LEVEL: 'warn', GATEHOUSE_OPERATOR_TOKEN: operatorToken, ...options.environment },
  });
}

function endOf(child: ChildProcess): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
}
