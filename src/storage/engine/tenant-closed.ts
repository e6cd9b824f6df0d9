// A tenant that is closed because it moves to another deployment: nothing is written to it, whichever process asks and whatever it
// still has in memory. On PostgreSQL gatehouse_enter() says so within the transaction; here is the same for the embedded database.
import { sql } from 'kysely';
import type { TenantId } from '../../domain/ids.ts';
import { type Database, type Dialect, type Queries, StorageUnavailable } from './database.ts';
import { statement } from './statement.ts';

/** What gatehouse_enter() raises: a class of SQLSTATEs that is nobody's. */
export const closedTenantCode = 'GH001';
/** The first key of the advisory locks on tenants. */
export const tenantLockClass = 718_293_646;

/** Moves take a while: asking again within seconds is of no use. */
export const closedRetrySeconds = 5;

export class TenantClosed extends StorageUnavailable {
  constructor(options: ErrorOptions = {}) {
    super('the tenant is closed: it is being moved to another deployment', { ...options, retryAfterSeconds: closedRetrySeconds });
    this.name = 'TenantClosed';
  }
}

const closed = statement<{ readonly tenant: TenantId }, { readonly one: number }>((queries, { tenant }) =>
  queries.selectFrom('tenants').select(sql<number>`1`.as('one')).where('tenant_id', '=', tenant).where('moving', 'is not', null),
);

/** The embedded database, whose writes to a closed tenant fail. */
export function refusingClosedTenants(database: Database): Database {
  return {
    ...database,
    write: (tenant, work) =>
      database.write(tenant, async (queries) => {
        if ((await closed(queries, { tenant })).rows.length > 0) throw new TenantClosed();
        return work(queries);
      }),
  };
}

/** Waits until nobody writes to the tenant, and keeps everybody else out until the transaction ends. Call it first. */
export async function lockTenant(queries: Queries, dialect: Dialect, tenant: TenantId): Promise<void> {
  if (dialect === 'postgres') await sql`SELECT pg_advisory_xact_lock(${sql.lit(tenantLockClass)}, hashtext(${tenant}))`.execute(queries);
}
