// SAML sessions: from a valid request to the one delivery of its answer (contract 3, 7.12), and the request ids already
// used. Only a hash of a session's id is stored. Each transition is one conditional statement (R1).
import { hash } from 'node:crypto';
import { sql } from 'kysely';
import type { ServiceProviderId, SsoSessionId, TenantId, UserId } from '../../domain/ids.ts';
import type { NameIdFormat } from '../../domain/saml/name-id.ts';
import type { AuthenticationMethod } from '../../domain/sign-in/login-methods.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface SamlSessionTable {
  tenant_id: TenantId;
  session_hash: string;
  /** Not a foreign key: a session outlives its provider, to be refused as such. */
  service_provider_id: ServiceProviderId;
  /** pending | ready | delivered */
  state: string;
  /** Hash of the cookie value the sign-in is bound to. */
  binding_hash: string;
  acs_url: string;
  in_response_to: string | null;
  idp_initiated: number;
  relay_state: string | null;
  name_id_format: string;
  /** Classes that would do, best first, joined by spaces. */
  authn_context_class: string;
  /** Null when ready without a subject: the sign-in was refused. */
  user_id: UserId | null;
  auth_time: number | null;
  /** An AuthenticationMethod; null until ready, and when ready without a subject. */
  method: string | null;
  sso_session_id: SsoSessionId | null;
  /** Whom the provider is bound to; not a foreign key, as the provider is none. */
  organization_id: string | null;
  created_at: number;
  expires_at: number;
  delivered_at: number | null;
}

/** Ids of AuthnRequests seen, by a hash of issuer and id: the pair may be longer than an index takes. */
export interface SamlRequestIdTable {
  tenant_id: TenantId;
  request_hash: string;
  expires_at: number;
}

interface NewSamlSession {
  readonly sessionId: string;
  readonly bindingHash: string;
  readonly serviceProviderId: ServiceProviderId;
  readonly acsUrl: string;
  readonly inResponseTo: string | undefined;
  readonly relayState: string | undefined;
  readonly nameIdFormat: NameIdFormat;
  /** Best first, never empty. */
  readonly authnContextClasses: readonly string[];
  readonly organizationId: string | undefined;
  readonly lifetimeSeconds: number;
}

export interface SamlSession {
  readonly bindingHash: string;
  readonly serviceProviderId: ServiceProviderId;
  readonly state: 'pending' | 'ready' | 'delivered';
  readonly acsUrl: string;
  readonly inResponseTo: string | undefined;
  readonly idpInitiated: boolean;
  readonly relayState: string | undefined;
  readonly nameIdFormat: NameIdFormat;
  /** Best first, never empty. */
  readonly authnContextClasses: readonly string[];
  /** For which the sign-in is. */
  readonly organizationId: string | undefined;
  readonly userId: UserId | undefined;
  /** Seconds since the epoch. */
  readonly authTime: number | undefined;
  readonly method: AuthenticationMethod | undefined;
}

/** Remembers a request's id; false when this issuer used it before. */
export async function consumeSamlRequestId(
  queries: Queries,
  tenant: TenantId,
  issuer: string,
  requestId: string,
  lifetimeMs: number,
): Promise<boolean> {
  const rows = await queries
    .insertInto('saml_request_ids')
    .values({
      tenant_id: tenant,
      request_hash: hash('sha256', `${issuer}\0${requestId}`, 'base64url'),
      expires_at: sql<number>`${databaseNowMs} + ${lifetimeMs}`,
    })
    .onConflict((on) => on.doNothing())
    .returning('request_hash')
    .execute();
  return rows.length === 1;
}

export async function insertSamlSession(queries: Queries, tenant: TenantId, session: NewSamlSession): Promise<void> {
  await queries
    .insertInto('saml_sessions')
    .values({
      tenant_id: tenant,
      session_hash: hashSessionId(session.sessionId),
      service_provider_id: session.serviceProviderId,
      state: 'pending',
      binding_hash: session.bindingHash,
      acs_url: session.acsUrl,
      in_response_to: session.inResponseTo ?? null,
      idp_initiated: session.inResponseTo === undefined ? 1 : 0,
      relay_state: session.relayState ?? null,
      name_id_format: session.nameIdFormat,
      authn_context_class: session.authnContextClasses.join(' '),
      user_id: null,
      auth_time: null,
      method: null,
      sso_session_id: null,
      organization_id: session.organizationId ?? null,
      created_at: databaseNowMs,
      expires_at: sql<number>`${databaseNowMs} + ${session.lifetimeSeconds * 1000}`,
      delivered_at: null,
    })
    .execute();
}

/** The session of an id while it lives, whatever its state. */
export async function findSamlSession(queries: Queries, tenant: TenantId, sessionId: string): Promise<SamlSession | undefined> {
  const row = await queries
    .selectFrom('saml_sessions')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('session_hash', '=', hashSessionId(sessionId))
    .where('expires_at', '>', databaseNowMs)
    .executeTakeFirst();
  return row === undefined ? undefined : sessionFromRow(row);
}

/** Who signed in, or undefined when the sign-in was refused. */
export type SamlSubject =
  | {
      readonly userId: UserId;
      readonly authTimeSeconds: number;
      readonly method: AuthenticationMethod;
      readonly ssoSessionId?: SsoSessionId | undefined;
    }
  | undefined;

/** pending -> ready, once; false when it is not pending any more. */
export async function readySamlSession(queries: Queries, tenant: TenantId, sessionId: string, subject: SamlSubject): Promise<boolean> {
  const rows = await queries
    .updateTable('saml_sessions')
    .set({
      state: 'ready',
      user_id: subject?.userId ?? null,
      auth_time: subject?.authTimeSeconds ?? null,
      method: subject?.method ?? null,
      sso_session_id: subject?.ssoSessionId ?? null,
    })
    .where('tenant_id', '=', tenant)
    .where('session_hash', '=', hashSessionId(sessionId))
    .where('state', '=', 'pending')
    .where('expires_at', '>', databaseNowMs)
    .returning('state')
    .execute();
  return rows.length === 1;
}

/** ready -> delivered, once; false for every caller but the first. */
export async function deliverSamlSession(queries: Queries, tenant: TenantId, sessionId: string): Promise<boolean> {
  const rows = await queries
    .updateTable('saml_sessions')
    .set({ state: 'delivered', delivered_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('session_hash', '=', hashSessionId(sessionId))
    .where('state', '=', 'ready')
    .where('expires_at', '>', databaseNowMs)
    .returning('state')
    .execute();
  return rows.length === 1;
}

/** Drops the answers that wait to be fetched, of a person or of what was made from sessions of browsers. */
export async function dropReadySamlSessions(
  queries: Queries,
  tenant: TenantId,
  whose: { readonly userId: UserId } | { readonly ssoSessionIds: readonly SsoSessionId[] },
): Promise<void> {
  const ready = queries.deleteFrom('saml_sessions').where('tenant_id', '=', tenant).where('state', '=', 'ready');
  const theirs = 'userId' in whose ? ready.where('user_id', '=', whose.userId) : ready.where('sso_session_id', 'in', whose.ssoSessionIds);
  await theirs.execute();
}

function hashSessionId(sessionId: string): string {
  return hash('sha256', sessionId, 'base64url');
}

function sessionFromRow(row: SamlSessionTable): SamlSession {
  return {
    bindingHash: row.binding_hash,
    serviceProviderId: row.service_provider_id,
    state: row.state as SamlSession['state'], // a constraint of the table
    acsUrl: row.acs_url,
    inResponseTo: row.in_response_to ?? undefined,
    idpInitiated: row.idp_initiated === 1,
    relayState: row.relay_state ?? undefined,
    nameIdFormat: row.name_id_format as NameIdFormat, // only chosen formats are written
    authnContextClasses: row.authn_context_class.split(' '),
    organizationId: row.organization_id ?? undefined,
    userId: row.user_id ?? undefined,
    authTime: row.auth_time ?? undefined,
    method: (row.method ?? undefined) as AuthenticationMethod | undefined, // only methods are written
  };
}
