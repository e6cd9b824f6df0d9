// Where a sign-in stands: the state the JSON answers and the pages are made from. Reads only. States come from the rows and
// the database's time, never from what a browser says.

import { considerSessions, needsConsent } from '../approvals/session/sso-session.ts';
import type { Client } from '../domain/client/client.ts';
import type { Resource } from '../domain/client/resource.ts';
import { answerHost, factualName, hostOfStranger, isTrusted } from '../domain/client/stranger.ts';
import { consentScope } from '../domain/oidc/requested-claims.ts';
import type { Organization } from '../domain/organizations/organization.ts';
import { asksForOrganization } from '../domain/organizations/tenant-organizations.ts';
import type { IdentityProvider, ProviderButton } from '../domain/sign-in/identity-provider.ts';
import type { LoginMethod } from '../domain/sign-in/login-methods.ts';
import { allowedMethods, offeredMethods, type StrengthAsked } from '../domain/sign-in/sign-in-strength.ts';
import type { LiveSsoSession, SessionDecision } from '../domain/sign-in/sso-session.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Parts } from '../http/services.ts';
import { withoutDirectionControls } from '../platform/html.ts';
import { type Belonging, listOrganizationsOfUser } from '../storage/people/organization-members.ts';
import { findClientOrDocument } from '../storage/registry/clients/client-documents.ts';
import { findCachedClient } from '../storage/registry/clients/clients.ts';
import { findCachedResource } from '../storage/registry/clients/resources.ts';
import { findProviderById } from '../storage/registry/identity-providers.ts';
import { listOwnProviders, listProvidersFor } from '../storage/registry/organization-providers.ts';
import { findSignInOrganization } from '../storage/registry/organizations.ts';
import { findLoginTransaction, type LoginTransactionNow } from '../storage/sign-in/login-transactions.ts';

import { findProviderOfAddress } from './external/address-provider.ts';

export type LoginDeps = Parts<'cache' | 'clock' | 'database'>;

export type LoginState =
  | 'account'
  | 'identify'
  | 'choose'
  | 'waiting'
  | 'pin'
  | 'organization'
  | 'approved'
  | 'denied'
  | 'expired'
  | 'finished';

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
  /** The organisations to choose from, in state `organization`. */
  readonly organizations: readonly Belonging[];
  /** The one the sign-in is for, where that is known. */
  readonly organization: Organization | undefined;
  /** The session of this browser that answers it, where one does. */
  readonly answering: LiveSsoSession | undefined;
  readonly strength: StrengthAsked;
  /** Other providers to sign in with, while nobody has said who they are. */
  readonly providers: readonly ProviderButton[];
  /** Those that answer for the address that was typed, and those the organisation has its people come by. */
  readonly ownProviders: readonly ProviderButton[];
  /** Scopes to be consented to before the finish; undefined when none need be. */
  readonly consent: readonly string[] | undefined;
  /** What is known of a client that nobody registered; undefined for others. */
  readonly stranger?: StrangerFacts | undefined;
}

export interface StrangerFacts {
  /** Of its document; one that registered itself has none. */
  readonly clientHost: string | undefined;
  /** Where the answer goes; undefined for a program on the person's own computer. */
  readonly answerHost: string | undefined;
  /** As it calls itself. */
  readonly claimedName: string;
  readonly resource: Resource | undefined;
  readonly isChecked: boolean;
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
  const client = await clientOf(services, tenant, row);
  const organization = await organizationOf(services, tenant, row);
  const strength = { kind: row.kind, acr_values: row.acr_values, acr_min: organization?.acrMin };
  const stored = stateOf(row);
  const isUnasked = stored === 'identify' && row.user_id === null && row.sso_declined === 0;
  const isBySession = stored === 'approved' && row.approval_state !== 'approved';
  const found = isUnasked || isBySession ? await considerSessions(services, tenant, cookies, row, organization) : undefined;
  // A session that was to answer and has ended answers nothing: the person signs in.
  const isEnded = isBySession && !(found?.sessions ?? []).some(({ id: live }) => live === row.sso_session_id);
  const decision = isEnded ? ({ kind: 'sign_in', session: undefined } as const) : isUnasked ? found?.decision : undefined;
  const proven = decision?.kind === 'choose' ? 'account' : isEnded ? 'identify' : stored;
  const organizations = proven === 'approved' ? await choicesOf(services, tenant, row) : [];
  const state = organizations.length > 1 ? 'organization' : proven;
  const { providers, ownProviders } = await providersOf(services, tenant, {
    row,
    state: state === 'account' ? stored : state,
    organization,
  });
  return {
    tenant,
    row,
    state,
    clientName: withoutDirectionControls(client === undefined ? (row.display_name ?? '') : shownName(client)),
    logoUri: client?.logoUri,
    // Chosen from the tenant's methods when the row was written; a JSON list of ours.
    decision,
    accounts: state === 'account' ? (found?.sessions ?? []) : [],
    organizations: state === 'organization' ? organizations : [],
    organization,
    answering: isBySession && !isEnded ? found?.sessions.find(({ id: live }) => live === row.sso_session_id) : undefined,
    strength,
    providers,
    ownProviders,
    methods: stored === 'identify' || isEnded ? offeredMethods(waysInto(tenant, row, organization), strength) : JSON.parse(row.methods),
    consent: state === 'approved' && client !== undefined ? await consentOf(services, tenant, row, client) : undefined,
    stranger: client?.origin === undefined ? undefined : await strangerFacts(services, tenant, row, client),
  };
}

/** The organisations of the person who signs in, where they must say for which: nobody sees them before they have proven who they are. */
async function choicesOf({ database }: LoginDeps, tenant: Tenant, row: LoginTransactionNow): Promise<readonly Belonging[]> {
  const { user_id: userId } = row;
  if (row.chosen_organization_id !== null || userId === null || !asksForOrganization(tenant.organizations, row)) return [];
  const all = await database.read(tenant.id, (queries) => listOrganizationsOfUser(queries, tenant.id, userId));
  return all.filter(({ isOpen }) => isOpen);
}

async function clientOf(services: LoginDeps, tenant: Tenant, row: LoginTransactionNow): Promise<Client | undefined> {
  const { client_id: id } = row;
  if (id === null) return undefined;
  if (row.document_client_id === null) return findCachedClient(services.cache, tenant.id, id);
  return services.database.read(tenant.id, (queries) => findClientOrDocument(queries, tenant.id, id));
}

/** Nobody registered it, so that it is called by where it comes from. */
const shownName = (client: Client): string => factualName(client) || client.name;

async function strangerFacts({ cache }: LoginDeps, tenant: Tenant, row: LoginTransactionNow, client: Client): Promise<StrangerFacts> {
  return {
    clientHost: client.origin === 'document' ? hostOfStranger(client) : undefined,
    answerHost: answerHost(row.redirect_uri ?? ''),
    claimedName: withoutDirectionControls(client.name),
    resource: row.resource === null ? undefined : await findCachedResource(cache, tenant.id, row.resource),
    isChecked: isTrusted(client, tenant.settings.client_hosts),
  };
}

/** The methods a sign-in may go by, for an organisation whose people come by its own providers by none. */
export const waysInto = (tenant: Tenant, row: LoginTransactionNow, organization: Organization | undefined): readonly LoginMethod[] =>
  organization?.signIn === 'own_providers' ? [] : allowedMethods(tenant, row);

async function organizationOf(
  { database }: Parts<'database'>,
  { id: tenant }: Tenant,
  { organization_id: named, chosen_organization_id: chosen }: LoginTransactionNow,
): Promise<Organization | undefined> {
  const id = named ?? chosen;
  return id === null ? undefined : database.read(tenant, (queries) => findSignInOrganization(queries, tenant, id));
}

interface Shown {
  readonly row: LoginTransactionNow;
  readonly state: LoginState;
  readonly organization: Organization | undefined;
}

/** The tenant's, and those of the organisation alone; of others the one that answers for the address that was typed. */
async function providersOf(
  services: Parts<'cache' | 'database'>,
  tenant: Tenant,
  { row, state, organization }: Shown,
): Promise<{ readonly providers: readonly IdentityProvider[]; readonly ownProviders: readonly IdentityProvider[] }> {
  const isAsked = state === 'identify' || state === 'choose' || state === 'pin' || state === 'waiting';
  if (!isAsked) return { providers: [], ownProviders: [] };
  const { identifier, provider_id: only, external_identity: came } = row;
  const shown = await listProvidersFor(services.cache, tenant, organization?.id);
  if (!tenant.organizations.exist) return { providers: shown, ownProviders: shown.filter(({ id }) => id === only) };
  if (organization?.signIn === 'own_providers') {
    const providers = await listOwnProviders(services.cache, tenant.id, organization.id);
    return { providers, ownProviders: came === null ? providers : [] };
  }
  const answers = identifier === null ? undefined : await findProviderOfAddress(services, tenant, identifier, organization);
  const found = only === null ? answers?.provider : await findProviderById(services.cache, tenant, only);
  const answering = found?.enabled === true ? [found] : [];
  const others = answering.filter(({ id }) => !shown.some((one) => one.id === id));
  return {
    providers: [...shown, ...others].sort((one, other) => (one.id < other.id ? -1 : 1)),
    ownProviders: came === null ? answering : [],
  };
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
    ...(login.state === 'organization'
      ? { organizations: login.organizations.map(({ id, name, displayName }) => ({ id, name, display_name: displayName ?? null })) }
      : {}),
    ...(login.providers.length === 0 ? {} : { providers: login.providers.map(({ alias, name }) => ({ alias, name })) }),
    ...(login.consent === undefined ? {} : { consent: { scopes: login.consent, ...strangerJson(login) } }),
    expires_at: new Date(login.row.expires_at).toISOString(),
  };
}

/** What a page of one's own shows of a client that nobody registered; nothing of others. */
function strangerJson({ stranger, row }: LoginNow): Readonly<Record<string, unknown>> {
  if (stranger === undefined) return {};
  const { clientHost, answerHost: host, isChecked } = stranger;
  return { resource: row.resource, client_host: clientHost ?? null, redirect_host: host ?? null, checked: isChecked };
}
