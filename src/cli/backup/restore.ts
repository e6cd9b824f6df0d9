// `gatehouse restore`: a backup into an empty data folder or an empty PostgreSQL database. Refuses what it cannot restore whole.
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { sql } from 'kysely';
import { revokeEverything } from '../../administration/revoke-everything.ts';
import type { Config } from '../../config.ts';
import { systemClock } from '../../platform/clock.ts';
import { makePrivate } from '../../platform/private-folder.ts';
import { migrate } from '../../storage/engine/migrations/migrator.ts';
import { findLevelFault } from '../../storage/engine/migrations/schema-level.ts';
import { configOf } from '../config-options.ts';
import { requireFile } from '../documents/document-file.ts';
import { CommandFailure } from '../failure.ts';
import { addProgressOption, createProgress } from '../progress.ts';
import { addCommonOptions, administer, by, type Options, write } from '../registry/administrator.ts';
import { type Manifest, type PartName, readArchive } from './backup-file.ts';
import { restorePostgres } from './postgres-tools.ts';

export function restoreCommand(program: Command): void {
  const command = program
    .command('restore <file>')
    .description('Restore a backup into an empty data folder, or an empty PostgreSQL database')
    .option('--revoke-all', 'end every session, token, code and open sign-in, and make new OIDC signing keys')
    .addHelpText(
      'after',
      '\nWhat was revoked after the backup lives again without --revoke-all. It needs the master key: in the backup, in the data\nfolder as master.key, or by GATEHOUSE_MASTER_KEY.\n\nExample:\n  gatehouse restore /backups/monday.tar --data ./data --revoke-all',
    );
  addProgressOption(addCommonOptions(command)).action(run);
}

async function run(file: string, options: Options): Promise<void> {
  requireFile(file);
  const config = configOf(options);
  const progress = createProgress(options);
  await requireEmpty(config, file);
  makePrivate(config.dataFolder);
  const placeOf = (part: PartName): string => join(config.dataFolder, `${part}.restoring`);
  let manifest: Manifest;
  try {
    manifest = await readArchive(
      file,
      async (found) => requireRestorable(found, config, file, options),
      placeOf,
      (done, whole) => progress.part('restoring', done, whole),
    );
    // The key first: a database without it would refuse to open.
    for (const { name } of [...manifest.parts].reverse()) await place(config, name, placeOf(name));
  } finally {
    for (const part of ['gatehouse.db', 'database.dump', 'master.key'] as const) rmSync(placeOf(part), { force: true });
    progress.end();
  }
  const revoking = options['revokeAll'] === true ? revokeAll(options) : undefined;
  const revoked = await revoking?.catch((error: unknown) => {
    throw withdraw(config, manifest, error);
  });
  const restored = {
    restored: file,
    version: manifest.version,
    created: manifest.created,
    ...(revoked === undefined ? {} : { revoked_grants: revoked }),
  };
  if (options['json'] === true) return write(JSON.stringify(restored));
  write(
    `Restored the backup of ${manifest.created}.${revoked === undefined ? '' : ` Everything issued is revoked, ${revoked} sessions among it.`}`,
  );
  if (!hasKey(config)) write(`Now put the master key where it belongs: ${join(config.dataFolder, 'master.key')}, or GATEHOUSE_MASTER_KEY.`);
  write(`Start it: gatehouse serve${config.databaseUrl === undefined ? ` --data ${config.dataFolder}` : ''}`);
}

const keyFile = 'master.key';
const hasKey = (config: Config): boolean => config.masterKey !== undefined || existsSync(join(config.dataFolder, keyFile));

/** An empty folder (the master key may lie there), and on PostgreSQL a database without tables. */
async function requireEmpty(config: Config, file: string): Promise<void> {
  if (config.databaseUrl === undefined) {
    const found = existsSync(config.dataFolder) ? readdirSync(config.dataFolder).filter((name) => name !== keyFile) : [];
    if (found.length > 0)
      throw new CommandFailure(
        `--data: expected an empty folder, found ${found.slice(0, 5).join(', ')} in ${config.dataFolder}. Try: gatehouse restore ${file} --data ${config.dataFolder}-restored`,
      );
    return;
  }
  const database = await openOwner(config.databaseUrl);
  try {
    const { rows } = await database.systemRead((queries) =>
      sql<{ tables: number; login: string; owner: string }>`
        SELECT (SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public') AS tables, current_user AS login,
          pg_get_userbyid(datdba) AS owner FROM pg_database WHERE datname = current_database()`.execute(queries),
    );
    const { tables, login, owner } = rows[0]!;
    if (tables > 0)
      throw new CommandFailure(`database_url: expected an empty database, found ${tables} tables in it. Make one with: createdb <name>`);
    // What is restored is whose login restores it, and the next release's migrate must own it.
    if (login !== owner)
      throw new CommandFailure(
        `database_url: expected the login of the database's owner, ${owner}, found ${login}. Restore as ${owner}, or first: ALTER DATABASE … OWNER TO "${login}"`,
      );
  } finally {
    await database.close();
  }
}

async function openOwner(url: string) {
  const { openPostgres } = await import('../../storage/engine/dialects/postgres.ts');
  return openPostgres({ url, poolMax: 1, timeoutMs: 10_000, asService: false });
}

function requireRestorable(manifest: Manifest, config: Config, file: string, options: Options): void {
  const dialect = config.databaseUrl === undefined ? 'sqlite' : 'postgres';
  if (manifest.dialect !== dialect) {
    const names = { sqlite: 'the embedded database', postgres: 'PostgreSQL' } as const;
    throw new CommandFailure(
      `${file}: expected a backup of ${names[dialect]}, found one of ${names[manifest.dialect]}. ${dialect === 'sqlite' ? 'Set --database-url' : 'Leave --database-url out'}; between the two, use export and import`,
    );
  }
  const fault = findLevelFault(manifest.level ?? 1);
  if (fault !== undefined) throw new CommandFailure(`${file}: ${fault}`);
  const brings = manifest.parts.some(({ name }) => name === keyFile);
  if (brings && existsSync(join(config.dataFolder, keyFile)))
    throw new CommandFailure(`--data: expected no ${keyFile} in ${config.dataFolder}, because the backup has one, found one. Move it away`);
  if (options['revokeAll'] === true && !brings && !hasKey(config))
    throw new CommandFailure(
      `--revoke-all: expected the master key, found none. Put it in ${join(config.dataFolder, keyFile)}, or set GATEHOUSE_MASTER_KEY`,
    );
}

async function place(config: Config, part: PartName, from: string): Promise<void> {
  if (part !== 'database.dump') return renameSync(from, join(config.dataFolder, part));
  await restorePostgres(config.databaseUrl!, from); // requireRestorable has seen to it
  const owner = await openOwner(config.databaseUrl!);
  try {
    await migrate(owner); // the role's rights are not in a dump
  } finally {
    await owner.close();
  }
}

/** Takes a database back that is restored and not revoked, so that nobody serves it by mistake; one on PostgreSQL is named as such. */
function withdraw(config: Config, { parts }: Manifest, error: unknown): unknown {
  if (config.databaseUrl !== undefined)
    return new CommandFailure(
      `The database is restored, and nothing in it is revoked: do not serve it, empty it and restore again. ${error instanceof Error ? error.message : String(error)}`,
    );
  const brought = parts.map(({ name }) => name);
  for (const name of readdirSync(config.dataFolder))
    if (brought.some((part) => name === part || name.startsWith(`${part}-`))) rmSync(join(config.dataFolder, name));
  return error;
}

async function revokeAll(options: Options): Promise<number> {
  let revoked = 0;
  await administer(options, async (administrator) => {
    revoked = await revokeEverything({ ...administrator, clock: systemClock }, by);
  });
  return revoked;
}
