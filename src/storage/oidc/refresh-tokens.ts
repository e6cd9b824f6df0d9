// Refresh tokens: stored by SHA-256, rotated at every use inside their grant (the family), one generation after another.
import { sql } from 'kysely';
import type { ClientId, GrantId, TenantId } from '../../domain/ids.ts';
import { fail, type Outcome } from '../../domain/outcome.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { statement } from '../engine/statement.ts';
import { type Grant, grantFromColumns, revokeGrant } from './grants.ts';

export interface RefreshTokenTable {
  tenant_id: TenantId;
  token_hash: string;
  grant_id: GrantId;
  generation: number;
  created_at: number;
  /** The earlier of idle and absolute expiry. */
  expires_at: number;
  used_at: number | null;
  /** The successor under a key derived from this token, for refresh_reuse_leeway_seconds. */
  successor_encrypted: string | null;
}

interface NewRefreshToken {
  readonly tokenHash: string;
  readonly grantId: GrantId;
  readonly lifetimeSeconds: number;
}

/** Stores the first refresh token of a grant in the caller's transaction. */
export async function insertFirstRefreshToken(queries: Queries, tenant: TenantId, token: NewRefreshToken): Promise<void> {
  await insertToken(queries, {
    tenant,
    hash: token.tokenHash,
    grant: token.grantId,
    generation: 0,
    lifetimeMs: token.lifetimeSeconds * 1000,
  });
}

type TokenValues = {
  readonly tenant: TenantId;
  readonly hash: string;
  readonly grant: GrantId;
  readonly generation: number;
  readonly lifetimeMs: number;
};

const insertToken = statement((queries, values: TokenValues) =>
  queries.insertInto('refresh_tokens').values({
    tenant_id: values.tenant,
    token_hash: values.hash,
    grant_id: values.grant,
    generation: values.generation,
    created_at: databaseNowMs,
    expires_at: sql<number>`${databaseNowMs} + ${values.lifetimeMs}`,
    used_at: null,
    successor_encrypted: null,
  }),
);

export interface StoredRefreshToken {
  readonly tokenHash: string;
  readonly grant: Grant;
  readonly grantCreatedAtMs: number;
  readonly isGrantRevoked: boolean;
  readonly isExpired: boolean;
  readonly expiresAtMs: number;
  readonly createdAtMs: number;
  /** Milliseconds since it was rotated away, by the database's clock; undefined while it is unused. */
  readonly usedForMs: number | undefined;
  /** State of the user now. */
  readonly userState: string;
  /** The database's time of this read. */
  readonly nowMs: number;
}

const selectToken = statement((queries, values: { readonly tenant: TenantId; readonly hash: string }) =>
  queries
    .selectFrom('refresh_tokens as t')
    .innerJoin('grants as g', (join) => join.onRef('g.tenant_id', '=', 't.tenant_id').onRef('g.id', '=', 't.grant_id'))
    .innerJoin('users as u', (join) => join.onRef('u.tenant_id', '=', 'g.tenant_id').onRef('u.id', '=', 'g.user_id'))
    .selectAll('g')
    .select(['t.expires_at as token_expires_at', 't.used_at', 't.created_at as token_created_at', 'u.state as user_state'])
    .select(databaseNowMs.as('now_ms'))
    .where('t.tenant_id', '=', values.tenant)
    .where('t.token_hash', '=', values.hash),
);

/** The refresh token by its hash with its grant, whatever its state. */
export async function findRefreshToken(queries: Queries, tenant: TenantId, tokenHash: string): Promise<StoredRefreshToken | undefined> {
  const { rows } = await selectToken(queries, { tenant, hash: tokenHash });
  const row = rows[0];
  if (row === undefined) return undefined;
  return {
    tokenHash,
    grant: grantFromColumns(row.id, row),
    grantCreatedAtMs: row.created_at,
    isGrantRevoked: row.revoked_at !== null,
    isExpired: row.token_expires_at <= row.now_ms,
    expiresAtMs: row.token_expires_at,
    createdAtMs: row.token_created_at,
    usedForMs: row.used_at === null ? undefined : row.now_ms - row.used_at,
    userState: row.user_state,
    nowMs: row.now_ms,
  };
}

export interface Rotation {
  readonly tokenHash: string;
  readonly clientId: ClientId;
  readonly grantId: GrantId;
  readonly successorHash: string;
  /** The successor under a key derived from the presented token; undefined when the client has no leeway. */
  readonly successorEncrypted: string | undefined;
  /** Seconds the successor lives: idle, or what is left of the absolute lifetime. */
  readonly lifetimeSeconds: number;
  /** Seconds within which a second use gives the same successor; 0 for none. */
  readonly leewaySeconds: number;
}

type RotationOutcome = Outcome<
  /** `replayedSuccessor`: the first use's successor, encrypted, for a second use within the leeway. */
  { readonly replayedSuccessor: string | undefined },
  'expired_or_revoked' | 'reused'
>;

type LiveToken = {
  readonly tenant: TenantId;
  readonly hash: string;
  readonly client: ClientId;
};

/** An UPDATE of a token that its client may use: unused, alive, its grant not ended. */
const updateLiveToken = (queries: Queries, values: LiveToken) =>
  queries
    .updateTable('refresh_tokens')
    .where('tenant_id', '=', values.tenant)
    .where('token_hash', '=', values.hash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', databaseNowMs)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('grants')
          .select('grants.id')
          .whereRef('grants.tenant_id', '=', 'refresh_tokens.tenant_id')
          .whereRef('grants.id', '=', 'refresh_tokens.grant_id')
          .where('grants.client_id', '=', values.client)
          .where('grants.revoked_at', 'is', null),
      ),
    );

const useToken = statement((queries, values: LiveToken & { readonly successor: string | null }) =>
  updateLiveToken(queries, values).set({ used_at: databaseNowMs, successor_encrypted: values.successor }).returning('generation'),
);

const prolongToken = statement((queries, values: LiveToken & { readonly lifetimeMs: number }) =>
  updateLiveToken(queries, values)
    .set({ expires_at: sql<number>`${databaseNowMs} + ${values.lifetimeMs}` })
    .returning('generation'),
);

/** Moves the expiry of a refresh token that stays: one UPDATE, with no effect on a used, expired or revoked one (then false). */
export async function prolongRefreshToken(
  queries: Queries,
  tenant: TenantId,
  { tokenHash, clientId, lifetimeSeconds }: Pick<Rotation, 'tokenHash' | 'clientId' | 'lifetimeSeconds'>,
): Promise<boolean> {
  const { rows } = await prolongToken(queries, { tenant, hash: tokenHash, client: clientId, lifetimeMs: lifetimeSeconds * 1000 });
  return rows.length === 1;
}

/**
 * Rotates a refresh token for its client: one conditional UPDATE decides, the successor is stored in the same transaction.
 * A second use revokes the whole family (`reused`; the caller commits, then refuses), except within the leeway, where it
 * gives the same successor as long as that one is unused: never a fork.
 */
export async function rotateRefreshToken(queries: Queries, tenant: TenantId, rotation: Rotation): Promise<RotationOutcome> {
  const { rows } = await useToken(queries, {
    tenant,
    hash: rotation.tokenHash,
    client: rotation.clientId,
    successor: rotation.successorEncrypted ?? null,
  });
  const used = rows[0];
  if (used !== undefined) {
    await insertToken(queries, {
      tenant,
      hash: rotation.successorHash,
      grant: rotation.grantId,
      generation: used.generation + 1,
      lifetimeMs: rotation.lifetimeSeconds * 1000,
    });
    return { ok: true, replayedSuccessor: undefined };
  }
  return resolveSecondUse(queries, tenant, rotation);
}

async function resolveSecondUse(queries: Queries, tenant: TenantId, rotation: Rotation): Promise<RotationOutcome> {
  const row = await queries
    .selectFrom('refresh_tokens as t')
    .innerJoin('grants as g', (join) => join.onRef('g.tenant_id', '=', 't.tenant_id').onRef('g.id', '=', 't.grant_id'))
    .leftJoin('refresh_tokens as s', (join) =>
      join
        .onRef('s.tenant_id', '=', 't.tenant_id')
        .onRef('s.grant_id', '=', 't.grant_id')
        .on('s.generation', '=', sql<number>`t.generation + 1`),
    )
    .select(['t.used_at', 't.successor_encrypted', 'g.revoked_at', 's.used_at as successor_used_at', databaseNowMs.as('now_ms')])
    .where('t.tenant_id', '=', tenant)
    .where('t.token_hash', '=', rotation.tokenHash)
    .where('g.client_id', '=', rotation.clientId)
    .executeTakeFirst();
  if (row === undefined || row.used_at === null || row.revoked_at !== null) return fail('expired_or_revoked');
  const isWithinLeeway = row.now_ms - row.used_at < rotation.leewaySeconds * 1000;
  if (isWithinLeeway && row.successor_encrypted !== null && row.successor_used_at === null)
    return { ok: true, replayedSuccessor: row.successor_encrypted };
  await revokeGrant(queries, tenant, rotation.grantId, 'refresh_reuse');
  return fail('reused');
}
