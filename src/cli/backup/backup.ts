// `gatehouse backup`: everything in the database, as of one moment, beside a running server.
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Command } from 'commander';
import { loadMasterKey } from '../../crypto/master-key.ts';
import { packageVersion } from '../../platform/package-folder.ts';
import { readLedger } from '../../storage/engine/migrations/ledger.ts';
import { CommandFailure } from '../failure.ts';
import { addProgressOption, createProgress } from '../progress.ts';
import { type Administrator, addCommonOptions, administer, type Options } from '../registry/administrator.ts';
import { archiveFormat, digestOf, type Manifest, type PartFile, writeArchive } from './backup-file.ts';
import { dumpPostgres } from './postgres-tools.ts';

export function backupCommand(program: Command): void {
  const command = program
    .command('backup <file>')
    .description('Write everything in the database to one file, mode 0600, consistent beside a running server')
    .option('--include-master-key', 'put the master key in as well; a person with the file then has every secret')
    .addHelpText(
      'after',
      '\nThe private keys in it are encrypted: to restore it you also need the master key (master.key in the data folder, or\nGATEHOUSE_MASTER_KEY), kept in another place. On PostgreSQL it needs pg_dump.\n\nExample:\n  gatehouse backup /backups/monday.tar',
    );
  addProgressOption(addCommonOptions(command)).action(run);
}

async function run(file: string, options: Options): Promise<void> {
  if (existsSync(file))
    throw new CommandFailure(`expected a file that does not exist yet, found one at ${file}. Remove it, or name another`);
  await administer(options, async (administrator) => {
    const progress = createProgress(options);
    const withKey = options['includeMasterKey'] === true;
    const parts = partsOf(administrator, file, withKey);
    try {
      progress.part('copying the database', 0, 1);
      await copyDatabase(administrator, parts[0]!.file);
      if (withKey) writeMasterKey(administrator, parts[1]!.file);
      const manifest = await manifestOf(administrator, parts);
      await writeArchive(file, manifest, parts, (done, whole) => progress.part('writing', done, whole));
      progress.end();
      const { bytes } = { bytes: statSync(file).size };
      administrator.print({ file, bytes, master_key_included: withKey, ...manifest }, [
        `Backup of ${manifest.created} in ${file}, ${bytes} bytes.`,
        withKey
          ? 'It has the master key: keep it as you keep passwords.'
          : `To restore it you also need the master key: ${administrator.config.masterKey === undefined ? join(administrator.config.dataFolder, 'master.key') : 'the value of GATEHOUSE_MASTER_KEY'}.`,
      ]);
    } finally {
      for (const part of parts) rmSync(part.file, { force: true });
    }
  });
}

/** Parts lie beside the file until they are in it, so that they are on the same disk. */
function partsOf({ config }: Administrator, file: string, withKey: boolean): readonly PartFile[] {
  const name = config.databaseUrl === undefined ? 'gatehouse.db' : 'database.dump';
  return [
    { name, file: `${file}.${process.pid}.database` },
    ...(withKey ? [{ name: 'master.key', file: `${file}.${process.pid}.key` } as const] : []),
  ];
}

async function copyDatabase({ config }: Administrator, target: string): Promise<void> {
  writeFileSync(target, '', { mode: 0o600, flag: 'wx' }); // whoever fills it, its mode is ours
  if (config.databaseUrl !== undefined) return dumpPostgres(config.databaseUrl, target);
  // One read transaction: writers go on beside it, and what they commit after its start is not in the copy.
  const database = new DatabaseSync(join(config.dataFolder, 'gatehouse.db'), { timeout: 10_000 });
  try {
    database.prepare('VACUUM INTO ?').run(target);
  } finally {
    database.close();
  }
}

function writeMasterKey({ config }: Administrator, target: string): void {
  const key = loadMasterKey(config.masterKey, config.dataFolder, false);
  writeFileSync(target, `${key.toString('base64')}\n`, { mode: 0o600, flag: 'wx' });
}

async function manifestOf({ config, clock, database }: Administrator, parts: readonly PartFile[]): Promise<Manifest> {
  const ledger = await database.systemRead((queries) => readLedger(queries, database.dialect));
  const described = await Promise.all(parts.map(async ({ name, file }) => ({ name, ...(await digestOf(file)) })));
  const version = packageVersion();
  return {
    format: archiveFormat,
    version,
    dialect: config.databaseUrl === undefined ? 'sqlite' : 'postgres',
    schema: [...ledger.applied].sort((left, right) => left - right),
    level: ledger.level,
    created: new Date(clock.nowMs()).toISOString(),
    parts: described,
  };
}
