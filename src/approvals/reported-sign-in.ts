// What follows when a person says that a request was not theirs, in the transaction of that word: a record and a mail; said twice
// within ten minutes, nothing reaches their devices for fifteen. Called by the device plane and the mailed page after resolve-approval.
import type { Tenant } from '../domain/tenant/tenant.ts';
import { mails } from '../mails/registry.ts';
import type { Database, Queries } from '../storage/engine/database.ts';
import { lockUser } from '../storage/people/users.ts';
import { insertAuditEvent, listReportsOfUser } from '../storage/records/audit-events.ts';
import type { Approval } from '../storage/sign-in/approvals.ts';
import { isPersonBlocked } from './approval.ts';
import { ownBudgetOf } from './asker.ts';
import type { MailDeps } from './mailed/mail-delivery.ts';
import { mailUser } from './mailed/user-mail.ts';
import type { DecisionContext } from './resolve-approval.ts';

type ReportDeps = MailDeps & { readonly database: Pick<Database, 'dialect'> };

const mailEveryMs = 3_600_000;

/** Records the report of a denied approval, mails the person at most once an hour, and says when the block begins. */
export async function reportSignIn(
  queries: Queries,
  deps: ReportDeps,
  tenant: Tenant,
  approval: Approval,
  { nowMs, requestId }: DecisionContext,
): Promise<void> {
  const { user_id: userId, initiated_ip: ip } = approval;
  if (userId === null) return;
  await lockUser(queries, deps.database.dialect, tenant.id, userId); // reports at once are counted one after the other
  const reports = await listReportsOfUser(queries, tenant.id, userId, nowMs - mailEveryMs);
  const mailed = !reports.some(({ data }) => (JSON.parse(data ?? '{}') as { readonly mailed?: boolean }).mailed === true); // written below
  const actor = `user:${userId}`;
  const target = `approval:${approval.id}`;
  await insertAuditEvent(queries, tenant.id, nowMs, { type: 'approval.reported', requestId, actor, target, data: { mailed, ip } });
  if (mailed)
    await mailUser(queries, deps, tenant, { userId, asked: undefined }, (to, language) =>
      mails.reported.make({ tenantName: tenant.name, ip: ip ?? undefined, at: new Date(approval.created_at), language }, to),
    );
  if (!(await isPersonBlocked(queries, tenant, userId, ownBudgetOf(approval.asked_by)))) return;
  await insertAuditEvent(queries, tenant.id, nowMs, { type: 'user.sign_ins_blocked', requestId, actor, target: actor, data: { ip } });
}
