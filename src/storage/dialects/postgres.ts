// PostgreSQL 15 or newer. Each access is a transaction with the tenant set transaction-locally, so row-level security
// shows exactly one tenant (R5). The connection works as `gatehouse_service`, which owns nothing and bypasses nothing.
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
import { isPreparedSql } from '../statement.ts';

export const serviceRole = 'gatehouse_service';

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

export function openPostgres({ url, poolMax, timeoutMs, asService }: PostgresOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolMax,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: asService ? timeoutMs : undefined,
    statement_timeout: asService ? timeoutMs : undefined,
    idle_in_transaction_session_timeout: 30_000,
    keepAlive: true,
    types,
    ...(asService ? { options: `-c role=${serviceRole}` } : {}),
  });
  pool.on('error', () => undefined); // an idle connection died; the next query opens another
  const transaction = <T>(begin: string, work: (queries: Queries) => Promise<T>): Promise<T> => runTransaction(pool, begin, work);
  return {
    dialect: 'postgres',
    read: (tenant, work) => transaction(`BEGIN READ ONLY; ${setTenant(tenant)}`, work),
    write: (tenant, work) => transaction(`BEGIN; ${setTenant(tenant)}`, work),
    system: (work) => transaction('BEGIN', work),
    ping: async () => {
      await pool.query('SELECT 1').catch((error: unknown) => {
        throw new StorageUnavailable('PostgreSQL does not answer', { cause: error });
      });
    },
    close: () => pool.end(),
  };
}

/** Tenant ids are UUIDs made by us; checked here because this text goes into SQL without a parameter. */
function setTenant(tenant: TenantId): string {
  if (!/^[0-9a-f-]{36}$/.test(tenant)) throw new Error('not a tenant id');
  return `SET LOCAL gatehouse.tenant = '${tenant}'`;
}

async function runTransaction<T>(pool: pg.Pool, begin: string, work: (queries: Queries) => Promise<T>): Promise<T> {
  const client = await connect(pool);
  let broken = false;
  try {
    await client.query(begin);
    const result = await work(queriesOver(client));
    await client.query('COMMIT');
    return result;
  } catch (error) {
    if (isConnectionFault(error)) broken = true;
    else
      await client.query('ROLLBACK').catch(() => {
        broken = true;
      });
    throw broken ? new StorageUnavailable('PostgreSQL did not answer', { cause: error }) : error;
  } finally {
    client.release(broken);
  }
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw new StorageUnavailable('no connection to PostgreSQL', { cause: error });
  }
}

/** True unless the server itself answered with an SQLSTATE that leaves the connection usable. */
function isConnectionFault(error: unknown): boolean {
  if (error instanceof StorageUnavailable) return true;
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown }; // pg sets the SQLSTATE, Node the errno name
  if (error instanceof pg.DatabaseError) return typeof code === 'string' && /^(08|53|57|58)/.test(code);
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code)) return true;
  return /timeout|terminated|Connection/i.test(error.message) && error.constructor === Error && error.stack?.includes('/pg') === true;
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
