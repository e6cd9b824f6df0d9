// Until when a person lets unknown browsers in, though strangers spent what they may ask. Used by approvals/attack.ts.
import { sql } from 'kysely';
import type { TenantId, UserId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface SignInOpeningTable {
  tenant_id: TenantId;
  user_id: UserId;
  expires_at: number;
}

/** Opens, or keeps open, for `periodMs` from now. Gives until when, epoch milliseconds. */
export async function openSignIn(queries: Queries, tenant: TenantId, user: UserId, periodMs: number): Promise<number> {
  const expiresAt = sql<number>`${databaseNowMs} + ${periodMs}`;
  const { expires_at } = await queries
    .insertInto('sign_in_openings')
    .values({ tenant_id: tenant, user_id: user, expires_at: expiresAt })
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'user_id']).doUpdateSet((eb) => ({ expires_at: eb.ref('excluded.expires_at') })),
    )
    .returning('expires_at')
    .executeTakeFirstOrThrow();
  return expires_at;
}

export async function isSignInOpen(queries: Queries, tenant: TenantId, user: UserId): Promise<boolean> {
  const found = await queries
    .selectFrom('sign_in_openings')
    .select('user_id')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('expires_at', '>', databaseNowMs)
    .executeTakeFirst();
  return found !== undefined;
}
