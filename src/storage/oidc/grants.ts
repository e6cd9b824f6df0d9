// A grant is one authorization of one client by one user: the `sid` of its tokens and the family of its refresh tokens.
// Revoking it ends every token issued from it, at once and on every node.
import { sql } from 'kysely';
import { grantsCountedMax } from '../../contract/limits.ts';
import { type HookClaims, loadHookClaims, storeHookClaims } from '../../domain/extending/hook.ts';
import type { ClientId, ExternalIdentityId, GrantId, SsoSessionId, TenantId, UserId } from '../../domain/ids.ts';
import { loadRequestedClaims, type RequestedClaims, storeRequestedClaims } from '../../domain/oidc/requested-claims.ts';
import type { Dialect, Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { dialectOf, idIn } from '../engine/rows/id-list.ts';
import { type Row, statement } from '../engine/statement.ts';
import { dropReadySamlSessions } from '../saml/saml-sessions.ts';
import { endApproved } from '../sign-in/approvals.ts';
import { markSsoSessionsEnded } from '../sign-in/sso-sessions.ts';
import { dropApprovedDevices } from './device-authorizations.ts';
import { queueLogoutNotices } from './logout-notices.ts';

/** What a grant says of its authorization; a code that becomes one has the same columns. */
export interface GrantColumns {
  client_id: ClientId;
  user_id: UserId;
  scope: string;
  /** The resource audience of the grant, or null for the issuer alone. */
  resource: string | null;
  /** Seconds since the epoch. */
  auth_time: number;
  acr: string | null;
  /** JSON list. */
  amr: string;
  nonce: string | null;
  /** Seconds, as requested at authorize. */
  max_age: number | null;
  /** RFC 7638 thumbprint its refresh tokens are bound to (RFC 9449 5), for public clients that used DPoP. */
  dpop_jkt: string | null;
  /** `x5t#S256` its refresh tokens are bound to (RFC 8705 4), for public clients with certificates. */
  certificate_thumbprint: string | null;
  /** The browser's session it was made from. */
  sso_session_id: SsoSessionId | null;
  /** Seconds since the epoch: when a request was answered from a session; null for a fresh sign-in, where it is auth_time. */
  authorized_at: number | null;
  /** The link to another provider that led to it. */
  external_identity_id: ExternalIdentityId | null;
  /** The organisation the person signed in for. */
  organization_id: string | null;
  /** JSON of domain/requested-claims. */
  claims: string | null;
  /** JSON of the claims a hook added at sign-in. */
  hook_claims: string | null;
}

export interface GrantTable extends GrantColumns {
  tenant_id: TenantId;
  id: GrantId;
  created_at: number;
  /** When no token of this grant can be alive any more; the row is purged after it. */
  expires_at: number;
  revoked_at: number | null;
  revoked_reason: string | null;
}

export type StoredGrant = Readonly<GrantTable>;

/** What a user authorized, as codes and approvals hand it over to a grant. */
export interface Grant {
  readonly id: GrantId;
  readonly clientId: ClientId;
  readonly userId: UserId;
  readonly scope: string;
  readonly resource: string | undefined;
  readonly authTimeSeconds: number;
  readonly acr: string | undefined;
  readonly amr: readonly string[];
  readonly nonce: string | undefined;
  readonly maxAgeSeconds: number | undefined;
  readonly dpopJkt: string | undefined;
  readonly ssoSessionId?: SsoSessionId | undefined;
  /** When the request was answered, where that was later than the sign-in (design 14, 1). */
  readonly authorizedAtSeconds?: number | undefined;
  /** The link to another provider the person came by. */
  readonly externalIdentityId?: ExternalIdentityId | undefined;
  /** The organisation the person signed in for. */
  readonly organizationId?: string | undefined;
  readonly claims?: RequestedClaims | undefined;
  /** Added to its tokens by the hook at sign-in. */
  readonly hookClaims?: HookClaims | undefined;
  readonly certificateThumbprint?: string | undefined;
}

/** Why a grant ended; goes into its row and the audit trail. */
type GrantRevocation = 'code_reuse' | 'refresh_reuse' | 'revoked_by_client' | 'logout' | 'user_state' | 'administrator' | 'delivery_failed';

/** Inserts a grant whose last possible token lives for `lifetimeSeconds`. */
export async function insertGrant(queries: Queries, tenant: TenantId, grant: Grant, lifetimeSeconds: number): Promise<void> {
  await insertStatement(queries, { tenant_id: tenant, id: grant.id, ...grantToColumns(grant), lifetime_ms: lifetimeSeconds * 1000 });
}

type InsertedGrant = Pick<GrantTable, 'tenant_id' | 'id'> & GrantColumns & { lifetime_ms: number };

const insertStatement = statement((queries, { lifetime_ms, ...row }: Row<InsertedGrant>) =>
  queries.insertInto('grants').values({
    ...row,
    created_at: databaseNowMs,
    expires_at: sql<number>`${databaseNowMs} + ${lifetime_ms}`,
    revoked_at: null,
    revoked_reason: null,
  }),
);

export async function findGrant(queries: Queries, tenant: TenantId, id: string): Promise<StoredGrant | undefined> {
  return queries
    .selectFrom('grants')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('id', '=', id as GrantId) // a look-up key, not yet known to be an id
    .executeTakeFirst();
}

/** The columns a grant is stored in. */
export const grantToColumns = (grant: Grant): GrantColumns => ({
  client_id: grant.clientId,
  user_id: grant.userId,
  scope: grant.scope,
  resource: grant.resource ?? null,
  auth_time: grant.authTimeSeconds,
  acr: grant.acr ?? null,
  amr: JSON.stringify(grant.amr),
  nonce: grant.nonce ?? null,
  max_age: grant.maxAgeSeconds ?? null,
  dpop_jkt: grant.dpopJkt ?? null,
  certificate_thumbprint: grant.certificateThumbprint ?? null,
  sso_session_id: grant.ssoSessionId ?? null,
  authorized_at: grant.authorizedAtSeconds ?? null,
  external_identity_id: grant.externalIdentityId ?? null,
  organization_id: grant.organizationId ?? null,
  claims: storeRequestedClaims(grant.claims),
  hook_claims: storeHookClaims(grant.hookClaims),
});

/** The grant its columns stand for. */
export const grantFromColumns = (id: GrantId, row: Readonly<GrantColumns>): Grant => ({
  id,
  clientId: row.client_id,
  userId: row.user_id,
  scope: row.scope,
  resource: row.resource ?? undefined,
  authTimeSeconds: row.auth_time,
  acr: row.acr ?? undefined,
  amr: JSON.parse(row.amr),
  nonce: row.nonce ?? undefined,
  maxAgeSeconds: row.max_age ?? undefined,
  dpopJkt: row.dpop_jkt ?? undefined,
  certificateThumbprint: row.certificate_thumbprint ?? undefined,
  ssoSessionId: row.sso_session_id ?? undefined,
  authorizedAtSeconds: row.authorized_at ?? undefined,
  externalIdentityId: row.external_identity_id ?? undefined,
  organizationId: row.organization_id ?? undefined,
  claims: loadRequestedClaims(row.claims),
  hookClaims: loadHookClaims(row.hook_claims),
});

/** Ends of a session that a client hears of by back-channel logout; the others are the client's own doing or a theft. */
const toldToClients: ReadonlySet<GrantRevocation> = new Set(['logout', 'user_state', 'administrator']);

/** Ends a grant with its refresh family and access tokens. Gives false when it was ended before or never was. */
export async function revokeGrant(queries: Queries, tenant: TenantId, id: GrantId, reason: GrantRevocation): Promise<boolean> {
  if (toldToClients.has(reason)) await queueLogoutNotices(queries, tenant, { grantId: id });
  const rows = await queries
    .updateTable('grants')
    .set({ revoked_at: databaseNowMs, revoked_reason: reason })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** Whether a grant is in force. Who ends it waits for the transaction of whoever asked. */
export async function holdGrant(queries: Queries, tenant: TenantId, id: GrantId): Promise<boolean> {
  const query = queries
    .selectFrom('grants')
    .select('id')
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where('revoked_at', 'is', null);
  return (await (dialectOf(queries) === 'postgres' ? query.forShare() : query).executeTakeFirst()) !== undefined;
}

/**
 * Ends a user's sessions in every browser and every grant, and what could still become one: codes, SAML answers and approvals
 * not yet redeemed. Gives how many grants ended. Each statement waits for whoever is about to make what the next ones end: of an
 * approval a session and a code, of a session a code, of a code a grant, whose client is told; of a grant an approved device.
 */
export async function revokeGrantsOfUser(queries: Queries, tenant: TenantId, userId: UserId, reason: GrantRevocation): Promise<number> {
  await endApproved(queries, tenant, userId);
  await markSsoSessionsEnded(queries, tenant, { userId });
  await queries
    .deleteFrom('authorization_codes')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .where('used_at', 'is', null)
    .execute();
  await dropReadySamlSessions(queries, tenant, { userId });
  await waitForHolders(queries, tenant, userId);
  await dropApprovedDevices(queries, tenant, userId);
  if (toldToClients.has(reason)) await queueLogoutNotices(queries, tenant, { userId });
  const rows = await queries
    .updateTable('grants')
    .set({ revoked_at: databaseNowMs, revoked_reason: reason })
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .returning('id')
    .execute();
  return rows.length;
}

/** Waits for those who hold a grant of the user (holdGrant), so that what they made is seen and ended; nobody holds one until the transaction ends. */
async function waitForHolders(queries: Queries, tenant: TenantId, userId: UserId): Promise<void> {
  if (dialectOf(queries) === 'sqlite') return; // one writer at a time
  const held = queries.selectFrom('grants').select('id').where('tenant_id', '=', tenant).where('user_id', '=', userId);
  await held.where('revoked_at', 'is', null).orderBy('id').forNoKeyUpdate().execute();
}

/**
 * Ends sessions of browsers with what was made from them: codes and SAML answers not yet redeemed, and grants without
 * offline_access, whose clients are told. A request being answered from one commits before or gets nothing. Gives the ids of the sessions ended.
 */
export async function endSsoSessions(
  queries: Queries,
  tenant: TenantId,
  meant: Parameters<typeof markSsoSessionsEnded>[2],
  reason: 'logout' | 'administrator',
): Promise<readonly SsoSessionId[]> {
  const ended = await markSsoSessionsEnded(queries, tenant, meant);
  if (ended.length === 0) return ended;
  await queries
    .deleteFrom('authorization_codes')
    .where('tenant_id', '=', tenant)
    .where('sso_session_id', 'in', ended)
    .where('used_at', 'is', null)
    .execute();
  await dropReadySamlSessions(queries, tenant, { ssoSessionIds: ended });
  await queueLogoutNotices(queries, tenant, { ssoSessionIds: ended });
  await queries
    .updateTable('grants')
    .set({ revoked_at: databaseNowMs, revoked_reason: reason })
    .where('tenant_id', '=', tenant)
    .where('sso_session_id', 'in', ended)
    .where('revoked_at', 'is', null)
    .where(isOnlineOnly)
    .execute();
  return ended;
}

/** Grants that end with their session: those nobody was promised offline access for. */
const isOnlineOnly = sql<boolean>`' ' || scope || ' ' NOT LIKE '% offline_access %'`;

/** The live grants of a user, newest first: their sessions. */
export async function listGrantsOfUser(queries: Queries, tenant: TenantId, userId: UserId): Promise<readonly StoredGrant[]> {
  return queries
    .selectFrom('grants')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', databaseNowMs)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();
}

/** How many people have one of these clients' first `grantsCountedMax` live grants, and whether there are more grants. */
export async function countPeopleOf(
  queries: Queries,
  dialect: Dialect,
  tenant: TenantId,
  clients: readonly ClientId[],
): Promise<{ readonly people: number; readonly isMore: boolean }> {
  const { rows } = await sql<Record<'people' | 'grants', number | string>>`
    SELECT count(DISTINCT user_id) AS people, count(*) AS grants FROM (SELECT user_id FROM grants
      WHERE tenant_id = ${tenant} AND revoked_at IS NULL AND expires_at > ${databaseNowMs} AND ${idIn(dialect, 'client_id', clients)}
      LIMIT ${grantsCountedMax + 1}) AS counted`.execute(queries);
  return { people: Number(rows[0]?.people), isMore: Number(rows[0]?.grants) > grantsCountedMax };
}
