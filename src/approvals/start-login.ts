// Starts a sign-in: called by OIDC's authorize and SAML's SSO after they validated their request, never before. Stores what
// was asked and binds it to the browser by a cookie. The caller answers 303 to `location` with `Set-Cookie: setCookie`, and
// enforces `login_starts_per_ip` in its own envelope first.

import { userAgentCharsMax } from '../contract/limits.ts';
import type { ClientId, ServiceProviderId, TransactionId } from '../domain/ids.ts';
import type { ResponseMode } from '../domain/oidc/authorization-response.ts';
import { type RequestedClaims, storeRequestedClaims } from '../domain/oidc/requested-claims.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { randomId } from '../platform/random.ts';
import type { Database, Queries } from '../storage/engine/database.ts';
import { insertLoginTransaction, type NewLoginTransaction } from '../storage/sign-in/login-transactions.ts';
import { makeTransactionCookie } from './session/transaction-cookie.ts';

export interface OidcLoginRequest {
  readonly kind: 'oidc';
  readonly clientId: ClientId;
  /** True of a client by document that no person has let in yet: it is no client before the finish. */
  readonly isNewClient?: boolean | undefined;
  readonly redirectUri: string;
  /** Scopes joined by spaces, as granted. */
  readonly scope: string;
  readonly resource?: string | undefined;
  readonly state?: string | undefined;
  readonly nonce?: string | undefined;
  readonly codeChallenge?: string | undefined;
  /** RFC 9449 10. */
  readonly dpopJkt?: string | undefined;
  readonly maxAgeSeconds?: number | undefined;
  readonly acrValues?: string | undefined;
  /** `consent` asks again even when a consent is remembered. */
  readonly prompt?: string | undefined;
  readonly loginHint?: string | undefined;
  /** The only user who may finish: `sub` of an id_token_hint, or whose session is to be raised. */
  readonly idTokenHintUser?: string | undefined;
  readonly uiLocales?: string | undefined;
  readonly responseMode?: ResponseMode | undefined;
  readonly claims?: RequestedClaims | undefined;
  /** acr values, one of which the sign-in must meet. */
  readonly essentialAcr?: string | undefined;
  /** The organisation the request names. */
  readonly organizationId?: string | undefined;
}

export interface SamlLoginRequest {
  readonly kind: 'saml';
  readonly serviceProviderId: ServiceProviderId;
  /** What the pages call the application. */
  readonly displayName: string;
  /** saml-sign-in's sealSamlSession(...). */
  readonly sealedSession: string;
  /** Those that would do: the page offers methods that can meet one. */
  readonly authnContextClasses: readonly string[];
  readonly loginHint?: string | undefined;
  /** ForceAuthn is `login`, IsPassive `none`; who starts at our side chooses the account (`select_account`). */
  readonly prompt?: string | undefined;
  /** The organisation whose provider it is. */
  readonly organizationId?: string | undefined;
}

type LoginRequest = OidcLoginRequest | SamlLoginRequest;

/** Where the request came from, shown to whoever approves it. */
interface Initiator {
  readonly ip: string;
  readonly userAgent: string | undefined;
}

export interface StartedLogin {
  readonly transactionId: TransactionId;
  /** Absolute address of the sign-in page. */
  readonly location: string;
  readonly setCookie: string;
  /** Hash of the cookie's value, for a session that must be bound to the same browser (SAML). */
  readonly bindingHash: string;
  readonly expiresInSeconds: number;
}

/** Creates the transaction. `alongside` runs in the same database transaction, for rows that belong to it. */
export async function startLogin(
  deps: { readonly database: Database },
  tenant: Tenant,
  request: LoginRequest,
  initiator: Initiator,
  alongside?: (queries: Queries, started: StartedLogin) => Promise<void>,
): Promise<StartedLogin> {
  const id = randomId() as TransactionId; // made here
  const lifetimeSeconds = request.kind === 'oidc' ? tenant.settings.login_lifetime_seconds : tenant.settings.saml_session_lifetime_seconds;
  const cookie = makeTransactionCookie(tenant.baseUrl, id, lifetimeSeconds);
  const started: StartedLogin = {
    transactionId: id,
    location: `${tenant.baseUrl}/login/${id}`,
    setCookie: cookie.setCookie,
    bindingHash: cookie.bindingHash,
    expiresInSeconds: lifetimeSeconds,
  };
  await deps.database.write(tenant.id, async (queries) => {
    await insertLoginTransaction(queries, tenant.id, {
      ...clientOf(columnsOf(request), request),
      id,
      binding_hash: cookie.bindingHash,
      initiated_ip: initiator.ip,
      initiated_user_agent: initiator.userAgent?.slice(0, userAgentCharsMax) ?? null,
      lifetime_seconds: lifetimeSeconds,
    });
    await alongside?.(queries, started);
  });
  return started;
}

/** Where the client stands in the row. */
const clientOf = (columns: RequestColumns, request: LoginRequest): RequestColumns & { document_client_id: ClientId | null } =>
  request.kind === 'oidc' && request.isNewClient === true
    ? { ...columns, client_id: null, document_client_id: columns.client_id }
    : { ...columns, document_client_id: null };

type RequestColumns = Omit<
  NewLoginTransaction,
  'id' | 'document_client_id' | 'binding_hash' | 'initiated_ip' | 'initiated_user_agent' | 'lifetime_seconds'
>;

const nothing = {
  client_id: null,
  service_provider_id: null,
  display_name: null,
  redirect_uri: null,
  scope: null,
  resource: null,
  request_state: null,
  nonce: null,
  code_challenge: null,
  dpop_jkt: null,
  id_token_hint_user: null,
  max_age: null,
  prompt: null,
  ui_locales: null,
  response_mode: null,
  claims: null,
  essential_acr: null,
  organization_id: null,
  chosen_organization_id: null,
  saml_session_sealed: null,
} as const;

/** What a request asked for, as its transaction stores it. */
export function columnsOf(request: LoginRequest): RequestColumns {
  const both = { ...nothing, kind: request.kind, login_hint: request.loginHint ?? null };
  if (request.kind === 'saml')
    return {
      ...both,
      acr_values: request.authnContextClasses.join(' '),
      prompt: request.prompt ?? null,
      service_provider_id: request.serviceProviderId,
      display_name: request.displayName,
      organization_id: request.organizationId ?? null,
      saml_session_sealed: request.sealedSession,
    };
  return {
    ...both,
    acr_values: request.acrValues ?? null,
    client_id: request.clientId,
    redirect_uri: request.redirectUri,
    scope: request.scope,
    resource: request.resource ?? null,
    request_state: request.state ?? null,
    nonce: request.nonce ?? null,
    code_challenge: request.codeChallenge ?? null,
    dpop_jkt: request.dpopJkt ?? null,
    id_token_hint_user: request.idTokenHintUser ?? null,
    max_age: request.maxAgeSeconds ?? null,
    prompt: request.prompt ?? null,
    ui_locales: request.uiLocales ?? null,
    response_mode: request.responseMode ?? null,
    claims: storeRequestedClaims(request.claims),
    essential_acr: request.essentialAcr ?? null,
    organization_id: request.organizationId ?? null,
  };
}
