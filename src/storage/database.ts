// The one door to SQL. Storage functions take Queries; surfaces hold a Database and decide what is one transaction.
// Every access names its tenant (storage rule R5); `system` is for the few tables that belong to no tenant.
import type { Kysely } from 'kysely';
import type { TenantId } from '../domain/ids.ts';
import type { Schema } from './schema.ts';

export type Queries = Kysely<Schema>;
export type Dialect = 'sqlite' | 'postgres';

export interface Database {
  readonly dialect: Dialect;
  /** Reads committed state of one tenant. Must not write. */
  readonly read: <T>(tenant: TenantId, work: (queries: Queries) => Promise<T>) => Promise<T>;
  /** One transaction of one tenant: commits when `work` resolves, rolls back when it throws. Answer only after it resolved (R4). */
  readonly write: <T>(tenant: TenantId, work: (queries: Queries) => Promise<T>) => Promise<T>;
  /** One transaction on tables that belong to no tenant; on PostgreSQL it sees no tenant's rows. */
  readonly system: <T>(work: (queries: Queries) => Promise<T>) => Promise<T>;
  /** Reads committed state of tables that belong to no tenant. Must not write. */
  readonly systemRead: <T>(work: (queries: Queries) => Promise<T>) => Promise<T>;
  /** Cheap check that the database answers; rejects with StorageUnavailable. */
  readonly ping: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The database cannot be reached, is full, or the outcome of a commit is unknown: 503, never a token (R4). */
export class StorageUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StorageUnavailable';
  }
}
