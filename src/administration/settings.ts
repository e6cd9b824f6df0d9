// Tenant settings: the merge of a change into what is stored, and the rules that hold between settings. Bounds of single
// values were checked before, by the schema of the API.
import type { TenantId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import { merge, mergeSettings, type Settings } from '../domain/settings.ts';
import { lockTenantSettings, updateTenant } from '../storage/tenants.ts';
import { sealSettings, withoutSecrets } from '../tokens/secret-settings.ts';
import { type Administration, type By, recordAct } from './administration.ts';
import type { FieldFault } from './client-fields.ts';
import { requireSigningKeys } from './signing-keys.ts';

type Change = Readonly<Record<string, unknown>>;

/** Merges a change into the tenant's settings, key by key. */
export async function changeSettings(
  administration: Administration,
  tenant: TenantId,
  change: Change,
  by: By,
): Promise<
  Outcome<{ readonly settings: Settings }, 'unknown'> | { readonly ok: false; readonly reason: 'invalid'; readonly fault: FieldFault }
> {
  const { database, cache } = administration;
  const alg = change['access_token_alg'];
  if (alg === 'ES256' || alg === 'RS256' || alg === 'EdDSA') await requireSigningKeys(administration, tenant, alg);
  const sealed = sealSettings(administration.encryption, tenant, change);
  return cache.write(tenant, async (queries) => {
    const stored = await lockTenantSettings(queries, database.dialect, tenant);
    if (stored === undefined) return fail('unknown');
    const merged = merge(sealSettings(administration.encryption, tenant, JSON.parse(stored)), sealed);
    const settings = mergeSettings(merged);
    const fault = settingsFault(settings);
    if (fault !== undefined) return { ok: false, reason: 'invalid', fault } as const;
    await updateTenant(queries, tenant, { settings: JSON.stringify(merged) });
    await recordAct(queries, administration, tenant, by, {
      type: 'settings.updated',
      target: `tenant:${tenant}`,
      data: { change: withoutSecrets(change) },
    });
    return { ok: true, settings };
  });
}

/** The settings as they may be read again: the decryption key of Play Integrity is write-only. */
export function shownSettings(settings: Settings): Change {
  return withoutSecrets(settings);
}

/** The first rule between settings that does not hold. */
export function settingsFault(settings: Settings): FieldFault | undefined {
  const { device } = settings;
  if (device.protocol_version_min > device.protocol_version_current)
    return { field: 'device.protocol_version_min', text: 'must not be above device.protocol_version_current' };
  if (settings.refresh_token_idle_seconds > settings.refresh_token_absolute_seconds)
    return { field: 'refresh_token_idle_seconds', text: 'must not be above refresh_token_absolute_seconds' };
  return undefined;
}
