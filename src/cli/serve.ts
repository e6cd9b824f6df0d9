// `gatehouse serve`: starts the server, prints the ready line, drains on SIGTERM and SIGINT.
import type { Command } from 'commander';
import { startGatehouse } from '../compose.ts';
import { systemClock } from '../platform/clock.ts';
import { createLog } from '../platform/log.ts';
import { returnStartMemoryWhenQuiet } from '../platform/start-memory.ts';
import { addConfigOptions, configOf } from './config-options.ts';

const drainMsMax = 9000;

export function serveCommand(program: Command): void {
  const command = program.command('serve').description('Start the server');
  addConfigOptions(command).action(async (options: Record<string, string>) => {
    const config = configOf(options);
    const log = createLog(config.logLevel);
    const stopAsked = new Promise<void>((resolve) => {
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve);
    });
    const gatehouse = await startGatehouse(config, { clock: systemClock, log });
    for (const notice of gatehouse.notices) process.stderr.write(`${notice}\n`);
    await gatehouse.noticesShown();
    process.stdout.write(`gatehouse ready ${gatehouse.publicUrl}\n`);
    returnStartMemoryWhenQuiet();
    await stopAsked;
    log.info('stopping: finishing open requests');
    setTimeout(() => process.exit(0), drainMsMax).unref();
    await gatehouse.close();
  });
}
