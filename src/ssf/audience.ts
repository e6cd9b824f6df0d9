// Who may receive, and whom a receiver may be told of: the people its client may let in, whatever it asks for.
import type { Client } from '../domain/client/client.ts';
import type { TenantId, UserId } from '../domain/ids.ts';
import type { Capability } from '../domain/people/capabilities.ts';
import type { Queries } from '../storage/engine/database.ts';
import { isAssigned } from '../storage/registry/clients/access-assignments.ts';

export const mayBeToldOf = async (
  queries: Queries,
  tenant: TenantId,
  { accessPolicy, clientId }: Pick<Client, 'accessPolicy' | 'clientId'>,
  user: UserId,
): Promise<boolean> => accessPolicy === 'everyone' || isAssigned(queries, tenant, { kind: 'client', id: clientId }, user);

/** True for a client that is on and may read a stream: what it made while it might is not pushed to it afterwards. */
export const mayReceive = (client: Client | undefined): client is Client =>
  client?.enabled === true && receiverScopes.some((scope) => client.scopes.includes(scope));
const receiverScopes: readonly Capability[] = ['ssf.read', 'ssf.manage'];
