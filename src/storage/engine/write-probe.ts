// Ready means that the database takes writes. Remembers when it refused one because it is read-only or full; from then on a check of
// it writes, at most every two seconds, until a write succeeds. Wraps the database of a server.
import { type Database, type Queries, StorageUnavailable } from './database.ts';
import { replaceInstanceValue } from './instance.ts';

const probeEveryMs = 2000;
const probeKey = 'write_probe';
/** read_only_sql_transaction, disk_full. */
const postgresCodes: ReadonlySet<unknown> = new Set(['25006', '53100']);
/** SQLITE_READONLY, SQLITE_FULL: the low byte of a result code. */
const sqliteCodes: ReadonlySet<number> = new Set([8, 13]);

/** The same database, whose ping also rejects while writes are refused. */
export function withWriteProbe(database: Database): Database {
  let isRefusing = false;
  let probedAtMs = Number.NEGATIVE_INFINITY;
  const noting = async <T>(writing: Promise<T>): Promise<T> => {
    try {
      return await writing;
    } catch (error) {
      isRefusing ||= refusesWrites(error);
      throw error;
    }
  };
  return {
    ...database,
    isReadOnly: () => isRefusing,
    write: (tenant, work) => noting(database.write(tenant, work)),
    writeClosed: (tenant, work) => noting(database.writeClosed(tenant, work)),
    system: (work) => noting(database.system(work)),
    ping: async () => {
      await database.ping();
      if (!isRefusing) return;
      if (performance.now() - probedAtMs < probeEveryMs) throw new StorageUnavailable('the database refuses to be written to');
      probedAtMs = performance.now();
      await database.system(probe);
      isRefusing = false;
    },
  };
}

const probe = (queries: Queries): Promise<void> => replaceInstanceValue(queries, probeKey, '1');

function refusesWrites(error: unknown): boolean {
  if (!(error instanceof StorageUnavailable) || !(error.cause instanceof Error)) return false;
  const { code, errcode } = error.cause as { readonly code?: unknown; readonly errcode?: number };
  return postgresCodes.has(code) || (errcode !== undefined && sqliteCodes.has(errcode & 0xff));
}
