// Where a PostgreSQL URL leads: one host or several, of which one may be written to. Every host has a pool of its own; a new
// connection goes to the last host that was good, then to the others. A standby, told by itself when it is connected to, is none.
// Nothing is set at the start of a connection, so that a pooler of transactions (PgBouncer) may give it to anybody.
import pg from 'pg';
import { hostUrlsOf } from '../../../platform/database-url.ts';
import { serverTypes } from './postgres-types.ts';

export interface PostgresHosts {
  /** A connection to the server that may be written to. */
  readonly connect: () => Promise<pg.PoolClient>;
  readonly waitingCount: () => number;
  /** How long nobody has got a connection while somebody waits for one in use, in milliseconds; 0 when nobody waits. */
  readonly waitingMs: () => number;
  /** Connections open, and of these not in use. */
  readonly connectionCounts: () => { readonly open: number; readonly idle: number };
  /** Forgets every connection and begins with the next host: the one a client came from turned out to be read-only. */
  readonly drop: (client: pg.PoolClient) => void;
  readonly end: () => Promise<void>;
}

/** How long one of several hosts may take to be connected to. */
const hostTimeoutMs = 2000;

export function openHosts(url: string, poolMax: number, timeoutMs: number): PostgresHosts {
  const urls = hostUrlsOf(url);
  const connectMs = urls.length === 1 ? timeoutMs : Math.min(hostTimeoutMs, timeoutMs);
  const open = (): readonly pg.Pool[] => urls.map((one) => openPool(one, poolMax, timeoutMs, connectMs));
  let pools = open();
  let good = 0;
  const poolOf = new WeakMap<pg.PoolClient, pg.Pool>();
  const waits = new Set<{ readonly sinceMs: number }>();
  let givenMs = 0;
  const connectTo = async (pool: pg.Pool): Promise<pg.PoolClient> => {
    const waitingBefore = pool.waitingCount;
    const connecting = pool.connect();
    if (pool.waitingCount === waitingBefore) return connecting; // a connection is being made for it
    const wait = { sinceMs: performance.now() };
    waits.add(wait);
    try {
      const client = await connecting;
      givenMs = performance.now();
      return client;
    } finally {
      waits.delete(wait);
    }
  };
  return {
    connect: async () => {
      let failure: unknown;
      for (let turn = 0; turn < pools.length; turn += 1) {
        const index = (good + turn) % pools.length;
        const pool = pools[index]!;
        try {
          const client = await connectTo(pool);
          if (!standbys.has(client)) {
            good = index;
            poolOf.set(client, pool);
            return client;
          }
          client.release(true);
          failure = new Error(`expected a server that may be written to, found a standby at ${new URL(urls[index]!).host}`);
        } catch (error) {
          failure = error;
        }
      }
      throw failure;
    },
    waitingCount: () => pools.reduce((sum, pool) => sum + pool.waitingCount, 0),
    waitingMs: () => {
      const [first] = waits;
      return first === undefined ? 0 : performance.now() - Math.max(first.sinceMs, givenMs);
    },
    connectionCounts: () => ({
      open: pools.reduce((sum, pool) => sum + pool.totalCount, 0),
      idle: pools.reduce((sum, pool) => sum + pool.idleCount, 0),
    }),
    drop: (client) => {
      if (!pools.includes(poolOf.get(client)!)) return;
      for (const pool of pools) void pool.end();
      pools = open();
      good = (good + 1) % pools.length;
    },
    end: async () => void (await Promise.all(pools.map((pool) => pool.end()))),
  };
}

/** Connections whose server says that it is in recovery (PostgreSQL 14 and newer say so). */
const standbys = new WeakSet<object>();

function openPool(url: string, poolMax: number, timeoutMs: number, connectMs: number): pg.Pool {
  class HostClient extends pg.Client {
    constructor(config: pg.ClientConfig) {
      super({ ...config, connectionTimeoutMillis: connectMs });
      // pg's types leave out the connection of a client.
      const { connection } = this as unknown as { connection: NodeJS.EventEmitter };
      connection.on('parameterStatus', ({ parameterName, parameterValue }: { parameterName: string; parameterValue: string }) => {
        if (parameterName !== 'in_hot_standby') return;
        if (parameterValue === 'on') standbys.add(this);
        else standbys.delete(this);
      });
    }
  }
  const pool = new pg.Pool({
    connectionString: url,
    max: poolMax,
    connectionTimeoutMillis: timeoutMs,
    keepAlive: true,
    pipeline: true, // BEGIN travels with the first statement, so a read of one statement costs one round trip
    types: serverTypes,
    Client: HostClient as unknown as new () => pg.ClientBase, // made with the pool's options, which pg's types leave out
  });
  // A connection that dies tells whoever waits on it, and the pool; without listeners the event would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => void client.on('error', () => undefined));
  return pool;
}
