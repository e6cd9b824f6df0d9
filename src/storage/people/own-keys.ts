// What a person has that proves who they are beyond a mailbox.
import type { TenantId, UserId } from '../../domain/ids.ts';
import { countActiveDevices } from '../device/devices.ts';
import type { Queries } from '../engine/database.ts';
import { listPasskeysOfUser } from '../sign-in/passkeys.ts';
import { listHolders } from './user-roles.ts';

/** Whether somebody has a passkey or an enrolled phone, whatever the tenant signs people in by. */
export async function hasOwnKey(queries: Queries, tenant: TenantId, user: UserId): Promise<boolean> {
  return (await countActiveDevices(queries, tenant, user)) > 0 || (await listPasskeysOfUser(queries, tenant, user)).length > 0;
}

/** Of some people those who have none. */
export async function withoutOwnKey(queries: Queries, tenant: TenantId, people: readonly UserId[]): Promise<readonly UserId[]> {
  const keyless: UserId[] = [];
  for (const id of people) if (!(await hasOwnKey(queries, tenant, id))) keyless.push(id);
  return keyless;
}

const holdersPerRead = 200;

/** Everybody who holds a role and has only what others give them: a mailbox, or another provider's word. */
export async function listKeylessAdministrators(queries: Queries, tenant: TenantId): Promise<readonly UserId[]> {
  const keyless: UserId[] = [];
  for (let after = ''; ; ) {
    const page = (await listHolders(queries, tenant, { after, limit: holdersPerRead })).map(({ id }) => id);
    keyless.push(...(await withoutOwnKey(queries, tenant, page)));
    if (page.length < holdersPerRead) return keyless;
    after = page.at(-1)!;
  }
}
