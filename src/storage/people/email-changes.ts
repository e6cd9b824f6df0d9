// The main email address of a person before and after a change, for receivers of security events (RISC identifier-changed): kept only in
// tenants that have such receivers, for thirty days at most, and never in the audit trail.
import type { TenantId, UserId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface EmailChangeTable {
  tenant_id: TenantId;
  user_id: UserId;
  /** Of the user, after the change. */
  version: number;
  before: string | null;
  after: string | null;
  created_at: number;
}

type EmailChange = Readonly<Pick<EmailChangeTable, 'before' | 'after'>>;

export async function insertEmailChange(
  queries: Queries,
  tenant: TenantId,
  change: EmailChange & { readonly user_id: UserId; readonly version: number },
): Promise<void> {
  await queries
    .insertInto('email_changes')
    .values({ ...change, tenant_id: tenant, created_at: databaseNowMs })
    .execute();
}

/** What the change that gave the user this version was; undefined when it is forgotten. */
export async function findEmailChange(queries: Queries, tenant: TenantId, user: UserId, version: number): Promise<EmailChange | undefined> {
  return queries
    .selectFrom('email_changes')
    .select(['before', 'after'])
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('version', '=', version)
    .executeTakeFirst();
}
