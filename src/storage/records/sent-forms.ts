// The one-time ids of forms: a form acts once, however often it is sent (storage rule R2). A form that was refused did not act and
// may be sent again. Kept for as long as the session of the person who sent it.
import { sql } from 'kysely';
import type { TenantId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface SentFormTable {
  tenant_id: TenantId;
  /** SHA-256 over the session and the form's id. */
  form_hash: string;
  /** Where what it did is shown; null until that is known. */
  location: string | null;
  expires_at: number;
}

/** Takes the one use of a form. Gives false when it was sent before. */
export async function consumeForm(queries: Queries, tenant: TenantId, formHash: string, lifetimeSeconds: number): Promise<boolean> {
  const rows = await queries
    .insertInto('sent_forms')
    .values({ tenant_id: tenant, form_hash: formHash, expires_at: sql<number>`${databaseNowMs} + ${lifetimeSeconds * 1000}` })
    .onConflict((on) => on.doNothing())
    .returning('form_hash')
    .execute();
  return rows.length === 1;
}

/** Gives the use back: nothing was done. */
export async function releaseForm(queries: Queries, tenant: TenantId, formHash: string): Promise<void> {
  await queries.deleteFrom('sent_forms').where('tenant_id', '=', tenant).where('form_hash', '=', formHash).execute();
}

/** Remembers where what the form did is shown, for whoever sends it again. */
export async function locateForm(queries: Queries, tenant: TenantId, formHash: string, location: string): Promise<void> {
  await queries.updateTable('sent_forms').set({ location }).where('tenant_id', '=', tenant).where('form_hash', '=', formHash).execute();
}

/** Where a form that was sent led; undefined while that is not known. */
export async function findFormLocation(queries: Queries, tenant: TenantId, formHash: string): Promise<string | undefined> {
  const row = await queries
    .selectFrom('sent_forms')
    .select('location')
    .where('tenant_id', '=', tenant)
    .where('form_hash', '=', formHash)
    .executeTakeFirst();
  return row?.location ?? undefined;
}
