// The person a path names: `/users/:id` and everything below it.
import type { TenantId } from '../../domain/ids.ts';
import type { Queries } from '../../storage/engine/database.ts';
import type { UserRow } from '../../storage/people/user-rows.ts';
import { findLiveUser } from '../../storage/people/users.ts';
import { notFound } from '../endpoint.ts';

export const unknownUser = (): Error => notFound('unknown_user');

/** @throws management.not_found for nobody, and for who is deleted */
export async function loadUser(queries: Queries, tenant: TenantId, id: string): Promise<UserRow> {
  const user = await findLiveUser(queries, tenant, id);
  if (user === undefined) throw unknownUser();
  return user;
}
