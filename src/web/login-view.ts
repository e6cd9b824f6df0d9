// Where a sign-in stands: the state the JSON answers and the pages are made from. Reads only. States come from the rows and
// the database's time, never from what a browser says.

import { type LoginMethod, loginMethods, satisfiesAcrValues } from '../domain/authentication-method.ts';
import type { Client } from '../domain/client.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { Services } from '../http/services.ts';
import { findCachedClient } from '../storage/clients.ts';
import { hasConsent } from '../storage/consents.ts';
import { findLoginTransaction, type LoginTransactionNow } from '../storage/login-transactions.ts';

export type LoginState = 'identify' | 'choose' | 'waiting' | 'pin' | 'approved' | 'denied' | 'expired' | 'finished';

export interface LoginNow {
  readonly tenant: Tenant;
  readonly row: LoginTransactionNow;
  readonly state: LoginState;
  readonly clientName: string;
  readonly logoUri: string | undefined;
  readonly methods: readonly LoginMethod[];
  /** Scopes to be consented to before the finish; undefined when none need be. */
  readonly consent: readonly string[] | undefined;
}

/** Loads a transaction with what its pages show; undefined when there is none. */
export async function loadLogin(services: Services, tenant: Tenant, id: string): Promise<LoginNow | undefined> {
  const row = await services.database.read(tenant.id, (queries) => findLoginTransaction(queries, tenant.id, id));
  if (row === undefined) return undefined;
  // What is shown may be half a second old; the finish reads the client's row again.
  const client = row.client_id === null ? undefined : await findCachedClient(services.cache, tenant.id, row.client_id);
  const state = stateOf(row);
  return {
    tenant,
    row,
    state,
    clientName: client?.name ?? row.display_name ?? '',
    logoUri: client?.logoUri,
    // Chosen from the tenant's methods when the row was written; a JSON list of ours.
    methods: state === 'identify' ? offeredMethods(tenant, row.acr_values) : JSON.parse(row.methods),
    consent: state === 'approved' && client !== undefined ? await consentOf(services, tenant, row, client) : undefined,
  };
}

export function stateOf(row: LoginTransactionNow): LoginState {
  if (row.finished_at !== null) return 'finished';
  if (row.expires_at <= row.now_ms) return 'expired';
  if (row.approval_state === 'approved') return 'approved';
  if (row.approval_state === 'denied') return 'denied';
  if (row.step === 'passkey') return 'choose'; // the response may come, and another method may still be chosen
  return row.step as LoginState; // a constraint of the table; the steps are states too
}

/** What a sign-in offers: the same for everybody, so that nobody learns who exists or what they have. */
export function offeredMethods(tenant: Tenant, acrValues: string | null): readonly LoginMethod[] {
  return loginMethods.filter(
    (method) => tenant.settings.login_methods.includes(method) && satisfiesAcrValues(method, acrValues ?? undefined),
  );
}

async function consentOf(
  services: Services,
  tenant: Tenant,
  row: LoginTransactionNow,
  client: Client,
): Promise<readonly string[] | undefined> {
  const { user_id: userId } = row;
  if (!client.requireConsent || userId === null) return undefined;
  const scope = row.scope ?? '';
  const asksAgain = row.prompt?.split(' ').includes('consent') === true;
  const isRemembered = services.database.read(tenant.id, (queries) => hasConsent(queries, tenant.id, userId, client.clientId, scope));
  if ((await isRemembered) && !asksAgain) return undefined;
  return scope.split(' ').filter((value) => value !== '');
}

/** The JSON answer of GET /login/{tx} (design 04). */
export function loginJson(login: LoginNow): Readonly<Record<string, unknown>> {
  return {
    state: login.state,
    client: { name: login.clientName, logo_uri: login.logoUri ?? null },
    methods: login.methods,
    ...(login.state === 'waiting' && login.row.approval_number !== null ? { number: login.row.approval_number } : {}),
    ...(login.consent === undefined ? {} : { consent: { scopes: login.consent } }),
    expires_at: new Date(login.row.expires_at).toISOString(),
  };
}
