// Opens what a command or a server works on: the database, prepared and of this release's schema, and the master key that fits it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, ConfigError } from '../config.ts';
import { createKeyEncryption, type KeyEncryption } from '../crypto/key-encryption.ts';
import { loadMasterKey } from '../crypto/master-key.ts';
import type { Clock } from '../platform/clock.ts';
import { ensurePrivateFile, makePrivate } from '../platform/private-folder.ts';
import type { Database } from '../storage/engine/database.ts';
import { openSqlite } from '../storage/engine/dialects/sqlite.ts';
import { createWriteTurn } from '../storage/engine/dialects/write-turn.ts';
import { type FolderLock, lockFolder } from '../storage/engine/folder-lock.ts';
import { findEngineFault } from '../storage/engine/foreign-engines.ts';
import { findSchemaFault, readLedger } from '../storage/engine/migrations/ledger.ts';
import { migrate } from '../storage/engine/migrations/migrator.ts';
import { findLevelFault } from '../storage/engine/migrations/schema-level.ts';
import { findRowSecurityFault } from '../storage/engine/row-security.ts';
import { refusingClosedTenants } from '../storage/engine/tenant-closed.ts';
import { withWriteProbe } from '../storage/engine/write-probe.ts';
import { checkMasterKey, hasMasterKeyCheck } from './bootstrap.ts';

export interface Store {
  readonly database: Database;
  readonly encryption: KeyEncryption;
  readonly close: () => Promise<void>;
}

interface StoreOptions {
  /** Takes the folder lock of the embedded database. */
  readonly serving: boolean;
  /** Shared with the threads of this process that write the embedded database too. */
  readonly turnMemory?: SharedArrayBuffer | undefined;
  /** Makes and prepares nothing: what is not there, or not of this release, is an error. */
  readonly asIs?: boolean;
}

/** Whether anything of the deployment lies in its data folder. */
export const usesDataFolder = ({ databaseUrl, masterKey }: Config): boolean => databaseUrl === undefined || masterKey === undefined;

/** Opens database and master key for a command, a server or a thread of it. */
export async function openStore(config: Config, environment: { readonly clock: Clock }, options: StoreOptions): Promise<Store> {
  if (options.asIs === true && config.databaseUrl === undefined && !existsSync(databaseFile(config)))
    throw new ConfigError('data: expected a database in that folder, found none');
  if (usesDataFolder(config) && options.asIs !== true) makePrivate(config.dataFolder);
  let lock: FolderLock | undefined;
  if (config.databaseUrl === undefined && options.serving) lock = lockFolder(config.dataFolder);
  let database: Database | undefined;
  const close = async (): Promise<void> => {
    await database?.close();
    lock?.release();
  };
  try {
    database = withWriteProbe(await openDatabase(config, environment, options));
    const masterKey = loadMasterKey(config.masterKey, config.dataFolder, !(await hasMasterKeyCheck(database)));
    const encryption = createKeyEncryption(masterKey);
    await checkMasterKey(database, encryption);
    return { database, encryption, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const databaseFile = ({ dataFolder }: Config): string => join(dataFolder, 'gatehouse.db');

async function openDatabase(config: Config, { clock }: { readonly clock: Clock }, { turnMemory, asIs }: StoreOptions): Promise<Database> {
  if (config.databaseUrl === undefined) {
    const turn = turnMemory === undefined ? undefined : createWriteTurn(turnMemory);
    const database = openSqlite({ file: ensurePrivateFile(databaseFile(config)), clock, turn });
    try {
      const { level } = await database.systemRead((queries) => readLedger(queries, database.dialect));
      const fault = asIs === true ? await findSchemaFault(database) : findLevelFault(level);
      if (fault !== undefined) throw new ConfigError(`data: ${fault}`);
      if (asIs !== true) await migrate(database);
      return refusingClosedTenants(database);
    } catch (error) {
      await database.close();
      throw error;
    }
  }
  const { openPostgres } = await import('../storage/engine/dialects/postgres.ts');
  const database = openPostgres({
    url: config.databaseUrl,
    poolMax: config.databasePoolMax,
    timeoutMs: config.databaseTimeoutMs,
    asService: true,
    isPreparing: config.databasePrepare,
  });
  try {
    await assertPrepared(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Refuses to serve a PostgreSQL that is away, not migrated, or whose row-level security would not hold (R5). */
async function assertPrepared(database: Database): Promise<void> {
  const engineFault = await database.systemRead(findEngineFault).catch(() => undefined); // what cannot be asked is told below
  if (engineFault !== undefined) throw new ConfigError(`database_url: ${engineFault}`);
  const schemaFault = await findSchemaFault(database).catch((error: unknown) => {
    const advice = isAnswerOfPostgres(error) ? 'Run: gatehouse migrate' : 'Check database_url, and that PostgreSQL runs';
    throw new ConfigError(`database_url: expected a PostgreSQL prepared for Gatehouse, found: ${causeOf(error)}. ${advice}`);
  });
  if (schemaFault !== undefined) throw new ConfigError(`database_url: ${schemaFault}`);
  const fault = await findRowSecurityFault(database);
  if (fault !== undefined) throw new ConfigError(`database_url: ${fault}. Run: gatehouse migrate`);
}

/** True when the server itself refused (it has an SQLSTATE), false when it could not be reached. */
function isAnswerOfPostgres(error: unknown): boolean {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return typeof (cause as { severity?: unknown }).severity === 'string';
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}
