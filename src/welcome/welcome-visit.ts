// The visit of somebody who used up an invitation, or an administrator's link: an hour in the browser that did, bound to a cookie. It
// ends early when the invitation is revoked or the person is no longer active.
import type { FastifyRequest } from 'fastify';
import { createEnrollment, type Enrollment } from '../administration/people/enrollments.ts';
import { beginByInvitation, unlessFull } from '../approvals/organization-invitations.ts';
import { endOldPhones } from '../approvals/recovery/recoveries.ts';
import { welcomePurpose } from '../crypto/sealed-columns.ts';
import { hashSecret } from '../crypto/secret-hash.ts';
import type { UserId } from '../domain/ids.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Parts } from '../http/services.ts';
import { soleCookie } from '../platform/cookies.ts';
import { randomSecret, uuidV7 } from '../platform/random.ts';
import type { Queries } from '../storage/engine/database.ts';
import { orOnceMore } from '../storage/engine/unique-violation.ts';
import type { UserRow } from '../storage/people/user-rows.ts';
import { findLiveUser } from '../storage/people/users.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { consumeInvitation, findVisit, type Invitation, insertVisit, keepEnrollment } from '../storage/sign-in/invitations.ts';

export type VisitDeps = Parts<'clock' | 'database' | 'encryption'>;

export interface WelcomeVisit {
  readonly invitation: Invitation;
  readonly user: UserRow;
}

const visitSeconds = 3600;

/** Uses the link up, begins the visit and makes the enrolment link it shows, all or nothing. Gives the cookie; undefined: not this link. */
export async function beginVisit(services: VisitDeps, tenant: Tenant, token: string, requestId: string): Promise<string | undefined> {
  const cookie = makeCookie(tenant);
  const begun = await services.database.write(tenant.id, async (queries) => {
    const visit = { tokenHash: hashSecret(token), visitHash: cookie.hash, visitMs: visitSeconds * 1000 };
    const invitation = await consumeInvitation(queries, tenant.id, visit);
    if (invitation === undefined) return false;
    if (invitation.recovery_reason !== null) await endOldPhones(queries, services, tenant, invitation, requestId);
    await renewEnrollment(queries, services, tenant, { id: invitation.id, userId: invitation.user_id });
    if (invitation.recovery_reason !== null) return true;
    const actor = `user:${invitation.user_id}`;
    await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
      type: 'invitation.used',
      actor,
      target: actor,
      requestId,
      data: { invitation: invitation.id },
    });
    return true;
  });
  return begun ? cookie.setCookie : undefined;
}

/**
 * The same for an invitation into an organisation, whose account is made here. `here`: somebody has the address, and joins signed in;
 * `full`: nobody is made a member of it any more.
 */
export async function beginVisitOfMember(
  services: VisitDeps,
  tenant: Tenant,
  token: string,
  requestId: string,
): Promise<Outcome<{ readonly setCookie: string }, 'unknown' | 'here' | 'person_full' | 'organization_full'>> {
  // Once more where somebody got the address, or the user name, a moment ago.
  return unlessFull(() =>
    orOnceMore(() =>
      services.database.write(tenant.id, async (queries) => {
        const begun = await beginByInvitation(queries, services, tenant, token, requestId);
        if (!begun.ok) return begun;
        const enrollment = await createEnrollment(queries, services, tenant, begun.userId, false);
        return { ok: true, setCookie: await admitToVisit(queries, services, tenant, begun.userId, enrollment) };
      }),
    ),
  );
}

/** Begins a visit in the caller's transaction, for whoever used up another link, with the enrolment made for them. Gives the cookie. */
export async function admitToVisit(
  queries: Queries,
  services: VisitDeps,
  tenant: Tenant,
  userId: UserId,
  enrollment: Enrollment,
): Promise<string> {
  const cookie = makeCookie(tenant);
  const id = uuidV7(services.clock.nowMs());
  const visit = { id, user_id: userId, token_hash: hashSecret(randomSecret()), visitHash: cookie.hash, visitMs: visitSeconds * 1000 };
  await insertVisit(queries, tenant.id, visit);
  await keepEnrollment(queries, tenant.id, id, sealEnrollment(services, tenant, enrollment));
  return cookie.setCookie;
}

/** Who visits; undefined: nobody, or no longer. `find` is holdVisit for whoever adds something. */
export async function openWelcome(queries: Queries, request: FastifyRequest, find = findVisit): Promise<WelcomeVisit | undefined> {
  const { tenant } = request;
  const value = soleCookie(request.headers.cookie, cookieName(tenant));
  if (value === undefined || value === '') return undefined;
  const invitation = await find(queries, tenant.id, hashSecret(value));
  if (invitation === undefined) return undefined;
  const user = await findLiveUser(queries, tenant.id, invitation.user_id);
  return user?.state === 'active' ? { invitation, user } : undefined;
}

/** Makes another enrolment link and keeps it for the visit. */
export async function renewEnrollment(
  queries: Queries,
  services: VisitDeps,
  tenant: Tenant,
  { id, userId }: { readonly id: string; readonly userId: UserId },
): Promise<void> {
  const enrollment = await createEnrollment(queries, services, tenant, userId, false);
  await keepEnrollment(queries, tenant.id, id, sealEnrollment(services, tenant, enrollment));
}

/** The enrolment link of a visit; undefined when there is none that still works by its time. */
export function enrollmentOf(services: VisitDeps, tenant: Tenant, { enrollment_encrypted: sealed }: Invitation): string | undefined {
  if (sealed === null) return undefined;
  const { qrUri, expiresAtMs } = JSON.parse(services.encryption.decrypt(sealed, welcomePurpose(tenant.id)).toString('utf8')) as Enrollment; // sealed below
  return expiresAtMs > services.clock.nowMs() ? qrUri : undefined;
}

const sealEnrollment = ({ encryption }: VisitDeps, tenant: Tenant, { qrUri, expiresAtMs }: Enrollment): string =>
  encryption.encrypt(JSON.stringify({ qrUri, expiresAtMs }), welcomePurpose(tenant.id));

const isHttps = ({ baseUrl }: Tenant): boolean => baseUrl.startsWith('https:');
/** `__Host-` needs path `/`, so tenants below one host are told apart by the name. */
const cookieName = (tenant: Tenant): string => `${isHttps(tenant) ? '__Host-' : ''}gh-welcome-${tenant.slug}`;

function makeCookie(tenant: Tenant): { readonly setCookie: string; readonly hash: string } {
  const value = randomSecret();
  const secure = isHttps(tenant) ? '; Secure' : '';
  return {
    setCookie: `${cookieName(tenant)}=${value}; Path=/; Max-Age=${visitSeconds}; HttpOnly; SameSite=Lax${secure}`,
    hash: hashSecret(value),
  };
}
