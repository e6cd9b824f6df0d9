// Adding a passkey to a person: the one write of passkeys that needs the user held.
import type { TenantId } from '../../domain/ids.ts';
import { fail, type Outcome } from '../../domain/outcome.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { listPasskeysOfUser, type Passkey } from '../sign-in/passkeys.ts';
import { holdActiveUser } from './user-writer.ts';

type NewPasskey = Omit<Passkey, 'tenant_id' | 'created_at' | 'last_used_at'>;

/**
 * Adds a passkey to an active user. `inactive`: the user may not sign in; `too_many`: it has `perUserMax`; `taken`: the
 * credential is registered in this tenant.
 */
export async function insertPasskey(
  queries: Queries,
  tenant: TenantId,
  passkey: NewPasskey,
  perUserMax: number,
): Promise<Outcome<object, 'inactive' | 'too_many' | 'taken'>> {
  // Parallel registrations of one user wait for each other, so that the count below holds.
  if (!(await holdActiveUser(queries, tenant, passkey.user_id))) return fail('inactive');
  if ((await listPasskeysOfUser(queries, tenant, passkey.user_id)).length >= perUserMax) return fail('too_many');
  const rows = await queries
    .insertInto('passkeys')
    .values({ ...passkey, tenant_id: tenant, created_at: databaseNowMs, last_used_at: null })
    .onConflict((on) => on.columns(['tenant_id', 'credential_id']).doNothing())
    .returning('id')
    .execute();
  return rows.length === 1 ? { ok: true } : fail('taken');
}
