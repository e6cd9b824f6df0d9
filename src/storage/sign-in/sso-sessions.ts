// Single sign-on sessions: one row for each account a browser is signed in to, found by the hash of the browser's cookie
// (design 14, 1). Live means: not ended, not expired, the user active, the phone, passkey or provider that opened it not revoked;
// every statement here says so itself, so that none of these needs a write of its own.
import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely';
import type { ExternalIdentityId, IdentityProviderId, SsoSessionId, TenantId, UserId } from '../../domain/ids.ts';
import type { AuthenticationMethod } from '../../domain/sign-in/login-methods.ts';
import type { LiveSsoSession, SsoPolicy } from '../../domain/sign-in/sso-session.ts';
import { ssoAccountsPerBrowserMax } from '../../domain/sign-in/sso-session.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import type { Schema } from '../schema.ts';
import { identityHash } from './external-identities.ts';

export interface SsoSessionTable {
  tenant_id: TenantId;
  id: SsoSessionId;
  /** SHA-256 of the cookie's value. */
  browser_hash: string;
  user_id: UserId;
  auth_time: number;
  acr: string | null;
  /** An AuthenticationMethod. */
  method: string;
  /** JSON list. */
  amr: string;
  /** The phone that opened it. */
  device_id: string | null;
  passkey_id: string | null;
  /** The link to another provider that opened it, and that provider's own session. */
  external_identity_id: ExternalIdentityId | null;
  external_session_id: string | null;
  user_agent: string | null;
  ip: string | null;
  created_at: number;
  used_at: number;
  idle_seconds: number;
  expires_at: number;
  /** No use extends it beyond. */
  absolute_at: number;
  ended_at: number | null;
}

export type StoredSsoSession = Readonly<SsoSessionTable>;

/** What a fresh sign-in puts into a session. */
interface SsoSignIn {
  readonly userId: UserId;
  /** Epoch milliseconds. */
  readonly authTimeMs: number;
  readonly acr: string | undefined;
  readonly method: AuthenticationMethod;
  readonly amr: readonly string[];
  readonly deviceId: string | undefined;
  readonly passkeyId: string | undefined;
  readonly external: { readonly id: ExternalIdentityId; readonly sessionId: string | undefined } | undefined;
  readonly userAgent: string | undefined;
  readonly ip: string | undefined;
}

const isLive = (eb: ExpressionBuilder<Schema, 'sso_sessions'>) =>
  eb.and([
    eb('sso_sessions.ended_at', 'is', null),
    eb('sso_sessions.expires_at', '>', databaseNowMs),
    eb.exists(
      eb
        .selectFrom('users')
        .select('users.id')
        .whereRef('users.tenant_id', '=', 'sso_sessions.tenant_id')
        .whereRef('users.id', '=', 'sso_sessions.user_id')
        .where('users.state', '=', 'active'),
    ),
    eb.or([
      eb('sso_sessions.device_id', 'is', null),
      eb.exists(
        eb
          .selectFrom('devices')
          .select('devices.id')
          .whereRef('devices.tenant_id', '=', 'sso_sessions.tenant_id')
          .whereRef(sql`devices.id`, '=', 'sso_sessions.device_id')
          .where('devices.state', '=', 'active'),
      ),
    ]),
    eb.or([
      eb('sso_sessions.passkey_id', 'is', null),
      eb.exists(
        eb
          .selectFrom('passkeys')
          .select('passkeys.id')
          .whereRef('passkeys.tenant_id', '=', 'sso_sessions.tenant_id')
          .whereRef(sql`passkeys.id`, '=', 'sso_sessions.passkey_id'),
      ),
    ]),
    eb.or([
      eb('sso_sessions.external_identity_id', 'is', null),
      eb.exists(
        eb
          .selectFrom('external_identities as e')
          .innerJoin('identity_providers as p', (join) => join.onRef('p.tenant_id', '=', 'e.tenant_id').onRef('p.id', '=', 'e.provider_id'))
          .select('e.id')
          .whereRef('e.tenant_id', '=', 'sso_sessions.tenant_id')
          .whereRef(sql`e.id`, '=', 'sso_sessions.external_identity_id')
          .where('p.enabled', '=', 1),
      ),
    ]),
  ]);

/** The live sessions of a browser, last used first, with what a chooser shows. */
export async function listBrowserSessions(queries: Queries, tenant: TenantId, browserHash: string): Promise<readonly LiveSsoSession[]> {
  const rows = await queries
    .selectFrom('sso_sessions')
    .innerJoin('users as u', (join) => join.onRef('u.tenant_id', '=', 'sso_sessions.tenant_id').onRef('u.id', '=', 'sso_sessions.user_id'))
    .select(['sso_sessions.id', 'sso_sessions.user_id', 'sso_sessions.auth_time', 'sso_sessions.acr', 'sso_sessions.method'])
    .select(['sso_sessions.external_identity_id', 'u.user_name', 'u.user_name_key', 'u.display_name'])
    .where('sso_sessions.tenant_id', '=', tenant)
    .where('sso_sessions.browser_hash', '=', browserHash)
    .where(isLive)
    .orderBy('sso_sessions.used_at', 'desc')
    .orderBy('sso_sessions.id')
    .execute();
  if (rows.length === 0) return [];
  const emails = await queries
    .selectFrom('user_emails')
    .select(['user_id', 'value', 'value_key', 'is_primary'])
    .where('tenant_id', '=', tenant)
    .where(
      'user_id',
      'in',
      rows.map(({ user_id }) => user_id),
    )
    .execute();
  return rows.map((row) => {
    const own = emails.filter(({ user_id }) => user_id === row.user_id);
    const email = (own.find(({ is_primary }) => is_primary === 1) ?? own[0])?.value;
    return {
      id: row.id,
      userId: row.user_id,
      authTimeMs: row.auth_time,
      acr: row.acr ?? undefined,
      method: row.method as AuthenticationMethod, // written from one
      externalIdentityId: row.external_identity_id ?? undefined,
      providerOf: undefined,
      displayName: row.display_name ?? row.user_name ?? email ?? '',
      email,
      keys: [...(row.user_name_key === null ? [] : [row.user_name_key]), ...own.map(({ value_key }) => value_key)],
    };
  });
}

/**
 * Uses a live session of this browser: one statement that also moves its idle end. A logout waits for the transaction this
 * runs in, and whoever comes after the logout gets undefined.
 */
export async function useSsoSession(
  queries: Queries,
  tenant: TenantId,
  id: SsoSessionId,
  browserHash: string,
): Promise<StoredSsoSession | undefined> {
  const untilIdle = sql<number>`${databaseNowMs} + idle_seconds * 1000`;
  return queries
    .updateTable('sso_sessions')
    .set({ used_at: databaseNowMs, expires_at: sql<number>`CASE WHEN ${untilIdle} < absolute_at THEN ${untilIdle} ELSE absolute_at END` })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where('browser_hash', '=', browserHash)
    .where(isLive)
    .returningAll()
    .executeTakeFirst();
}

/**
 * Puts a fresh sign-in into a browser's sessions under a new cookie: the live rows of the old one move to it, so a planted
 * value is worth nothing afterwards. The same person's row is renewed. Gives the id of the session.
 */
export async function openSsoSession(
  queries: Queries,
  tenant: TenantId,
  policy: SsoPolicy,
  browser: { readonly newId: SsoSessionId; readonly newHash: string; readonly oldHash: string | undefined },
  signIn: SsoSignIn,
): Promise<SsoSessionId> {
  if (browser.oldHash !== undefined)
    await queries
      .updateTable('sso_sessions')
      .set({ browser_hash: browser.newHash })
      .where('tenant_id', '=', tenant)
      .where('browser_hash', '=', browser.oldHash)
      .where('ended_at', 'is', null)
      .execute();
  const values = {
    auth_time: signIn.authTimeMs,
    acr: signIn.acr ?? null,
    method: signIn.method,
    amr: JSON.stringify(signIn.amr),
    device_id: signIn.deviceId ?? null,
    passkey_id: signIn.passkeyId ?? null,
    external_identity_id: signIn.external?.id ?? null,
    external_session_id: signIn.external?.sessionId ?? null,
    user_agent: signIn.userAgent ?? null,
    ip: signIn.ip ?? null,
    used_at: databaseNowMs,
    idle_seconds: policy.idleSeconds,
    expires_at: sql<number>`${databaseNowMs} + ${Math.min(policy.idleSeconds, policy.absoluteSeconds) * 1000}`,
    absolute_at: sql<number>`${databaseNowMs} + ${policy.absoluteSeconds * 1000}`,
  };
  const renewed = await queries
    .updateTable('sso_sessions')
    .set(values)
    .where('tenant_id', '=', tenant)
    .where('browser_hash', '=', browser.newHash)
    .where('user_id', '=', signIn.userId)
    .where('ended_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  if (renewed !== undefined) return renewed.id;
  await queries
    .insertInto('sso_sessions')
    .values({
      ...values,
      tenant_id: tenant,
      id: browser.newId,
      browser_hash: browser.newHash,
      user_id: signIn.userId,
      created_at: databaseNowMs,
      ended_at: null,
    })
    .execute();
  await endAllButNewest(queries, tenant, browser.newHash);
  return browser.newId;
}

async function endAllButNewest(queries: Queries, tenant: TenantId, browserHash: string): Promise<void> {
  const ofBrowser = queries.selectFrom('sso_sessions').where('tenant_id', '=', tenant).where('browser_hash', '=', browserHash);
  await queries
    .updateTable('sso_sessions')
    .set({ ended_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('browser_hash', '=', browserHash)
    .where('ended_at', 'is', null)
    .where(
      'id',
      'not in',
      ofBrowser
        .select('id')
        .where('ended_at', 'is', null)
        .orderBy('used_at', 'desc')
        .orderBy('created_at', 'desc')
        .limit(ssoAccountsPerBrowserMax),
    )
    .execute();
}

/** Brings the sessions that are there under a policy that changed: none lives longer than it allows, and without one they all end. */
export async function limitSsoSessions(queries: Queries, tenant: TenantId, policy: SsoPolicy | undefined): Promise<void> {
  const update = queries
    .updateTable('sso_sessions')
    .where('tenant_id', '=', tenant)
    .where('expires_at', '>', databaseNowMs)
    .where('ended_at', 'is', null);
  if (policy === undefined) {
    await update.set({ ended_at: databaseNowMs }).execute();
    return;
  }
  const { idleSeconds, absoluteSeconds } = policy;
  const least = (one: RawBuilder<number>, other: RawBuilder<number>) =>
    sql<number>`CASE WHEN ${one} < ${other} THEN ${one} ELSE ${other} END`;
  const untilAbsolute = sql<number>`auth_time + ${sql.lit(absoluteSeconds * 1000)}`;
  const untilIdle = sql<number>`used_at + ${sql.lit(idleSeconds * 1000)}`;
  await update
    .set({
      idle_seconds: least(sql<number>`idle_seconds`, sql.lit(idleSeconds)),
      absolute_at: least(sql<number>`absolute_at`, untilAbsolute),
      expires_at: least(sql<number>`expires_at`, least(untilIdle, untilAbsolute)),
    })
    .execute();
}

type Meant =
  | { readonly id: SsoSessionId }
  | { readonly userId: UserId; readonly id?: SsoSessionId }
  | { readonly browserHash: string; readonly userId?: UserId };

/** Marks sessions ended; gives the ids of those that were not before. What was made from them is the caller's to end. */
export async function markSsoSessionsEnded(queries: Queries, tenant: TenantId, meant: Meant): Promise<readonly SsoSessionId[]> {
  let update = queries
    .updateTable('sso_sessions')
    .set({ ended_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('ended_at', 'is', null);
  if ('browserHash' in meant) update = update.where('browser_hash', '=', meant.browserHash);
  if ('userId' in meant && meant.userId !== undefined) update = update.where('user_id', '=', meant.userId);
  if ('id' in meant && meant.id !== undefined) update = update.where('id', '=', meant.id);
  return (await update.returning('id').execute()).map(({ id }) => id);
}

/** A live session as its user and administrators see it; times are epoch milliseconds. */
export interface SsoSession {
  readonly id: SsoSessionId;
  readonly authTimeMs: number;
  readonly acr: string | undefined;
  readonly amr: readonly string[];
  readonly ip: string | undefined;
  readonly userAgent: string | undefined;
  readonly usedAtMs: number;
  readonly expiresAtMs: number;
}

/** The live sessions of a user in every browser, last used first. */
export async function listSsoSessionsOfUser(queries: Queries, tenant: TenantId, user: UserId): Promise<readonly SsoSession[]> {
  const rows = await queries
    .selectFrom('sso_sessions')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where(isLive)
    .orderBy('used_at', 'desc')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    authTimeMs: row.auth_time,
    acr: row.acr ?? undefined,
    amr: JSON.parse(row.amr),
    ip: row.ip ?? undefined,
    userAgent: row.user_agent ?? undefined,
    usedAtMs: row.used_at,
    expiresAtMs: row.expires_at,
  }));
}

/** What another provider calls a person, or a session of theirs, or both. */
interface ExternalSession {
  readonly providerId: IdentityProviderId;
  readonly issuer: string;
  readonly subject: string | undefined;
  readonly sessionId: string | undefined;
}

/** The sessions that a sign-in with that provider opened and nothing has ended. */
export async function listExternalSsoSessions(
  queries: Queries,
  tenant: TenantId,
  meant: ExternalSession,
): Promise<readonly { readonly id: SsoSessionId; readonly userId: UserId }[]> {
  let query = queries
    .selectFrom('sso_sessions as s')
    .innerJoin('external_identities as e', (join) =>
      join.onRef('e.tenant_id', '=', 's.tenant_id').onRef(sql`e.id`, '=', 's.external_identity_id'),
    )
    .select(['s.id', 's.user_id as userId'])
    .where('s.tenant_id', '=', tenant)
    .where('s.ended_at', 'is', null);
  if (meant.sessionId !== undefined) query = query.where('s.external_session_id', '=', meant.sessionId);
  if (meant.subject === undefined) query = query.where('e.provider_id', '=', meant.providerId).where('e.issuer', '=', meant.issuer);
  else query = query.where('e.identity_hash', '=', identityHash({ ...meant, subject: meant.subject }));
  return query.execute();
}
