// Inviting somebody (design 13, section 1): a link by mail or to be handed over, where they add a passkey or phone. Called by the
// Management API and the command line; what the link opens is welcome/.
import { hashSecret } from '../crypto/secret-hash.ts';
import type { TenantId, UserId } from '../domain/ids.ts';
import { languageFor } from '../domain/language.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { mails } from '../mails/registry.ts';
import { randomSecret, uuidV7 } from '../platform/random.ts';
import { endEnrollments } from '../storage/device/enrollment-tokens.ts';
import type { Database, Queries } from '../storage/engine/database.ts';
import { listUserEmails } from '../storage/people/user-lists.ts';
import type { UserRow } from '../storage/people/user-rows.ts';
import { holdUser } from '../storage/people/users.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { insertInvitation, revokeInvitations } from '../storage/sign-in/invitations.ts';
import { type MailDeps, queueMail } from './mailed/mail-delivery.ts';

export interface Invited {
  readonly id: string;
  /** What the person opens; the token is in the fragment, which no server log sees. */
  readonly url: string;
  readonly expiresAtMs: number;
  /** Undefined: hand the link over yourself. */
  readonly mailedTo: string | undefined;
}

export interface InvitationDeps extends MailDeps {
  readonly database: Database;
}

interface WantedInvitation {
  readonly userId: string;
  readonly byMail: boolean | undefined;
  /** Throws where whoever asks may not invite this person, whose row is held; asked before anything is written. */
  mayInvite(queries: Queries, user: UserRow): Promise<void>;
  /** One of many: mails that somebody waits for go before it. */
  readonly isOneOfMany?: boolean;
}

/**
 * Makes the link of a person, revoking those before, and mails it unless `byMail` is false. `no_mail`: mail was wanted and there is no
 * address or no way to send one; `inactive`: who is suspended is not invited.
 */
export async function invite(
  deps: InvitationDeps,
  tenant: Tenant,
  { userId, byMail, mayInvite, isOneOfMany = false }: WantedInvitation,
  by: { readonly actor: string; readonly requestId?: string | undefined },
): Promise<Outcome<Invited, 'unknown' | 'inactive' | 'no_mail'>> {
  const token = randomSecret();
  const url = `${tenant.baseUrl}/welcome#${token}`;
  return deps.database.write(tenant.id, async (queries) => {
    const user = await holdUser(queries, deps.database.dialect, tenant.id, userId);
    if (user === undefined) return fail('unknown');
    await mayInvite(queries, user);
    if (user.state !== 'active') return fail('inactive');
    const emails = await listUserEmails(queries, tenant.id, user.id);
    const address = tenant.canMail ? (emails.find((email) => email.is_primary === 1) ?? emails[0])?.value : undefined;
    if (byMail === true && address === undefined) return fail('no_mail');
    const mailedTo = byMail === false ? undefined : address;
    const lifetimeSeconds = tenant.settings.invitation_lifetime_seconds;
    const id = uuidV7(deps.clock.nowMs());
    await revokeLinks(queries, tenant.id, user.id);
    const expiresAtMs = await insertInvitation(queries, tenant.id, {
      id,
      user_id: user.id,
      token_hash: hashSecret(token),
      mailed_to: mailedTo ?? null,
      lifetimeMs: lifetimeSeconds * 1000,
    });
    if (mailedTo !== undefined) {
      const facts = { url, tenantName: tenant.name, lifetimeSeconds, language: languageFor(user, undefined) };
      await queueMail(queries, deps, tenant, mails.invitation.make(facts, mailedTo), { forNobody: false, isOneOfMany });
    }
    await insertAuditEvent(queries, tenant.id, deps.clock.nowMs(), {
      ...by,
      type: 'invitation.created',
      target: `user:${user.id}`,
      data: { invitation: id, mailed: mailedTo !== undefined },
    });
    return { ok: true, id, url, expiresAtMs, mailedTo };
  });
}

/** Revokes one invitation or recovery of a person, or all of both: with their visits, the enrolment links these showed, and phones on their way. Gives how many. */
export async function revokeLinks(
  queries: Queries,
  tenant: TenantId,
  user: UserId,
  one?: Parameters<typeof revokeInvitations>[3],
): Promise<number> {
  const revoked = await revokeInvitations(queries, tenant, user, one);
  for (const { used_at: fromMs, visit_expires_at: untilMs } of revoked)
    if (fromMs !== null && untilMs !== null) await endEnrollments(queries, tenant, user, { fromMs, untilMs });
  return revoked.length;
}
