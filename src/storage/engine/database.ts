// The one door to SQL. Storage functions take Queries; surfaces hold a Database and decide what is one transaction.
// Every access names its tenant (storage rule R5); `system` is for the few tables that belong to no tenant.
import type { Kysely } from 'kysely';
import type { TenantId } from '../../domain/ids.ts';
import type { Schema } from '../schema.ts';

export type Queries = Kysely<Schema>;
export type Dialect = 'sqlite' | 'postgres';

interface ConnectionCounts {
  readonly open: number;
  readonly idle: number;
  readonly waiting: number;
}

export interface Database {
  readonly dialect: Dialect;
  /** Reads committed state of one tenant. Must not write. */
  readonly read: <T>(tenant: TenantId, work: (queries: Queries) => Promise<T>) => Promise<T>;
  /** Reads of several tenants, one after another in one transaction; `work` sees one tenant at a time. Must not write. */
  readonly readEach: <T>(tenants: readonly TenantId[], work: (queries: Queries, tenant: TenantId) => Promise<T>) => Promise<readonly T[]>;
  /** One transaction of one tenant: commits when `work` resolves, rolls back when it throws. Answer only after it resolved (R4). */
  readonly write: <T>(tenant: TenantId, work: (queries: Queries) => Promise<T>) => Promise<T>;
  /** The same for those who close, move, reopen or delete a tenant: `write` throws TenantClosed while it is closed. */
  readonly writeClosed: <T>(tenant: TenantId, work: (queries: Queries) => Promise<T>) => Promise<T>;
  /** One transaction on tables that belong to no tenant; on PostgreSQL it sees no tenant's rows. */
  readonly system: <T>(work: (queries: Queries) => Promise<T>) => Promise<T>;
  /** Reads committed state of tables that belong to no tenant. Must not write. */
  readonly systemRead: <T>(work: (queries: Queries) => Promise<T>) => Promise<T>;
  /**
   * Reads tables of no tenant on a connection that no load of ours can hold, and gives up when the database is silent for a
   * second: for what must know whether the database is there.
   */
  readonly watch: <T>(work: (queries: Queries) => Promise<T>) => Promise<T>;
  /** How long nobody has got a connection while somebody waits for one, in milliseconds; 0 while nobody waits. */
  readonly waitingMs: () => number;
  /** Connections to PostgreSQL, idle ones among them, and accesses that wait for one; zeros on the embedded database. */
  readonly connectionCounts: () => ConnectionCounts;
  /** Runs one statement outside any transaction, for CREATE INDEX CONCURRENTLY; PostgreSQL's owner only. */
  readonly alone: (statement: string) => Promise<void>;
  /** True since a write was refused as read-only or full, until one succeeds. */
  readonly isReadOnly: () => boolean;
  /** Cheap check that the database answers; rejects with StorageUnavailable. */
  readonly ping: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The database cannot be reached, is full, or the outcome of a commit is unknown: 503, never a token (R4). */
export class StorageUnavailable extends Error {
  /** What the answer's Retry-After says. */
  readonly retryAfterSeconds: number;
  constructor(message: string, { retryAfterSeconds = 2, ...options }: ErrorOptions & { readonly retryAfterSeconds?: number } = {}) {
    super(message, options);
    this.name = 'StorageUnavailable';
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
