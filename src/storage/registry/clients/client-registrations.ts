// Initial access tokens (RFC 7591 3) and the registrations made with them (RFC 7592): both stored by the SHA-256 of their token. A
// use of an initial token is one conditional UPDATE.
import { sql } from 'kysely';
import { policyFields, type RegistrationPolicy } from '../../../domain/client/registration-policy.ts';
import type { ClientId, TenantId } from '../../../domain/ids.ts';
import type { Queries } from '../../engine/database.ts';
import { databaseNowMs } from '../../engine/instance.ts';
import type { Page } from '../../engine/rows/matching-rows.ts';
import { fromRow, type RowOf, toRow } from '../../engine/rows/row-codec.ts';

export interface InitialAccessTokenTable extends RowOf<typeof policyFields> {
  tenant_id: TenantId;
  id: string;
  token_hash: string;
  /** Clients that may register with it, and those that did. */
  count: number;
  used: number;
  created_by: string | null;
  created_at: number;
  expires_at: number;
}

export interface ClientRegistrationTable extends RowOf<typeof policyFields> {
  tenant_id: TenantId;
  client_id: ClientId;
  token_hash: string;
  created_at: number;
}

export interface InitialAccessToken {
  readonly id: string;
  readonly policy: RegistrationPolicy;
  readonly count: number;
  readonly used: number;
  /** Who made it, as in the audit trail. */
  readonly createdBy: string | undefined;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

interface NewInitialAccessToken {
  readonly id: string;
  readonly tokenHash: string;
  readonly count: number;
  readonly expiresInSeconds: number;
  readonly createdBy: string;
  readonly policy: RegistrationPolicy;
}

export async function insertInitialAccessToken(
  queries: Queries,
  tenant: TenantId,
  { id, tokenHash, count, expiresInSeconds, createdBy, policy }: NewInitialAccessToken,
): Promise<InitialAccessToken> {
  const row = await queries
    .insertInto('initial_access_tokens')
    .values({
      ...toRow(policyFields, policy),
      tenant_id: tenant,
      id,
      token_hash: tokenHash,
      count,
      used: 0,
      created_by: createdBy,
      created_at: databaseNowMs,
      expires_at: sql<number>`${databaseNowMs} + ${expiresInSeconds * 1000}`,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return tokenFromRow(row);
}

/** A page of tokens, used up and ended ones too, in order of their ids. */
export async function listInitialAccessTokens(queries: Queries, tenant: TenantId, page: Page): Promise<readonly InitialAccessToken[]> {
  const rows = await queries
    .selectFrom('initial_access_tokens')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('id', '>', page.after)
    .orderBy('id')
    .limit(page.limit)
    .execute();
  return rows.map(tokenFromRow);
}

/** Those an actor made with which clients may still register. */
export async function listUsableTokensOf(queries: Queries, tenant: TenantId, actor: string): Promise<readonly InitialAccessToken[]> {
  const rows = await queries
    .selectFrom('initial_access_tokens')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('created_by', '=', actor)
    .whereRef('used', '<', 'count')
    .where('expires_at', '>', databaseNowMs)
    .orderBy('id')
    .execute();
  return rows.map(tokenFromRow);
}

export async function findInitialAccessToken(queries: Queries, tenant: TenantId, id: string): Promise<InitialAccessToken | undefined> {
  const row = await queries
    .selectFrom('initial_access_tokens')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && tokenFromRow(row);
}

export async function deleteInitialAccessToken(queries: Queries, tenant: TenantId, id: string): Promise<boolean> {
  const rows = await queries
    .deleteFrom('initial_access_tokens')
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** The token by its hash, while a client may register with it. */
export async function findUsableToken(queries: Queries, tenant: TenantId, tokenHash: string): Promise<InitialAccessToken | undefined> {
  const row = await queries
    .selectFrom('initial_access_tokens')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('token_hash', '=', tokenHash)
    .whereRef('used', '<', 'count')
    .where('expires_at', '>', databaseNowMs)
    .executeTakeFirst();
  return row && tokenFromRow(row);
}

/** Takes one use of a token (R1); false when none is left or it has ended. */
export async function useInitialAccessToken(queries: Queries, tenant: TenantId, id: string): Promise<boolean> {
  const rows = await queries
    .updateTable('initial_access_tokens')
    .set({ used: sql<number>`used + 1` })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .whereRef('used', '<', 'count')
    .where('expires_at', '>', databaseNowMs)
    .returning('id')
    .execute();
  return rows.length === 1;
}

export interface ClientRegistration {
  readonly clientId: ClientId;
  readonly tokenHash: string;
  readonly policy: RegistrationPolicy;
}

export async function insertClientRegistration(queries: Queries, tenant: TenantId, registration: ClientRegistration): Promise<void> {
  const { clientId, tokenHash, policy } = registration;
  await queries
    .insertInto('client_registrations')
    .values({
      ...toRow(policyFields, policy),
      tenant_id: tenant,
      client_id: clientId,
      token_hash: tokenHash,
      created_at: databaseNowMs,
    })
    .execute();
}

export async function findClientRegistration(
  queries: Queries,
  tenant: TenantId,
  clientId: string,
): Promise<ClientRegistration | undefined> {
  const row = await queries
    .selectFrom('client_registrations')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('client_id', '=', clientId as ClientId) // a look-up key, not yet known to be an id
    .executeTakeFirst();
  return row && { clientId: row.client_id, tokenHash: row.token_hash, policy: fromRow(policyFields, row) };
}

const tokenFromRow = (row: InitialAccessTokenTable): InitialAccessToken => ({
  id: row.id,
  policy: fromRow(policyFields, row),
  count: row.count,
  used: row.used,
  createdBy: row.created_by ?? undefined,
  createdAtMs: row.created_at,
  expiresAtMs: row.expires_at,
});
