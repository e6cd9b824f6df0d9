// Commands that end by themselves, run in a process that stays (command-host.ts) instead of one each: most of what a command costs is the
// start of its Node. What goes on, is killed, or is about the process itself is run by runGatehouse (gatehouse-process.ts).
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { Order } from './command-host.ts';
import type { Ended } from './gatehouse-process.ts';

const program = join(import.meta.dirname, 'command-host.ts');
const cacheFolder = join(import.meta.dirname, '..', '..', 'node_modules/.cache/gatehouse'); // as bin/gatehouse has it
const idle: ChildProcess[] = [];

/** Runs a command in a clean environment; the folder is its working folder. Commands that come together run beside each other. */
export async function runCommand(folder: string, args: readonly string[], environment: Order['environment']): Promise<Ended> {
  const host = idle.pop() ?? startHost();
  host.channel!.ref(); // what is waited for keeps this process
  const { promise, resolve, reject } = Promise.withResolvers<Ended>();
  const onExit = (code: number | null): void => reject(new Error(`gatehouse ${args.join(' ')}: its process ended with ${code}`));
  host.once('message', resolve);
  host.once('exit', onExit);
  host.send({ folder, args, environment } satisfies Order);
  const ended = await promise;
  host.off('exit', onExit);
  host.channel!.unref();
  idle.push(host);
  return ended;
}

function startHost(): ChildProcess {
  const host = fork(program, {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: cacheFolder },
    stdio: ['pipe', 'inherit', 'inherit', 'ipc'],
  });
  host.unref();
  (host.stdin as unknown as { unref: () => void }).unref(); // a pipe is a socket
  return host;
}
