// The names of a tenant's people, groups and mailboxes as `gatehouse doctor` looks at them.
import { type RawBuilder, sql } from 'kysely';
import type { TenantId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import type { Page } from '../engine/rows/matching-rows.ts';

export interface UserName {
  readonly id: string;
  readonly user_name: string;
}

/** A page of user names in id order, after the given id. */
export async function listUserNames(queries: Queries, tenant: TenantId, { after, limit }: Page): Promise<readonly UserName[]> {
  const { rows } = await sql<UserName>`SELECT id, user_name FROM users
    WHERE tenant_id = ${tenant} AND id > ${after} AND user_name IS NOT NULL ORDER BY id LIMIT ${limit}`.execute(queries);
  return rows;
}

interface StaleKey {
  readonly kind: 'user' | 'email' | 'group';
  readonly name: string;
}

const staleKeysMax = 1000;

/** Names whose key migration 120 left as it was, because another's is what it would have become; at most a thousand of a kind. */
export async function listStaleKeys(queries: Queries, tenant: TenantId): Promise<readonly StaleKey[]> {
  const of = async (kind: StaleKey['kind'], names: RawBuilder<unknown>): Promise<readonly StaleKey[]> => {
    const { rows } = await sql<{ name: string }>`${names} LIMIT ${staleKeysMax}`.execute(queries);
    return rows.map(({ name }) => ({ kind, name }));
  };
  return [
    ...(await of('user', sql`SELECT user_name AS name FROM users WHERE tenant_id = ${tenant} AND user_name_key LIKE '%ß%'`)),
    ...(await of('email', sql`SELECT value AS name FROM user_emails WHERE tenant_id = ${tenant} AND value_key LIKE '%ß%'`)),
    ...(await of('group', sql`SELECT display_name AS name FROM groups WHERE tenant_id = ${tenant} AND display_name_key LIKE '%ß%'`)),
  ];
}
