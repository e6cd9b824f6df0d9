// What every SCIM operation needs to know about its request, and the audit record each write leaves.
import type { Tenant } from '../domain/tenant.ts';
import type { Services } from '../http/services.ts';
import { insertAuditEvent } from '../storage/audit-events.ts';
import type { Queries } from '../storage/database.ts';

export interface ScimContext {
  readonly services: Services;
  readonly tenant: Tenant;
  readonly requestId: string;
  readonly actor: string | undefined;
  /** The user the token belongs to, when it belongs to one. */
  readonly userId: string | undefined;
}

/** The base of every SCIM address of a tenant. */
export function scimBase(tenant: Tenant): string {
  return `${tenant.baseUrl}/scim/v2`;
}

/** Records a write in its own transaction. */
export async function audit(
  context: ScimContext,
  queries: Queries,
  type: string,
  target: string,
  data?: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { services, tenant, requestId, actor } = context;
  await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), { type, target, requestId, actor, data });
}
