// Transactions seen in traces: wraps the database of a server where tracing is on.
import { inSpan } from '../../platform/tracing/span.ts';
import type { Database } from './database.ts';

/** The same database; each access of a traced request is a span of its trace. */
export function tracedDatabase(database: Database): Database {
  return {
    ...database,
    read: (tenant, work) => inSpan('transaction', () => database.read(tenant, work)),
    write: (tenant, work) => inSpan('transaction', () => database.write(tenant, work)),
    writeClosed: (tenant, work) => inSpan('transaction', () => database.writeClosed(tenant, work)),
    system: (work) => inSpan('transaction', () => database.system(work)),
    systemRead: (work) => inSpan('transaction', () => database.systemRead(work)),
  };
}
