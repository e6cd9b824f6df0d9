// The answer to an authorization request once it is known who the person is: the last check of user, client and access gate,
// the authorization code, and the response. Called by the finish of a sign-in and by requests answered from a session.
import { hashSecret } from '../crypto/secret-hash.ts';
import type { Client } from '../domain/client/client.ts';
import { codeLifetimeSeconds } from '../domain/client/fapi2.ts';
import { hostFault } from '../domain/client/stranger.ts';
import type { HookClaims } from '../domain/extending/hook.ts';
import type { ClientId, ExternalIdentityId, GrantId, SsoSessionId, UserId } from '../domain/ids.ts';
import { type AuthorizationResponse, isResponseMode, type ResponseMode } from '../domain/oidc/authorization-response.ts';
import { consentScope, loadRequestedClaims } from '../domain/oidc/requested-claims.ts';
import { asksForOrganization, type HeldOrganization, scopesWithin } from '../domain/organizations/tenant-organizations.ts';
import { type AuthenticationMethod, strongestMet } from '../domain/sign-in/login-methods.ts';
import type { TryCheck } from '../domain/sign-in/sign-in-try.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Clock } from '../platform/clock.ts';
import { randomSecret, uuidV7 } from '../platform/random.ts';
import type { Queries } from '../storage/engine/database.ts';
import { insertAuthorizationCode } from '../storage/oidc/authorization-codes.ts';
import type { Consented } from '../storage/oidc/consents.ts';
import { findHeldOrganization, listOrganizationsOfUser } from '../storage/people/organization-members.ts';
import type { UserRow } from '../storage/people/user-rows.ts';
import { isAssigned, mayReach } from '../storage/registry/clients/access-assignments.ts';
import { keepStranger } from '../storage/registry/clients/clients.ts';
import type { LoginTransaction } from '../storage/sign-in/login-transactions.ts';

/** What an OIDC request asked for, as its login transaction stores it. */
export type AuthorizationAsked = Pick<
  LoginTransaction,
  | 'client_id'
  | 'redirect_uri'
  | 'scope'
  | 'resource'
  | 'request_state'
  | 'nonce'
  | 'code_challenge'
  | 'dpop_jkt'
  | 'max_age'
  | 'response_mode'
  | 'claims'
  | 'essential_acr'
  | 'organization_id'
  | 'chosen_organization_id'
>;

/** How and when the person proved who they are. */
export interface Authentication {
  readonly authTimeSeconds: number;
  readonly acr: string | undefined;
  readonly method: AuthenticationMethod;
  readonly amr: readonly string[];
  readonly ssoSessionId: SsoSessionId | undefined;
  /** The link to another provider they came by. */
  readonly externalIdentityId: ExternalIdentityId | undefined;
  /** When a session answered instead of a fresh sign-in. */
  readonly authorizedAtSeconds: number | undefined;
  /** Added by the hook at sign-in. */
  readonly hookClaims: HookClaims | undefined;
  /** The organisation they sign in for. */
  readonly organization: HeldOrganization | undefined;
}

export type FinishRefusal =
  | 'unknown_user'
  | 'user_inactive'
  | 'client_disabled'
  | 'access_gate'
  | 'other_account'
  | 'not_a_member'
  | 'own_provider'
  | 'acr_unmet'
  | 'hook_denied'
  | 'hook_failed';

/** The error of RFC 6749 4.1.2.1 a client hears of a person who signed in and is refused. */
export function refusalError(refusal: FinishRefusal): string {
  // OpenID Connect Core 3.1.2.1: somebody else than the hint names is as if nobody had signed in.
  if (refusal === 'other_account') return 'login_required';
  if (refusal === 'acr_unmet') return 'unmet_authentication_requirements';
  return refusal === 'hook_failed' ? 'temporarily_unavailable' : 'access_denied';
}

/** The check of each refusal as administrators read of it. */
export const checkOf: Readonly<Record<FinishRefusal, TryCheck>> = {
  unknown_user: 'unknown_person',
  user_inactive: 'user_suspended',
  client_disabled: 'application_disabled',
  access_gate: 'not_assigned',
  other_account: 'other_account',
  not_a_member: 'not_a_member',
  own_provider: 'own_provider',
  acr_unmet: 'strength',
  hook_denied: 'hook_denied',
  hook_failed: 'hook_failed',
};

/** Why a person who signed in gets no code after all; undefined when they do. */
export async function findClientRefusal(
  queries: Queries,
  tenant: Tenant,
  client: Client | undefined,
  user: UserRow,
  { resource, organization }: { readonly resource?: string | null; readonly organization?: string | undefined } = {},
): Promise<FinishRefusal | undefined> {
  if (user.state !== 'active') return 'user_inactive';
  if (client === undefined || !client.enabled) return 'client_disabled';
  const target = { kind: 'client', id: client.clientId } as const;
  const isOutside = client.accessPolicy === 'assigned' && !(await isAssigned(queries, tenant.id, target, user.id, organization));
  if (isOutside) return 'access_gate';
  if (client.origin === undefined) return undefined;
  if (hostFault(client, tenant.settings.client_hosts) !== undefined) return 'client_disabled';
  return (await mayReach(queries, tenant.id, resource ?? undefined, user.id, organization)) ? undefined : 'access_gate';
}

/** What the ID token says of a sign-in: of essential values the strongest it meets (OpenID Connect Core 5.5.1.1), else its own acr. */
export const statedAcr = (
  { essential_acr: essential }: Pick<AuthorizationAsked, 'essential_acr'>,
  acr: string | undefined,
): string | undefined => (essential === null ? acr : strongestMet(acr, essential));

/**
 * The organisation a person signs in for: the one that is named or chosen, or the only one they are in where the request asks for one.
 * `not_a_member`: they are not in the one that is meant, or it is disabled; `several`: they must choose.
 */
export async function findOrganization(
  queries: Queries,
  tenant: Tenant,
  asked: Pick<AuthorizationAsked, 'organization_id' | 'chosen_organization_id' | 'scope'>,
  user: UserId,
): Promise<HeldOrganization | undefined | 'not_a_member' | 'several'> {
  const meant = asked.organization_id ?? asked.chosen_organization_id;
  if (meant !== null) return (await findHeldOrganization(queries, tenant.id, meant, user)) ?? 'not_a_member';
  if (!asksForOrganization(tenant.organizations, asked)) return undefined;
  const [one, ...others] = (await listOrganizationsOfUser(queries, tenant.id, user)).filter(({ isOpen }) => isOpen);
  return others.length === 0 ? one : 'several';
}

/** Makes the code and gives the response that carries it. */
export async function issueCode(
  { queries, tenant, clock }: { readonly queries: Queries; readonly tenant: Tenant; readonly clock: Clock },
  asked: AuthorizationAsked,
  client: Client,
  user: UserRow,
  authentication: Authentication,
): Promise<AuthorizationResponse> {
  const code = randomSecret();
  await insertAuthorizationCode(queries, tenant.id, {
    codeHash: hashSecret(code),
    redirectUri: asked.redirect_uri ?? '',
    codeChallenge: asked.code_challenge ?? undefined,
    dpopJkt: asked.dpop_jkt ?? undefined,
    lifetimeSeconds: codeLifetimeSeconds(client, tenant.settings.authorization_code_lifetime_seconds),
    grant: {
      id: uuidV7(clock.nowMs()) as GrantId, // made here
      clientId: client.clientId,
      userId: user.id,
      scope: scopesWithin(tenant.organizations, (asked.scope ?? '').split(' '), authentication.organization).join(' '),
      resource: asked.resource ?? undefined,
      nonce: asked.nonce ?? undefined,
      maxAgeSeconds: asked.max_age ?? undefined,
      authTimeSeconds: authentication.authTimeSeconds,
      acr: statedAcr(asked, authentication.acr),
      amr: authentication.amr,
      ssoSessionId: authentication.ssoSessionId,
      externalIdentityId: authentication.externalIdentityId,
      organizationId: authentication.organization?.id,
      authorizedAtSeconds: authentication.authorizedAtSeconds,
      claims: loadRequestedClaims(asked.claims),
      hookClaims: authentication.hookClaims,
    },
  });
  if (client.origin !== undefined) await keepStranger(queries, tenant.id, client.clientId);
  return authorizationResponse(tenant, asked, { code });
}

/** What the person is asked to consent to; of clients that nobody registered, for the resource alone. */
export const consentedOf = (client: Client, asked: Pick<AuthorizationAsked, 'scope' | 'claims' | 'resource'>): Consented => ({
  scope: consentScope(asked),
  resource: client.origin === undefined ? undefined : (asked.resource ?? ''),
});

/** The answer to what was asked, with RFC 6749's `state` and RFC 9207's `iss`. */
export function authorizationResponse(
  tenant: Tenant,
  asked: AuthorizationAsked,
  answer: Readonly<Record<string, string>>,
): AuthorizationResponse {
  return {
    clientId: asked.client_id ?? ('' as ClientId), // an OIDC request has one
    redirectUri: asked.redirect_uri ?? '',
    mode: responseModeOf(asked),
    parameters: { ...answer, ...(asked.request_state === null ? {} : { state: asked.request_state }), iss: tenant.baseUrl },
  };
}

/** The mode as it is stored. */
export const responseModeOf = ({ response_mode: mode }: Pick<AuthorizationAsked, 'response_mode'>): ResponseMode =>
  mode !== null && isResponseMode(mode) ? mode : 'query';
