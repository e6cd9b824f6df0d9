// Kysely over one of our connections: it builds and runs queries, and opens no transaction, which is Database.write's. Used by
// both dialects.
import { type CompiledQuery, type DatabaseConnection, type Dialect, type Driver, Kysely, type QueryResult } from 'kysely';
import type { Schema } from '../../schema.ts';
import type { Queries } from '../database.ts';

export function kyselyOver(
  executeQuery: <R>(query: CompiledQuery) => Promise<QueryResult<R>>,
  dialect: Omit<Dialect, 'createDriver'>,
): Queries {
  const connection: DatabaseConnection = {
    executeQuery,
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
  return new Kysely<Schema>({ dialect: { ...dialect, createDriver: () => driver } });
}
