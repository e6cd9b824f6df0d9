// PostgreSQL 15 or newer. Each access is a transaction with the tenant set transaction-locally, so row-level security
// shows exactly one tenant (R5). The connection works as `gatehouse_service`, which owns nothing and bypasses nothing.
import type { Socket } from 'node:net';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import pg from 'pg';
import type { TenantId } from '../../domain/ids.ts';
import { type Database, type Queries, StorageUnavailable } from '../database.ts';
import type { Schema } from '../schema.ts';
import { serviceRole } from '../service-role.ts';
import { isPreparedSql } from '../statement.ts';

export interface PostgresOptions {
  readonly url: string;
  readonly poolMax: number;
  /** Milliseconds after which a query or a wait for a connection is given up with StorageUnavailable. */
  readonly timeoutMs: number;
  /** False only for migrations, which run as the owner. */
  readonly asService: boolean;
}

const int8Oid = 20;
const numericOid = 1700;
const types = new pg.TypeOverrides();
// Epoch milliseconds and counts stay far below 2^53.
types.setTypeParser(int8Oid, (text: string) => Number(text));
types.setTypeParser(numericOid, (text: string) => Number(text));

/** Waiting accesses at most; more are refused at once, so that a database that stalls cannot fill our memory. */
const waitingMax = 5000;

export function openPostgres({ url, poolMax, timeoutMs, asService }: PostgresOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolMax,
    connectionTimeoutMillis: timeoutMs,
    statement_timeout: asService ? timeoutMs : undefined,
    idle_in_transaction_session_timeout: 30_000,
    keepAlive: true,
    pipeline: true, // BEGIN travels with the first statement, so a read of one statement costs one round trip
    types,
    ...(asService ? { options: `-c role=${serviceRole}` } : {}),
  });
  // A connection that dies tells whoever waits on it, and the pool; without listeners the event would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => void client.on('error', () => undefined));
  const patienceMs = asService ? timeoutMs : Number.POSITIVE_INFINITY;
  const read = <T>(begin: string, work: (queries: Queries) => Promise<T>): Promise<T> => runRead(pool, patienceMs, begin, work);
  const write = <T>(begin: string, work: (queries: Queries) => Promise<T>): Promise<T> => runWrite(pool, patienceMs, begin, work);
  return {
    dialect: 'postgres',
    read: (tenant, work) => read(`BEGIN READ ONLY; ${setTenant(tenant)}`, work),
    write: (tenant, work) => write(`BEGIN; ${setTenant(tenant)}`, work),
    system: (work) => write('BEGIN', work),
    systemRead: (work) => read('BEGIN READ ONLY', work),
    ping: () => read('BEGIN READ ONLY', async () => undefined),
    close: () => pool.end(),
  };
}

/** Tenant ids are UUIDs made by us; checked here because this text goes into SQL without a parameter. */
function setTenant(tenant: TenantId): string {
  if (!/^[0-9a-f-]{36}$/.test(tenant)) throw new Error('not a tenant id');
  return `SET LOCAL gatehouse.tenant = '${tenant}'`;
}

/** A transaction that must be known to be committed before its result is given (R4). */
async function runWrite<T>(pool: pg.Pool, patienceMs: number, begin: string, work: (queries: Queries) => Promise<T>): Promise<T> {
  const session = await openSession(pool, patienceMs);
  try {
    const begun = session.send(begin);
    const result = await work(session.queries);
    await begun;
    const { command } = await session.send('COMMIT');
    // A transaction in which a statement failed is rolled back by its COMMIT without an error.
    if (command !== 'COMMIT') throw new Error('a statement of the transaction failed and its error was swallowed');
    session.end(false);
    return result;
  } catch (error) {
    throw await abandon(session, error);
  }
}

/** A read-only transaction; its end is not waited for, because nothing depends on it. */
async function runRead<T>(pool: pg.Pool, patienceMs: number, begin: string, work: (queries: Queries) => Promise<T>): Promise<T> {
  const session = await openSession(pool, patienceMs);
  try {
    const begun = session.send(begin);
    const result = await work(session.queries);
    await begun;
    void session.send('COMMIT').then(
      () => session.end(false),
      () => session.end(true),
    );
    return result;
  } catch (error) {
    throw await abandon(session, error);
  }
}

/** Rolls back and gives the error to throw: StorageUnavailable when the connection or the server is what failed. */
async function abandon(session: Session, error: unknown): Promise<unknown> {
  const rolledBack = await session.send('ROLLBACK').then(
    () => true,
    () => false,
  );
  session.end(!rolledBack);
  return !rolledBack || isServerFault(error) ? new StorageUnavailable('PostgreSQL could not answer', { cause: error }) : error;
}

/** SQLSTATE classes that are no fault of the statement: connection, transaction rollback, resources, operator, system; a read-only standby. */
function isServerFault(error: unknown): boolean {
  const code = error instanceof pg.DatabaseError ? error.code : undefined;
  return code !== undefined && /^(08|25P03|25006|40|53|55P03|57|58)/.test(code);
}

interface Session {
  readonly queries: Queries;
  readonly send: (text: string) => Promise<pg.QueryResult>;
  /** Gives the connection back, or drops it. */
  readonly end: (broken: boolean) => void;
}

/**
 * Takes a connection and watches it: when PostgreSQL stays silent for `patienceMs` (waiting for the connection included) the
 * connection is cut, which fails the statement that waits on it and every later one.
 */
async function openSession(pool: pg.Pool, patienceMs: number): Promise<Session> {
  if (pool.waitingCount >= waitingMax) throw new StorageUnavailable('too many accesses wait for PostgreSQL');
  const startedAt = performance.now();
  const client = await connect(pool, patienceMs);
  const waitedMs = performance.now() - startedAt;
  let ended = false;
  const stopWatching = watch(client, patienceMs, Math.max(patienceMs - waitedMs, patienceMs / 8));
  return {
    queries: queriesOver(client),
    send: (text) => {
      const result = client.query(text);
      result.catch(() => undefined); // whoever waits for it still sees it fail; nobody may, when an earlier one failed
      return result;
    },
    end: (broken) => {
      if (ended) return;
      ended = true;
      stopWatching();
      client.release(broken);
    },
  };
}

async function connect(pool: pg.Pool, patienceMs: number): Promise<pg.PoolClient> {
  const connecting = pool.connect();
  if (patienceMs === Number.POSITIVE_INFINITY) return connecting.catch(unreachable);
  const { promise: late, reject: giveUp } = Promise.withResolvers<never>();
  let abandoned = false;
  const timer = setTimeout(() => {
    abandoned = true;
    giveUp(new StorageUnavailable('no connection to PostgreSQL in time'));
  }, patienceMs);
  connecting.then(
    (client) => (abandoned ? client.release() : clearTimeout(timer)),
    () => clearTimeout(timer),
  );
  return Promise.race([connecting.catch(unreachable), late]);
}

function unreachable(error: unknown): never {
  throw new StorageUnavailable('no connection to PostgreSQL', { cause: error });
}

/** Cuts the connection when no byte arrives from the server for `patienceMs`, at first `firstMs`. Gives the function that ends the watch. */
function watch(client: pg.PoolClient, patienceMs: number, firstMs: number): () => void {
  if (patienceMs === Number.POSITIVE_INFINITY) return () => undefined;
  // pg's types leave out the connection of a client; its stream is the socket.
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  let bytesSeen = stream.bytesRead;
  const check = (): void => {
    if (stream.bytesRead === bytesSeen) stream.destroy(new Error('PostgreSQL is silent'));
    else {
      bytesSeen = stream.bytesRead;
      timer = setTimeout(checkSoon, patienceMs);
    }
  };
  // After a busy stretch of ours, timers run before arrived bytes are read: let them be read first.
  const checkSoon = (): void => void setImmediate(() => !stopped && check());
  let stopped = false;
  let timer = setTimeout(checkSoon, firstMs);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

const queriesByClient = new WeakMap<pg.PoolClient, Queries>();

function queriesOver(client: pg.PoolClient): Queries {
  const known = queriesByClient.get(client);
  if (known !== undefined) return known;
  const connection: DatabaseConnection = {
    executeQuery: async <R>(query: CompiledQuery): Promise<QueryResult<R>> => {
      const values = query.parameters as unknown[];
      const result = await client.query({
        text: query.sql,
        values,
        ...(isPreparedSql(query.sql) ? { name: preparedName(query.sql) } : {}),
      });
      return { rows: result.rows as R[], numAffectedRows: BigInt(result.rowCount ?? 0) };
    },
    streamQuery: () => {
      throw new Error('streaming is done by keyset pages, not by cursors');
    },
  };
  const driver: Driver = {
    init: async () => undefined,
    acquireConnection: async () => connection,
    releaseConnection: async () => undefined,
    beginTransaction: () => Promise.reject(new Error('transactions are opened by Database.write')),
    commitTransaction: async () => undefined,
    rollbackTransaction: async () => undefined,
    destroy: async () => undefined,
  };
  const queries = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => driver,
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  queriesByClient.set(client, queries);
  return queries;
}

const names = new Map<string, string>();

function preparedName(sql: string): string {
  let name = names.get(sql);
  if (name === undefined) {
    name = `gh${names.size}`;
    names.set(sql, name);
  }
  return name;
}
