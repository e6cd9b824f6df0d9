// Authorization codes: stored by SHA-256, redeemed by one conditional UPDATE. A used row stays so that a second use is seen.
import { sql } from 'kysely';
import type { ClientId, GrantId, TenantId } from '../../domain/ids.ts';
import { fail, type Outcome } from '../../domain/outcome.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { type Row, statement } from '../engine/statement.ts';
import { type Grant, type GrantColumns, grantFromColumns, grantToColumns, insertGrant, revokeGrant } from './grants.ts';

/** Its `dpop_jkt` is the key a redemption must prove (RFC 9449 10). */
export interface AuthorizationCodeTable extends GrantColumns {
  tenant_id: TenantId;
  code_hash: string;
  /** Id of the grant this code becomes when it is redeemed. */
  grant_id: GrantId;
  redirect_uri: string;
  code_challenge: string | null;
  created_at: number;
  expires_at: number;
  used_at: number | null;
}

export interface NewAuthorizationCode {
  /** SHA-256 of the code (crypto/secret-hash). */
  readonly codeHash: string;
  readonly redirectUri: string;
  readonly codeChallenge: string | undefined;
  /** RFC 9449 10; binds the code, not yet the grant. */
  readonly dpopJkt: string | undefined;
  /** What the code stands for; its id is made by the caller (uuidV7). */
  readonly grant: Omit<Grant, 'dpopJkt'>;
  readonly lifetimeSeconds: number;
}

/** Stores a code in the caller's transaction (the finish of a sign-in). */
export async function insertAuthorizationCode(queries: Queries, tenant: TenantId, code: NewAuthorizationCode): Promise<void> {
  const { grant } = code;
  await insertStatement(queries, {
    tenant_id: tenant,
    code_hash: code.codeHash,
    grant_id: grant.id,
    redirect_uri: code.redirectUri,
    code_challenge: code.codeChallenge ?? null,
    ...grantToColumns({ ...grant, dpopJkt: code.dpopJkt }),
    lifetime_ms: code.lifetimeSeconds * 1000,
  });
}

type InsertedCode = Omit<AuthorizationCodeTable, 'created_at' | 'expires_at' | 'used_at'> & { lifetime_ms: number };

const insertStatement = statement((queries, { lifetime_ms, ...row }: Row<InsertedCode>) =>
  queries.insertInto('authorization_codes').values({
    ...row,
    created_at: databaseNowMs,
    expires_at: sql<number>`${databaseNowMs} + ${lifetime_ms}`,
    used_at: null,
  }),
);

export interface StoredAuthorizationCode {
  readonly codeHash: string;
  readonly redirectUri: string;
  readonly codeChallenge: string | undefined;
  readonly dpopJkt: string | undefined;
  readonly grant: Grant;
  readonly isUsed: boolean;
  readonly isExpired: boolean;
  /** State of the user now. */
  readonly userState: string;
}

const selectCode = statement((queries, values: { readonly tenant: TenantId; readonly hash: string }) =>
  queries
    .selectFrom('authorization_codes as c')
    .innerJoin('users as u', (join) => join.onRef('u.tenant_id', '=', 'c.tenant_id').onRef('u.id', '=', 'c.user_id'))
    .selectAll('c')
    .select(['u.state as user_state', databaseNowMs.as('now_ms')])
    .where('c.tenant_id', '=', values.tenant)
    .where('c.code_hash', '=', values.hash),
);

/** The code by its hash, used and expired ones included: what is wrong with it is decided by the caller and by the redeem. */
export async function findAuthorizationCode(
  queries: Queries,
  tenant: TenantId,
  codeHash: string,
): Promise<StoredAuthorizationCode | undefined> {
  const { rows } = await selectCode(queries, { tenant, hash: codeHash });
  const row = rows[0];
  if (row === undefined) return undefined;
  return {
    codeHash,
    redirectUri: row.redirect_uri,
    codeChallenge: row.code_challenge ?? undefined,
    dpopJkt: row.dpop_jkt ?? undefined,
    grant: grantFromColumns(row.grant_id, { ...row, dpop_jkt: null }),
    isUsed: row.used_at !== null,
    isExpired: row.expires_at <= row.now_ms,
    userState: row.user_state,
  };
}

const useCode = statement((queries, values: { readonly tenant: TenantId; readonly hash: string; readonly client: ClientId }) =>
  queries
    .updateTable('authorization_codes')
    .set({ used_at: databaseNowMs })
    .where('tenant_id', '=', values.tenant)
    .where('code_hash', '=', values.hash)
    .where('client_id', '=', values.client)
    .where('used_at', 'is', null)
    .where('expires_at', '>', databaseNowMs)
    .returning('code_hash'),
);

/**
 * Redeems a code for its client: one conditional UPDATE decides, and the grant is inserted in the caller's transaction.
 * A second use revokes the grant of the first; the caller commits before it refuses (`used`).
 * @param grant the code's grant, with the DPoP key its tokens are bound to.
 * @param lifetimeSeconds how long the last possible token of the grant lives.
 */
export async function redeemAuthorizationCode(
  queries: Queries,
  tenant: TenantId,
  codeHash: string,
  grant: Grant,
  lifetimeSeconds: number,
): Promise<Outcome<object, 'used' | 'expired'>> {
  const { rows } = await useCode(queries, { tenant, hash: codeHash, client: grant.clientId });
  if (rows.length === 1) {
    await insertGrant(queries, tenant, grant, lifetimeSeconds);
    return { ok: true };
  }
  const used = await queries
    .selectFrom('authorization_codes')
    .select('grant_id')
    .where('tenant_id', '=', tenant)
    .where('code_hash', '=', codeHash)
    .where('client_id', '=', grant.clientId)
    .where('used_at', 'is not', null)
    .executeTakeFirst();
  if (used === undefined) return fail('expired');
  await revokeGrant(queries, tenant, used.grant_id, 'code_reuse');
  return fail('used');
}
