// Somebody's SDK in a program of its own: it reads one command a line (JSON) from standard input and answers each with one line. It keeps
// its state in the folder of GATEHOUSE_STATE, so that it can be killed and started again. docs/device-protocol.md has the commands.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export type DriverAnswer =
  | { readonly ok: true; readonly value: unknown }
  /** `error` as in the contract; `no_answer`: the server did not answer; `died`: the program ended. */
  | { readonly ok: false; readonly error: string; readonly kind?: string };

export interface Driver {
  /** Sends a command, starting the program when it does not run. */
  readonly call: (command: string, fields?: Readonly<Record<string, unknown>>) => Promise<DriverAnswer>;
  /** Ends the program and what it started, at once. */
  readonly kill: () => void;
}

const answerMs = 60_000;
const died: DriverAnswer = { ok: false, error: 'died' };

/** @param command as typed in a shell */
export function createDriver(command: string, environment: Readonly<Record<string, string>>): Driver {
  let child: ChildProcess | undefined;
  let last = 0;
  const waiting = new Map<number, (answer: DriverAnswer) => void>();
  const settleAll = (answer: DriverAnswer): void => {
    for (const settle of waiting.values()) settle(answer);
    waiting.clear();
  };
  const start = (): ChildProcess => {
    const started = spawn(command, {
      shell: true,
      detached: true, // a group of its own, so that it is killed with what it started
      env: { ...process.env, ...environment },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    started.stdin.on('error', () => undefined); // it died: told by its exit
    createInterface({ input: started.stdout }).on('line', (line) => {
      const answer = parseAnswer(line);
      if (answer === undefined) return;
      waiting.get(answer.id)?.(answer);
      waiting.delete(answer.id);
    });
    started.on('exit', () => {
      if (child !== started) return;
      child = undefined;
      settleAll(died);
    });
    return started;
  };
  const kill = (): void => {
    const killed = child;
    child = undefined;
    if (killed?.pid !== undefined) endGroup(killed.pid);
    settleAll(died);
  };
  return {
    kill,
    call: (name, fields = {}) => {
      child ??= start();
      last += 1;
      const id = last;
      const { promise, resolve } = Promise.withResolvers<DriverAnswer>();
      const timer = setTimeout(() => {
        waiting.delete(id);
        resolve({ ok: false, error: 'driver_silent' });
      }, answerMs);
      waiting.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      child.stdin?.write(`${JSON.stringify({ id, do: name, ...fields })}\n`);
      return promise;
    },
  };
}

/** A group that ended by itself a moment ago is no error. */
function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function parseAnswer(line: string): (DriverAnswer & { readonly id: number }) | undefined {
  try {
    const value = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (typeof value['id'] !== 'number') return undefined;
    const { id } = value;
    if (value['ok'] === true) return { id, ok: true, value: value['value'] };
    return { id, ok: false, error: String(value['error']), ...(typeof value['kind'] === 'string' ? { kind: value['kind'] } : {}) };
  } catch {
    return undefined; // what a program prints beside its answers
  }
}
