// The access gate: with `access_policy: assigned` only assigned users, directly, through a group or by their organisation, may sign in to a client.
// Of clients nobody registered the resource has a gate of its own. Asked wherever a user meets a client; each endpoint refuses with its own opaque row.
import type { Client } from '../domain/client/client.ts';
import type { TenantId, UserId } from '../domain/ids.ts';
import type { HeldOrganization } from '../domain/organizations/tenant-organizations.ts';
import type { Database } from '../storage/engine/database.ts';
import { findHeldOrganization } from '../storage/people/organization-members.ts';
import { isAssigned, mayReach } from '../storage/registry/clients/access-assignments.ts';

/** True when the user may use the client now. Asks the database only where a policy is set. */
export async function passesAccessGate(
  database: Database,
  tenant: TenantId,
  client: Client,
  user: UserId,
  { resource, organization }: { readonly resource?: string | undefined; readonly organization: string | undefined },
): Promise<boolean> {
  if (client.accessPolicy === 'everyone' && client.origin === undefined) return true;
  return database.read(tenant, async (queries) => {
    const target = { kind: 'client', id: client.clientId } as const;
    if (client.accessPolicy === 'assigned' && !(await isAssigned(queries, tenant, target, user, organization))) return false;
    return client.origin === undefined || mayReach(queries, tenant, resource, user, organization);
  });
}

/** The organisation of a grant as its person has it now; `left`: they are in it no more, or it is disabled. */
export async function organizationOfGrant(
  database: Database,
  tenant: TenantId,
  { organizationId, userId }: { readonly organizationId?: string | undefined; readonly userId: UserId },
): Promise<HeldOrganization | undefined | 'left'> {
  if (organizationId === undefined) return undefined;
  return (await database.read(tenant, (queries) => findHeldOrganization(queries, tenant, organizationId, userId))) ?? 'left';
}
