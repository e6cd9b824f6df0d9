// Tenant settings: the merge of a change into what is stored, and the rules that hold between settings. Bounds of single
// values were checked before, by the schema of the API.

import { isDeepStrictEqual } from 'node:util';
import { brandingFault, withOneAccent } from '../domain/appearance/branding.ts';
import { movedPasswordFault } from '../domain/appearance/mail-server.ts';
import type { FieldFault } from '../domain/field.ts';
import type { TenantId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import { capabilitiesOfTenant } from '../domain/people/capabilities.ts';
import { ssoPolicyOf } from '../domain/sign-in/sso-session.ts';
import { merge, mergeSettings, type Settings } from '../domain/tenant/settings.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { type PushProvider, setPushRefusal } from '../storage/device/push-targets.ts';
import type { Queries } from '../storage/engine/database.ts';
import { lockTenantSettings, updateTenantSettings } from '../storage/registry/tenants.ts';
import { limitSsoSessions } from '../storage/sign-in/sso-sessions.ts';
import { sealSettings, secretFault, withoutSecrets } from '../tokens/secret-settings.ts';
import { type Administration, type By, recordAct } from './administration.ts';
import { missingImage } from './appearance/images.ts';
import { requireSigningKeys } from './signing-keys.ts';

type Change = Readonly<Record<string, unknown>>;

/** A change, or what makes one of the settings as they are then; of such a one nothing is secret, and nothing names an algorithm. */
type Wanted = Change | ((before: Settings) => Change | Promise<Change>);

/** Merges a change into the tenant's settings, key by key. */
export async function changeSettings(
  administration: Administration,
  { id: tenant, slug }: Pick<Tenant, 'id' | 'slug'>,
  wanted: Wanted,
  by: By,
): Promise<
  Outcome<{ readonly settings: Settings }, 'unknown'> | { readonly ok: false; readonly reason: 'invalid'; readonly fault: FieldFault }
> {
  const { database, cache } = administration;
  const plain = typeof wanted === 'function' ? {} : wanted;
  const unusable = secretFault(plain);
  if (unusable !== undefined) return { ok: false, reason: 'invalid', fault: unusable };
  const alg = plain['access_token_alg'];
  if (alg === 'ES256' || alg === 'RS256' || alg === 'EdDSA') await requireSigningKeys(administration, tenant, alg);
  return cache.write(tenant, async (queries) => {
    const stored = await lockTenantSettings(queries, database.dialect, tenant);
    if (stored === undefined) return fail('unknown');
    const change = typeof wanted === 'function' ? await wanted(mergeSettings(JSON.parse(stored))) : wanted;
    const sealed = withOneAccentColor(sealSettings(administration.encryption, tenant, change));
    const merged = merge(sealSettings(administration.encryption, tenant, JSON.parse(stored)), sealed);
    const settings = mergeSettings(merged, administration.canMail);
    const before = mergeSettings(JSON.parse(stored));
    const moved = movedPasswordFault(before.smtp.server, settings.smtp.server);
    const fault =
      (moved && { ...moved, field: `smtp.server.${moved.field}` }) ?? settingsFault(settings) ?? (await lookFault(queries, tenant, change));
    if (fault !== undefined) return { ok: false, reason: 'invalid', fault } as const;
    // Whoever speaks for such a provider is each administrator.
    if (!isDeepStrictEqual(before.administrator_providers, settings.administrator_providers)) by.require?.(capabilitiesOfTenant({ slug }));
    await updateTenantSettings(queries, tenant, JSON.stringify(merged));
    await followSsoSetting(queries, tenant, before, settings);
    await forgetRefusals(queries, tenant, Object.keys((change['push'] ?? {}) as Change));
    await recordAct(queries, administration, tenant, by, {
      type: 'settings.updated',
      target: `tenant:${tenant}`,
      data: { change: withoutSecrets(change) },
    });
    return { ok: true, settings };
  });
}

/** Sessions that are there live no longer than a changed setting lets them. */
export async function followSsoSetting(queries: Queries, tenant: TenantId, before: Settings, after: Settings): Promise<void> {
  if (!isDeepStrictEqual(before.sso_session, after.sso_session)) await limitSsoSessions(queries, tenant, ssoPolicyOf(after.sso_session));
}

const withOneAccentColor = (change: Change): Change =>
  change['branding'] === undefined ? change : { ...change, branding: withOneAccent(change['branding'] as Change) };

/** What is wrong with a branding that the change names; one that stood before stays as it is. */
async function lookFault(queries: Queries, tenant: TenantId, change: Change): Promise<FieldFault | undefined> {
  const branding = (change['branding'] ?? {}) as Change;
  const fault = brandingFault(branding) ?? (await missingImage(queries, tenant, branding));
  return fault && { ...fault, field: `branding.${fault.field}` };
}

/** The settings as they may be read again: secrets are write-only. */
export function shownSettings(settings: Settings): Change {
  return withoutSecrets(settings);
}

/** New credentials have not been refused yet. */
export async function forgetRefusals(queries: Queries, tenant: TenantId, accounts: readonly string[]): Promise<void> {
  for (const account of accounts) await setPushRefusal(queries, tenant, account as PushProvider, undefined); // names of the schema
}

/** The first rule between settings that does not hold. */
export function settingsFault(settings: Settings): FieldFault | undefined {
  const { device } = settings;
  if (device.protocol_version_min > device.protocol_version_current)
    return { field: 'device.protocol_version_min', text: 'must not be above device.protocol_version_current' };
  if (settings.refresh_token_idle_seconds > settings.refresh_token_absolute_seconds)
    return { field: 'refresh_token_idle_seconds', text: 'must not be above refresh_token_absolute_seconds' };
  const { sso_session: sso } = settings;
  if (typeof sso === 'object' && sso.idle_seconds > sso.absolute_seconds)
    return { field: 'sso_session.idle_seconds', text: 'must not be above sso_session.absolute_seconds' };
  return undefined;
}
