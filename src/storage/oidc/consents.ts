// Consents a person gave: per user, client and exact set of scopes (design 04). Never inferred from a larger set.
import type { ClientId, TenantId, UserId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface ConsentTable {
  tenant_id: TenantId;
  user_id: UserId;
  client_id: ClientId;
  /** Scopes sorted and joined by spaces; with a resource, behind a line break. */
  scope_set: string;
  /** That it is for; said of clients that nobody registered. */
  resource: string | null;
  created_at: number;
}

/** What somebody consents to: scopes, and the resource where that is asked about. */
export interface Consented {
  readonly scope: string;
  readonly resource: string | undefined;
}

const scopeSetOf = ({ scope, resource }: Consented): string =>
  [...new Set(scope.split(' ').filter((value) => value !== ''))].sort().join(' ') + (resource === undefined ? '' : `\n${resource}`);

export async function hasConsent(queries: Queries, tenant: TenantId, user: UserId, client: ClientId, asked: Consented): Promise<boolean> {
  const row = await queries
    .selectFrom('consents')
    .select('created_at')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('client_id', '=', client)
    .where('scope_set', '=', scopeSetOf(asked))
    .executeTakeFirst();
  return row !== undefined;
}

/** Remembers a consent; giving it again changes nothing. */
export async function insertConsent(queries: Queries, tenant: TenantId, user: UserId, client: ClientId, asked: Consented): Promise<void> {
  await queries
    .insertInto('consents')
    .values({
      tenant_id: tenant,
      user_id: user,
      client_id: client,
      scope_set: scopeSetOf(asked),
      resource: asked.resource ?? null,
      created_at: databaseNowMs,
    })
    .onConflict((on) => on.doNothing())
    .execute();
}

/** Forgets every consent to a client that is not what people consented to any more. */
export async function deleteConsentsTo(queries: Queries, tenant: TenantId, client: ClientId): Promise<void> {
  await queries.deleteFrom('consents').where('tenant_id', '=', tenant).where('client_id', '=', client).execute();
}

/** Forgets every consent of a person to a client: they are asked anew. */
export async function deleteConsentsOf(queries: Queries, tenant: TenantId, user: UserId, client: ClientId): Promise<void> {
  await queries
    .deleteFrom('consents')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('client_id', '=', client)
    .execute();
}
