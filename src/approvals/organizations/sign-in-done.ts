// What a sign-in that was done is, as organisations judge it (design 19): how strong it was, and whose own provider the person came by.
import type { ExternalIdentityId, UserId } from '../../domain/ids.ts';
import type { SignInDone } from '../../domain/organizations/sign-in-rule.ts';
import type { ExternalIdentity } from '../../domain/sign-in/external-identity.ts';
import { type AuthenticationMethod, externalMethod } from '../../domain/sign-in/login-methods.ts';
import type { LiveSsoSession } from '../../domain/sign-in/sso-session.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { findOrganizationsOfLinks } from '../../storage/registry/organization-providers.ts';
import type { Approval } from '../../storage/sign-in/approvals.ts';
import { findLinkedUser } from '../../storage/sign-in/external-identities.ts';
import { mayLinkBy } from '../link-identity.ts';
import { linkOf, type Proof } from '../proof.ts';
import { ownerOfProvider } from './customer-providers.ts';

/** Sessions with the organisations by whose own providers they were opened. */
export async function withProvidersOf(
  queries: Queries,
  { id, organizations }: Tenant,
  sessions: readonly LiveSsoSession[],
): Promise<readonly LiveSsoSession[]> {
  if (!organizations.exist) return sessions;
  const links = sessions.flatMap(({ externalIdentityId: link }) => link ?? []);
  const owners = await findOrganizationsOfLinks(queries, id, links);
  return sessions.map((session) => ({ ...session, providerOf: ownerIn(owners, session.externalIdentityId) }));
}

const ownerIn = (owners: ReadonlyMap<ExternalIdentityId, string>, link: ExternalIdentityId | undefined): string | undefined =>
  link && owners.get(link);

/** `identity` is who came from another provider to this sign-in, which a proof of the same person here stands beside. */
export async function signInDoneBy(
  queries: Queries,
  tenant: Tenant,
  proof: Proof,
  identity: ExternalIdentity | undefined,
): Promise<SignInDone> {
  const how = 'session' in proof ? proof.session : proof.approval;
  const done = { method: how?.method as AuthenticationMethod, acr: how?.acr ?? undefined, providerOf: undefined }; // an approved one has it: a constraint of the table
  if (!tenant.organizations.exist) return done;
  const link = linkOf(proof);
  if (link !== undefined) return { ...done, providerOf: ownerIn(await findOrganizationsOfLinks(queries, tenant.id, [link]), link) };
  const isBeside = 'approval' in proof && identity !== undefined && (await isOfPerson(queries, tenant, proof.approval, identity));
  return isBeside ? { ...done, providerOf: await ownerOfProvider(queries, tenant, identity.providerId) } : done;
}

/** Whether an identity is the person's whose approval this is: linked, or to be linked by it. */
export async function isOfPerson(
  queries: Queries,
  tenant: Tenant,
  approval: Approval | undefined,
  identity: ExternalIdentity,
): Promise<boolean> {
  const userId: UserId | null | undefined = approval?.user_id;
  if (approval === undefined || userId == null) return false;
  const linked = await findLinkedUser(queries, tenant.id, identity);
  if (linked !== undefined) return linked === userId;
  return approval.method !== externalMethod && mayLinkBy(queries, tenant, userId, approval.method);
}
