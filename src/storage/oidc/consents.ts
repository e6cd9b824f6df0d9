// Consents a person gave: per user, client and exact set of scopes (design 04). Never inferred from a larger set.
import type { ClientId, TenantId, UserId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface ConsentTable {
  tenant_id: TenantId;
  user_id: UserId;
  client_id: ClientId;
  /** Scopes sorted and joined by spaces. */
  scope_set: string;
  created_at: number;
}

const scopeSetOf = (scope: string): string => [...new Set(scope.split(' ').filter((value) => value !== ''))].sort().join(' ');

export async function hasConsent(queries: Queries, tenant: TenantId, user: UserId, client: ClientId, scope: string): Promise<boolean> {
  const row = await queries
    .selectFrom('consents')
    .select('created_at')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('client_id', '=', client)
    .where('scope_set', '=', scopeSetOf(scope))
    .executeTakeFirst();
  return row !== undefined;
}

/** Remembers a consent; giving it again changes nothing. */
export async function insertConsent(queries: Queries, tenant: TenantId, user: UserId, client: ClientId, scope: string): Promise<void> {
  await queries
    .insertInto('consents')
    .values({ tenant_id: tenant, user_id: user, client_id: client, scope_set: scopeSetOf(scope), created_at: databaseNowMs })
    .onConflict((on) => on.doNothing())
    .execute();
}
