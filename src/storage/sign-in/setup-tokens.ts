// Links by which an administrator is made or let in again: 256 bits, stored by SHA-256, single use.
import { sql } from 'kysely';
import type { TenantId, UserId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface SetupTokenTable {
  tenant_id: TenantId;
  token_hash: string;
  /** Whom it lets in again; null: it makes a new administrator. */
  user_id: UserId | null;
  /** Names of the roles of the administrator it makes, as JSON; null: owner. */
  roles: string | null;
  created_at: number;
  expires_at: number;
  used_at: number | null;
}

/** Stores a token for `lifetimeMs`. */
export async function insertSetupToken(
  queries: Queries,
  tenant: TenantId,
  token: {
    readonly hash: string;
    readonly user: UserId | null;
    readonly roles: readonly string[] | null;
    readonly lifetimeMs: number;
  },
): Promise<void> {
  await queries
    .insertInto('setup_tokens')
    .values({
      tenant_id: tenant,
      token_hash: token.hash,
      user_id: token.user,
      roles: token.roles && JSON.stringify(token.roles),
      created_at: databaseNowMs,
      expires_at: sql<number>`${databaseNowMs} + ${token.lifetimeMs}`,
      used_at: null,
    })
    .execute();
}

/** Consumes a token: one caller gets it, once, in time. `onlyToRecover`: one that makes somebody new stays as it is. */
export async function consumeSetupToken(
  queries: Queries,
  tenant: TenantId,
  hash: string,
  onlyToRecover: boolean,
): Promise<{ readonly user: UserId | null; readonly roles: readonly string[] | null } | undefined> {
  const row = await queries
    .updateTable('setup_tokens')
    .set({ used_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('token_hash', '=', hash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', databaseNowMs)
    .$if(onlyToRecover, (query) => query.where('user_id', 'is not', null))
    .returning(['user_id', 'roles'])
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return { user: row.user_id, roles: row.roles === null ? null : (JSON.parse(row.roles) as readonly string[]) }; // as insertSetupToken wrote them
}
