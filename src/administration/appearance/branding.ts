// The branding of a tenant: a draft that nobody sees but who edits it, published into the settings, and undone from there.
import { type Branding, brandingFault, readBranding, withOneAccent } from '../../domain/appearance/branding.ts';
import type { FieldFault, Json } from '../../domain/field.ts';
import type { TenantId } from '../../domain/ids.ts';
import { fail, type Outcome } from '../../domain/outcome.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { findCustomization, takeDraft, writeCustomization } from '../../storage/registry/customizations.ts';
import { findTenantById, lockTenantSettings, updateTenantSettings } from '../../storage/registry/tenants.ts';
import { type Administration, type By, recordAct } from '../administration.ts';
import { missingImage } from './images.ts';

export interface BrandingState {
  readonly published: Branding;
  readonly draft: Branding | undefined;
  readonly canUndo: boolean;
}

const key = { kind: 'branding', name: '' } as const;
type Store = Pick<Administration, 'cache' | 'clock' | 'database'>;
type Invalid = { readonly ok: false; readonly reason: 'invalid'; readonly fault: FieldFault };
type Done = { readonly state: BrandingState };

export async function loadBranding(queries: Queries, tenant: TenantId): Promise<BrandingState> {
  const settings = JSON.parse((await findTenantById(queries, tenant))?.settings ?? '{}') as Json;
  const row = await findCustomization(queries, tenant, key);
  return {
    published: readBranding((settings['branding'] ?? {}) as Json),
    draft: row === undefined || row.draft === null ? undefined : readBranding(JSON.parse(row.draft)),
    canUndo: row !== undefined && row.previous !== null,
  };
}

/** Keeps a draft: the whole branding as it is to be. */
export async function saveBrandingDraft(store: Store, tenant: TenantId, given: Json, by: By): Promise<Outcome<Done, never> | Invalid> {
  const fault = brandingFault(given);
  if (fault !== undefined) return { ok: false, reason: 'invalid', fault };
  const draft = readBranding(withOneAccent(given));
  return store.cache.write(tenant, async (queries) => {
    const missing = await missingImage(queries, tenant, draft);
    if (missing !== undefined) return { ok: false, reason: 'invalid', fault: missing } as const;
    await writeCustomization(queries, tenant, key, { draft: JSON.stringify(draft) });
    await recordAct(queries, store, tenant, by, {
      type: 'branding.drafted',
      target: `tenant:${tenant}`,
      data: { fields: Object.keys(draft) },
    });
    return done(queries, tenant);
  });
}

/** False when there was no draft. */
export async function discardBrandingDraft(store: Store, tenant: TenantId, by: By): Promise<boolean> {
  return store.cache.write(tenant, async (queries) => {
    if ((await takeDraft(queries, tenant, key)) === undefined) return false;
    await recordAct(queries, store, tenant, by, { type: 'branding.discarded', target: `tenant:${tenant}` });
    return true;
  });
}

/** The draft is what everybody sees from now on. */
export async function publishBranding(store: Store, tenant: TenantId, by: By): Promise<Outcome<Done, 'no_draft'> | Invalid> {
  return store.cache.write(tenant, async (queries) => {
    const settings = JSON.parse((await lockTenantSettings(queries, store.database.dialect, tenant)) ?? '{}') as Json;
    const text = (await findCustomization(queries, tenant, key))?.draft;
    if (text === undefined || text === null) return fail('no_draft');
    const missing = await missingImage(queries, tenant, JSON.parse(text));
    if (missing !== undefined) return { ok: false, reason: 'invalid', fault: missing } as const;
    const draft = await takeDraft(queries, tenant, key);
    if (draft === undefined) return fail('no_draft');
    await setPublished(queries, tenant, settings, JSON.parse(draft));
    await recordAct(queries, store, tenant, by, {
      type: 'branding.published',
      target: `tenant:${tenant}`,
      data: { branding: JSON.parse(draft) },
    });
    return done(queries, tenant);
  });
}

/** What was published before is seen again; once more brings the newer one back. */
export async function undoBranding(store: Store, tenant: TenantId, by: By): Promise<Outcome<Done, 'nothing_before'>> {
  return store.cache.write(tenant, async (queries) => {
    const settings = JSON.parse((await lockTenantSettings(queries, store.database.dialect, tenant)) ?? '{}') as Json;
    const previous = (await findCustomization(queries, tenant, key))?.previous;
    if (previous === undefined || previous === null) return fail('nothing_before');
    await setPublished(queries, tenant, settings, JSON.parse(previous));
    await recordAct(queries, store, tenant, by, {
      type: 'branding.undone',
      target: `tenant:${tenant}`,
      data: { branding: JSON.parse(previous) },
    });
    return done(queries, tenant);
  });
}

/** The caller holds the lock on the settings. */
async function setPublished(queries: Queries, tenant: TenantId, settings: Json, branding: Json): Promise<void> {
  await updateTenantSettings(queries, tenant, JSON.stringify({ ...settings, branding }));
  await writeCustomization(queries, tenant, key, { previous: JSON.stringify(settings['branding'] ?? {}) });
}

async function done(queries: Queries, tenant: TenantId): Promise<{ readonly ok: true } & Done> {
  return { ok: true, state: await loadBranding(queries, tenant) };
}
