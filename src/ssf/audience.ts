// Whom a receiver may be told of: the people its client may let in, whatever it asks for.
import type { Client } from '../domain/client/client.ts';
import type { TenantId, UserId } from '../domain/ids.ts';
import type { Queries } from '../storage/engine/database.ts';
import { isAssigned } from '../storage/registry/clients/access-assignments.ts';

export const mayBeToldOf = async (
  queries: Queries,
  tenant: TenantId,
  { accessPolicy, clientId }: Pick<Client, 'accessPolicy' | 'clientId'>,
  user: UserId,
): Promise<boolean> => accessPolicy === 'everyone' || isAssigned(queries, tenant, { kind: 'client', id: clientId }, user);
