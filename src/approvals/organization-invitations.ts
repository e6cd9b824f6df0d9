// Inviting somebody into an organisation by their address, and what the link does (design 19): whoever has no account gets one when they open
// it, as by an invitation of the tenant; whoever has one signs in and presses Join. Whoever invites learns neither before nor after which
// of the two it is. Called by the Management API, the command line and the account page; what the link opens first is welcome/.
import { hashSecret } from '../crypto/secret-hash.ts';
import { foldKey } from '../domain/fold.ts';
import type { UserId } from '../domain/ids.ts';
import { languageFor } from '../domain/language.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { mails } from '../mails/registry.ts';
import { randomSecret, uuidV7 } from '../platform/random.ts';
import type { Database, Queries } from '../storage/engine/database.ts';
import {
  consumeOrganizationInvitation,
  findOrganizationInvitation,
  insertOrganizationInvitation,
  type OrganizationInvitation,
} from '../storage/organizations/invitations.ts';
import { holdOrganization } from '../storage/organizations/organization-hold.ts';
import { findUnknownRole, holdKnownRoles, isMember, putMember } from '../storage/people/organization-members.ts';
import { insertUser } from '../storage/people/user-writer.ts';
import { findUserByIdentifier, findUserOfEmail, lockUser } from '../storage/people/users.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { type MailDeps, queueMail } from './mailed/mail-delivery.ts';

interface WantedInvitation {
  readonly organization: { readonly id: string; readonly name: string; readonly displayName?: string | undefined };
  readonly email: string;
  readonly roles: readonly string[];
  /** Undefined: where that can be done. */
  readonly byMail: boolean | undefined;
  /** The member who invites; null: somebody of the tenant. */
  readonly invitedBy: UserId | null;
}

interface InvitedToOrganization {
  readonly id: string;
  /** What the person opens; the token is in the fragment, which no server log sees. */
  readonly url: string;
  readonly expiresAtMs: number;
  readonly isMailed: boolean;
}

type Refused =
  | { readonly ok: false; readonly reason: 'unknown' | 'full' | 'often' | 'no_mail' }
  | { readonly ok: false; readonly reason: 'unknown_role'; readonly role: string };

interface InvitingBy {
  readonly actor: string;
  readonly requestId?: string | undefined;
}

/** Makes the link in the caller's transaction, in the place of those before to the address, and mails it unless `byMail` is false. */
export async function inviteToOrganization(
  queries: Queries,
  deps: MailDeps,
  tenant: Tenant,
  { organization, email, roles: wanted, byMail, invitedBy }: WantedInvitation,
  by: InvitingBy,
): Promise<({ readonly ok: true } & InvitedToOrganization) | Refused> {
  if (byMail === true && !tenant.canMail) return fail('no_mail');
  const isMailed = byMail !== false && tenant.canMail;
  const roles = [...new Set(wanted)].sort();
  const role = await findUnknownRole(queries, tenant.id, roles);
  if (role !== undefined) return { ok: false, reason: 'unknown_role', role };
  const token = randomSecret();
  const url = `${tenant.baseUrl}/welcome#${token}`;
  const id = uuidV7(deps.clock.nowMs());
  const lifetimeSeconds = tenant.settings.invitation_lifetime_seconds;
  const made = await insertOrganizationInvitation(queries, tenant.id, {
    ...{ id, email, roles, tokenHash: hashSecret(token), lifetimeMs: lifetimeSeconds * 1000 },
    ...{ organization_id: organization.id, mailed: isMailed ? 1 : 0, invited_by: invitedBy },
  });
  if (!made.ok) return made;
  if (isMailed) {
    const known = await findUserOfEmail(queries, tenant.id, foldKey(email));
    const language = languageFor(known ?? { locale: null, preferred_language: null }, undefined);
    const facts = {
      url,
      tenantName: tenant.name,
      organizationName: organization.displayName ?? organization.name,
      lifetimeSeconds,
      language,
    };
    const letter = mails.organizationInvitation.make(facts, email);
    await queueMail(queries, deps, tenant, letter, { forNobody: false, isOneOfMany: true });
  }
  await insertAuditEvent(queries, tenant.id, deps.clock.nowMs(), {
    ...by,
    type: 'organization.invitation_created',
    target: `organization:${organization.id}`,
    data: { invitation: id, roles, mailed: isMailed },
  });
  return { ok: true, id, url, expiresAtMs: made.expiresAtMs, isMailed };
}

interface JoinDeps extends Pick<MailDeps, 'clock'> {
  readonly database: Database;
}

/** Why a link that is good does not make somebody a member; nothing is used up then. */
type Unjoined = 'person_full' | 'organization_full';

/** Undoes the transaction of whoever joins. */
class NotJoined extends Error {
  readonly reason: Unjoined;
  constructor(reason: Unjoined) {
    super(`not a member: ${reason}`);
    this.reason = reason;
  }
}

/** Uses the link up for a person who is here, and makes them a member: once, and only where it was sent to an address of theirs. */
export async function joinOrganization(
  deps: JoinDeps,
  tenant: Tenant,
  { token, userId }: { readonly token: string; readonly userId: UserId },
  requestId: string,
): Promise<Outcome<{ readonly organizationId: string }, 'unknown' | Unjoined>> {
  const tokenHash = hashSecret(token);
  return unlessFull(() =>
    deps.database.write(tenant.id, async (queries) => {
      const asked = await findOrganizationInvitation(queries, tenant.id, tokenHash, userId);
      if (asked === undefined) return fail('unknown');
      await lockUser(queries, deps.database.dialect, tenant.id, userId);
      await holdOrganization(queries, tenant.id, asked.organization_id);
      const invitation = await consumeOrganizationInvitation(queries, tenant.id, tokenHash, userId);
      if (invitation === undefined) return fail('unknown');
      await becomeMember(queries, deps, tenant, invitation, { userId, requestId });
      return { ok: true, organizationId: invitation.organization_id };
    }),
  );
}

/**
 * The same for whoever is not here: makes their account in the caller's transaction. `here`: somebody has the address, who must sign in
 * first, and nothing was used up. Throws ValueTaken when somebody got the address or the user name a moment ago.
 */
export async function beginByInvitation(
  queries: Queries,
  deps: JoinDeps,
  tenant: Tenant,
  token: string,
  requestId: string,
): Promise<Outcome<{ readonly userId: UserId }, 'unknown' | 'here'>> {
  const tokenHash = hashSecret(token);
  const asked = await findOrganizationInvitation(queries, tenant.id, tokenHash);
  if (asked === undefined) return fail('unknown');
  if ((await findUserOfEmail(queries, tenant.id, foldKey(asked.email))) !== undefined) return fail('here');
  await holdOrganization(queries, tenant.id, asked.organization_id);
  const invitation = await consumeOrganizationInvitation(queries, tenant.id, tokenHash);
  if (invitation === undefined) return fail('unknown');
  const id = uuidV7(deps.clock.nowMs()) as UserId; // made here
  const isNameFree = (await findUserByIdentifier(queries, tenant.id, invitation.email)) === undefined;
  await insertUser(queries, tenant.id, {
    id,
    state: 'active',
    origin: 'console',
    profile: isNameFree ? { user_name: invitation.email } : {},
    lists: { emails: [{ value: invitation.email, type: null, display: null, is_primary: 1 }] },
  });
  await insertAuditEvent(queries, tenant.id, deps.clock.nowMs(), {
    ...{ type: 'user.created', actor: `user:${id}`, target: `user:${id}`, requestId },
    data: { role: 'user' },
  });
  await becomeMember(queries, deps, tenant, invitation, { userId: id, requestId });
  return { ok: true, userId: id };
}

/** Whoever is a member already stays as they are; a role that is gone is not given. */
async function becomeMember(
  queries: Queries,
  { clock }: Pick<JoinDeps, 'clock'>,
  tenant: Tenant,
  invitation: OrganizationInvitation,
  { userId, requestId }: { readonly userId: UserId; readonly requestId: string },
): Promise<void> {
  const organizationId = invitation.organization_id;
  if (await isMember(queries, tenant.id, organizationId, userId)) return;
  const roles = await holdKnownRoles(queries, tenant.id, JSON.parse(invitation.roles) as readonly string[]); // written by us
  const joined = await putMember(queries, tenant.id, { organizationId, userId, roles });
  if (!joined.ok) throw new NotJoined(joined.reason === 'person_full' ? joined.reason : 'organization_full');
  await insertAuditEvent(queries, tenant.id, clock.nowMs(), {
    ...{ type: 'organization.member_added', actor: `user:${userId}`, target: `organization:${organizationId}`, requestId },
    data: { user: userId, roles: joined.roles, invitation: invitation.id },
  });
}

/** Gives as a reason what undid the whole transaction. */
export async function unlessFull<T>(work: () => Promise<T>): Promise<T | { readonly ok: false; readonly reason: Unjoined }> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof NotJoined)) throw error;
    return { ok: false, reason: error.reason };
  }
}
