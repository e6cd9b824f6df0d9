// How strong a sign-in to the console must be: whoever has a passkey or a phone opens it with that, whatever the tenant signs people in by,
// so that somebody who only reads their mail, or speaks for another provider that the owners did not name, does not (design 17, 2.2). The Management API asks the same
// of each call (tokens/bearer.ts); here the person is told so.
import type { GrantId } from '../domain/ids.ts';
import { loginMethods, phoneMethod } from '../domain/sign-in/login-methods.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Parts } from '../http/services.ts';
import { findGrant, grantFromColumns } from '../storage/oidc/grants.ts';
import { hasBetter } from '../storage/people/own-keys.ts';

/** What is asked for to hide the mailed code. */
export const strongAcr = loginMethods[phoneMethod].acr;

/** Whether a sign-in was by a mailed code, or by another provider's word, of somebody who has better. */
export async function isTooWeak({ database }: Parts<'database'>, tenant: Tenant, grantId: GrantId): Promise<boolean> {
  return database.read(tenant.id, async (queries) => {
    const row = await findGrant(queries, tenant.id, grantId);
    return row !== undefined && hasBetter(queries, tenant, row.user_id, grantFromColumns(row.id, row));
  });
}
