// Who becomes a member of an organisation by signing in (design 19): whoever comes by its own provider, or proves an address of a domain that
// is proven to be its own, where it has them join so. What is proven is proven in this very sign-in: by the PIN that was mailed, or the
// word of a provider that is trusted with it. Called once the person has proven who they are, before the sign-in ends.
import type { UserId } from '../../domain/ids.ts';
import { inboundRoles } from '../../domain/mappings/inbound.ts';
import type { Organization } from '../../domain/organizations/organization.ts';
import { domainOf } from '../../domain/sign-in/domain-proof.ts';
import { emailPinMethod } from '../../domain/sign-in/login-methods.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Queries } from '../../storage/engine/database.ts';
import { findMemberRoles, holdKnownRoles, putMember } from '../../storage/people/organization-members.ts';
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
    const invited = await invitedBy(queries, tenant, login, approval);
    return joinable(queries, tenant, { userId, invited, said: saidRoles(login) });
  });
  const identity = externalIdentityOf(login);
  const by = { requestId, actor: identity === undefined ? `user:${userId}` : `provider:${identity.providerId}` };
  for (const joining of open) await database.write(tenant.id, (queries) => join(queries, { clock, database }, tenant, joining, by));
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

/** What is to be written of memberships; roles that the provider says at every sign-in are those of every sign-in. */
async function joinable(
  queries: Queries,
  tenant: Tenant,
  { userId, invited, said }: { readonly userId: UserId; readonly invited: Invited; readonly said: SaidRoles | undefined },
): Promise<readonly Joining[]> {
  const found: Joining[] = [];
  for (const [id, ways] of invited) {
    const organization = await findSignInOrganization(queries, tenant.id, id);
    if (organization === undefined) continue;
    const before = await findMemberRoles(queries, tenant.id, id, userId);
    const isOpen = organization.join.some((way) => ways.includes(way));
    const given = ways.includes('provider') ? (before === undefined ? said?.create : said?.always) : undefined;
    const roles = knownOf(tenant, [...organization.defaultRoles, ...(given ?? [])]);
    const isOther = before === undefined ? isOpen : given !== undefined && JSON.stringify(before) !== JSON.stringify(roles);
    if (isOther) found.push({ organization, userId, roles, isNew: before === undefined });
  }
  return found;
}

/** Those of these roles that the tenant has, each once and in order. */
const knownOf = ({ organizations }: Tenant, roles: readonly string[]): readonly string[] =>
  [...new Set(roles)].filter((role) => organizations.scopesOfRoles.has(role)).sort();

interface SaidRoles {
  readonly create: readonly string[] | undefined;
  readonly always: readonly string[] | undefined;
}

function saidRoles(login: LoginTransaction): SaidRoles | undefined {
  const identity = externalIdentityOf(login);
  return identity && { create: inboundRoles(identity.create), always: inboundRoles(identity.always) };
}

interface Joining {
  readonly organization: Organization;
  readonly userId: UserId;
  readonly roles: readonly string[];
  readonly isNew: boolean;
}

async function join(
  queries: Queries,
  { clock, database }: JoinDeps,
  tenant: Tenant,
  { organization, userId, roles: wanted, isNew }: Joining,
  by: { readonly requestId: string; readonly actor: string },
): Promise<void> {
  const user = await lockUser(queries, database.dialect, tenant.id, userId);
  const { id } = organization;
  const isMember = (await findMemberRoles(queries, tenant.id, id, userId)) !== undefined;
  if (user?.state !== 'active' || isMember === isNew) return;
  const roles = await holdKnownRoles(queries, tenant.id, wanted);
  const joined = await putMember(queries, tenant.id, { organizationId: id, userId, roles });
  if (!joined.ok || joined.was === 'same') return; // full, or deleted meanwhile
  await insertAuditEvent(queries, tenant.id, clock.nowMs(), {
    ...by,
    type: joined.was === 'none' ? 'organization.member_added' : 'organization.member_changed',
    target: `organization:${id}`,
    data: { user: userId, roles: joined.roles },
  });
}
