// The deny-list of access tokens by jti, kept until the token would have expired anyway, and the one question that everyone
// who accepts an access token asks: is it revoked, by itself or with its grant?
import type { ExternalIdentityId, GrantId, TenantId, UserId } from '../../domain/ids.ts';
import { loadRequestedClaims, type RequestedClaims } from '../../domain/oidc/requested-claims.ts';
import type { Queries } from '../engine/database.ts';
import { statement } from '../engine/statement.ts';

export interface RevokedTokenTable {
  tenant_id: TenantId;
  jti: string;
  expires_at: number;
}

/** Puts an access token on the deny-list. Gives false when it was there. */
export async function insertRevokedToken(queries: Queries, tenant: TenantId, jti: string, expiresAtSeconds: number): Promise<boolean> {
  const rows = await queries
    .insertInto('revoked_tokens')
    .values({ tenant_id: tenant, jti, expires_at: expiresAtSeconds * 1000 })
    .onConflict((on) => on.doNothing())
    .returning('jti')
    .execute();
  return rows.length === 1;
}

export interface TokenState {
  readonly isRevoked: boolean;
  /** State of the user of the token's grant; undefined for a token without a grant, or whose grant is gone. */
  readonly userState: string | undefined;
  readonly userRole: string | undefined;
  /** The client of the token's grant. */
  readonly clientId: string | undefined;
  /** What the grant may have beside its scopes. */
  readonly claims: RequestedClaims | undefined;
  /** How the person signed in (RFC 8176), and the link to another provider they came by. */
  readonly amr: readonly string[];
  readonly externalIdentityId: ExternalIdentityId | undefined;
  /** The organisation the person signed in for. */
  readonly organizationId: string | undefined;
}

const selectDenied = statement((queries, values: { readonly tenant: TenantId; readonly jti: string }) =>
  queries.selectFrom('revoked_tokens').select('jti').where('tenant_id', '=', values.tenant).where('jti', '=', values.jti),
);

const selectGrantState = statement(
  (queries, values: { readonly tenant: TenantId; readonly jti: string; readonly sid: GrantId; readonly sub: UserId }) =>
    queries
      .selectFrom('grants as g')
      .innerJoin('users as u', (join) => join.onRef('u.tenant_id', '=', 'g.tenant_id').onRef('u.id', '=', 'g.user_id'))
      .leftJoin('revoked_tokens as r', (join) => join.onRef('r.tenant_id', '=', 'g.tenant_id').on('r.jti', '=', values.jti))
      .select([
        'g.revoked_at',
        'u.state',
        'u.role',
        'g.client_id',
        'r.jti',
        'g.claims',
        'g.amr',
        'g.external_identity_id',
        'g.organization_id',
      ])
      .where('g.tenant_id', '=', values.tenant)
      .where('g.id', '=', values.sid)
      .where('g.user_id', '=', values.sub),
);

/** Whether an access token of ours is revoked now: denied by jti, or its grant ended or gone. Reads only. */
export async function findTokenState(
  queries: Queries,
  tenant: TenantId,
  token: { readonly jti: string; readonly sid: string | undefined; readonly sub: string },
): Promise<TokenState> {
  if (token.sid === undefined) {
    const { rows } = await selectDenied(queries, { tenant, jti: token.jti });
    return {
      ...{ isRevoked: rows.length > 0, userState: undefined, userRole: undefined, clientId: undefined },
      ...{ claims: undefined, amr: [], externalIdentityId: undefined, organizationId: undefined },
    };
  }
  // sid and sub of a token we signed are the ids we put there
  const { rows } = await selectGrantState(queries, { tenant, jti: token.jti, sid: token.sid as GrantId, sub: token.sub as UserId });
  const row = rows[0];
  const isRevoked = row === undefined || row.revoked_at !== null || row.jti !== null;
  return {
    isRevoked,
    userState: row?.state,
    userRole: row?.role,
    clientId: row?.client_id,
    claims: loadRequestedClaims(row?.claims ?? null),
    amr: JSON.parse(row?.amr ?? '[]'),
    externalIdentityId: row?.external_identity_id ?? undefined,
    organizationId: row?.organization_id ?? undefined,
  };
}
