// The end of a sign-in, only ever by a post from the browser that holds the transaction's cookie. A compare-and-set decides
// who finishes; in its transaction user state and access gate are read again and the authorization code is made, or the SAML
// session becomes ready. Called by sign-in/. The caller has checked the cookie and answers with the location after the commit.

import type { SsoSessionId, TransactionId } from '../domain/ids.ts';
import type { AuthorizationResponse, Destination } from '../domain/oidc/authorization-response.ts';
import { acrFor, unmetOf } from '../domain/organizations/sign-in-rule.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import { type AuthenticationMethod, externalMethod } from '../domain/sign-in/login-methods.ts';
import { ssoPolicyOf } from '../domain/sign-in/sso-session.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { nowSeconds } from '../platform/clock.ts';
import type { Queries } from '../storage/engine/database.ts';
import { insertConsent } from '../storage/oidc/consents.ts';
import type { UserRow } from '../storage/people/user-rows.ts';
import { findUser } from '../storage/people/users.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { findClientOrDocument } from '../storage/registry/clients/client-documents.ts';
import type { SignIn } from '../storage/registry/last-sign-ins.ts';
import { findApproval } from '../storage/sign-in/approvals.ts';
import { type GrownTries, trimTries } from '../storage/sign-in/kept-tries.ts';
import {
  cancelLogin,
  completeLogin,
  completeLoginBySession,
  type LoginTransaction,
  markLoginRefused,
} from '../storage/sign-in/login-transactions.ts';
import { endFailuresOfUser } from '../storage/sign-in/pin-failures.ts';
import { noteOnTry, noteTry } from '../storage/sign-in/sign-in-tries.ts';
import { useSsoSession } from '../storage/sign-in/sso-sessions.ts';
import { admitClient } from './admit-client.ts';
import {
  type Authentication,
  authorizationResponse,
  checkOf,
  consentedOf,
  type FinishRefusal,
  findClientRefusal,
  findOrganization,
  issueCode,
  refusalError,
  statedAcr,
} from './authorization-answer.ts';
import { type DeliveryDeps, destinationOf } from './authorization-delivery.ts';
import { linkIdentity, mayLinkBy } from './link-identity.ts';
import type { MailDeps } from './mailed/mail-delivery.ts';
import { signInDoneBy } from './organizations/sign-in-done.ts';
import { linkOf, type Proof } from './proof.ts';
import { withdrawApproval } from './resolve-approval.ts';
import { finishSamlSignIn } from './saml-sign-in.ts';
import { openSession } from './session/open-session.ts';
import { externalIdentityOf, provenAtMs } from './session/proven-at.ts';
import { ssoBrowserHash } from './session/sso-cookie.ts';
import { askAboutLogin, type HookedLogin, type HookRefusal, refusalFacts, type SignInHookDeps } from './sign-in-hook.ts';

export interface FinishDeps extends MailDeps, DeliveryDeps, SignInHookDeps {}

/** The request that finishes, as its browser sent it. */
export interface FinishRequest {
  readonly requestId: string;
  readonly cookies: string | undefined;
  /** What the address of the browser is counted by. */
  readonly addressBlock: string;
  /** False for a computer that is not the person's own: no session is opened. */
  readonly keepsSession: boolean;
}

/** Where the browser goes: the client's redirect_uri with its answer, or the SAML post-back. */
interface FinishedLogin extends Destination {
  /** Who signed in, and to what; undefined when the client hears of a refusal instead. */
  readonly signedIn: SignIn | undefined;
  /** The cookie of the browser's single sign-on session, where one was opened. */
  readonly setCookie?: string | undefined;
}

/**
 * Finishes an approved sign-in once. `not_approved`: not approved (yet), expired, or finished by another request. `hook_failed`:
 * nobody could be asked whether a SAML sign-in may end, and it waits; a client of OpenID Connect hears of that by redirect.
 */
export async function finishLogin(
  deps: FinishDeps,
  tenant: Tenant,
  id: TransactionId,
  request: FinishRequest,
): Promise<Outcome<FinishedLogin, 'not_approved'> | { readonly ok: false; readonly reason: 'hook_failed'; readonly refusal: HookRefusal }> {
  const policy = ssoPolicyOf(tenant.settings.sso_session);
  const asked = await askAboutLogin(deps, tenant, id, request);
  if (!asked.ok) return asked;
  const { hooked } = asked;
  if (hooked?.kind === 'saml' && !hooked.verdict.ok && hooked.verdict.reason === 'failed')
    return { ...fail('hook_failed'), refusal: hooked.verdict };
  try {
    const settled = await deps.database.write(tenant.id, async (queries) => {
      const fresh = await completeLogin(queries, tenant.id, id);
      const login = fresh ?? (policy && (await completeLoginBySession(queries, tenant.id, id)));
      if (login === undefined) return fail('not_approved');
      const proof = fresh === undefined ? await useSession(queries, tenant, login, request) : await readApproval(queries, tenant, login);
      return settle(deps, { queries, tenant, request, hooked }, login, proof);
    });
    return await delivered(deps, tenant, settled);
  } catch (error) {
    if (error === sessionGone || error === organizationUnchosen) return fail('not_approved');
    throw error;
  }
}

/** An authorization response, or the address of the SAML post-back. */
type Answer = AuthorizationResponse | string;

interface Settled extends Omit<FinishedLogin, keyof Destination> {
  readonly answer: Answer;
  readonly grown?: GrownTries | undefined;
}

/** What was settled, as the browser carries it. */
async function delivered<Reason extends string>(
  deps: FinishDeps,
  tenant: Tenant,
  settled: Outcome<Settled, Reason>,
): Promise<Outcome<FinishedLogin, Reason>> {
  if (!settled.ok) return settled;
  const { answer, grown, ...rest } = settled;
  await trimTries(deps.database, tenant.id, grown);
  return { ...rest, ...(typeof answer === 'string' ? { location: answer } : await destinationOf(deps, tenant, answer)) };
}

/** Thrown to undo the completion: the session that was to answer has ended meanwhile, or a hook was asked about somebody or something else. */
const sessionGone = new Error('the session has ended');
/** The same where the person has not said for which organisation they sign in. */
const organizationUnchosen = new Error('no organisation was chosen');

interface Finishing {
  readonly queries: Queries;
  readonly tenant: Tenant;
  readonly request: FinishRequest;
  /** What the hook said, where one was asked. */
  readonly hooked?: HookedLogin | undefined;
}

async function useSession(queries: Queries, tenant: Tenant, login: LoginTransaction, { cookies }: FinishRequest): Promise<Proof> {
  const browserHash = ssoBrowserHash(cookies, tenant);
  const session =
    browserHash !== undefined && login.sso_session_id !== null
      ? await useSsoSession(queries, tenant.id, login.sso_session_id, browserHash)
      : undefined;
  if (session === undefined) throw sessionGone;
  return { session };
}

async function readApproval(queries: Queries, tenant: Tenant, login: LoginTransaction): Promise<Proof> {
  return { approval: await findApproval(queries, tenant.id, login.approval_id ?? '') };
}

async function settle(
  deps: FinishDeps,
  finishing: Finishing,
  login: LoginTransaction,
  proof: Proof,
): Promise<Outcome<Settled, 'not_approved'>> {
  const { queries, tenant, request } = finishing;
  const userId = 'session' in proof ? proof.session.user_id : proof.approval?.user_id;
  if (finishing.hooked !== undefined && finishing.hooked.userId !== userId) throw sessionGone;
  const user = userId == null ? undefined : await findUser(queries, tenant.id, userId);
  const client = login.client_id === null ? undefined : await findClientOrDocument(queries, tenant.id, login.client_id);
  const organization = user && (await findOrganization(queries, tenant, login, user.id));
  const held = typeof organization === 'object' ? organization : undefined;
  if (finishing.hooked !== undefined && finishing.hooked.organizationId !== held?.id) throw sessionGone;
  const done = await signInDoneBy(queries, tenant, proof, externalIdentityOf(login));
  const acr = acrFor(done, held?.id);
  const found = user === undefined ? 'unknown_user' : await refusalOf(finishing, login, client, user, { acr, organization: held?.id });
  if (organization === 'several' && found === undefined) throw organizationUnchosen;
  const unmet = held && unmetOf(held, done);
  const refusal = found ?? (organization === 'not_a_member' ? organization : unmet === 'strength' ? 'acr_unmet' : unmet);
  if (user !== undefined && refusal === undefined) await linkProven(deps, finishing, login, proof);
  if (user !== undefined && refusal === undefined && 'approval' in proof) await endFailuresOfUser(queries, tenant.id, user.id);
  const keeps = request.keepsSession && login.keeps_session === 1;
  const opened =
    user === undefined || refusal !== undefined || !keeps
      ? undefined
      : await openSession(queries, tenant, request.cookies, { login, proof, user });
  const answer =
    user === undefined || refusal !== undefined
      ? await refuse(deps, finishing, login, refusal ?? 'unknown_user')
      : await complete(deps, finishing, login, {
          client,
          user,
          authentication: {
            ...authenticationOf(deps, finishing, { login, proof, opened: opened?.sessionId }),
            acr,
            organization: held,
          },
        });
  await insertAuditEvent(queries, tenant.id, deps.clock.nowMs(), {
    type: refusal === undefined ? 'login.finished' : 'login.refused',
    requestId: request.requestId,
    actor: user === undefined ? undefined : `user:${user.id}`,
    target: targetOf(login),
    reason: refusal,
    data: {
      transaction: login.id,
      method: 'session' in proof ? 'session' : proof.approval?.method,
      ip: login.initiated_ip,
      ...refusalFacts(finishing.hooked?.verdict),
      ...(held && { organization: held.id }),
    },
  });
  const signedIn =
    user === undefined || refusal !== undefined
      ? undefined
      : { userId: user.id, application: applicationOf(login), organization: held?.id };
  const tried = held === undefined ? login : { ...login, chosen_organization_id: held.id };
  const grown = await noteEnd(finishing, tried, user, refusal);
  return answer === undefined ? fail('not_approved') : { ok: true, answer, signedIn, setCookie: opened?.setCookie, grown };
}

/** Writes how the try ended. */
function noteEnd(
  { queries, tenant, request: { requestId, addressBlock } }: Finishing,
  login: LoginTransaction,
  user: UserRow | undefined,
  refusal: FinishRefusal | undefined,
): Promise<GrownTries | undefined> {
  const refused = { type: 'login.refused', check: checkOf[refusal ?? 'unknown_user'], requestId } as const;
  const line = user !== undefined && refusal === undefined ? ({ type: 'login.finished', requestId } as const) : refused;
  return noteTry(queries, tenant.id, { login, addressBlock }, line, user && { userId: user.id });
}

/** Links whoever came from another provider to the account they have just proven: by what is strongest, in this very sign-in. */
async function linkProven(deps: FinishDeps, { queries, tenant, request }: Finishing, login: LoginTransaction, proof: Proof): Promise<void> {
  const identity = externalIdentityOf(login);
  const approval = 'session' in proof ? undefined : proof.approval;
  const userId = approval?.user_id;
  if (identity === undefined || approval === undefined || userId == null || approval.method === externalMethod) return;
  if (!(await mayLinkBy(queries, tenant, userId, approval.method))) return;
  await linkIdentity(queries, deps, tenant, { identity, userId, requestId: request.requestId });
}

interface Proven {
  readonly login: LoginTransaction;
  readonly proof: Proof;
  readonly opened: SsoSessionId | undefined;
}

function authenticationOf(
  { clock }: FinishDeps,
  { hooked }: Finishing,
  { login, proof, opened }: Proven,
): Omit<Authentication, 'acr' | 'organization'> {
  const how = 'session' in proof ? proof.session : proof.approval;
  const timeMs = 'session' in proof ? proof.session.auth_time : provenAtMs(login, proof.approval);
  const isEarlier = 'session' in proof || proof.approval?.method === externalMethod;
  return {
    authTimeSeconds: Math.floor(timeMs / 1000),
    method: how?.method as AuthenticationMethod, // an approved one has it: a constraint of the table
    amr: JSON.parse(how?.amr ?? '[]'),
    ssoSessionId: 'session' in proof ? proof.session.id : opened,
    externalIdentityId: linkOf(proof),
    authorizedAtSeconds: isEarlier ? nowSeconds(clock) : undefined,
    hookClaims: hooked?.verdict.ok === true ? hooked.verdict.claims : undefined,
  };
}

/** Gives the sign-in up at the person's wish, once: `access_denied` to the client, a session without subject for SAML. */
export async function abandonLogin(
  deps: FinishDeps,
  tenant: Tenant,
  id: TransactionId,
  request: FinishRequest,
): Promise<Outcome<FinishedLogin, 'finished'>> {
  return endWithout(deps, { tenant, request }, id, { type: 'login.cancelled', error: 'access_denied' });
}

/** Ends a sign-in that must not ask anybody (`prompt=none`) with the code that says what would have been asked. */
export async function refuseLogin(
  deps: FinishDeps,
  tenant: Tenant,
  id: TransactionId,
  request: FinishRequest,
  error: string,
): Promise<Outcome<FinishedLogin, 'finished'>> {
  return endWithout(deps, { tenant, request }, id, { type: 'login.refused', error });
}

async function endWithout(
  deps: FinishDeps,
  { tenant, request }: Omit<Finishing, 'queries'>,
  id: TransactionId,
  { type, error }: { readonly type: 'login.cancelled' | 'login.refused'; readonly error: string },
): Promise<Outcome<FinishedLogin, 'finished'>> {
  const ended = await deps.database.write(tenant.id, async (queries): Promise<Outcome<Settled, 'finished'>> => {
    const login = await cancelLogin(queries, tenant.id, id);
    if (login === undefined) return fail('finished');
    if (login.approval_id !== null) await withdrawApproval(queries, tenant, login.approval_id);
    const answer = await answerRefused(deps, { queries, tenant, request }, login, error);
    // What must not ask anybody is no try of a person.
    if (type === 'login.cancelled') await noteOnTry(queries, tenant.id, login.id, { type, requestId: request.requestId });
    await insertAuditEvent(queries, tenant.id, deps.clock.nowMs(), {
      type,
      requestId: request.requestId,
      actor: login.user_id === null ? undefined : `user:${login.user_id}`,
      target: targetOf(login),
      reason: type === 'login.refused' ? error : undefined,
      data: { transaction: login.id, ip: login.initiated_ip },
    });
    return answer === undefined ? fail('finished') : { ok: true, answer, signedIn: undefined };
  });
  return delivered(deps, tenant, ended);
}

const targetOf = (login: LoginTransaction): string => applicationOf(login).join(':');

const applicationOf = (login: LoginTransaction): SignIn['application'] =>
  login.kind === 'oidc' ? ['client', String(login.client_id)] : ['service_provider', String(login.service_provider_id)];

/** Why a sign-in that was approved must not complete after all; SAML reads its own gate at the post-back. */
async function refusalOf(
  { queries, tenant, hooked }: Finishing,
  login: LoginTransaction,
  client: Awaited<ReturnType<typeof findClientOrDocument>>,
  user: UserRow,
  { acr, organization }: { readonly acr: string | undefined; readonly organization: string | undefined },
): Promise<FinishRefusal | undefined> {
  if (login.id_token_hint_user !== null && login.id_token_hint_user !== user.id) return 'other_account';
  const byHook = hooked?.verdict.ok === false ? (`hook_${hooked.verdict.reason}` as const) : undefined;
  if (login.kind === 'saml') return user.state === 'active' ? byHook : 'user_inactive';
  if (login.essential_acr !== null && statedAcr(login, acr) === undefined) return 'acr_unmet';
  return (await findClientRefusal(queries, tenant, client, user, { resource: login.resource, organization })) ?? byHook;
}

interface Completed {
  readonly client: Awaited<ReturnType<typeof findClientOrDocument>>;
  readonly user: UserRow;
  readonly authentication: Authentication;
}

async function complete(
  deps: FinishDeps,
  { queries, tenant, request }: Finishing,
  login: LoginTransaction,
  { client, user, authentication }: Completed,
): Promise<Answer | undefined> {
  if (login.kind === 'oidc') {
    if (client === undefined || login.redirect_uri === null) throw new Error(`login ${login.id} has no client`);
    if (login.document_client_id !== null)
      await admitClient(queries, deps.clock, tenant, client, { userId: user.id, requestId: request.requestId });
    if (client.requireConsent) await insertConsent(queries, tenant.id, user.id, client.clientId, consentedOf(client, login));
    return issueCode({ queries, tenant, clock: deps.clock }, login, client, user, authentication);
  }
  const { authTimeSeconds, method, ssoSessionId } = authentication;
  const subject = { userId: user.id, authTimeSeconds, method, ssoSessionId };
  return finishSamlSignIn(queries, deps.encryption, tenant, login.saml_session_sealed ?? '', subject);
}

async function refuse(
  deps: FinishDeps,
  finishing: Finishing,
  login: LoginTransaction,
  refusal: FinishRefusal,
): Promise<Answer | undefined> {
  await markLoginRefused(finishing.queries, finishing.tenant.id, login.id);
  return answerRefused(deps, finishing, login, refusalError(refusal));
}

function answerRefused(
  deps: FinishDeps,
  { queries, tenant }: Finishing,
  login: LoginTransaction,
  error: string,
): Promise<Answer | undefined> {
  if (login.kind === 'saml') return finishSamlSignIn(queries, deps.encryption, tenant, login.saml_session_sealed ?? '', undefined);
  return Promise.resolve(authorizationResponse(tenant, login, { error }));
}
