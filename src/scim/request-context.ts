// What every SCIM operation needs to know about its request, and the audit record each write leaves.

import type { TypedEvent } from '../contract/events.ts';
import type { Directory } from '../domain/organizations/directory.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Parts } from '../http/services.ts';
import type { Queries } from '../storage/engine/database.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { groupIndex, type TypeIndex } from './schema/schema-lookup.ts';

export interface ScimContext {
  readonly services: Parts<'cache' | 'clock' | 'database' | 'encryption' | 'log'>;
  readonly tenant: Tenant;
  /** Whose people and groups there are. */
  readonly directory: Directory;
  /** The base of every address of the directory. */
  readonly base: string;
  readonly requestId: string;
  readonly actor: string | undefined;
  /** What the caller may do. */
  readonly scopes: readonly string[];
  /** What users of this tenant are. */
  readonly userIndex: TypeIndex;
  /** The user the token belongs to, when it belongs to one. */
  readonly userId: string | undefined;
}

/** Every resource type of a tenant. */
export const typesOf = ({ userIndex }: ScimContext): readonly TypeIndex[] => [userIndex, groupIndex];

/** Records a write in its own transaction. */
export async function audit(context: ScimContext, queries: Queries, event: TypedEvent & { readonly target: string }): Promise<void> {
  const { services, tenant, requestId, actor } = context;
  await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), { ...event, requestId, actor });
}
