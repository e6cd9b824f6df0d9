// The one place a decision is made: pending -> approved | denied, once. Called by the sign-in page (email PIN, passkey), the
// device plane (phone) and whoever decides CIBA requests. What a decision sets off in other aggregates (a CIBA ping or push)
// is written here, in the same transaction. Nothing is minted here: the consumer redeems the decision.

import type { HookClaims } from '../domain/extending/hook.ts';
import type { ApprovalId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import { type AuthenticationMethod, authenticationContexts } from '../domain/sign-in/login-methods.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Queries } from '../storage/engine/database.ts';
import { queueCibaDelivery } from '../storage/oidc/ciba-deliveries.ts';
import { setCibaHookClaims } from '../storage/oidc/ciba-requests.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { type Approval, approvalStateOf, type DenyReason, decideApproval, findApproval } from '../storage/sign-in/approvals.ts';
import { noteOnTry } from '../storage/sign-in/sign-in-tries.ts';

export type Decision =
  | {
      readonly verdict: 'approve';
      readonly method: AuthenticationMethod;
      readonly deviceId?: string | undefined;
      readonly passkeyId?: string | undefined;
      /** Of another provider: the link, and what the provider's way is worth. */
      readonly externalIdentityId?: string | undefined;
      readonly acr?: string | undefined;
      /** Of CIBA: what the hook adds to its tokens. */
      readonly hookClaims?: HookClaims | undefined;
    }
  | {
      readonly verdict: 'deny';
      readonly reason: DenyReason;
      readonly deviceId?: string | undefined;
      /** For the audit record. */
      readonly facts?: Readonly<Record<string, string>>;
    };

/** Who decides, for the audit record. */
export interface DecisionContext {
  readonly nowMs: number;
  readonly requestId: string;
}

/**
 * Decides an approval in the caller's transaction; the answer waits for the commit (R4).
 * `expired`: its lifetime is over; `not_pending`: decided or withdrawn before; `unknown`: no such approval.
 */
export async function resolveApproval(
  queries: Queries,
  tenant: Tenant,
  id: string,
  decision: Decision,
  context: DecisionContext,
): Promise<Outcome<{ readonly approval: Approval }, 'unknown' | 'not_pending' | 'expired'>> {
  const approval = await decideApproval(
    queries,
    tenant.id,
    id as ApprovalId, // a look-up key
    decision.verdict === 'approve'
      ? {
          state: 'approved',
          method: decision.method,
          ...authenticationContexts[decision.method],
          ...(decision.acr !== undefined && { acr: decision.acr }),
          decidedBy: decision.deviceId ?? decision.passkeyId ?? decision.externalIdentityId,
        }
      : { state: 'denied', denyReason: decision.reason, decidedBy: decision.deviceId },
  );
  if (approval === undefined) return fail(await reasonOf(queries, tenant, id));
  if (approval.kind === 'ciba') await queueCibaDelivery(queries, tenant.id, approval.id);
  if (approval.kind === 'ciba' && decision.verdict === 'approve' && decision.hookClaims !== undefined)
    await setCibaHookClaims(queries, tenant.id, approval.id, decision.hookClaims);
  if (decision.verdict === 'deny' && approval.transaction_id !== null)
    await noteOnTry(queries, tenant.id, approval.transaction_id, { type: 'login.refused', check: 'denied', requestId: context.requestId });
  await insertAuditEvent(queries, tenant.id, context.nowMs, {
    type: decision.verdict === 'approve' ? 'approval.approved' : 'approval.denied',
    requestId: context.requestId,
    actor: approval.user_id === null ? undefined : `user:${approval.user_id}`,
    target: `approval:${approval.id}`,
    reason: decision.verdict === 'approve' ? decision.method : decision.reason,
    data: {
      kind: approval.kind,
      client: approval.client_id,
      service_provider: approval.service_provider_id,
      device: decision.deviceId,
      initiated: {
        at: new Date(approval.created_at).toISOString(),
        ip: approval.initiated_ip,
        user_agent: approval.initiated_user_agent,
      },
      ...(decision.verdict === 'deny' && decision.facts),
    },
  });
  return { ok: true, approval };
}

async function reasonOf(queries: Queries, tenant: Tenant, id: string): Promise<'unknown' | 'not_pending' | 'expired'> {
  const approval = await findApproval(queries, tenant.id, id);
  if (approval === undefined) return 'unknown';
  return approvalStateOf(approval) === 'expired' ? 'expired' : 'not_pending';
}

/** Withdraws a pending approval, e.g. when another method is chosen. False when it was decided before. */
export async function withdrawApproval(queries: Queries, tenant: Tenant, id: ApprovalId): Promise<boolean> {
  if ((await decideApproval(queries, tenant.id, id, { state: 'expired' })) !== undefined) return true;
  return (await reasonOf(queries, tenant, id)) !== 'not_pending';
}
