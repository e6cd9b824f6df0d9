// What a person has that proves who they are beyond a mailbox.
import type { ExternalIdentityId, TenantId, UserId } from '../../domain/ids.ts';
import { isByKey } from '../../domain/sign-in/sign-in-strength.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { countActiveDevices } from '../device/devices.ts';
import type { Queries } from '../engine/database.ts';
import { isLinkOf } from '../sign-in/external-identities.ts';
import { listPasskeysOfUser } from '../sign-in/passkeys.ts';
import { listHolders } from './user-roles.ts';

/** Whether somebody has a passkey or an enrolled phone, whatever the tenant signs people in by. */
async function hasOwnKey(queries: Queries, tenant: TenantId, user: UserId): Promise<boolean> {
  return (await countActiveDevices(queries, tenant, user)) > 0 || (await listPasskeysOfUser(queries, tenant, user)).length > 0;
}

/** Of some people those who have none. */
export async function withoutOwnKey(queries: Queries, tenant: TenantId, people: readonly UserId[]): Promise<readonly UserId[]> {
  const keyless: UserId[] = [];
  for (const id of people) if (!(await hasOwnKey(queries, tenant, id))) keyless.push(id);
  return keyless;
}

/** How somebody signed in, as their grant keeps it. */
interface SignedIn {
  /** RFC 8176. */
  readonly amr: readonly string[];
  /** The link to another provider they came by. */
  readonly externalIdentityId?: ExternalIdentityId | undefined;
}

/**
 * Whether somebody has a passkey or phone and signed in by less: by a mailed code, or by another provider that does not speak for the
 * administrators of the tenant (design 17, 2.2).
 */
export async function hasBetter(queries: Queries, { id, settings }: Tenant, user: UserId, signedIn: SignedIn): Promise<boolean> {
  if (isByKey(signedIn.amr) || !(await hasOwnKey(queries, id, user))) return false;
  const { externalIdentityId: link } = signedIn;
  const { administrator_providers: named } = settings;
  return link === undefined || named.length === 0 || !(await isLinkOf(queries, id, user, link, named));
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
