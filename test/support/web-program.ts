// Somebody else's program that answers over HTTP, or what else says that it is up: started, waited for, ended by its own process id.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

export interface WebProgram {
  readonly close: () => Promise<void>;
}

export interface WebProgramOptions {
  readonly cwd?: string;
  /** Added to the environment of the tests. */
  readonly environment?: Readonly<Record<string, string>>;
  /** A file whose text is shown when the program does not start. */
  readonly log?: string;
  readonly patienceSeconds?: number;
}

/** Starts `command` and resolves once `ready`, an address, answers 2xx, or a file is there, or it is true; rejects with what the program said. */
export async function startWebProgram(
  ready: string | (() => Promise<boolean>),
  command: readonly string[],
  options: WebProgramOptions = {},
): Promise<WebProgram> {
  const { cwd, environment = {}, log, patienceSeconds = 60 } = options;
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd, env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });
  let complaint = '';
  const note = (chunk: Buffer): void => {
    complaint = `${complaint}${chunk}`.slice(-20_000);
  };
  child.stdout.on('data', note);
  child.stderr.on('data', note);
  child.on('error', (error) => note(Buffer.from(String(error))));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const close = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
  };
  const until = Date.now() + patienceSeconds * 1000;
  while (Date.now() < until && child.exitCode === null && child.pid !== undefined) {
    const up = typeof ready !== 'string' ? await ready() : ready.startsWith('/') ? existsSync(ready) : await answers(ready);
    if (up) return { close };
    await new Promise((resolve) => setTimeout(resolve, 50)); // another program's start: there is nothing of ours to wait on
  }
  await close();
  throw new Error(
    `${program} did not come up with ${ready}: ${complaint}${log !== undefined && existsSync(log) ? readFileSync(log, 'utf8') : ''}`,
  );
}

/** Does what is left of a start; a program that is up already is ended when that fails. */
export async function orClose<T>(program: WebProgram, rest: () => Promise<T>): Promise<T> {
  try {
    return await rest();
  } catch (error) {
    await program.close();
    throw error;
  }
}

const answers = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(5000) }).then(
    (response) => response.ok,
    () => false,
  );
