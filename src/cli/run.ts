// The command line: one file per command, each added here by one line. Exit codes: 0 ok, 1 failure, 2 usage.
import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config.ts';
import { FolderLocked } from '../storage/folder-lock.ts';
import { contractCommand } from './contract.ts';
import { migrateCommand } from './migrate.ts';
import { phoneCommand } from './phone.ts';
import { serveCommand } from './serve.ts';

/** Runs one command and gives the exit code. */
export async function run(argv: readonly string[]): Promise<number> {
  const program = new Command('gatehouse')
    .description('A multi-tenant identity provider')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text) });
  for (const add of [serveCommand, migrateCommand, contractCommand, phoneCommand]) add(program);
  try {
    await program.parseAsync(argv as string[], { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof ConfigError) {
      process.stderr.write(`gatehouse: ${error.message}\n`);
      return 2;
    }
    const text = error instanceof FolderLocked ? error.message : describeFailure(error);
    process.stderr.write(`gatehouse: ${text}\n`);
    return 1;
  }
}

function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `${error.message}${cause}`;
}
