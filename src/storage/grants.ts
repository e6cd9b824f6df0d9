// A grant is one authorization of one client by one user: the `sid` of its tokens and the family of its refresh tokens.
// Revoking it ends every token issued from it, at once and on every node.
import { sql } from 'kysely';
import type { ClientId, GrantId, TenantId, UserId } from '../domain/ids.ts';
import type { Queries } from './database.ts';
import { databaseNowMs } from './instance.ts';
import { queueLogoutNotices } from './logout-notices.ts';
import { statement } from './statement.ts';

export interface GrantTable {
  tenant_id: TenantId;
  id: GrantId;
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
  created_at: number;
  /** When no token of this grant can be alive any more; the row is purged after it. */
  expires_at: number;
  revoked_at: number | null;
  revoked_reason: string | null;
}

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
}

/** Why a grant ended; goes into its row and the audit trail. */
export type GrantRevocation =
  | 'code_reuse'
  | 'refresh_reuse'
  | 'revoked_by_client'
  | 'logout'
  | 'user_state'
  | 'administrator'
  | 'delivery_failed';

/** Inserts a grant whose last possible token lives for `lifetimeSeconds`. */
export async function insertGrant(queries: Queries, tenant: TenantId, grant: Grant, lifetimeSeconds: number): Promise<void> {
  await insertGrantRow(queries, {
    tenant,
    id: grant.id,
    clientId: grant.clientId,
    userId: grant.userId,
    scope: grant.scope,
    resource: grant.resource ?? null,
    authTime: grant.authTimeSeconds,
    acr: grant.acr ?? null,
    amr: JSON.stringify(grant.amr),
    nonce: grant.nonce ?? null,
    maxAge: grant.maxAgeSeconds ?? null,
    dpopJkt: grant.dpopJkt ?? null,
    lifetimeMs: lifetimeSeconds * 1000,
  });
}

interface GrantValues {
  readonly tenant: TenantId;
  readonly id: GrantId;
  readonly clientId: ClientId;
  readonly userId: UserId;
  readonly scope: string;
  readonly resource: string | null;
  readonly authTime: number;
  readonly acr: string | null;
  readonly amr: string;
  readonly nonce: string | null;
  readonly maxAge: number | null;
  readonly dpopJkt: string | null;
  readonly lifetimeMs: number;
  readonly [name: string]: string | number | null;
}

const insertGrantRow = statement((queries, values: GrantValues) =>
  queries.insertInto('grants').values({
    tenant_id: values.tenant,
    id: values.id,
    client_id: values.clientId,
    user_id: values.userId,
    scope: values.scope,
    resource: values.resource,
    auth_time: values.authTime,
    acr: values.acr,
    amr: values.amr,
    nonce: values.nonce,
    max_age: values.maxAge,
    dpop_jkt: values.dpopJkt,
    created_at: databaseNowMs,
    expires_at: sql<number>`${databaseNowMs} + ${values.lifetimeMs}`,
    revoked_at: null,
    revoked_reason: null,
  }),
);

export async function findGrant(queries: Queries, tenant: TenantId, id: string): Promise<GrantTable | undefined> {
  return queries
    .selectFrom('grants')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('id', '=', id as GrantId) // a look-up key, not yet known to be an id
    .executeTakeFirst();
}

/** The value a grant's row stands for. */
export function grantFromRow(row: Omit<GrantTable, 'created_at' | 'expires_at' | 'revoked_at' | 'revoked_reason' | 'tenant_id'>): Grant {
  return {
    id: row.id,
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
  };
}

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

/** Ends every grant of a user and drops the codes not yet redeemed. Gives how many grants ended. */
export async function revokeGrantsOfUser(queries: Queries, tenant: TenantId, userId: UserId, reason: GrantRevocation): Promise<number> {
  if (toldToClients.has(reason)) await queueLogoutNotices(queries, tenant, { userId });
  await queries
    .deleteFrom('authorization_codes')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .where('used_at', 'is', null)
    .execute();
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

/** The live grants of a user, newest first: their sessions. */
export async function listGrantsOfUser(queries: Queries, tenant: TenantId, userId: UserId): Promise<readonly GrantTable[]> {
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
