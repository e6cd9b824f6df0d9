// Tokens that directories provision with: one fixed bearer token each, for SCIM alone, stored by its SHA-256. When one was used last is
// written once a minute at most.
import { sql } from 'kysely';
import type { TenantId } from '../../domain/ids.ts';
import type { Directory, OrganizationDirectory } from '../../domain/organizations/directory.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface ScimTokenTable {
  tenant_id: TenantId;
  /** UUID version 7: sorts by time. */
  id: string;
  name: string;
  token_hash: string;
  /** As in the audit trail. */
  created_by: string;
  created_at: number;
  /** Null: without end. */
  expires_at: number | null;
  last_used_at: number | null;
  /** Whose directory it opens; null: the tenant's. */
  organization_id: string | null;
}

export type ScimToken = Readonly<Omit<ScimTokenTable, 'tenant_id' | 'token_hash'>>;

const columns = ['id', 'name', 'created_by', 'created_at', 'expires_at', 'last_used_at', 'organization_id'] as const;
const usedOnceMs = 60_000;

const isOf = ({ organization }: Directory) =>
  organization === undefined ? sql<boolean>`organization_id IS NULL` : sql<boolean>`organization_id = ${organization}`;

export async function insertScimToken(
  queries: Queries,
  tenant: TenantId,
  token: Pick<ScimTokenTable, 'id' | 'name' | 'token_hash' | 'created_by' | 'organization_id'> & {
    readonly lifetimeMs: number | undefined;
  },
): Promise<ScimToken> {
  const { lifetimeMs, ...given } = token;
  const expires = lifetimeMs === undefined ? null : sql<number>`${databaseNowMs} + ${lifetimeMs}`;
  return queries
    .insertInto('scim_tokens')
    .values({ ...given, tenant_id: tenant, created_at: databaseNowMs, expires_at: expires, last_used_at: null })
    .returning(columns)
    .executeTakeFirstOrThrow();
}

/** All of a directory, which are few, newest first. */
export async function listScimTokens(queries: Queries, directory: Directory): Promise<readonly ScimToken[]> {
  return queries
    .selectFrom('scim_tokens')
    .select(columns)
    .where('tenant_id', '=', directory.tenant)
    .where(isOf(directory))
    .orderBy('id', 'desc')
    .execute();
}

/** Those that somebody made, of whichever directory. */
export async function listScimTokensMadeBy(queries: Queries, tenant: TenantId, actor: string): Promise<readonly ScimToken[]> {
  const all = queries.selectFrom('scim_tokens').select(columns).where('tenant_id', '=', tenant);
  return all.where('created_by', '=', actor).orderBy('id', 'desc').execute();
}

/** The token of that hash for a directory; `isOver` when its time is. Those of an organisation open nothing while it is disabled. */
export async function findScimToken(
  queries: Queries,
  directory: Directory,
  hash: string,
): Promise<(ScimToken & { readonly isOver: boolean; readonly isFresh: boolean }) | undefined> {
  const { tenant, organization } = directory;
  const row = await queries
    .selectFrom('scim_tokens')
    .select(columns)
    .select([
      sql<number>`CASE WHEN expires_at <= ${databaseNowMs} THEN 1 ELSE 0 END`.as('is_over'),
      sql<number>`CASE WHEN last_used_at > ${databaseNowMs} - ${usedOnceMs} THEN 1 ELSE 0 END`.as('is_fresh'),
    ])
    .where('tenant_id', '=', tenant)
    .where('token_hash', '=', hash)
    .where(isOf(directory))
    .$if(organization !== undefined, (query) =>
      query.where((eb) =>
        eb.exists(
          eb
            .selectFrom('organizations as o')
            .select('o.id')
            .where('o.tenant_id', '=', tenant)
            .where('o.id', '=', organization!)
            .where('o.enabled', '=', 1),
        ),
      ),
    )
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { is_over: isOver, is_fresh: isFresh, ...token } = row;
  return { ...token, isOver: Number(isOver) === 1, isFresh: Number(isFresh) === 1 };
}

export async function noteScimTokenUsed(queries: Queries, tenant: TenantId, id: string): Promise<void> {
  await queries
    .updateTable('scim_tokens')
    .set({ last_used_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .execute();
}

/** False when the directory has none of that id. */
export async function deleteScimToken(queries: Queries, directory: Directory, id: string): Promise<boolean> {
  const rows = await queries
    .deleteFrom('scim_tokens')
    .where('tenant_id', '=', directory.tenant)
    .where(isOf(directory))
    .where('id', '=', id)
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** Every token of an organisation that is about to be gone. */
export async function deleteScimTokensOf(queries: Queries, { tenant, organization }: OrganizationDirectory): Promise<void> {
  await queries.deleteFrom('scim_tokens').where('tenant_id', '=', tenant).where('organization_id', '=', organization).execute();
}
