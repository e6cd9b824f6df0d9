// The hook at point sign_in (design 16, 3): asked once a person has proven who they are, before the sign-in ends. OIDC and SAML at
// the finish of the sign-in or where a session answers instead; CIBA where the person approves. Outside any transaction; what the
// hook was asked about is compared again in the one that finishes.
import { type Hook, hookFor } from '../domain/extending/hook.ts';
import type { ClientId, UserId } from '../domain/ids.ts';
import type { HeldOrganization } from '../domain/organizations/tenant-organizations.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import { authenticationContexts } from '../domain/sign-in/login-methods.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Hooks, HookVerdict } from '../hooks/hooks.ts';
import { hookOrganization, hookUser } from '../hooks/subject.ts';
import type { Database, Queries } from '../storage/engine/database.ts';
import { findOrganizationOfApproval } from '../storage/oidc/ciba-requests.ts';
import { findHeldOrganization } from '../storage/people/organization-members.ts';
import { findClientOrDocument } from '../storage/registry/clients/client-documents.ts';
import { findServiceProvider } from '../storage/registry/service-providers.ts';
import { type Approval, type ApprovalNow, findApproval } from '../storage/sign-in/approvals.ts';
import { findLoginTransaction, type LoginTransactionNow } from '../storage/sign-in/login-transactions.ts';
import { listBrowserSessions } from '../storage/sign-in/sso-sessions.ts';
import { findOrganization } from './authorization-answer.ts';
import type { Decision } from './resolve-approval.ts';
import { provenAtMs } from './session/proven-at.ts';
import { ssoBrowserHash } from './session/sso-cookie.ts';

export interface SignInHookDeps {
  readonly database: Database;
  readonly hooks: Hooks;
}

export type HookRefusal = Extract<HookVerdict, { readonly ok: false }>;

/** How a person has proven who they are. */
interface ProvenHow {
  readonly method: string;
  readonly acr: string | null;
  readonly amr: readonly string[];
  readonly authTimeMs: number;
}

/** A sign-in as a hook reads it. */
interface SignInAsked {
  readonly requestId: string;
  readonly kind: 'oidc' | 'saml' | 'ciba';
  readonly userId: UserId;
  readonly scope: string | null;
  /** The one they sign in for. */
  readonly organization: HeldOrganization | undefined;
  readonly how: ProvenHow;
  readonly ip: string | null;
}

/** The client or service provider of a sign-in: exactly one of the two is set. */
interface ApplicationIds {
  readonly client_id: string | null;
  readonly service_provider_id: string | null;
}

interface Application {
  /** What a hook's `clients` names it by. */
  readonly id: string;
  readonly target: string;
  readonly shown: object;
}

/** What the hook says of a sign-in to an application; undefined when it is not asked about that one. */
export async function askSignInHook(
  deps: SignInHookDeps,
  tenant: Tenant,
  ids: ApplicationIds,
  asked: SignInAsked,
): Promise<HookVerdict | undefined> {
  const found = await findHook(deps, tenant, ids);
  return found === undefined ? undefined : ask(deps, tenant, found, asked);
}

/** What was said of a login transaction, of whom and for which organisation. */
export interface HookedLogin {
  readonly kind: 'oidc' | 'saml';
  readonly userId: UserId;
  readonly organizationId: string | undefined;
  readonly verdict: HookVerdict;
}

/**
 * Asks about a sign-in that is to be finished; undefined when no hook is asked about it. `not_approved`: nobody has proven
 * anything yet, or it is over.
 */
export async function askAboutLogin(
  deps: SignInHookDeps,
  tenant: Tenant,
  id: string,
  { requestId, cookies }: { readonly requestId: string; readonly cookies: string | undefined },
): Promise<Outcome<{ readonly hooked: HookedLogin | undefined }, 'not_approved'>> {
  if (tenant.hooks.sign_in === undefined) return { ok: true, hooked: undefined };
  const login = await deps.database.read(tenant.id, (queries) => findLoginTransaction(queries, tenant.id, id));
  const found = login && (await findHook(deps, tenant, login));
  if (login === undefined || found === undefined) return { ok: true, hooked: undefined };
  const proven = await deps.database.read(tenant.id, (queries) => findProof(queries, tenant, login, cookies));
  if (proven === undefined || login.finished_at !== null) return fail('not_approved');
  const kind = login.kind === 'saml' ? 'saml' : 'oidc';
  const organization = await deps.database.read(tenant.id, (queries) => signInFor(queries, tenant, login, proven.userId));
  const asked = { requestId, kind, scope: login.scope, organization, ip: login.initiated_ip, ...proven } as const;
  const verdict = await ask(deps, tenant, found, asked);
  return { ok: true, hooked: { kind, userId: proven.userId, organizationId: organization?.id, verdict } };
}

/**
 * What becomes of an approval that is about to be given: the approval itself, denied by a hook, or nothing as long as a hook
 * fails. Of a sign-in the hook is asked when it ends.
 */
export async function hookedDecision(
  deps: SignInHookDeps,
  tenant: Tenant,
  approval: ApprovalNow,
  approving: Extract<Decision, { readonly verdict: 'approve' }>,
  requestId: string,
): Promise<{ readonly decision: Decision } | { readonly failed: HookRefusal }> {
  if (tenant.hooks.sign_in === undefined || approval.kind !== 'ciba' || approval.user_id === null) return { decision: approving };
  const { acr, amr } = authenticationContexts[approving.method];
  const { user_id: userId } = approval;
  const organization = await deps.database.read(tenant.id, async (queries) => {
    const id = tenant.organizations.exist ? await findOrganizationOfApproval(queries, tenant.id, approval.id) : undefined;
    return id === undefined ? undefined : findHeldOrganization(queries, tenant.id, id, userId);
  });
  const verdict = await askSignInHook(deps, tenant, approval, {
    requestId,
    kind: 'ciba',
    userId,
    scope: approval.scope,
    organization,
    how: { method: approving.method, acr: approving.acr ?? acr, amr, authTimeMs: approval.now_ms },
    ip: approval.initiated_ip,
  });
  if (verdict === undefined || verdict.ok) return { decision: { ...approving, hookClaims: verdict?.claims } };
  if (verdict.reason === 'failed') return { failed: verdict };
  return { decision: { verdict: 'deny', reason: 'hook_denied', deviceId: approving.deviceId, facts: refusalFacts(verdict) } };
}

/** The organisation a sign-in would be for, as far as that is said and the person is in it. */
export async function signInFor(
  queries: Queries,
  tenant: Tenant,
  asked: Parameters<typeof findOrganization>[2],
  userId: UserId,
): Promise<HeldOrganization | undefined> {
  if (!tenant.organizations.exist) return undefined;
  const found = await findOrganization(queries, tenant, asked, userId);
  return typeof found === 'object' ? found : undefined;
}

/** What an audit record says of a hook that refused. */
export const refusalFacts = (verdict: HookVerdict | undefined): Readonly<Record<string, string>> =>
  verdict?.ok === false ? { hook: verdict.hook, hook_reason: verdict.text } : {};

interface Found {
  readonly hook: Hook;
  readonly application: Application;
}

async function findHook({ database }: SignInHookDeps, tenant: Tenant, ids: ApplicationIds): Promise<Found | undefined> {
  if (tenant.hooks.sign_in === undefined) return undefined;
  const application = await database.read(tenant.id, (queries) => findApplication(queries, tenant, ids));
  const hook = hookFor(tenant.hooks, 'sign_in', application.id);
  return hook && { hook, application };
}

async function findApplication(queries: Queries, tenant: Tenant, ids: ApplicationIds): Promise<Application> {
  if (ids.client_id !== null) {
    const name = (await findClientOrDocument(queries, tenant.id, ids.client_id as ClientId))?.name ?? null;
    return { id: ids.client_id, target: `client:${ids.client_id}`, shown: { client: { client_id: ids.client_id, name } } };
  }
  const provider = await findServiceProvider(queries, tenant.id, ids.service_provider_id ?? '');
  const entityId = provider?.entityId ?? '';
  const shown = { service_provider: { entity_id: entityId, name: provider?.name ?? null } };
  return { id: entityId, target: `service_provider:${ids.service_provider_id}`, shown };
}

async function ask(
  { database, hooks }: SignInHookDeps,
  tenant: Tenant,
  { hook, application }: Found,
  asked: SignInAsked,
): Promise<HookVerdict> {
  const { userId, kind, scope, organization, how, ip, requestId } = asked;
  const data = {
    ...application.shown,
    kind,
    user: await hookUser(database, tenant, userId),
    ...hookOrganization(tenant, organization),
    scopes: scope === null || scope === '' ? [] : scope.split(' '),
    session: { method: how.method, acr: how.acr, amr: how.amr, auth_time: Math.floor(how.authTimeMs / 1000) },
    ip,
  };
  return hooks.ask({ tenant: tenant.id, hook, requestId, data, target: application.target });
}

/** Whoever finishes this sign-in, and how they have proven it: by the approval, or by a session of this browser. */
async function findProof(
  queries: Queries,
  tenant: Tenant,
  login: LoginTransactionNow,
  cookies: string | undefined,
): Promise<{ readonly userId: UserId; readonly how: ProvenHow } | undefined> {
  const approval =
    login.approval_state === 'approved' && login.approval_id !== null
      ? await findApproval(queries, tenant.id, login.approval_id)
      : undefined;
  if (approval?.user_id != null) return { userId: approval.user_id, how: howOf(approval, login) };
  const browserHash = login.sso_session_id === null ? undefined : ssoBrowserHash(cookies, tenant);
  const sessions = browserHash === undefined ? [] : await listBrowserSessions(queries, tenant.id, browserHash);
  const session = sessions.find((one) => one.id === login.sso_session_id);
  return session && { userId: session.userId, how: howOfSession(session) };
}

/** How an approved approval was given. */
const howOf = (approval: Pick<Approval, 'method' | 'acr' | 'amr' | 'decided_at'>, login: LoginTransactionNow): ProvenHow => ({
  method: approval.method ?? '',
  acr: approval.acr,
  amr: JSON.parse(approval.amr ?? '[]'),
  authTimeMs: provenAtMs(login, approval),
});

/** The sign-in a session remembers. */
export const howOfSession = (session: { readonly acr: string | undefined; readonly authTimeMs: number }): ProvenHow => ({
  method: 'session',
  acr: session.acr ?? null,
  amr: [],
  authTimeMs: session.authTimeMs,
});
