// A client by document becomes one of the tenant at the finish that a person consents to. Called by finish-login in its transaction.
import type { Client } from '../domain/client/client.ts';
import type { UserId } from '../domain/ids.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Clock } from '../platform/clock.ts';
import type { Queries } from '../storage/engine/database.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { insertStranger } from '../storage/registry/clients/clients.ts';

/** Stores it with its record; somebody else may have let it in a moment ago. */
export async function admitClient(
  queries: Queries,
  clock: Clock,
  tenant: Tenant,
  client: Client,
  by: { readonly userId: UserId; readonly requestId: string },
): Promise<void> {
  const actor = `user:${by.userId}`;
  if (!(await insertStranger(queries, tenant.id, { ...client, createdBy: actor }))) return;
  await insertAuditEvent(queries, tenant.id, clock.nowMs(), {
    type: 'client.created',
    requestId: by.requestId,
    actor,
    target: `client:${client.clientId}`,
    data: { name: client.name },
  });
}
