// The load generator: wrk in its own process, so that measuring costs the measured process nothing.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MeasuredProcess } from './process.ts';

export interface Load {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** Lua for wrk: sets wrk.method, wrk.body, wrk.headers, or defines request(). */
  readonly script: string;
}

export interface LoadResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers that were not 2xx or 3xx, and socket errors. A measurement with any is worthless and throws. */
  readonly failures: number;
}

/** Fails early when wrk is missing, saying what to type. */
export function requireWrk(): void {
  if (spawnSync('wrk', ['-v']).error !== undefined) throw new Error('expected wrk, found none. Install it: apt-get install wrk');
}

export async function runLoad(load: Load): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-load-'));
  try {
    const script = join(folder, 'load.lua');
    writeFileSync(script, load.script);
    const output = await outputOf('wrk', ['-t1', `-c${load.connections}`, `-d${load.seconds}s`, '--latency', '-s', script, load.url]);
    const result = parseOutput(output);
    if (result.failures > 0) throw new Error(`the load on ${load.url} had ${result.failures} failures:\n${output}`);
    return result;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What a request of the load costs the server, in processor time of its whole process tree, and how fast they were answered. */
export type Cost = { readonly cpuMs: number; readonly rate: number; readonly p50Ms: number; readonly p99Ms: number };

export async function costOf(server: MeasuredProcess, load: Load): Promise<Cost> {
  const before = server.cpuMs();
  const { requests, requestsPerSecond: rate, p50Ms, p99Ms } = await runLoad(load);
  return { cpuMs: (server.cpuMs() - before) / requests, rate, p50Ms, p99Ms };
}

function outputOf(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve(text) : reject(new Error(`${command} ended with ${code}`))));
  });
}

function parseOutput(output: string): LoadResult {
  const number = (pattern: RegExp): number => Number(pattern.exec(output)?.[1] ?? 0);
  const errors = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(output);
  const socketErrors = errors === null ? 0 : errors.slice(1).reduce((sum, part) => sum + Number(part), 0);
  return {
    requests: number(/(\d+) requests in/),
    requestsPerSecond: number(/Requests\/sec:\s+([\d.]+)/),
    p50Ms: milliseconds(/50%\s+([\d.]+)(us|ms|s)/.exec(output)),
    p99Ms: milliseconds(/99%\s+([\d.]+)(us|ms|s)/.exec(output)),
    failures: number(/Non-2xx or 3xx responses: (\d+)/) + socketErrors,
  };
}

function milliseconds(match: RegExpExecArray | null): number {
  if (match === null) return Number.NaN;
  return Number(match[1]) * { us: 0.001, ms: 1, s: 1000 }[match[2] as 'us' | 'ms' | 's']; // the pattern allows these three
}

/** A Lua script for wrk that posts one form over and over. */
export function postForm(parameters: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}): string {
  const lines = ['wrk.method = "POST"', `wrk.body = ${JSON.stringify(new URLSearchParams(parameters).toString())}`];
  for (const [name, value] of Object.entries({ 'Content-Type': 'application/x-www-form-urlencoded', ...headers })) {
    lines.push(`wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`);
  }
  return lines.join('\n');
}
