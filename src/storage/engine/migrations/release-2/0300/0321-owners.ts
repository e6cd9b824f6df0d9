// Administrators of before could do everything: they become owners.
import { sql } from 'kysely';
import type { TenantId } from '../../../../../domain/ids.ts';
import type { Queries } from '../../../database.ts';
import { databaseNowMs } from '../../../instance.ts';

export async function makeOwners(queries: Queries, tenant: TenantId, rows: number): Promise<number> {
  const done = await sql`INSERT INTO user_roles (tenant_id, user_id, role, created_at)
    SELECT u.tenant_id, u.id, 'owner', ${databaseNowMs} FROM users u
    WHERE u.tenant_id = ${tenant} AND u.role = 'admin' AND u.state <> 'deleted'
      AND NOT EXISTS (SELECT 1 FROM user_roles r WHERE r.tenant_id = u.tenant_id AND r.user_id = u.id)
    LIMIT ${rows} ON CONFLICT DO NOTHING`.execute(queries);
  return Number(done.numAffectedRows ?? 0n);
}
