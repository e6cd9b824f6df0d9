// How members signed in for an organisation, or failed to, for those who manage it: of tries that named it or ended for it, and of nobody
// who is no member now. What else members do in the tenant is not in here.
import type { TenantId, UserId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface SignInForOrganization {
  readonly id: string;
  readonly userId: UserId;
  readonly displayName: string | null;
  readonly userName: string | null;
  /** `client:<id>` or `service_provider:<id>`. */
  readonly application: string;
  /** Of the last line. */
  readonly type: string;
  readonly failedCheck: string | null;
  readonly ip: string | null;
  readonly startedAtMs: number;
}

/** Newest first, of the last 30 days, which is as long as tries are kept. */
export async function listSignInsForOrganization(
  queries: Queries,
  tenant: TenantId,
  organization: string,
  { before, limit }: { readonly before: { readonly startedAtMs: number; readonly id: string } | undefined; readonly limit: number },
): Promise<readonly SignInForOrganization[]> {
  let query = queries
    .selectFrom('sign_in_tries as t')
    .innerJoin(
      'organization_members as m',
      (join) =>
        join
          .onRef('m.tenant_id', '=', 't.tenant_id')
          .onRef('m.organization_id', '=', 't.organization_id')
          .on((eb) => eb('m.user_id', '=', eb.ref('t.user_id') as never)), // nobody is ''
    )
    .innerJoin('users as u', (join) => join.onRef('u.tenant_id', '=', 'm.tenant_id').onRef('u.id', '=', 'm.user_id'))
    .select(['t.id', 'm.user_id', 'u.display_name', 'u.user_name', 't.application', 't.type', 't.failed_check', 't.ip', 't.started_at'])
    .where('t.tenant_id', '=', tenant)
    .where('t.organization_id', '=', organization)
    .where('t.expires_at', '>', databaseNowMs);
  if (before !== undefined)
    query = query.where((eb) =>
      eb.or([
        eb('t.started_at', '<', before.startedAtMs),
        eb.and([eb('t.started_at', '=', before.startedAtMs), eb('t.id', '<', before.id)]),
      ]),
    );
  const rows = await query.orderBy('t.started_at', 'desc').orderBy('t.id', 'desc').limit(limit).execute();
  return rows.map((row) => ({
    id: row.id,
    userId: row.user_id,
    displayName: row.display_name,
    userName: row.user_name,
    application: row.application,
    type: row.type,
    failedCheck: row.failed_check,
    ip: row.ip,
    startedAtMs: Number(row.started_at),
  }));
}
