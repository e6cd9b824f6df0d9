// Watches every statement the tests run on the embedded database: one that reads a whole tenant to find a few rows fails at
// once, wherever it is first used. Installed by databases.ts.
import { DatabaseSync } from 'node:sqlite';

/** A handful of rows in any tenant. */
const smallTables: ReadonlySet<string> = new Set(['tenants', 'organization_roles']);
/** SCIM filters that no index serves scan the directory on purpose, in slices; these are the names its statements give it. */
const directoryNames: ReadonlySet<string> = new Set(['u', 'g', 'p']);

const wholeTenant = /^SEARCH (\S+) USING .*\(tenant_id=\?\)$/;
const readsThePlan = /^\s*(select|update|delete|insert|with)\b/i;
const isPage = /\blimit\b/i;
/** Asks for everything a tenant has. */
const asksForAll = /\bwhere "?tenant_id"? = (\?|'[^']*')( (order by|returning) .*)?$/is;
/** A restore ends every live grant of a tenant, once. */
const endsAllGrants = /^update "grants" set .* where "tenant_id" = \? and "revoked_at" is null$/i;

const seen = new Set<string>();

/** What a plan scans although the statement asks for less; undefined when it is as it should be. */
export function findScan(sql: string, details: readonly string[]): string | undefined {
  if (isPage.test(sql) || asksForAll.test(sql) || endsAllGrants.test(sql)) return undefined;
  return details.find((detail) => {
    const table = wholeTenant.exec(detail)?.[1];
    return table !== undefined && !smallTables.has(table) && !directoryNames.has(table);
  });
}

export function watchQueryPlans(): void {
  const prepare = DatabaseSync.prototype.prepare;
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql, ...rest) {
    const statement = prepare.call(this, sql, ...rest);
    if (!seen.has(sql) && readsThePlan.test(sql)) {
      seen.add(sql);
      const plan = prepare.call(this, `EXPLAIN QUERY PLAN ${sql}`).all();
      const scan = findScan(
        sql,
        plan.map((row) => String(row['detail'])),
      );
      if (scan !== undefined) {
        const message = `a statement reads a whole tenant: ${scan} in ${sql}`;
        console.error(message);
        throw new Error(message);
      }
    }
    return statement;
  };
}
