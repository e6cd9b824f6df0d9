// Requests answered from a browser's single sign-on session instead of a sign-in (design 14, 1). Authorize asks first, and the
// sign-in page where the browser brought no cookie to authorize (a cross-site post). Consent, gate and user are read again in
// the transaction that uses the session.

import type { Client } from '../../domain/client/client.ts';
import { answerHost } from '../../domain/client/stranger.ts';
import { foldKey } from '../../domain/fold.ts';
import type { AuthorizationResponse } from '../../domain/oidc/authorization-response.ts';
import { acrFor, type SignInRule, unmetOf } from '../../domain/organizations/sign-in-rule.ts';
import { asksForOrganization, type HeldOrganization } from '../../domain/organizations/tenant-organizations.ts';
import type { AuthenticationMethod } from '../../domain/sign-in/login-methods.ts';
import {
  decideSession,
  type LiveSsoSession,
  type SessionDecision,
  type SessionWish,
  ssoPolicyOf,
} from '../../domain/sign-in/sso-session.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { type Clock, nowSeconds } from '../../platform/clock.ts';
import type { Database, Queries } from '../../storage/engine/database.ts';
import { hasConsent } from '../../storage/oidc/consents.ts';
import { findUser } from '../../storage/people/users.ts';
import { insertAuditEvent } from '../../storage/records/audit-events.ts';
import type { LoginTransaction } from '../../storage/sign-in/login-transactions.ts';
import { listBrowserSessions, useSsoSession } from '../../storage/sign-in/sso-sessions.ts';
import { subjectKeyOf } from '../approval.ts';
import {
  type AuthorizationAsked,
  authorizationResponse,
  consentedOf,
  findClientRefusal,
  findOrganization,
  issueCode,
  refusalError,
} from '../authorization-answer.ts';
import { signInDoneBy, withProvidersOf } from '../organizations/sign-in-done.ts';
import { askSignInHook, howOfSession, refusalFacts, type SignInHookDeps, signInFor } from '../sign-in-hook.ts';
import { ssoBrowserHash } from './sso-cookie.ts';

interface SsoDeps {
  readonly database: Database;
  readonly clock: Clock;
}

/** The parts of a request that decide about sessions, as its login transaction stores them. */
type WishColumns = Pick<LoginTransaction, 'kind' | 'prompt' | 'max_age' | 'id_token_hint_user' | 'login_hint' | 'acr_values'>;

export function wishOf(asked: WishColumns, organization: SignInRule | undefined): SessionWish {
  const prompts = asked.prompt?.split(' ') ?? [];
  return {
    signInAgain: prompts.includes('login'),
    selectAccount: prompts.includes('select_account'),
    maxAgeSeconds: asked.max_age ?? undefined,
    hintedUserId: asked.id_token_hint_user ?? undefined,
    loginHintKey: asked.login_hint === null ? undefined : foldKey(asked.login_hint.trim()),
    strength: { kind: asked.kind, acr_values: asked.acr_values, acr_min: organization?.acrMin },
    organization,
  };
}

/** What the sessions of a browser are worth to a request. Undefined where the tenant has no sessions at all. */
export async function considerSessions(
  { database, clock }: SsoDeps,
  tenant: Tenant,
  cookies: string | undefined,
  asked: WishColumns,
  organization?: SignInRule,
): Promise<{ readonly decision: SessionDecision; readonly sessions: readonly LiveSsoSession[] } | undefined> {
  if (ssoPolicyOf(tenant.settings.sso_session) === undefined) return undefined;
  const browserHash = ssoBrowserHash(cookies, tenant);
  const sessions =
    browserHash === undefined
      ? []
      : await database.read(tenant.id, async (queries) =>
          withProvidersOf(queries, tenant, await listBrowserSessions(queries, tenant.id, browserHash)),
        );
  return { decision: decideSession(sessions, wishOf(asked, organization), clock.nowMs()), sessions };
}

/** The person of a session, as somebody who typed their address into the sign-in page. */
export function knownSubject({ userId, email, displayName }: LiveSsoSession) {
  const identifier = email ?? displayName;
  const key = foldKey(identifier);
  return { identifier, userId, subjectKey: subjectKeyOf(userId, key), mailKey: key };
}

/** True when the client's consent page must be shown to this user first. */
export async function needsConsent(
  database: Database,
  tenant: Tenant,
  client: Client,
  userId: LiveSsoSession['userId'],
  asked: Pick<LoginTransaction, 'prompt' | 'scope' | 'claims' | 'resource' | 'redirect_uri'>,
): Promise<boolean> {
  if (!client.requireConsent) return false;
  // RFC 8252 8.6: any program of this computer may say that it is this one, so that nothing is given to it unasked.
  if (client.origin !== undefined && answerHost(asked.redirect_uri ?? '') === undefined) return true;
  if (asked.prompt?.split(' ').includes('consent') === true) return true;
  return !(await database.read(tenant.id, (queries) =>
    hasConsent(queries, tenant.id, userId, client.clientId, consentedOf(client, asked)),
  ));
}

/** The only organisation the person of a session is in, where the request asks for theirs; `several`: they must say for which they sign in. */
export async function meantOrganization(
  database: Database,
  tenant: Tenant,
  asked: Parameters<typeof findOrganization>[2],
  userId: LiveSsoSession['userId'],
): Promise<HeldOrganization | 'several' | undefined> {
  if (asked.chosen_organization_id !== null || !asksForOrganization(tenant.organizations, asked)) return undefined;
  const found = await database.read(tenant.id, (queries) => findOrganization(queries, tenant, asked, userId));
  return found === 'not_a_member' ? undefined : found;
}

interface SessionRequest {
  readonly client: Client;
  readonly asked: AuthorizationAsked;
  readonly session: LiveSsoSession;
  readonly cookies: string | undefined;
  readonly requestId: string;
  readonly ip: string;
  /** Runs in the same transaction, for what the request uses up (PAR). */
  readonly alongside: (queries: Queries) => Promise<void>;
}

/** What needsConsent found, in the transaction that rests on it. */
async function hasConsentStill(
  queries: Queries,
  tenant: Tenant,
  { client, asked }: SessionRequest,
  userId: LiveSsoSession['userId'],
): Promise<boolean> {
  return !client.requireConsent || hasConsent(queries, tenant.id, userId, client.clientId, consentedOf(client, asked));
}

/**
 * Answers an authorization request from a session in one transaction; undefined when the session has ended meanwhile, the consent was
 * withdrawn, or the organisation is another than a hook was asked about.
 */
export async function answerFromSession(
  deps: SsoDeps & SignInHookDeps,
  tenant: Tenant,
  request: SessionRequest,
): Promise<AuthorizationResponse | undefined> {
  const { client, asked, session } = request;
  const browserHash = ssoBrowserHash(request.cookies, tenant);
  if (browserHash === undefined) return undefined;
  const hookedFor =
    tenant.hooks.sign_in && (await deps.database.read(tenant.id, (queries) => signInFor(queries, tenant, asked, session.userId)));
  const verdict = await askSignInHook(
    deps,
    tenant,
    { client_id: client.clientId, service_provider_id: null },
    {
      requestId: request.requestId,
      kind: 'oidc',
      userId: session.userId,
      scope: asked.scope,
      organization: hookedFor,
      how: howOfSession({ ...session, acr: acrFor(session, asked.organization_id ?? undefined) }),
      ip: request.ip,
    },
  );
  return deps.database.write(tenant.id, async (queries) => {
    const used = await useSsoSession(queries, tenant.id, session.id, browserHash);
    const user = used && (await findUser(queries, tenant.id, used.user_id));
    if (used === undefined || user === undefined || used.user_id !== session.userId) return undefined;
    const organization = await findOrganization(queries, tenant, asked, user.id);
    if (organization === 'several') return undefined; // the sign-in page asks
    const held = organization === 'not_a_member' ? undefined : organization;
    if (verdict !== undefined && hookedFor?.id !== held?.id) return undefined; // the hook was asked about another
    if (!(await hasConsentStill(queries, tenant, request, user.id))) return undefined;
    const done = await signInDoneBy(queries, tenant, { session: used }, undefined);
    if (held !== undefined && unmetOf(held, done) !== undefined) return undefined; // as it is now, and the sign-in page has it met
    await request.alongside(queries);
    const byHook = verdict?.ok === false ? (`hook_${verdict.reason}` as const) : undefined;
    const refusal =
      (await findClientRefusal(queries, tenant, client, user, { resource: asked.resource, organization: held?.id })) ??
      (organization === 'not_a_member' ? organization : undefined) ??
      byHook;
    await insertAuditEvent(queries, tenant.id, deps.clock.nowMs(), {
      type: refusal === undefined ? 'login.finished' : 'login.refused',
      requestId: request.requestId,
      actor: `user:${user.id}`,
      target: `client:${client.clientId}`,
      reason: refusal,
      data: { session: used.id, method: 'session', ...refusalFacts(verdict), ...(held && { organization: held.id }) },
    });
    if (refusal !== undefined || organization === 'not_a_member')
      return authorizationResponse(tenant, asked, { error: refusalError(refusal ?? 'not_a_member') });
    return issueCode({ queries, tenant, clock: deps.clock }, asked, client, user, {
      authTimeSeconds: Math.floor(used.auth_time / 1000),
      acr: acrFor(done, held?.id),
      method: used.method as AuthenticationMethod, // written from one
      amr: JSON.parse(used.amr),
      ssoSessionId: used.id,
      externalIdentityId: used.external_identity_id ?? undefined,
      authorizedAtSeconds: nowSeconds(deps.clock),
      hookClaims: verdict?.ok === true ? verdict.claims : undefined,
      organization,
    });
  });
}
