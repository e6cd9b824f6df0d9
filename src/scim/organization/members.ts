// What SCIM of an organisation may do with a person (design 19). It has whole those it made and nobody else has. Of everybody else it
// reads what they are, and what it writes of them changes nothing: another address would receive their codes and enter elsewhere. It
// ends what its organisation gives, and never what others give.
import { reject } from '../../contract/contract-error.ts';
import { isOwned, type OrganizationDirectory } from '../../domain/organizations/directory.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { ValueTaken } from '../../storage/engine/unique-violation.ts';
import { findMemberOf, insertMadeMembers, setMemberSuspension } from '../../storage/people/directories/scim-members.ts';
import { deleteMember, holdKnownRoles, type Suspension } from '../../storage/people/organization-members.ts';
import type { UserRow } from '../../storage/people/user-rows.ts';
import { changeUser, type NewUser } from '../../storage/people/user-writer.ts';
import { insertAuditEvents } from '../../storage/records/audit-events.ts';
import { findOrganization, findSignInOrganization } from '../../storage/registry/organizations.ts';
import { type Document, draftOf, sameValue } from '../document.ts';
import { everything } from '../list/projection.ts';
import { invalidValue } from '../refuse.ts';
import { audit, type ScimContext } from '../request-context.ts';
import { type Stored, storedUser } from '../user-loader.ts';
import { changedColumns, changedLists } from '../user-rows.ts';
import { writeUser } from '../user-writes.ts';
import { adopt, isOfOthers } from './adoption.ts';

type Member = NonNullable<Awaited<ReturnType<typeof findMemberOf>>>;

const organizationOf = ({ directory: { tenant, organization } }: ScimContext): OrganizationDirectory | undefined =>
  organization === undefined ? undefined : { tenant, organization };

/** Makes people who were just made members, where the directory is of an organisation. */
export async function joinMade(context: ScimContext, queries: Queries, users: readonly NewUser[]): Promise<void> {
  const directory = organizationOf(context);
  if (directory === undefined || users.length === 0) return;
  if (await isOfOthers(queries, directory, users)) throw new ValueTaken('emails');
  const ids = users.map(({ id }) => id);
  const roles = await insertMadeMembers(queries, directory, ids, await defaultRolesOf(queries, directory));
  if (roles === undefined && (await findOrganization(queries, directory.tenant, directory.organization)) === undefined)
    throw reject('scim.resource_not_found', 'deleted_meanwhile');
  if (roles === undefined)
    throw invalidValue('The organisation, or the tenant in all of its organisations, has as many members as it may have.');
  for (const { id, state } of users) if (state === 'suspended') await setMemberSuspension(queries, directory, id, 2);
  const { services, requestId, actor } = context;
  const target = `organization:${directory.organization}`;
  const events = ids.map((user) => ({ type: 'organization.member_added' as const, target, data: { user, roles }, requestId, actor }));
  await insertAuditEvents(queries, directory.tenant, services.clock.nowMs(), events);
}

async function defaultRolesOf(queries: Queries, { tenant, organization }: OrganizationDirectory): Promise<readonly string[]> {
  return (await findSignInOrganization(queries, tenant, organization))?.defaultRoles ?? [];
}

/** Makes somebody who is there already a member in place of a person who could not be made; undefined where that is not the organisation's to do. */
export async function adoptInstead(context: ScimContext, added: NewUser, error: unknown): Promise<Stored | undefined> {
  const directory = organizationOf(context);
  if (directory === undefined || !(error instanceof ValueTaken)) return undefined;
  return context.services.database.write(directory.tenant, async (queries) => {
    const roles = await holdKnownRoles(queries, directory.tenant, await defaultRolesOf(queries, directory));
    return adopt(context, queries, directory, added, roles);
  });
}

/** What the directory knows of a person whose row is held: undefined where it is the tenant's, who has everybody. */
export async function memberOf(context: ScimContext, queries: Queries, row: UserRow): Promise<Member | undefined | 'stranger'> {
  const directory = organizationOf(context);
  return directory === undefined ? undefined : ((await findMemberOf(queries, directory, row.id)) ?? 'stranger');
}

/** Whether the directory shows a person. */
export async function isHere(context: ScimContext, queries: Queries, row: UserRow): Promise<boolean> {
  return (await memberOf(context, queries, row)) !== 'stranger';
}

/** Writes what differs of a member whose row is held, as far as it is the organisation's to write. */
export async function changeMember(
  context: ScimContext,
  queries: Queries,
  { row, member }: { readonly row: UserRow; readonly member: Member },
  before: Document,
  after: Document,
): Promise<Stored> {
  const isActive = after['active'] === true;
  const suspended = suspensionOf(row, member, isActive);
  /** Of the person, by this directory: its own to end, whoever has them meanwhile. */
  const isOwnSuspension = member.suspended === 2;
  if (suspended !== member.suspended) await setSuspension(context, queries, row, suspended);
  if (isOwned(row, member)) {
    const isFree = isActive ? row.state === 'active' || isOwnSuspension : before['active'] !== true && row.state === 'active';
    if (isActive && !isFree) await tellIgnored(context, queries, row, ['active']);
    const written = { profile: changedColumns(after, before), lists: changedLists(after, before) };
    if (await isOfOthers(queries, organizationOf(context)!, [written])) throw new ValueTaken('emails');
    return writeUser(context, queries, row, before, Object.assign(draftOf(after), { active: isFree }));
  }
  const fields = Object.keys({ ...before, ...after }).filter((key) => key !== 'active' && !sameValue(before[key], after[key]));
  const isFreed = isActive && row.state !== 'active' && isOwnSuspension && row.role === 'user';
  if (isActive && row.state !== 'active' && !isFreed) fields.push('active');
  if (fields.length > 0) await tellIgnored(context, queries, row, fields);
  if (suspended === member.suspended) return { document: before, version: row.version };
  const touched = (await changeUser(queries, context.tenant.id, row.id, isFreed ? { state: 'active' } : {}))!; // its version is that of what is shown
  if (isFreed) await audit(context, queries, { type: 'user.activated', target: `user:${row.id}` });
  return storedUser(context, queries, touched, everything);
}

/** A suspension of the person by others is no part of it, and not this organisation's to lift. */
function suspensionOf(row: UserRow, member: Member, isActive: boolean): Suspension {
  if (isActive) return 0;
  if (member.suspended > 0) return member.suspended;
  return isOwned(row, member) && row.state === 'active' ? 2 : 1;
}

async function setSuspension(context: ScimContext, queries: Queries, row: UserRow, suspended: Suspension): Promise<void> {
  const directory = organizationOf(context)!; // of a member
  await setMemberSuspension(queries, directory, row.id, suspended);
  const data = { user: row.id, suspended: suspended > 0 };
  await audit(context, queries, { type: 'organization.member_changed', target: `organization:${directory.organization}`, data });
}

async function tellIgnored(context: ScimContext, queries: Queries, row: UserRow, fields: readonly string[]): Promise<void> {
  const target = `organization:${context.directory.organization}`;
  await audit(context, queries, { type: 'organization.scim_ignored', target, data: { user: row.id, fields } });
}

/** Ends the membership of somebody whom others have too, and nothing else. */
export async function endMembership(context: ScimContext, queries: Queries, user: string): Promise<void> {
  const { tenant, organization } = organizationOf(context)!; // of a member
  await deleteMember(queries, tenant, organization, user);
  await audit(context, queries, { type: 'organization.member_removed', target: `organization:${organization}`, data: { user } });
}
