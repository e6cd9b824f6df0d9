// `gatehouse serve`: starts the server, prints the ready line, drains on SIGTERM; on SIGINT, which comes from a keyboard, it does not. With several workers it supervises them,
// and each of them runs this too, telling its supervisor what a process of its own prints.
import cluster from 'node:cluster';
import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Config } from '../config.ts';
import { systemClock } from '../platform/clock.ts';
import { createLog, type Log } from '../platform/log.ts';
import { keepHeapSmall, returnStartMemoryWhenQuiet } from '../platform/start-memory.ts';
import { joinSupervisor, type SupervisorLink } from '../platform/workers/worker.ts';
import type { Gatehouse } from '../server/compose.ts';
import { addConfigOptions, configOf } from './config-options.ts';
import { CommandFailure } from './failure.ts';

const drainMsMax = 9000;

export function serveCommand(program: Command): void {
  const command = program.command('serve').description('Start the server');
  addConfigOptions(command).action(async (options: Record<string, string>) => {
    const config = configOf(options);
    const log = createLog(config.logLevel);
    const stopAsked = new Promise<StopSignal>((resolve) => {
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve(signal));
    });
    if (config.workers === 1 || cluster.isWorker) return serve(config, log, stopAsked);
    const { serveByWorkers } = await import('./serve-workers.ts');
    process.exit(
      await serveByWorkers(config, log, stopAsked, drainMsMax).catch((error: unknown) => {
        throw cannotListen(error, config) ?? error;
      }),
    );
  });
}

type StopSignal = 'SIGTERM' | 'SIGINT';

async function serve(config: Config, log: Log, stopSignal: Promise<StopSignal>): Promise<void> {
  const supervisor = joinSupervisor();
  const stopAsked = supervisor === undefined ? stopSignal : stopOf(supervisor, stopSignal);
  const { startGatehouse } = await import('../server/compose.ts');
  const gatehouse = await startGatehouse(config, { clock: systemClock, log, supervisor, deliversOnThread: true }).catch(
    (error: unknown) => {
      throw cannotListen(error, config) ?? error;
    },
  );
  for (const notice of gatehouse.notices) process.stderr.write(`${notice}\n`);
  await gatehouse.noticesShown();
  if (supervisor === undefined) process.stdout.write(`gatehouse ready ${gatehouse.publicUrl}\n`);
  else supervisor.tellReady(gatehouse.publicUrl);
  keepHeapSmall();
  returnStartMemoryWhenQuiet();
  supervisor?.onDrain(() => gatehouse.app.draining.begin());
  if ((await stopAsked) === 'SIGTERM') await drain(gatehouse, supervisor === undefined ? config.drainDelaySeconds : 0);
  log.info('stopping: finishing open requests');
  setTimeout(() => process.exit(0), drainMsMax).unref();
  await gatehouse.close();
}

/** A worker stops when its supervisor, which has the port, says so; a service manager may send SIGTERM to both. */
function stopOf(supervisor: SupervisorLink, stopSignal: Promise<StopSignal>): Promise<StopSignal> {
  return new Promise((resolve) => {
    supervisor.onStop(() => resolve('SIGTERM'));
    void stopSignal.then((signal) => signal === 'SIGINT' && resolve(signal));
  });
}

interface ListenError extends NodeJS.ErrnoException {
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
}

/** What to do where a server cannot listen, which most often keeps a first start from working, by the flag that says where. */
function cannotListen(error: unknown, { listenHost, listenPort, metricsListen, mtlsListen }: Config): CommandFailure | undefined {
  const { code, address, port, hostname } = error as Partial<ListenError>;
  const places = [
    { flag: '--listen', host: listenHost, port: listenPort },
    { flag: '--metrics-listen', ...metricsListen },
    { flag: '--mtls-listen', ...mtlsListen },
  ];
  const place = places.findLast((one) => one.port !== undefined && (one.port === port || one.host === hostname));
  if (place === undefined) return undefined;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new CommandFailure(`${place.flag}: expected an address of this machine, found ${place.host}:${place.port}`);
  if (code !== 'EADDRINUSE') return undefined;
  const host = place.flag === '--listen' ? 'localhost' : place.host;
  return new CommandFailure(
    `expected a free port, found another program at ${address}:${port}. Stop it, or name another port: ${place.flag} ${host}:${port === 65_535 ? port - 1 : port! + 1}`,
  );
}

/** Refuses new connections after the delay, and tells those there are to close: in this order, so that who is told finds another node. */
async function drain({ app, stopListening }: Gatehouse, delaySeconds: number): Promise<void> {
  if (delaySeconds > 0) {
    app.draining.begin();
    await wait(delaySeconds * 1000);
  }
  await stopListening();
  app.draining.begin();
}
