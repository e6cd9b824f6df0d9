// What people do in the organisations they are in (design 19): any member leaves; whoever manages one changes who is in it. Each is one
// transaction that holds the organisation, reads anew whether they manage it, and writes its audit record: of two managers who remove
// each other at once one stays. Called by the account page with the id of the person who is signed in.
import { fail, type Outcome } from '../../domain/outcome.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { revokeOrganizationInvitation } from '../../storage/organizations/invitations.ts';
import { findManaged, type ManagedOrganization } from '../../storage/organizations/managers.ts';
import { holdOrganization } from '../../storage/organizations/organization-hold.ts';
import { endMembership, isMember, putMember } from '../../storage/people/organization-members.ts';
import { lockUser } from '../../storage/people/users.ts';
import { type Administration, recordAct } from '../administration.ts';
import type { Self } from './own-account.ts';

type Store = Pick<Administration, 'database' | 'clock'>;

/** Works on an organisation in one transaction while the person manages it; undefined where they do not. */
export function asManager<T>(
  store: Store,
  { tenant, userId }: Self,
  organization: string,
  work: (queries: Queries, organization: ManagedOrganization) => Promise<T>,
): Promise<T | undefined> {
  return store.database.write(tenant.id, async (queries) => {
    await holdOrganization(queries, tenant.id, organization);
    const managed = await findManaged(queries, tenant.id, organization, userId);
    return managed && work(queries, managed);
  });
}

/** Ends one's own membership. */
export function leaveOrganization(store: Store, self: Self, organization: string): Promise<Outcome<object, 'unknown' | 'last_manager'>> {
  return store.database.write(self.tenant.id, (queries) => end(queries, store, self, organization, self.userId));
}

/** Ends the membership of somebody, who may be the manager. */
export async function removeMember(
  store: Store,
  self: Self,
  organization: string,
  user: string,
): Promise<Outcome<object, 'unknown' | 'last_manager'>> {
  const done = await asManager(store, self, organization, (queries) => end(queries, store, self, organization, user));
  return done ?? fail('unknown');
}

async function end(
  queries: Queries,
  store: Store,
  { tenant, by }: Self,
  organization: string,
  user: string,
): Promise<Outcome<object, 'unknown' | 'last_manager'>> {
  const ended = await endMembership(queries, tenant.id, { organization, user, keepsManager: true });
  if (ended !== 'ended') return fail(ended);
  await recordAct(queries, store, tenant.id, by, {
    type: 'organization.member_removed',
    target: `organization:${organization}`,
    data: { user },
  });
  return { ok: true };
}

/** Gives a member other roles, of those the tenant has for organisations. */
export async function changeMemberRoles(
  store: Store,
  self: Self,
  organization: string,
  { user, roles: wanted }: { readonly user: string; readonly roles: readonly string[] },
): Promise<Outcome<object, 'unknown' | 'unknown_role' | 'last_manager'>> {
  const { tenant, by } = self;
  const roles = [...new Set(wanted)].sort();
  return store.database.write(tenant.id, async (queries) => {
    const held = await lockUser(queries, store.database.dialect, tenant.id, user); // people before organisations, as everywhere
    await holdOrganization(queries, tenant.id, organization);
    const managed = await findManaged(queries, tenant.id, organization, self.userId);
    if (held === undefined || managed === undefined) return fail('unknown');
    if (!(await isMember(queries, tenant.id, managed.id, held.id))) return fail('unknown');
    const changed = await putMember(queries, tenant.id, { organizationId: managed.id, userId: held.id, roles, keepsManager: true });
    if (!changed.ok) return fail(changed.reason === 'unknown_role' || changed.reason === 'last_manager' ? changed.reason : 'unknown');
    if (changed.was !== 'same')
      await recordAct(queries, store, tenant.id, by, {
        type: 'organization.member_changed',
        target: `organization:${managed.id}`,
        data: { user: held.id, roles: changed.roles },
      });
    return { ok: true };
  });
}

/** Withdraws an invitation that waits; false when there is none of that id here. */
export async function withdrawInvitation(store: Store, self: Self, organization: string, invitation: string): Promise<boolean> {
  const { tenant, by } = self;
  const done = await asManager(store, self, organization, async (queries, { id }) => {
    if (!(await revokeOrganizationInvitation(queries, tenant.id, id, invitation))) return false;
    await recordAct(queries, store, tenant.id, by, {
      type: 'organization.invitation_revoked',
      target: `organization:${id}`,
      data: { invitation },
    });
    return true;
  });
  return done === true;
}
