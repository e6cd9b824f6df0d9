// A sign-in that was done and is not what the organisation asks for that it turned out to be for (design 19): the same person goes on, by the
// organisation's own provider, or by what is strong enough. Where nothing they could do would be, the finish refuses.
import type { UserId } from '../../domain/ids.ts';
import type { Organization } from '../../domain/organizations/organization.ts';
import { type SignInDone, unmetOf } from '../../domain/organizations/sign-in-rule.ts';
import type { LoginMethod } from '../../domain/sign-in/login-methods.ts';
import { allowedMethods, offeredMethods } from '../../domain/sign-in/sign-in-strength.ts';
import type { LiveSsoSession } from '../../domain/sign-in/sso-session.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Database, Queries } from '../../storage/engine/database.ts';
import { listEnabledAliases } from '../../storage/registry/identity-providers.ts';
import { findSignInOrganization } from '../../storage/registry/organizations.ts';
import { findApproval } from '../../storage/sign-in/approvals.ts';
import { identifyLogin, type LoginTransaction, raiseLogin } from '../../storage/sign-in/login-transactions.ts';
import { findOrganization } from '../authorization-answer.ts';
import { externalIdentityOf } from '../session/proven-at.ts';
import { knownSubject } from '../session/sso-session.ts';
import { signInDoneBy } from './sign-in-done.ts';

interface Raise {
  readonly organization: Organization;
  readonly userId: UserId;
  readonly methods: readonly LoginMethod[];
}

/** Has the person of a sign-in go on where they have to; false where they need not, or cannot. `session` is what it was answered from. */
export async function raiseSignIn(
  database: Database,
  tenant: Tenant,
  login: LoginTransaction,
  session: LiveSsoSession | undefined,
): Promise<boolean> {
  const { user_id: userId } = login;
  if (!tenant.organizations.exist || userId === null) return false;
  const raise = await database.read(tenant.id, (queries) => findRaise(queries, tenant, login, { userId, session }));
  if (raise === undefined) return false;
  const { organization, methods } = raise;
  return database.write(tenant.id, async (queries) => {
    const seen = { id: login.id, userId, approvalId: login.approval_id, sessionId: login.sso_session_id };
    const isDone = await raiseLogin(queries, tenant.id, seen, { organizationId: organization.id, methods });
    if (isDone && session !== undefined)
      await identifyLogin(queries, tenant.id, { id: login.id, approval_id: null }, { ...knownSubject(session), methods });
    return isDone;
  });
}

async function findRaise(
  queries: Queries,
  tenant: Tenant,
  login: LoginTransaction,
  { userId, session }: { readonly userId: UserId; readonly session: LiveSsoSession | undefined },
): Promise<Raise | undefined> {
  const meant = await findOrganization(queries, tenant, login, userId);
  if (typeof meant !== 'object') return undefined; // the page asks, or the finish refuses
  if (meant.signIn === 'any' && meant.acrMin === undefined) return undefined;
  const done: SignInDone = session ?? (await doneOf(queries, tenant, login));
  const unmet = unmetOf(meant, done);
  const organization = unmet && (await findSignInOrganization(queries, tenant.id, meant.id));
  if (organization === undefined) return undefined;
  const isAway = unmet === 'own_provider' || (organization.signIn === 'own_providers' && session !== undefined);
  if (isAway) {
    const isThere = (await listEnabledAliases(queries, tenant.id, organization.identityProviders)).length > 0;
    return isThere ? { organization, userId, methods: [] } : undefined;
  }
  const strength = { kind: login.kind, acr_values: login.acr_values, acr_min: organization.acrMin };
  const methods = offeredMethods(allowedMethods(tenant, login), strength);
  return methods.length > 0 ? { organization, userId, methods } : undefined;
}

async function doneOf(queries: Queries, tenant: Tenant, login: LoginTransaction): Promise<SignInDone> {
  const approval = await findApproval(queries, tenant.id, login.approval_id ?? '');
  return signInDoneBy(queries, tenant, { approval }, externalIdentityOf(login));
}
