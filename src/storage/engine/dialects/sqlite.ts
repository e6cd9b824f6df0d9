// The embedded database: node:sqlite in WAL mode with synchronous=FULL. One connection writes (one transaction after another,
// those that wait together in one durable commit) and, between its transactions, reads: it knows its pages, while a second
// connection forgets all of them with every commit of the first. The second reads committed state while the first is in a
// transaction. Statements are prepared once.
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { type QueryResult, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { Clock } from '../../../platform/clock.ts';
import { type Database, type Queries, StorageUnavailable } from '../database.ts';
import { runDirectly } from '../statement.ts';
import { createGroupCommit } from './group-commit.ts';
import { kyselyOver } from './kysely-over.ts';
import type { WriteTurn } from './write-turn.ts';

const statementsCachedMax = 1000;
const busyTimeoutMs = 5000;
/** Pages of 4 KiB in the log before they are carried into the database file: a page written many times is carried once. */
const walPagesMax = 8192;

interface SqliteOptions {
  /** Path of the database file; created when missing. */
  readonly file: string;
  readonly clock: Clock;
  /** Among several threads of this process that write. */
  readonly turn?: WriteTurn | undefined;
}

export function openSqlite({ file, clock, turn }: SqliteOptions): Database {
  const writer = openConnection(file, clock);
  const reader = openConnection(file, clock);
  const snapshot = createTurnSnapshot(writer);
  let isWriting = false;
  const writeQueries = queriesOver(() => writer);
  const readQueries = queriesOver((sql) => {
    if (!readVerbs.test(sql)) throw new Error(`Database.read was to write: ${sql.slice(0, 40)}`);
    if (isWriting || tellsOfOthers.test(sql)) return reader;
    snapshot.begin();
    return writer;
  });
  const inGroup = createGroupCommit({
    takeTurn: turn?.take,
    run: (sql) => {
      if (sql === 'BEGIN IMMEDIATE') snapshot.end();
      guard(() => writer.run(sql));
      if (transactionEdges.has(sql)) isWriting = writer.database.isTransaction;
    },
    isInTransaction: () => {
      isWriting = writer.database.isTransaction;
      return isWriting;
    },
  });
  const transaction = <T>(work: (queries: Queries) => Promise<T>): Promise<T> => inGroup(() => work(writeQueries));
  return {
    dialect: 'sqlite',
    read: (_tenant, work) => work(readQueries),
    readEach: async (tenants, work) => {
      const results = [];
      for (const tenant of tenants) results.push(await work(readQueries, tenant));
      return results;
    },
    write: (_tenant, work) => transaction(work),
    writeClosed: (_tenant, work) => transaction(work),
    system: transaction,
    systemRead: (work) => work(readQueries),
    // A process that was stopped within a turn goes on in it: what was read at its beginning may be long past.
    watch: (work) => {
      snapshot.end();
      return work(readQueries);
    },
    waitingMs: () => 0,
    isReadOnly: () => false,
    connectionCounts: () => ({ open: 0, idle: 0, waiting: 0 }),
    alone: () => Promise.reject(new Error('the embedded database changes its tables in transactions')),
    ping: async () => guard(() => reader.run('SELECT 1')),
    close: async () => {
      await inGroup(async () => undefined);
      snapshot.end();
      writer.database.close();
      reader.database.close();
    },
  };
}

const readVerbs = /^\s*(?:select|with|explain|pragma)\b/i;
/** Asked of the connection that writes it would not tell of our own commits. */
const tellsOfOthers = /^\s*pragma\s+data_version/i;
/** What begins or ends the transaction of a group. */
const transactionEdges: ReadonlySet<string> = new Set(['BEGIN IMMEDIATE', 'COMMIT', 'ROLLBACK']);

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
  database.exec(
    `PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-16384; PRAGMA wal_autocheckpoint=${walPagesMax};`,
  );
  let statementMs: number | undefined; // one reading a statement, as PostgreSQL's statement_timestamp()
  database.function('gatehouse_now_ms', { deterministic: false }, () => (statementMs ??= clock.nowMs()));
  const cache = new Map<string, Prepared>();
  const prepare = (sql: string): Prepared => {
    statementMs = undefined;
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

/** Milliseconds after which a read asks for the present again: a process that was stopped within a turn goes on in it. */
const snapshotMsMax = 20;

/**
 * The read transaction that the reads of one turn of the event loop share: SQLite takes and gives back its locks once, not with
 * every statement. It begins with the first read and ends with the turn, when a group of writers begins, or once it is old.
 */
function createTurnSnapshot(connection: Connection): { readonly begin: () => void; readonly end: () => void } {
  let isOpen = false;
  let beganMs = 0;
  const end = (): void => {
    if (!isOpen) return;
    isOpen = false;
    if (connection.database.isTransaction) connection.run('COMMIT'); // SQLite ends it by itself after an I/O error
  };
  const begin = (): void => {
    const nowMs = performance.now();
    if (isOpen && nowMs - beganMs <= snapshotMsMax) return;
    end();
    connection.run('BEGIN');
    isOpen = true;
    beganMs = nowMs;
    setImmediate(end);
  };
  return { begin, end };
}

/** @param connectionFor where a statement runs, asked for each */
function queriesOver(connectionFor: (sql: string) => Connection): Queries {
  // Kysely's parameters are unknown[]; every column of ours is text, integer or blob.
  const run = <R>(sql: string, parameters: readonly unknown[]): Promise<QueryResult<R>> => {
    try {
      return Promise.resolve(execute<R>(connectionFor(sql), sql, parameters as SQLInputValue[]));
    } catch (error) {
      return Promise.reject(asUnavailable(error));
    }
  };
  const queries = kyselyOver(({ sql, parameters }) => run(sql, parameters), {
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
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
