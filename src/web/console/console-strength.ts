// How strong a sign-in to the console must be: whoever has a passkey or a phone that the tenant takes opens it with that, so that
// somebody who only reads their mail does not.
import type { GrantId } from '../../domain/ids.ts';
import { loginMethods, meetsAcrValues, passkeyMethod, phoneMethod } from '../../domain/sign-in/login-methods.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Parts } from '../../http/services.ts';
import { countActiveDevices } from '../../storage/device/devices.ts';
import { findGrant } from '../../storage/oidc/grants.ts';
import { listPasskeysOfUser } from '../../storage/sign-in/passkeys.ts';

/** What is asked for to hide the mailed code. */
export const strongAcr = loginMethods[phoneMethod].acr;

/** Whether a sign-in was by a mailed code, or by another provider's word, of somebody who has better. */
export async function isTooWeak({ database }: Parts<'database'>, tenant: Tenant, grantId: GrantId): Promise<boolean> {
  const { login_methods: methods } = tenant.settings;
  return database.read(tenant.id, async (queries) => {
    const grant = await findGrant(queries, tenant.id, grantId);
    if (grant === undefined || grant.acr === null || meetsAcrValues(grant.acr, strongAcr)) return false;
    const hasPhone = methods.includes(phoneMethod) && (await countActiveDevices(queries, tenant.id, grant.user_id)) > 0;
    return hasPhone || (methods.includes(passkeyMethod) && (await listPasskeysOfUser(queries, tenant.id, grant.user_id)).length > 0);
  });
}
