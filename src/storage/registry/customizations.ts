// What a tenant words or draws otherwise, by kind and name: a draft, what is published, and what was published before. Each change is one
// statement, so that two administrators at once leave one of their versions whole.
import { sql } from 'kysely';
import type { TenantId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

/** `branding` is published in the tenant's settings: its row has the draft and what was before. */
export type CustomizationKind = 'branding' | 'texts' | 'mail';

export interface CustomizationTable {
  tenant_id: TenantId;
  kind: CustomizationKind;
  /** Of texts a language, of mails `<kind>.<language>`, of branding empty. */
  name: string;
  /** JSON, each; null where there is none. */
  draft: string | null;
  published: string | null;
  previous: string | null;
  updated_at: number;
}

export type Customization = Readonly<CustomizationTable>;
type Key = Pick<Customization, 'kind' | 'name'>;

export async function listCustomizations(queries: Queries, tenant: TenantId, kind: CustomizationKind): Promise<readonly Customization[]> {
  return queries
    .selectFrom('customizations')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('kind', '=', kind)
    .orderBy('name')
    .execute();
}

export async function findCustomization(queries: Queries, tenant: TenantId, { kind, name }: Key): Promise<Customization | undefined> {
  return queries
    .selectFrom('customizations')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('kind', '=', kind)
    .where('name', '=', name)
    .executeTakeFirst();
}

/** Writes some of the columns, whether there is a row or not. */
export async function writeCustomization(
  queries: Queries,
  tenant: TenantId,
  { kind, name }: Key,
  change: Partial<Pick<Customization, 'draft' | 'published' | 'previous'>>,
): Promise<void> {
  const row = { tenant_id: tenant, kind, name, draft: null, published: null, previous: null, ...change };
  await queries
    .insertInto('customizations')
    .values({ ...row, updated_at: databaseNowMs })
    .onConflict((on) => on.columns(['tenant_id', 'kind', 'name']).doUpdateSet({ ...change, updated_at: databaseNowMs }))
    .execute();
}

/** Takes the draft away and gives it; undefined when there is none. Of two at once one gets it. */
export async function takeDraft(queries: Queries, tenant: TenantId, key: Key): Promise<string | undefined> {
  const before = (await findCustomization(queries, tenant, key))?.draft;
  if (before === null || before === undefined) return undefined;
  const rows = await queries
    .updateTable('customizations')
    .set({ draft: null, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('kind', '=', key.kind)
    .where('name', '=', key.name)
    .where('draft', '=', before)
    .returning('name')
    .execute();
  return rows.length === 1 ? before : undefined;
}

/** The draft is published, and what was before may come back; false when there is no draft. */
export async function publishDraft(queries: Queries, tenant: TenantId, { kind, name }: Key): Promise<boolean> {
  const rows = await queries
    .updateTable('customizations')
    .set({ previous: sql`COALESCE(published, 'null')`, published: sql`draft`, draft: null, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('kind', '=', kind)
    .where('name', '=', name)
    .where('draft', 'is not', null)
    .returning('name')
    .execute();
  return rows.length === 1;
}

/** What was before is published, and may be undone in turn; false when nothing was. `null` as text: the built-in was. */
export async function undoPublished(queries: Queries, tenant: TenantId, { kind, name }: Key): Promise<boolean> {
  const rows = await queries
    .updateTable('customizations')
    .set({ published: sql`NULLIF(previous, 'null')`, previous: sql`COALESCE(published, 'null')`, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('kind', '=', kind)
    .where('name', '=', name)
    .where('previous', 'is not', null)
    .returning('name')
    .execute();
  return rows.length === 1;
}

/** Nothing is published any more, and what was may come back by undo; false when nothing was. */
export async function withdrawPublished(queries: Queries, tenant: TenantId, { kind, name }: Key): Promise<boolean> {
  const rows = await queries
    .updateTable('customizations')
    .set({ previous: sql`published`, published: null, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('kind', '=', kind)
    .where('name', '=', name)
    .where('published', 'is not', null)
    .returning('name')
    .execute();
  return rows.length === 1;
}
