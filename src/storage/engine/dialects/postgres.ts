// PostgreSQL 15 or newer. Each access is a transaction with the tenant set transaction-locally, so row-level security
// shows exactly one tenant (R5). The connection works as `gatehouse_service`, which owns nothing and bypasses nothing.
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type CompiledQuery, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, type QueryResult, sql } from 'kysely';
import pg from 'pg';
import type { TenantId } from '../../../domain/ids.ts';
import { type Database, type Queries, StorageUnavailable } from '../database.ts';
import { serviceRole } from '../service-role.ts';
import { isPreparedSql } from '../statement.ts';
import { closedTenantCode, TenantClosed } from '../tenant-closed.ts';
import { kyselyOver } from './kysely-over.ts';
import { openHosts, type PostgresHosts } from './postgres-hosts.ts';

interface PostgresOptions {
  readonly url: string;
  readonly poolMax: number;
  /** Milliseconds after which a query or a wait for a connection is given up with StorageUnavailable. */
  readonly timeoutMs: number;
  /** False only for migrations, which run as the owner. */
  readonly asService: boolean;
  /** False where a pooler of transactions knows no named statements. */
  readonly isPreparing?: boolean;
}

/** Waiting accesses at most; more are refused at once, so that a database that stalls cannot fill our memory. */
const waitingMax = 5000;
const watchTimeoutMs = 1000;

/** A transaction left alone by a stopped node must not hold its locks. */
const idleTimeoutMs = 30_000;

export function openPostgres({ url, poolMax, timeoutMs, asService, isPreparing = true }: PostgresOptions): Database {
  const hosts = openHosts(url, poolMax, timeoutMs);
  const watched = openHosts(url, 1, watchTimeoutMs);
  const usual: Access = { hosts, timeoutMs: asService ? timeoutMs : Number.POSITIVE_INFINITY, isPreparing };
  // Everything of a transaction is set in it, in one message that travels with its first statement.
  const settings = (ms: number): string =>
    `SET LOCAL idle_in_transaction_session_timeout = ${idleTimeoutMs}${asService ? `; SET LOCAL ROLE ${serviceRole}; SET LOCAL statement_timeout = ${ms}` : ''}`;
  const begin = `BEGIN; ${settings(timeoutMs)}`;
  const beginRead = `BEGIN READ ONLY; ${settings(timeoutMs)}`;
  const watching: Access = { hosts: watched, timeoutMs: watchTimeoutMs, isPreparing };
  return {
    dialect: 'postgres',
    read: (tenant, work) => runRead(usual, `${beginRead}; ${setTenant(tenant)}`, work),
    readEach: (tenants, work) =>
      runRead(usual, beginRead, async (queries) => {
        const results = [];
        for (const tenant of tenants) {
          await sql`SELECT set_config('gatehouse.tenant', ${tenant}, true)`.execute(queries);
          results.push(await work(queries, tenant));
        }
        return results;
      }),
    write: (tenant, work) => runWrite(usual, `${begin}; ${setTenant(tenant)}${asService ? enterTenant(tenant) : ''}`, work),
    writeClosed: (tenant, work) => runWrite(usual, `${begin}; ${setTenant(tenant)}`, work),
    system: (work) => runWrite(usual, begin, work),
    systemRead: (work) => runRead(usual, beginRead, work),
    watch: (work) => runRead(watching, `BEGIN READ ONLY; ${settings(watchTimeoutMs)}`, work),
    waitingMs: hosts.waitingMs,
    isReadOnly: () => false, // known to whoever wraps this (write-probe.ts)
    connectionCounts: () => ({ ...hosts.connectionCounts(), waiting: hosts.waitingCount() }),
    alone: (statement) => runAlone(hosts, statement),
    ping: () => runRead(usual, beginRead, async () => undefined),
    close: async () => {
      await Promise.all([hosts.end(), watched.end()]);
    },
  };
}

interface Access {
  readonly hosts: PostgresHosts;
  readonly timeoutMs: number;
  readonly isPreparing: boolean;
}

async function runAlone(hosts: PostgresHosts, statement: string): Promise<void> {
  const client = await hosts.connect();
  try {
    await client.query(statement);
  } finally {
    client.release();
  }
}

/** Tenant ids are UUIDs made by us; checked here because this text goes into SQL without a parameter. */
function setTenant(tenant: TenantId): string {
  if (!/^[0-9a-f-]{36}$/.test(tenant)) throw new Error('not a tenant id');
  return `SET LOCAL gatehouse.tenant = '${tenant}'`;
}

/** Fails while the tenant is closed; migrations, which may be older than the function, write to every tenant. */
const enterTenant = (tenant: TenantId): string => `; SELECT gatehouse_enter('${tenant}')`;

/** A transaction that must be known to be committed before its result is given (R4). */
const runWrite = <T>(access: Access, begin: string, work: (queries: Queries) => Promise<T>): Promise<T> =>
  runAgain(() => tryWrite(access, begin, work));

/** A read-only transaction; its end is not waited for, because nothing depends on it. */
const runRead = <T>(access: Access, begin: string, work: (queries: Queries) => Promise<T>): Promise<T> =>
  runAgain(() => tryRead(access, begin, work));

/** More than migrations of later releases, or writers that cross, beside one transaction. */
const runsAgainMax = 3;
/** In this time the other one mostly has what it waited for: who begins again at once may be there before it, and meet it again. */
const crossedPauseMs = 20;

/** Runs a transaction that was rolled back for what is gone when it runs again. */
async function runAgain<T>(run: () => Promise<T>): Promise<T> {
  for (let turn = 1; ; turn += 1) {
    try {
      return await run();
    } catch (error) {
      if (turn > runsAgainMax || !(isStalePlan(error) || isDeadlock(error))) throw error;
      if (isStalePlan(error))
        names.clear(); // prepared anew, it runs
      else await wait(turn * crossedPauseMs);
    }
  }
}

/** PostgreSQL's "cached plan must not change result type": a column was added to a table of which a statement gives every column. */
const isStalePlan = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === '0A000' && error.routine === 'RevalidateCachedQuery';

/** Two transactions waited for rows of one another; PostgreSQL ended this one, so the other has gone on. */
const isDeadlock = (error: unknown): boolean => error instanceof StorageUnavailable && codeOf(error.cause) === '40P01';

async function tryWrite<T>(access: Access, begin: string, work: (queries: Queries) => Promise<T>): Promise<T> {
  const session = await openSession(access);
  const begun = session.send(begin);
  try {
    const result = await work(session.queries);
    await begun;
    const { command } = await session.send('COMMIT');
    // A transaction in which a statement failed is rolled back by its COMMIT without an error.
    if (command !== 'COMMIT') throw new Error('a statement of the transaction failed and its error was swallowed');
    session.end(false);
    return result;
  } catch (error) {
    const cause = await firstCause(begun, error);
    if (codeOf(cause) === readOnlyCode) session.drop();
    throw await abandon(session, cause);
  }
}

async function tryRead<T>(access: Access, begin: string, work: (queries: Queries) => Promise<T>): Promise<T> {
  const session = await openSession(access);
  const begun = session.send(begin);
  try {
    const result = await work(session.queries);
    await begun;
    void session.send('COMMIT').then(
      () => session.end(false),
      () => session.end(true),
    );
    return result;
  } catch (error) {
    throw await abandon(session, await firstCause(begun, error));
  }
}

/** What comes after a beginning that failed says only that it did. */
const firstCause = (begun: Promise<unknown>, error: unknown): Promise<unknown> =>
  begun.then(
    () => error,
    (first: unknown) => first,
  );

/** Rolls back and gives the error to throw: StorageUnavailable when the connection or the server is what failed. */
async function abandon(session: Session, error: unknown): Promise<unknown> {
  const rolledBack = await session.send('ROLLBACK').then(
    () => true,
    () => false,
  );
  session.end(!rolledBack);
  if (rolledBack && codeOf(error) === closedTenantCode) return new TenantClosed({ cause: error });
  return !rolledBack || isServerFault(error) ? new StorageUnavailable('PostgreSQL could not answer', { cause: error }) : error;
}

/** SQLSTATE classes that are no fault of the statement: connection, transaction rollback, resources, operator, system; a read-only standby. */
function isServerFault(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && /^(08|25P03|25006|40|53|55P03|57|58)/.test(code);
}

/** A server that turned into a standby. */
const readOnlyCode = '25006';
const codeOf = (error: unknown): string | undefined => (error instanceof pg.DatabaseError ? error.code : undefined);

interface Session {
  readonly queries: Queries;
  readonly send: (text: string) => Promise<pg.QueryResult>;
  /** Gives the connection back, or drops it. */
  readonly end: (broken: boolean) => void;
  /** Drops every connection: the server may not be written to any more. */
  readonly drop: () => void;
}

/**
 * Takes a connection and watches it: when PostgreSQL stays silent for `timeoutMs` (waiting for the connection included) the
 * connection is cut, which fails the statement that waits on it and every later one.
 */
async function openSession({ hosts, timeoutMs, isPreparing }: Access): Promise<Session> {
  if (hosts.waitingCount() >= waitingMax) throw new StorageUnavailable('too many accesses wait for PostgreSQL');
  const startedAt = performance.now();
  const client = await connect(hosts, timeoutMs);
  const waitedMs = performance.now() - startedAt;
  let ended = false;
  const stopWatching = cutWhenSilent(client, timeoutMs, Math.max(timeoutMs - waitedMs, timeoutMs / 8));
  return {
    queries: queriesOver(client, isPreparing),
    drop: () => hosts.drop(client),
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

async function connect(hosts: PostgresHosts, sessionTimeoutMs: number): Promise<pg.PoolClient> {
  const connecting = hosts.connect();
  if (sessionTimeoutMs === Number.POSITIVE_INFINITY) return connecting.catch(unreachable);
  const { promise: late, reject: giveUp } = Promise.withResolvers<never>();
  let abandoned = false;
  const timer = setTimeout(() => {
    abandoned = true;
    giveUp(new StorageUnavailable('no connection to PostgreSQL in time'));
  }, sessionTimeoutMs);
  connecting.then(
    (client) => (abandoned ? client.release() : clearTimeout(timer)),
    () => clearTimeout(timer),
  );
  return Promise.race([connecting.catch(unreachable), late]);
}

function unreachable(error: unknown): never {
  throw new StorageUnavailable('no connection to PostgreSQL', { cause: error });
}

/** Cuts the connection when no byte arrives from the server for `sessionTimeoutMs`, at first `firstMs`. Gives the function that ends the watch. */
function cutWhenSilent(client: pg.PoolClient, sessionTimeoutMs: number, firstMs: number): () => void {
  if (sessionTimeoutMs === Number.POSITIVE_INFINITY) return () => undefined;
  // pg's types leave out the connection of a client; its stream is the socket.
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  let bytesSeen = stream.bytesRead;
  const check = (): void => {
    if (stream.bytesRead === bytesSeen) stream.destroy(new Error('PostgreSQL is silent'));
    else {
      bytesSeen = stream.bytesRead;
      timer = setTimeout(checkSoon, sessionTimeoutMs);
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

function queriesOver(client: pg.PoolClient, isPreparing: boolean): Queries {
  const known = queriesByClient.get(client);
  if (known !== undefined) return known;
  const executeQuery = async <R>(query: CompiledQuery): Promise<QueryResult<R>> => {
    const values = query.parameters as unknown[];
    const result = await client.query({
      text: query.sql,
      values,
      ...(isPreparing && isPreparedSql(query.sql) ? { name: preparedName(query.sql) } : {}),
    });
    return { rows: result.rows as R[], numAffectedRows: BigInt(result.rowCount ?? 0) };
  };
  const queries = kyselyOver(executeQuery, {
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  });
  queriesByClient.set(client, queries);
  return queries;
}

const names = new Map<string, string>();
let namesMade = 0;

function preparedName(sql: string): string {
  let name = names.get(sql);
  if (name === undefined) {
    name = `gh${namesMade}`;
    namesMade += 1;
    names.set(sql, name);
  }
  return name;
}
