// Who becomes a member of an organisation by signing in (design 19): whoever comes by its own provider, or proves an address of a domain that
// is proven to be its own, where it has them join so. What is proven is proven in this very sign-in: by the PIN that was mailed, or the
// word of a provider that is trusted with it. Called once the person has proven who they are, before the sign-in ends.
import type { UserId } from '../../domain/ids.ts';
import type { Organization } from '../../domain/organizations/organization.ts';
import { domainOf } from '../../domain/sign-in/domain-proof.ts';
import { emailPinMethod } from '../../domain/sign-in/login-methods.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Queries } from '../../storage/engine/database.ts';
import { isMember, putMember } from '../../storage/people/organization-members.ts';
import { lockUser } from '../../storage/people/users.ts';
import { insertAuditEvent } from '../../storage/records/audit-events.ts';
import { findSignInOrganization } from '../../storage/registry/organizations.ts';
import { findDomainOwner } from '../../storage/registry/proven-domains.ts';
import { type Approval, findApproval } from '../../storage/sign-in/approvals.ts';
import type { LoginTransaction } from '../../storage/sign-in/login-transactions.ts';
import { externalIdentityOf } from '../session/proven-at.ts';
import { ownerOfProvider } from './customer-providers.ts';
import { isOfPerson } from './sign-in-done.ts';

interface JoinDeps {
  readonly clock: Clock;
  readonly database: Database;
}

type Way = Organization['join'][number];
/** The ways somebody may join by, by the ids of organisations. */
type Invited = ReadonlyMap<string, readonly Way[]>;

/** Makes the person of an approved sign-in a member where that follows from how they signed in; once, and roles of members stay. True: they may be. */
export async function joinOrganizations(
  { clock, database }: JoinDeps,
  tenant: Tenant,
  login: LoginTransaction,
  requestId: string,
): Promise<boolean> {
  const { user_id: userId, approval_id: approvalId } = login;
  if (!tenant.organizations.exist || userId === null || approvalId === null) return false;
  const open = await database.read(tenant.id, async (queries) => {
    const approval = await findApproval(queries, tenant.id, approvalId);
    if (approval?.state !== 'approved' || approval.user_id !== userId) return [];
    return joinable(queries, tenant, userId, await invitedBy(queries, tenant, login, approval));
  });
  for (const organization of open)
    await database.write(tenant.id, (queries) => join(queries, { clock, database }, tenant, { organization, userId, requestId }));
  return open.length > 0;
}

async function invitedBy(queries: Queries, tenant: Tenant, login: LoginTransaction, approval: Approval): Promise<Invited> {
  const identity = externalIdentityOf(login);
  if (identity === undefined) return approval.method === emailPinMethod ? ofAddress(queries, tenant, login.mail_key ?? '') : new Map();
  if (!(await isOfPerson(queries, tenant, approval, identity))) return new Map();
  const owner = await ownerOfProvider(queries, tenant, identity.providerId);
  const byAddress: Invited = identity.emailCounts ? await ofAddress(queries, tenant, identity.email ?? '') : new Map();
  // A customer's provider says nothing of the addresses of another.
  return owner === undefined ? byAddress : new Map([[owner, ['provider', ...(byAddress.get(owner) ?? [])]]]);
}

async function ofAddress(queries: Queries, tenant: Tenant, address: string): Promise<Invited> {
  const domain = domainOf(address);
  const id = domain && (await findDomainOwner(queries, tenant.id, 'organization', domain));
  return new Map(id ? [[id, ['domain']]] : []);
}

async function joinable(queries: Queries, tenant: Tenant, userId: UserId, invited: Invited): Promise<readonly Organization[]> {
  const found: Organization[] = [];
  for (const [id, ways] of invited) {
    const organization = await findSignInOrganization(queries, tenant.id, id);
    const isOpen = organization?.join.some((way) => ways.includes(way)) === true;
    if (isOpen && !(await isMember(queries, tenant.id, id, userId))) found.push(organization);
  }
  return found;
}

interface Joining {
  readonly organization: Organization;
  readonly userId: UserId;
  readonly requestId: string;
}

async function join(
  queries: Queries,
  { clock, database }: JoinDeps,
  tenant: Tenant,
  { organization, userId, requestId }: Joining,
): Promise<void> {
  const user = await lockUser(queries, database.dialect, tenant.id, userId);
  const { id, defaultRoles } = organization;
  if (user?.state !== 'active' || (await isMember(queries, tenant.id, id, userId))) return;
  const joined = await putMember(queries, tenant.id, { organizationId: id, userId, roles: [...defaultRoles].sort() });
  if (!joined.ok || joined.was !== 'none') return; // full, or deleted meanwhile
  await insertAuditEvent(queries, tenant.id, clock.nowMs(), {
    type: 'organization.member_added',
    requestId,
    actor: `user:${userId}`,
    target: `organization:${id}`,
    data: { user: userId, roles: joined.roles },
  });
}
