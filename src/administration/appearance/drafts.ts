// Drafts of what a tenant words itself (texts by language, mails by kind and language): written, discarded, published, undone. What a draft
// may hold is checked by whoever calls.
import type { Json } from '../../domain/field.ts';
import type { TenantId } from '../../domain/ids.ts';
import { fail, type Outcome } from '../../domain/outcome.ts';
import type { Queries } from '../../storage/engine/database.ts';
import {
  type Customization,
  type CustomizationKind,
  findCustomization,
  publishDraft,
  takeDraft,
  undoPublished,
  withdrawPublished,
  writeCustomization,
} from '../../storage/registry/customizations.ts';
import { type Administration, type By, recordAct } from '../administration.ts';

type Store = Pick<Administration, 'cache' | 'clock'>;
export interface DraftKey {
  readonly kind: Exclude<CustomizationKind, 'branding'>;
  readonly name: string;
}

export interface DraftState {
  /** Undefined: the built-in. */
  readonly published: Json | undefined;
  readonly draft: Json | undefined;
  readonly canUndo: boolean;
}

const read = (text: string | null): Json | undefined => (text === null ? undefined : (JSON.parse(text) as Json)); // written from one
const draftState = (row: Customization | undefined): DraftState => ({
  published: read(row?.published ?? null),
  draft: read(row?.draft ?? null),
  canUndo: row !== undefined && row.previous !== null,
});

export async function loadDraft(queries: Queries, tenant: TenantId, key: DraftKey): Promise<DraftState> {
  return draftState(await findCustomization(queries, tenant, key));
}

export async function saveDraft(store: Store, tenant: TenantId, key: DraftKey, draft: Json, by: By): Promise<DraftState> {
  return store.cache.write(tenant, async (queries) => {
    await writeCustomization(queries, tenant, key, { draft: JSON.stringify(draft) });
    await record(queries, store, { tenant, key, by }, 'customization.drafted');
    return loadDraft(queries, tenant, key);
  });
}

/** False when there was no draft. */
export async function discardDraft(store: Store, tenant: TenantId, key: DraftKey, by: By): Promise<boolean> {
  return store.cache.write(tenant, async (queries) => {
    if ((await takeDraft(queries, tenant, key)) === undefined) return false;
    await record(queries, store, { tenant, key, by }, 'customization.discarded');
    return true;
  });
}

type Done = Outcome<{ readonly state: DraftState }, 'no_draft' | 'nothing_before'>;

export async function publish(store: Store, tenant: TenantId, key: DraftKey, by: By): Promise<Done> {
  return store.cache.write(tenant, async (queries) => {
    if (!(await publishDraft(queries, tenant, key))) return fail('no_draft');
    await record(queries, store, { tenant, key, by }, 'customization.published');
    return { ok: true, state: await loadDraft(queries, tenant, key) };
  });
}

/** What was published before is in force again; the built-in, if nothing was. */
export async function undo(store: Store, tenant: TenantId, key: DraftKey, by: By): Promise<Done> {
  return store.cache.write(tenant, async (queries) => {
    if (!(await undoPublished(queries, tenant, key))) return fail('nothing_before');
    await record(queries, store, { tenant, key, by }, 'customization.undone');
    return { ok: true, state: await loadDraft(queries, tenant, key) };
  });
}

/** The built-in is in force again; false when it was. */
export async function withdraw(store: Store, tenant: TenantId, key: DraftKey, by: By): Promise<boolean> {
  return store.cache.write(tenant, async (queries) => {
    if (!(await withdrawPublished(queries, tenant, key))) return false;
    await record(queries, store, { tenant, key, by }, 'customization.withdrawn');
    return true;
  });
}

export async function record(
  queries: Queries,
  store: Pick<Store, 'clock'>,
  { tenant, key, by }: { readonly tenant: TenantId; readonly key: DraftKey; readonly by: By },
  type: `customization.${'drafted' | 'discarded' | 'published' | 'undone' | 'withdrawn'}`,
): Promise<void> {
  await recordAct(queries, store, tenant, by, { type, target: `customization:${key.kind}.${key.name}`, data: { ...key } });
}
