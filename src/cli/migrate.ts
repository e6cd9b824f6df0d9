// `gatehouse migrate`: brings the database to this release's schema. PostgreSQL needs it before serve; the embedded
// database is migrated by serve itself.
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Config } from '../config.ts';
import { systemClock } from '../platform/clock.ts';
import { ensurePrivateFile, makePrivate } from '../platform/private-folder.ts';
import type { Database } from '../storage/engine/database.ts';
import { openSqlite } from '../storage/engine/dialects/sqlite.ts';
import { migrationState } from '../storage/engine/migrations/ledger.ts';
import { migrate } from '../storage/engine/migrations/migrator.ts';
import { migrations } from '../storage/engine/migrations/registry.ts';
import { searchAdvice } from '../storage/engine/trigram-search.ts';
import { addConfigOptions, configOf } from './config-options.ts';
import { addProgressOption, createProgress } from './progress.ts';
import type { Options } from './registry/administrator.ts';

export function migrateCommand(program: Command): void {
  const command = program
    .command('migrate')
    .description("Bring the database to this release's schema")
    .option('--dry-run', 'list what would be applied')
    .option('--json', 'print JSON');
  addConfigOptions(addProgressOption(command)).action(async (options: Record<string, string | boolean>) => {
    const database = await openForMigration(configOf(options));
    try {
      const dryRun = options['dryRun'] === true;
      const numbers = dryRun ? (await migrationState(database)).pending : await migrateWithProgress(database, options);
      const word = dryRun ? 'pending' : 'applied';
      process.stdout.write(
        options['json'] === true
          ? `${JSON.stringify({ [word]: numbers })}\n`
          : `${word}: ${numbers.length === 0 ? 'nothing' : numbers.join(', ')}\n`,
      );
      const advice = database.dialect === 'postgres' && !dryRun ? await database.systemRead(searchAdvice) : undefined;
      if (advice !== undefined) process.stderr.write(`${advice}\n`);
    } finally {
      await database.close();
    }
  });
}

async function migrateWithProgress(database: Database, options: Options): Promise<readonly number[]> {
  const progress = createProgress(options);
  const numbers = await migrate(database, migrations, { onStep: (done, whole) => progress.part('migrations', done, whole) });
  progress.end();
  return numbers;
}

async function openForMigration(config: Config): Promise<Database> {
  if (config.databaseUrl === undefined) {
    makePrivate(config.dataFolder);
    return openSqlite({ file: ensurePrivateFile(join(config.dataFolder, 'gatehouse.db')), clock: systemClock });
  }
  const { openPostgres } = await import('../storage/engine/dialects/postgres.ts');
  return openPostgres({ url: config.databaseUrl, poolMax: 1, timeoutMs: 10_000, asService: false });
}
