// Letting somebody in again who lost the phone (design 14, 3): an administrator's link, by mail or to hand over, once, for a day.
// Using it ends the old phones; everybody the person can be reached at hears of it, with a link that stops it. The rows are those of
// invitations; what the link opens is welcome/.
import { hashSecret } from '../../crypto/secret-hash.ts';
import type { UserId } from '../../domain/ids.ts';
import { languageFor } from '../../domain/language.ts';
import { fail, type Outcome } from '../../domain/outcome.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { mails } from '../../mails/registry.ts';
import { randomSecret, uuidV7 } from '../../platform/random.ts';
import { revokeDevicesOfUser } from '../../storage/device/devices.ts';
import { endEnrollments } from '../../storage/device/enrollment-tokens.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { dialectOf } from '../../storage/engine/rows/id-list.ts';
import { revokeGrantsOfUser } from '../../storage/oidc/grants.ts';
import { listUserEmails } from '../../storage/people/user-lists.ts';
import type { UserRow } from '../../storage/people/user-rows.ts';
import { holdUser } from '../../storage/people/users.ts';
import { insertAuditEvent } from '../../storage/records/audit-events.ts';
import { insertPushMessages } from '../../storage/records/push-messages.ts';
import { withdrawApprovalsOfUser } from '../../storage/sign-in/approvals.ts';
import { findStoppable, type Invitation, insertInvitation, stopRecoveryOnce } from '../../storage/sign-in/invitations.ts';
import { listPasskeysOfUser } from '../../storage/sign-in/passkeys.ts';
import { type InvitationDeps, type Invited, revokeLinks } from '../invitations.ts';
import { type MailDeps, queueMail } from '../mailed/mail-delivery.ts';
import { revokePasskey } from '../passkeys/passkey-registration.ts';

const lifetimeSeconds = 24 * 3600;

interface WantedRecovery {
  readonly userId: string;
  /** For the audit record. */
  readonly reason: string;
  readonly byMail: boolean | undefined;
  /** Throws where whoever asks may not recover this person, whose row is held; asked before anything is written. */
  mayRecover(queries: Queries, user: UserRow): Promise<void>;
}

/**
 * Makes the link of a person, revoking those before, mails it unless `byMail` is false, and tells every address. `no_mail`: mail was
 * wanted and there is no address or no way to send one; `inactive`: who is suspended is not let in.
 */
export async function recover(
  deps: InvitationDeps,
  tenant: Tenant,
  wanted: WantedRecovery,
  by: { readonly actor: string; readonly requestId?: string | undefined },
): Promise<Outcome<Invited, 'unknown' | 'inactive' | 'no_mail'>> {
  const [token, stopToken] = [randomSecret(), randomSecret()];
  const url = `${tenant.baseUrl}/welcome?for=recovery#${token}`;
  return deps.database.write(tenant.id, async (queries) => {
    const user = await holdUser(queries, deps.database.dialect, tenant.id, wanted.userId);
    if (user === undefined) return fail('unknown');
    await wanted.mayRecover(queries, user);
    if (user.state !== 'active') return fail('inactive');
    const emails = tenant.canMail ? await listUserEmails(queries, tenant.id, user.id) : [];
    const address = (emails.find((email) => email.is_primary === 1) ?? emails[0])?.value;
    if (wanted.byMail === true && address === undefined) return fail('no_mail');
    const mailedTo = wanted.byMail === false ? undefined : address;
    const id = uuidV7(deps.clock.nowMs());
    await revokeLinks(queries, tenant.id, user.id);
    const expiresAtMs = await insertInvitation(queries, tenant.id, {
      id,
      user_id: user.id,
      token_hash: hashSecret(token),
      mailed_to: mailedTo ?? null,
      recovery_reason: wanted.reason,
      stop_hash: hashSecret(stopToken),
      lifetimeMs: lifetimeSeconds * 1000,
    });
    const facts = { tenantName: tenant.name, language: languageFor(user, undefined) };
    if (mailedTo !== undefined) await queueMail(queries, deps, tenant, mails.recovery.make('link', { ...facts, url }, mailedTo));
    await insertPushMessages(queries, tenant.id, user.id, id);
    const stopUrl = `${tenant.baseUrl}/welcome/stop?token=${stopToken}`;
    for (const { value } of emails)
      await queueMail(queries, deps, tenant, mails.recovery.make('notice', { ...facts, url: stopUrl }, value));
    await insertAuditEvent(queries, tenant.id, deps.clock.nowMs(), {
      ...by,
      type: 'recovery.created',
      target: `user:${user.id}`,
      reason: wanted.reason,
      data: { recovery: id, mailed: mailedTo !== undefined, told: emails.length },
    });
    return { ok: true, id, url, expiresAtMs, mailedTo };
  });
}

/** What using the link ends, in the transaction that uses it: the old phones, what waits on them, what they let in, and other links to add one. */
export async function endOldPhones(
  queries: Queries,
  { clock }: Pick<MailDeps, 'clock'>,
  tenant: Tenant,
  { id, user_id: userId }: Invitation,
  requestId: string,
): Promise<void> {
  await holdUser(queries, dialectOf(queries), tenant.id, userId); // first, as by whoever adds something (holdSession)
  await endEnrollments(queries, tenant.id, userId);
  const devices = await revokeDevicesOfUser(queries, tenant.id, userId);
  const approvals = await withdrawApprovalsOfUser(queries, tenant.id, userId);
  // Whoever has the phone may have signed in with it since; which sessions those are nobody can tell.
  const sessions = await revokeGrantsOfUser(queries, tenant.id, userId, 'administrator');
  const actor = `user:${userId}`;
  const event = {
    actor,
    requestId,
    type: 'recovery.used',
    target: actor,
    data: { recovery: id, devices: devices.length, approvals, sessions },
  } as const;
  await insertAuditEvent(queries, tenant.id, clock.nowMs(), event);
  for (const device of devices) {
    const revoked = {
      actor,
      requestId,
      type: 'device.revoked',
      target: `device:${device}`,
      reason: 'recovery',
      data: { user: userId },
    } as const;
    await insertAuditEvent(queries, tenant.id, clock.nowMs(), revoked);
  }
}

/**
 * “That was not me”: stops a recovery, whether its link was used or not. What was added with it goes again and sessions end. False:
 * not such a link, or too late. A second time does nothing more.
 */
export async function stopRecovery(
  deps: InvitationDeps,
  tenant: Tenant,
  token: string,
  by: { readonly requestId: string; readonly asked: string | undefined },
): Promise<boolean> {
  const { requestId } = by;
  return deps.database.write(tenant.id, async (queries) => {
    const stopped = await stopRecoveryOnce(queries, tenant.id, hashSecret(token));
    if (stopped === undefined) return (await findStoppable(queries, tenant.id, hashSecret(token))) !== undefined;
    const { id, user_id: userId, used_at: usedAt } = stopped;
    const actor = `user:${userId}`;
    const undone = usedAt === null ? undefined : await undo(queries, deps, tenant, { userId, usedAt }, { ...by, actor });
    await insertAuditEvent(queries, tenant.id, deps.clock.nowMs(), {
      actor,
      requestId,
      type: 'recovery.stopped',
      target: actor,
      reason: 'not_me',
      data: { recovery: id, used: usedAt !== null, ...undone },
    });
    return true;
  });
}

/** Takes away what was added since the link was used: first what a phone could still be added with. */
async function undo(
  queries: Queries,
  deps: InvitationDeps,
  tenant: Tenant,
  { userId, usedAt }: { readonly userId: UserId; readonly usedAt: number },
  by: { readonly actor: string; readonly requestId: string; readonly asked: string | undefined },
): Promise<{ readonly devices: number; readonly passkeys: number; readonly sessions: number }> {
  await holdUser(queries, dialectOf(queries), tenant.id, userId); // first, as by whoever adds something (holdSession)
  await endEnrollments(queries, tenant.id, userId);
  const devices = await revokeDevicesOfUser(queries, tenant.id, userId, usedAt);
  const added = (await listPasskeysOfUser(queries, tenant.id, userId)).filter(({ created_at: at }) => at >= usedAt);
  for (const { id } of added) await revokePasskey(queries, deps, tenant, { userId, id }, by);
  const sessions = await revokeGrantsOfUser(queries, tenant.id, userId, 'administrator');
  return { devices: devices.length, passkeys: added.length, sessions };
}
