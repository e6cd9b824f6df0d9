// The embedded database: node:sqlite in WAL mode with synchronous=FULL. Two connections: one writes (one transaction after
// another, those that wait together in one durable commit), one reads committed state beside it. Statements are prepared once.
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Clock } from '../../platform/clock.ts';
import { type Database, type Queries, StorageUnavailable } from '../database.ts';
import type { Schema } from '../schema.ts';
import { runDirectly } from '../statement.ts';
import { createGroupCommit } from './group-commit.ts';

const statementsCachedMax = 1000;
const busyTimeoutMs = 5000;

export interface SqliteOptions {
  /** Path of the database file; created when missing. */
  readonly file: string;
  readonly clock: Clock;
}

export function openSqlite({ file, clock }: SqliteOptions): Database {
  const writer = openConnection(file, clock);
  const reader = openConnection(file, clock);
  const snapshot = createTurnSnapshot(reader);
  const writeQueries = queriesOver(writer);
  const readQueries = queriesOver(reader, snapshot.begin);
  const inGroup = createGroupCommit({
    run: (sql) => {
      if (sql === 'COMMIT') snapshot.end(); // what is read from now on sees it
      guard(() => writer.run(sql));
    },
    isInTransaction: () => writer.database.isTransaction,
  });
  const transaction = <T>(work: (queries: Queries) => Promise<T>): Promise<T> => inGroup(() => work(writeQueries));
  return {
    dialect: 'sqlite',
    read: (_tenant, work) => work(readQueries),
    write: (_tenant, work) => transaction(work),
    system: transaction,
    systemRead: (work) => work(readQueries),
    ping: async () => guard(() => reader.run('SELECT 1')),
    close: async () => {
      await inGroup(async () => undefined);
      snapshot.end();
      writer.database.close();
      reader.database.close();
    },
  };
}

interface Connection {
  readonly database: DatabaseSync;
  readonly prepare: (sql: string) => Prepared;
  readonly run: (sql: string) => void;
}

interface Prepared {
  readonly statement: StatementSync;
  readonly returnsRows: boolean;
}

function openConnection(file: string, clock: Clock): Connection {
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: true, timeout: busyTimeoutMs });
  database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-16384;');
  database.function('gatehouse_now_ms', { deterministic: false }, () => clock.nowMs());
  const cache = new Map<string, Prepared>();
  const prepare = (sql: string): Prepared => {
    const known = cache.get(sql);
    if (known !== undefined) return known;
    if (cache.size >= statementsCachedMax) cache.delete(cache.keys().next().value!);
    const statement = database.prepare(sql);
    const prepared = { statement, returnsRows: statement.columns().length > 0 };
    cache.set(sql, prepared);
    return prepared;
  };
  return { database, prepare, run: (sql) => void prepare(sql).statement.run() };
}

/** SQLite primary result codes that mean "cannot answer now": BUSY, LOCKED, IOERR, CORRUPT is a fault, FULL, CANTOPEN, READONLY. */
const unavailableCodes: ReadonlySet<number> = new Set([5, 6, 8, 10, 13, 14]);

function guard<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asUnavailable(error);
  }
}

function asUnavailable(error: unknown): unknown {
  // node:sqlite puts the extended result code in `errcode`; the low byte is the primary code.
  const code = (error as { errcode?: number }).errcode;
  const isUnavailable = code !== undefined && unavailableCodes.has(code & 0xff);
  return isUnavailable ? new StorageUnavailable('the embedded database cannot answer', { cause: error }) : error;
}

/**
 * The read transaction that the reads of one turn of the event loop share: SQLite takes and gives back its locks once, not with
 * every statement. It begins with the first read and ends with the turn, or with a commit of ours.
 */
function createTurnSnapshot(reader: Connection): { readonly begin: () => void; readonly end: () => void } {
  let isOpen = false;
  const end = (): void => {
    if (!isOpen) return;
    isOpen = false;
    if (reader.database.isTransaction) reader.run('COMMIT'); // SQLite ends it by itself after an I/O error
  };
  const begin = (): void => {
    if (isOpen) return;
    reader.run('BEGIN');
    isOpen = true;
    setImmediate(end);
  };
  return { begin, end };
}

/** @param beforeRun called before each statement */
function queriesOver(connection: Connection, beforeRun?: () => void): Queries {
  // Kysely's parameters are unknown[]; every column of ours is text, integer or blob.
  const run = <R>(sql: string, parameters: readonly unknown[]): Promise<QueryResult<R>> => {
    try {
      beforeRun?.();
      return Promise.resolve(execute<R>(connection, sql, parameters as SQLInputValue[]));
    } catch (error) {
      return Promise.reject(asUnavailable(error));
    }
  };
  const databaseConnection: DatabaseConnection = {
    executeQuery: ({ sql, parameters }: CompiledQuery) => run(sql, parameters),
    streamQuery: () => {
      throw new Error('streaming is done by keyset pages, not by cursors');
    },
  };
  const driver: Driver = {
    init: async () => undefined,
    acquireConnection: async () => databaseConnection,
    releaseConnection: async () => undefined,
    beginTransaction: () => Promise.reject(new Error('transactions are opened by Database.write')),
    commitTransaction: async () => undefined,
    rollbackTransaction: async () => undefined,
    destroy: async () => undefined,
  };
  const queries = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => driver,
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
  runDirectly(queries, run);
  return queries;
}

function execute<R>(connection: Connection, sql: string, parameters: SQLInputValue[]): QueryResult<R> {
  const { statement, returnsRows } = connection.prepare(sql);
  if (returnsRows) {
    const rows = statement.all(...parameters) as R[];
    return { rows, numAffectedRows: BigInt(rows.length) };
  }
  const { changes } = statement.run(...parameters);
  return { rows: [], numAffectedRows: BigInt(changes) };
}
