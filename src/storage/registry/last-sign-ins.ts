// When somebody last signed in, per person, per application and per organisation, and when a client last got a token: what lists show. Written
// a moment later by the recorder in src/audit/activity.ts, so that nobody waits for it; to the minute, because who opens ten applications in
// one is one write, and tokens to the hour.
import { sql } from 'kysely';
import type { TenantId, UserId } from '../../domain/ids.ts';
import type { Dialect, Queries } from '../engine/database.ts';
import { idIn } from '../engine/rows/id-list.ts';

export type SignedInKind = 'user' | 'client' | 'service_provider' | 'organization';

/** What a client does that no person need be at: tokens of every grant. */
const clientUse = 'client_use';

export interface LastSignInTable {
  tenant_id: TenantId;
  /** A SignedInKind, or `client_use`. */
  kind: string;
  id: string;
  /** Epoch milliseconds. */
  at: number;
}

export interface LastSignIn {
  readonly kind: SignedInKind | typeof clientUse;
  readonly id: string;
  readonly atMs: number;
}

/** Who signed in, to what, and for which organisation, where it was for one. */
export interface SignIn {
  readonly userId: UserId;
  readonly application: readonly [kind: Exclude<SignedInKind, 'user' | 'organization'>, id: string];
  readonly organization?: string | undefined;
}

/** A time stored less than this before stays. */
const exactMs = 60_000;
/** The same for tokens. */
export const usedOnceMs = 3_600_000;
const rowsPerStatement = 1_000;

/** Remembers the later of each; rows are written in one order everywhere, so that parallel writers cannot wait for each other in a circle. */
export async function noteSignIns(queries: Queries, tenant: TenantId, signIns: readonly LastSignIn[]): Promise<void> {
  const keyOf = ({ kind, id }: LastSignIn): string => `${kind}:${id}`;
  const rows = signIns
    .toSorted((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1))
    .map(({ kind, id, atMs }) => ({ tenant_id: tenant, kind, id, at: atMs }));
  for (let from = 0; from < rows.length; from += rowsPerStatement)
    await queries
      .insertInto('last_sign_ins')
      .values(rows.slice(from, from + rowsPerStatement))
      .onConflict((on) =>
        on
          .columns(['tenant_id', 'kind', 'id'])
          .doUpdateSet({ at: sql`excluded.at` })
          .where(
            sql<boolean>`last_sign_ins.at <= excluded.at - CASE excluded.kind WHEN ${sql.lit(clientUse)} THEN ${sql.lit(usedOnceMs)} ELSE ${sql.lit(exactMs)} END`,
          ),
      )
      .execute();
}

/** When somebody last signed in, of those of these ids where it is known. */
export async function listLastSignIns(
  queries: Queries,
  dialect: Dialect,
  tenant: TenantId,
  { kind, ids }: { readonly kind: SignedInKind; readonly ids: readonly string[] },
): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<{ id: string; at: number | string }>`SELECT id, at FROM last_sign_ins
    WHERE tenant_id = ${tenant} AND kind = ${kind} AND ${idIn(dialect, 'id', ids)}`.execute(queries);
  return new Map(rows.map(({ id, at }) => [id, Number(at)]));
}

/** When clients last got a token or signed somebody in, of those of these ids where it is known. */
export async function listLastUses(
  queries: Queries,
  dialect: Dialect,
  tenant: TenantId,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<{ id: string; at: number | string }>`SELECT id, max(at) AS at FROM last_sign_ins
    WHERE tenant_id = ${tenant} AND kind IN ('client', ${sql.lit(clientUse)}) AND ${idIn(dialect, 'id', ids)} GROUP BY id`.execute(queries);
  return new Map(rows.map(({ id, at }) => [id, Number(at)]));
}

/** What is gone was signed in to by nobody. */
export async function forgetSignIns(queries: Queries, tenant: TenantId, kind: SignedInKind, id: string): Promise<void> {
  const kinds = kind === 'client' ? [kind, clientUse] : [kind];
  await queries.deleteFrom('last_sign_ins').where('tenant_id', '=', tenant).where('kind', 'in', kinds).where('id', '=', id).execute();
}
