// Where a sign-in stands: the state the JSON answers and the pages are made from. Reads only. States come from the rows and
// the database's time, never from what a browser says.

import { considerSessions, needsConsent } from '../approvals/sso-session.ts';
import type { Client } from '../domain/client/client.ts';
import { consentScope } from '../domain/oidc/requested-claims.ts';
import type { IdentityProvider, ProviderButton } from '../domain/sign-in/identity-provider.ts';
import type { LoginMethod } from '../domain/sign-in/login-methods.ts';
import { offeredMethods } from '../domain/sign-in/sign-in-strength.ts';
import type { LiveSsoSession, SessionDecision } from '../domain/sign-in/sso-session.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Parts } from '../http/services.ts';
import { findCachedClient } from '../storage/registry/clients.ts';
import { listCachedProviders } from '../storage/registry/identity-providers.ts';
import { findLoginTransaction, type LoginTransactionNow } from '../storage/sign-in/login-transactions.ts';

export type LoginDeps = Parts<'cache' | 'clock' | 'database'>;

export type LoginState = 'account' | 'identify' | 'choose' | 'waiting' | 'pin' | 'approved' | 'denied' | 'expired' | 'finished';

export interface LoginNow {
  readonly tenant: Tenant;
  readonly row: LoginTransactionNow;
  readonly state: LoginState;
  readonly clientName: string;
  readonly logoUri: string | undefined;
  readonly methods: readonly LoginMethod[];
  /** What the sessions of this browser are worth to the request; undefined where nobody asked or there are none to ask. */
  readonly decision: SessionDecision | undefined;
  /** The accounts to choose from, in state `account`. */
  readonly accounts: readonly LiveSsoSession[];
  /** Other providers to sign in with, while nobody has said who they are. */
  readonly providers: readonly ProviderButton[];
  /** The one that answers for the address that was typed. */
  readonly ownProvider: ProviderButton | undefined;
  /** Scopes to be consented to before the finish; undefined when none need be. */
  readonly consent: readonly string[] | undefined;
}

/** Loads a transaction with what its pages show to the browser of these cookies; undefined when there is none. */
export async function loadLogin(
  services: LoginDeps,
  tenant: Tenant,
  id: string,
  cookies: string | undefined,
): Promise<LoginNow | undefined> {
  const row = await services.database.read(tenant.id, (queries) => findLoginTransaction(queries, tenant.id, id));
  if (row === undefined) return undefined;
  // What is shown may be half a second old; the finish reads the client's row again.
  const client = row.client_id === null ? undefined : await findCachedClient(services.cache, tenant.id, row.client_id);
  const stored = stateOf(row);
  const isUnasked = stored === 'identify' && row.user_id === null && row.sso_declined === 0;
  const considered = isUnasked ? await considerSessions(services, tenant, cookies, row) : undefined;
  const providers = await providersOf(services, tenant, stored);
  const state = considered?.decision.kind === 'choose' ? 'account' : stored;
  return {
    tenant,
    row,
    state,
    clientName: client?.name ?? row.display_name ?? '',
    logoUri: client?.logoUri,
    // Chosen from the tenant's methods when the row was written; a JSON list of ours.
    decision: considered?.decision,
    accounts: state === 'account' ? (considered?.sessions ?? []) : [],
    providers,
    ownProvider: row.provider_id === null ? undefined : providers.find(({ id }) => id === row.provider_id),
    methods: stored === 'identify' ? offeredMethods(tenant.settings.login_methods, row) : JSON.parse(row.methods),
    consent: state === 'approved' && client !== undefined ? await consentOf(services, tenant, row, client) : undefined,
  };
}

async function providersOf({ cache }: Parts<'cache'>, { id }: Tenant, state: LoginState): Promise<readonly IdentityProvider[]> {
  const isAsked = state === 'identify' || state === 'choose' || state === 'pin' || state === 'waiting';
  return isAsked ? (await listCachedProviders(cache, id)).filter(({ enabled }) => enabled) : [];
}

export function stateOf(row: LoginTransactionNow): LoginState {
  if (row.finished_at !== null) return 'finished';
  if (row.expires_at <= row.now_ms) return 'expired';
  if (row.approval_state === 'approved' || row.sso_session_id !== null) return 'approved';
  if (row.approval_state === 'denied') return 'denied';
  if (row.step === 'passkey') return 'choose'; // the response may come, and another method may still be chosen
  return row.step as LoginState; // a constraint of the table; the steps are states too
}

async function consentOf(
  services: Parts<'database'>,
  tenant: Tenant,
  row: LoginTransactionNow,
  client: Client,
): Promise<readonly string[] | undefined> {
  const { user_id: userId } = row;
  if (userId === null || !(await needsConsent(services.database, tenant, client, userId, row))) return undefined;
  return consentScope(row)
    .split(' ')
    .filter((value) => value !== '');
}

/** The JSON answer of GET /login/{tx} (design 04). */
export function loginJson(login: LoginNow): Readonly<Record<string, unknown>> {
  return {
    state: login.state,
    client: { name: login.clientName, logo_uri: login.logoUri ?? null },
    methods: login.methods,
    ...(login.state === 'waiting' && login.row.approval_number !== null ? { number: login.row.approval_number } : {}),
    ...(login.state === 'account'
      ? { accounts: login.accounts.map(({ id, displayName, email }) => ({ id, name: displayName, email: email ?? null })) }
      : {}),
    ...(login.providers.length === 0 ? {} : { providers: login.providers.map(({ alias, name }) => ({ alias, name })) }),
    ...(login.consent === undefined ? {} : { consent: { scopes: login.consent } }),
    expires_at: new Date(login.row.expires_at).toISOString(),
  };
}
