// What a browser's single sign-on session does for an authorization request (design 14, 1): the answer at once, or what the
// sign-in that starts instead must know. Called by authorize.ts for tenants that have sessions.
import type { FastifyRequest } from 'fastify';
import { ssoBrowserHash } from '../../approvals/session/sso-cookie.ts';
import { answerFromSession, considerSessions, knownSubject, meantOrganization, needsConsent } from '../../approvals/session/sso-session.ts';
import { columnsOf, type OidcLoginRequest } from '../../approvals/start-login.ts';
import { reject } from '../../contract/contract-error.ts';
import type { Client } from '../../domain/client/client.ts';
import type { TransactionId } from '../../domain/ids.ts';
import type { AuthorizationResponse } from '../../domain/oidc/authorization-response.ts';
import { type SignInRule, unmetOf } from '../../domain/organizations/sign-in-rule.ts';
import { allowedMethods, offeredMethods } from '../../domain/sign-in/sign-in-strength.ts';
import type { LiveSsoSession } from '../../domain/sign-in/sso-session.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Parts } from '../../http/services.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { findSignInOrganization } from '../../storage/registry/organizations.ts';
import { identifyLogin, setLoginSession } from '../../storage/sign-in/login-transactions.ts';
import { verifyIdTokenHint } from '../../tokens/id-token.ts';
import type { RequestParameters } from '../parameters.ts';

export type SessionAnswerDeps = Parts<'activity' | 'clock' | 'database' | 'hooks'>;

/** The user an id_token_hint names (OpenID Connect Core 3.1.2.1): one of our ID tokens for this client, an expired one too. */
export async function readIdTokenHint(
  { keyRings }: Parts<'keyRings'>,
  tenant: Tenant,
  client: Client,
  parameters: RequestParameters,
): Promise<string | undefined> {
  const text = parameters.get('id_token_hint');
  if (text === undefined) return undefined;
  const verified = verifyIdTokenHint(tenant, await keyRings.of(tenant.id), text);
  const reason = verified.ok ? (verified.hint.clientId === client.clientId ? undefined : 'wrong_audience') : verified.reason;
  if (!verified.ok || reason !== undefined)
    throw reject('authorize.invalid_request', `id_token_hint_${reason}`, { text: 'id_token_hint is not an ID token of this client.' });
  return verified.hint.sub;
}

interface SessionAnswer {
  /** What the browser is answered at once. */
  readonly response?: AuthorizationResponse | undefined;
  /** Else what the sign-in is told besides the request. */
  readonly start?: Partial<OidcLoginRequest>;
  /** Runs in the transaction that starts the sign-in. */
  readonly prepare?: (queries: Queries, transaction: TransactionId) => Promise<void>;
}

/** Looks at the sessions the request's cookie names. Throws what `prompt=none` must not ask for. */
export async function answerBySession(
  services: SessionAnswerDeps,
  request: FastifyRequest,
  client: Client,
  login: OidcLoginRequest,
  alongside: (queries: Queries) => Promise<void>,
): Promise<SessionAnswer> {
  const { tenant } = request;
  const { cookie: cookies } = request.headers;
  // A post from another site carries no Lax cookie: the sign-in page, which the browser opens next, sees the sessions.
  if (request.method === 'POST' && ssoBrowserHash(cookies, tenant) === undefined) return {};
  const asked = columnsOf(login);
  const { organizationId } = login;
  const organization =
    organizationId === undefined
      ? undefined
      : await services.database.read(tenant.id, (queries) => findSignInOrganization(queries, tenant.id, organizationId));
  const considered = await considerSessions(services, tenant, cookies, asked, organization);
  const isSilent = login.prompt?.split(' ').includes('none') === true;
  switch (considered?.decision.kind) {
    case 'choose':
      if (isSilent) throw reject('authorize.account_selection_required', 'prompt_none');
      return {};
    case 'step_up':
      if (isSilent) throw reject('authorize.interaction_required', 'prompt_none');
      return raise(tenant, login, considered.decision.session, organization);
    case 'continue':
      return continueSession(services, request, client, login, { session: considered.decision.session, alongside, isSilent });
    default: {
      if (isSilent) throw reject('authorize.login_required', 'prompt_none');
      const known = considered?.decision.kind === 'sign_in' ? considered.decision.session : undefined;
      return { start: { loginHint: login.loginHint ?? known?.email } };
    }
  }
}

interface Continuing {
  readonly session: LiveSsoSession;
  readonly alongside: (queries: Queries) => Promise<void>;
  readonly isSilent: boolean;
}

async function continueSession(
  services: SessionAnswerDeps,
  request: FastifyRequest,
  client: Client,
  login: OidcLoginRequest,
  { session, alongside, isSilent }: Continuing,
): Promise<SessionAnswer> {
  const { tenant } = request;
  const asked = columnsOf(login);
  const meant = await meantOrganization(services.database, tenant, asked, session.userId);
  const mustChoose = meant === 'several';
  const unmet = meant === undefined || mustChoose ? undefined : unmetOf(meant, session);
  if (meant !== undefined && !mustChoose && unmet !== undefined) {
    if (isSilent)
      throw reject(unmet === 'strength' ? 'authorize.interaction_required' : 'authorize.login_required', `organization_${unmet}`);
    const pinned = { ...login, organizationId: meant.id };
    if (unmet === 'strength' && meant.signIn === 'any') return raise(tenant, pinned, session, meant);
    return { start: { organizationId: meant.id, idTokenHintUser: session.userId, loginHint: session.email } };
  }
  if (mustChoose && isSilent) throw reject('authorize.account_selection_required', 'organizations');
  if (mustChoose || (await needsConsent(services.database, tenant, client, session.userId, asked))) {
    if (isSilent) throw reject('authorize.consent_required', 'prompt_none');
    return { prepare: async (queries, id) => void (await setLoginSession(queries, tenant.id, id, session)) };
  }
  const response = await answerFromSession(services, tenant, {
    client,
    asked,
    session,
    cookies: request.headers.cookie,
    requestId: request.id,
    ip: request.clientAddress,
    alongside,
  });
  if (response === undefined && isSilent) {
    const isWithdrawn = await needsConsent(services.database, tenant, client, session.userId, asked);
    throw isWithdrawn ? reject('authorize.consent_required', 'withdrawn_meanwhile') : reject('authorize.login_required', 'session_ended');
  }
  if (response?.parameters['code'] !== undefined)
    services.activity.countSignIn(tenant.id, { userId: session.userId, application: ['client', client.clientId], organization: meant?.id });
  return { response };
}

/** A step-up: the person is known, and only the methods strong enough are offered. */
function raise(tenant: Tenant, login: OidcLoginRequest, session: LiveSsoSession, organization: SignInRule | undefined): SessionAnswer {
  const columns = columnsOf(login);
  const strength = { ...columns, acr_min: organization?.acrMin };
  const subject = { ...knownSubject(session), methods: offeredMethods(allowedMethods(tenant, columns), strength) };
  return {
    start: { idTokenHintUser: session.userId, organizationId: login.organizationId },
    prepare: async (queries, id) => void (await identifyLogin(queries, tenant.id, { id, approval_id: null }, subject)),
  };
}
