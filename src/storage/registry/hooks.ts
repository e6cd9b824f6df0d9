// Hooks: rows to and from the domain's Hook. Secrets are stored as they are given here: sealed by tokens/hook-secret.ts.
import { type Hook, type HookSecrets, type HookValues, hookFields, type TenantHooks } from '../../domain/extending/hook.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { fromRow, type RowOf, toCells, toRow } from '../engine/row-codec.ts';

export interface HookTable extends RowOf<typeof hookFields> {
  tenant_id: TenantId;
  id: string;
  secret_encrypted: string;
  previous_secret_encrypted: string | null;
  previous_until: number | null;
  created_at: number;
  updated_at: number;
}

/** Every hook of a tenant, in order of their points: there is one a point. */
export async function listHooks(queries: Queries, tenant: TenantId): Promise<readonly Hook[]> {
  const rows = await queries.selectFrom('hooks').selectAll().where('tenant_id', '=', tenant).orderBy('id').execute();
  return rows.map(hookFromRow);
}

/** Those that are asked. */
export async function findTenantHooks(queries: Queries, tenant: TenantId): Promise<TenantHooks> {
  const hooks = await listHooks(queries, tenant);
  return Object.fromEntries(hooks.filter(({ enabled }) => enabled).map((hook) => [hook.point, hook]));
}

/** Inserts a hook; false when its point has one. */
export async function insertHook(
  queries: Queries,
  tenant: TenantId,
  hook: HookValues & Pick<Hook, 'id'> & Pick<HookSecrets, 'secretSealed'>,
): Promise<boolean> {
  const rows = await queries
    .insertInto('hooks')
    .values({
      ...toRow(hookFields, hook),
      tenant_id: tenant,
      id: hook.id,
      secret_encrypted: hook.secretSealed,
      previous_secret_encrypted: null,
      previous_until: null,
      created_at: databaseNowMs,
      updated_at: databaseNowMs,
    })
    .onConflict((on) => on.doNothing())
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** Writes the values a change names; false when there is no such hook. */
export async function updateHook(queries: Queries, tenant: TenantId, id: string, change: Partial<HookValues>): Promise<boolean> {
  const { point: _point, ...cells } = toCells(hookFields, change);
  const rows = await queries
    .updateTable('hooks')
    .set({ ...cells, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** Replaces the secrets of a hook; false when there is no such hook. */
export async function setHookSecrets(queries: Queries, tenant: TenantId, id: string, secrets: HookSecrets): Promise<boolean> {
  const rows = await queries
    .updateTable('hooks')
    .set({
      secret_encrypted: secrets.secretSealed,
      previous_secret_encrypted: secrets.previousSealed ?? null,
      previous_until: secrets.previousUntilMs ?? null,
      updated_at: databaseNowMs,
    })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .returning('id')
    .execute();
  return rows.length === 1;
}

export async function deleteHook(queries: Queries, tenant: TenantId, id: string): Promise<boolean> {
  const rows = await queries.deleteFrom('hooks').where('tenant_id', '=', tenant).where('id', '=', id).returning('id').execute();
  return rows.length === 1;
}

const hookFromRow = (row: HookTable): Hook => ({
  id: row.id,
  ...fromRow(hookFields, row),
  secretSealed: row.secret_encrypted,
  previousSealed: row.previous_secret_encrypted ?? undefined,
  previousUntilMs: row.previous_until ?? undefined,
  createdAtMs: row.created_at,
  updatedAtMs: row.updated_at,
});
