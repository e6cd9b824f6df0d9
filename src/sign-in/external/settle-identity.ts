// Whom somebody from another provider is here (design 14, 2, Linking). Known by a link: signed in. Unknown: an email never links by
// itself. Nobody has it: an account is made where the provider may. Somebody has it: they prove that account, and the finish links.
// An email nobody vouches for is proven first, by the PIN that is mailed to it, whoever has it; so nobody learns who exists.
import type { FastifyRequest } from 'fastify';
import { createApproval, subjectKeyOf } from '../../approvals/approval.ts';
import { linkIdentity, speaksForOwner, strongMethodsOf } from '../../approvals/link-identity.ts';
import type { MailDeps } from '../../approvals/mailed/mail-delivery.ts';
import { countsForAddress, ownerOfProvider } from '../../approvals/organizations/customer-providers.ts';
import type { WithheldGroup } from '../../approvals/provider-groups.ts';
import { resolveApproval } from '../../approvals/resolve-approval.ts';
import { foldKey } from '../../domain/fold.ts';
import type { ApprovalId, ExternalIdentityId, UserId } from '../../domain/ids.ts';
import { type InboundValues, inboundGroups } from '../../domain/mappings/inbound.ts';
import { acrFor } from '../../domain/organizations/sign-in-rule.ts';
import { fail, type Outcome } from '../../domain/outcome.ts';
import type { ExternalIdentity } from '../../domain/sign-in/external-identity.ts';
import { emailPinMethod, externalMethod, type LoginMethod } from '../../domain/sign-in/login-methods.ts';
import { allowedMethods, isStrongEnough, offeredMethods } from '../../domain/sign-in/sign-in-strength.ts';
import type { Parts } from '../../http/services.ts';
import { uuidV7 } from '../../platform/random.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { orOnceMore, ValueTaken } from '../../storage/engine/unique-violation.ts';
import { insertUser } from '../../storage/people/user-writer.ts';
import { findUser, findUserOfEmail } from '../../storage/people/users.ts';
import { insertAuditEvent } from '../../storage/records/audit-events.ts';
import { findIdentityProvider } from '../../storage/registry/identity-providers.ts';
import { touchExternalIdentity } from '../../storage/sign-in/external-identities.ts';
import { identifyLogin, setLoginStep } from '../../storage/sign-in/login-transactions.ts';
import { approvalFacts, orRollBack, rollback, type StepAnswer, withdrawEarlier } from '../login-step.ts';
import type { LoginNow } from '../login-view.ts';
import { type PinMailing, type PinSent, primaryEmail, startPin } from '../pin-mail.ts';
import { newFrom, writeAlways, writeGroups } from './inbound.ts';

export interface Arrival {
  readonly identity: ExternalIdentity;
  readonly keepsSession: boolean;
  /** True: the PIN mailed to the identity's email was right, a moment ago. */
  readonly byPin: boolean;
  readonly mailing: PinMailing;
}

export type Settled = Outcome<
  { readonly answer: StepAnswer; readonly sent?: PinSent; readonly withheld?: readonly WithheldGroup[] },
  'provider_gone' | 'inactive' | 'unknown_person' | 'address_of_others' | 'no_mail' | 'value_taken'
>;

interface Settling extends Arrival {
  readonly queries: Queries;
  readonly deps: MailDeps;
  readonly request: FastifyRequest;
  readonly login: LoginNow;
  /** Filled on the way, and told of once all is committed. */
  readonly withheld: WithheldGroup[];
}

/**
 * A transaction of `settleIdentity`; undefined when it was rolled back. Two sign-ins of one new person at once: the second finds what the
 * first made. A value that must be one person's and is another's refuses.
 */
export async function settleOrRollBack<T>(
  services: Parts<'database'>,
  login: LoginNow,
  work: (queries: Queries) => Promise<Settled | T>,
): Promise<Settled | T | undefined> {
  return orOnceMore(() => orRollBack(services, login, work)).catch(orTaken);
}

function orTaken(error: unknown): Settled {
  if (error instanceof ValueTaken) return fail('value_taken');
  throw error;
}

/** Decides in the caller's transaction; throws `rollback` when the sign-in is not open any more. */
export async function settleIdentity(
  queries: Queries,
  deps: MailDeps,
  request: FastifyRequest,
  login: LoginNow,
  arrival: Arrival,
): Promise<Settled> {
  const withheld: WithheldGroup[] = [];
  const settled = await decide({ ...arrival, queries, deps, request, login, withheld });
  return settled.ok ? { ...settled, withheld } : settled;
}

async function decide(settling: Settling): Promise<Settled> {
  const { queries, login, identity } = settling;
  const { id: tenant } = login.tenant;
  const provider = await findIdentityProvider(queries, tenant, identity.providerId);
  if (provider === undefined || !provider.enabled) return fail('provider_gone');
  if (!(await withdrawEarlier(queries, login))) throw rollback;
  // The email's owner first: whoever came with this identity a moment ago made person and link in one transaction, so that the link
  // of an owner that is seen is seen too.
  const owner = identity.email === undefined ? undefined : await findUserOfEmail(queries, tenant, foldKey(identity.email));
  const link = await touchExternalIdentity(queries, tenant, identity);
  if (link !== undefined) return admit(settling, link.user_id, link.id);
  if (identity.email === undefined) return fail('unknown_person');
  if (!(await countsForAddress(queries, login.tenant, identity))) return fail('address_of_others');
  if (!identity.emailCounts) return askForPin(settling, identity.email);
  if (owner !== undefined) {
    if (owner.state !== 'active') return fail('inactive');
    if (!(await speaksForOwner(queries, login.tenant, identity, owner.id))) return askForProof(settling, owner.id);
    // Another sign-in of the same person may have linked while this one waited for the account.
    const since = await touchExternalIdentity(queries, tenant, identity);
    if (since !== undefined) return admit(settling, since.user_id, since.id);
    return linkAndAdmit(settling, owner.id);
  }
  if (!provider.createUsers) return fail('unknown_person');
  return linkAndAdmit(settling, await createPerson(settling, identity.email));
}

/**
 * Throws ValueTaken when somebody was linked, or the provider disabled, a moment ago: the second try finds which, and no account stays that
 * was made for this one.
 */
async function linkAndAdmit(settling: Settling, userId: UserId): Promise<Settled> {
  const { queries, deps, request, login, identity } = settling;
  const link = await linkIdentity(queries, deps, login.tenant, { identity, userId, requestId: request.id });
  if (link === undefined) throw new ValueTaken('identity');
  return admit(settling, userId, link);
}

/** Signs a linked person in, as far as the provider's word goes; the rest is proven here by the same person. */
async function admit(settling: Settling, userId: UserId, link: ExternalIdentityId): Promise<Settled> {
  const { queries, identity, login, request, deps } = settling;
  const { tenant, row } = login;
  if ((await findUser(queries, tenant.id, userId))?.state !== 'active') return fail('inactive');
  await writeAlways(queries, deps, tenant, identity, { userId, requestId: request.id });
  await joinGroups(settling, userId, identity.always);
  const { organization, strength } = login;
  const providerOf = await ownerOfProvider(queries, tenant, identity.providerId);
  const acr = acrFor({ method: externalMethod, acr: identity.acr, providerOf }, organization?.id);
  if (!isStrongEnough(strength, { acr, method: externalMethod }))
    return identified(settling, userId, offeredMethods(allowedMethods(tenant, row), strength));
  const { approvalId } = await identifiedWithApproval(settling, userId, 'choose');
  const context = { nowMs: deps.clock.nowMs(), requestId: request.id };
  const decision = { verdict: 'approve', method: externalMethod, acr: identity.acr, externalIdentityId: link } as const;
  if (!(await resolveApproval(queries, tenant, approvalId, decision, context)).ok) throw rollback;
  return { ok: true, answer: { state: 'approved' } };
}

async function joinGroups(
  { queries, deps, login, identity, request, withheld }: Settling,
  userId: UserId,
  given: InboundValues,
): Promise<void> {
  withheld.push(...(await writeGroups(queries, deps, login.tenant, identity, { userId, requestId: request.id, given })));
}

/** Somebody has the email: they prove their account by the strongest they have, here and now; a mailbox is the last resort. */
async function askForProof(settling: Settling, userId: UserId): Promise<Settled> {
  const { queries, login, byPin, request, deps } = settling;
  const { tenant } = login;
  const strong = await strongMethodsOf(queries, tenant, userId);
  if (strong.length === 0 && !tenant.canMail) return fail('no_mail');
  const proofs: readonly LoginMethod[] = strong.length > 0 ? strong : [emailPinMethod];
  const offered = offeredMethods(proofs, login.strength);
  if (!byPin || !offered.includes(emailPinMethod)) return identified(settling, userId, offered);
  const { approvalId } = await identifiedWithApproval(settling, userId, 'pin');
  const context = { nowMs: deps.clock.nowMs(), requestId: request.id };
  if (!(await resolveApproval(queries, tenant, approvalId, { verdict: 'approve', method: emailPinMethod }, context)).ok) throw rollback;
  return { ok: true, answer: { state: 'approved' } };
}

/** The same for every address, whether somebody here has it or nobody. */
async function askForPin(settling: Settling, email: string): Promise<Settled> {
  const { queries, deps, request, mailing } = settling;
  if (!settling.login.tenant.canMail) return fail('no_mail');
  const key = foldKey(email);
  const subject = { identifier: email, userId: undefined, subjectKey: subjectKeyOf(undefined, key), mailKey: key };
  const then = await identify(settling, subject, []);
  const sent = await startPin(queries, deps, request, then, mailing);
  return { ok: true, answer: { state: 'pin' }, sent };
}

async function identified(settling: Settling, userId: UserId, methods: readonly LoginMethod[]): Promise<Settled> {
  await identify(settling, await subjectOf(settling, userId), methods);
  return { ok: true, answer: { state: 'choose', methods } };
}

async function identifiedWithApproval(
  settling: Settling,
  userId: UserId,
  step: 'choose' | 'pin',
): Promise<{ readonly approvalId: ApprovalId }> {
  const { queries, login } = settling;
  const { tenant } = login;
  const then = await identify(settling, await subjectOf(settling, userId), []);
  const created = await createApproval(queries, tenant, { ...approvalFacts(then), onDevices: false, withNumber: false });
  if (!created.ok || !(await setLoginStep(queries, tenant.id, then.row, step, created.approvalId))) throw rollback;
  return created;
}

type Subject = Omit<Parameters<typeof identifyLogin>[3], 'methods' | 'keepsSession' | 'externalIdentity'>;

async function subjectOf({ queries, login, identity }: Settling, userId: UserId): Promise<Subject> {
  const email = await primaryEmail(queries, login, userId);
  const identifier = email?.value ?? identity.email ?? '';
  const key = email?.key ?? foldKey(identifier);
  return { identifier, userId, subjectKey: subjectKeyOf(userId, key), mailKey: key };
}

/** Writes who it is into the sign-in, with whom they came as; gives the sign-in as it is then. */
async function identify(settling: Settling, subject: Subject, methods: readonly LoginMethod[]): Promise<LoginNow> {
  const { queries, login, identity, keepsSession } = settling;
  const { tenant, row } = login;
  const externalIdentity = JSON.stringify(identity);
  if (!(await identifyLogin(queries, tenant.id, row, { ...subject, methods, keepsSession, externalIdentity }))) throw rollback;
  const { identifier, userId, subjectKey, mailKey } = subject;
  const now = { ...row, identifier, user_id: userId ?? null, subject_key: subjectKey, mail_key: mailKey, approval_id: null };
  return { ...login, methods, row: { ...now, external_identity: externalIdentity } };
}

/** Throws ValueTaken when somebody got the email or user name a moment ago. */
async function createPerson(settling: Settling, email: string): Promise<UserId> {
  const { queries, deps, request, login, identity } = settling;
  const { tenant } = login;
  const id = uuidV7(deps.clock.nowMs()) as UserId; // made here
  const { profile, custom } = newFrom(tenant, identity.create);
  await insertUser(queries, tenant.id, {
    id,
    state: 'active',
    origin: 'signup',
    profile: { ...profile, user_name: email },
    custom,
    lists: { emails: [{ value: email, type: null, display: null, is_primary: 1 }] },
  });
  await insertAuditEvent(queries, tenant.id, deps.clock.nowMs(), {
    type: 'user.created',
    requestId: request.id,
    actor: `provider:${identity.providerId}`,
    target: `user:${id}`,
    data: { role: 'user', issuer: identity.issuer, subject: identity.subject },
  });
  // Rules that hold at every sign-in follow at once, and say all.
  if (inboundGroups(identity.always) === undefined) await joinGroups(settling, id, identity.create);
  return id;
}
