// How strong a sign-in to the console must be: whoever has a passkey or a phone opens it with that, whatever the tenant signs people in by,
// so that somebody who only reads their mail, or speaks for another provider, does not (design 17, 2.2). The Management API asks the same
// of each call (tokens/bearer.ts); here the person is told so.
import type { GrantId } from '../domain/ids.ts';
import { loginMethods, phoneMethod } from '../domain/sign-in/login-methods.ts';
import { isByKey } from '../domain/sign-in/sign-in-strength.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Parts } from '../http/services.ts';
import { findGrant } from '../storage/oidc/grants.ts';
import { hasOwnKey } from '../storage/people/own-keys.ts';

/** What is asked for to hide the mailed code. */
export const strongAcr = loginMethods[phoneMethod].acr;

/** Whether a sign-in was by a mailed code, or by another provider's word, of somebody who has better. */
export async function isTooWeak({ database }: Parts<'database'>, { id }: Tenant, grantId: GrantId): Promise<boolean> {
  return database.read(id, async (queries) => {
    const grant = await findGrant(queries, id, grantId);
    if (grant === undefined || isByKey(JSON.parse(grant.amr) as readonly string[])) return false; // a JSON list of ours
    return hasOwnKey(queries, id, grant.user_id);
  });
}
