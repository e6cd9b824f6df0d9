// The settings of a tenant in a document: what differs from the defaults. A setting the section does not name has its default.
// Secrets never leave the database, so a setting that has one stays as it is unless named.
import { brandingFault } from '../../../domain/appearance/branding.ts';
import { type FieldFault, type Json, leavesOf } from '../../../domain/field.ts';
import { defaultSettings, merge, mergeSettings, rateLimitParts, type Settings, settingFields } from '../../../domain/tenant/settings.ts';
import { findTenantById, lockTenantSettings, updateTenantSettings } from '../../../storage/registry/tenants.ts';
import { sealSettings, secretFault, secretSettingNames, secretSettingPaths, withoutSecrets } from '../../../tokens/secret-settings.ts';
import { recordAct } from '../../administration.ts';
import { changeOf, propertiesOf } from '../../schema-pieces.ts';
import { followSsoSetting, forgetRefusals, settingsFault } from '../../settings.ts';
import { requireSigningKeys } from '../../signing-keys.ts';
import { canonical, faultAt, type Kind, type Session, type Stored } from '../document.ts';

export const settingsKind: Kind = {
  section: 'settings',
  noun: 'settings',
  single: true,
  schema: changeOf(propertiesOf(settingFields)),
  uniqueField: 'settings',
  secrets: secretSettingNames,
  secretPaths: secretSettingPaths,
  isConfiguration: true,
  examine: (session, declared) => {
    const value = declared.value as Json; // checked by the schema
    for (const [limit, given] of Object.entries((value['rate_limits'] ?? {}) as Json)) {
      const base = defaultSettings.rate_limits[limit as keyof Settings['rate_limits']];
      const missing = base === null && given !== null ? rateLimitParts.find((part) => !Object.hasOwn(given as object, part)) : undefined;
      if (missing !== undefined)
        throw faultAt(declared, ['rate_limits', limit, missing], 'a value, because this limit is off by default', undefined);
    }
    const settings = mergeSettings(value);
    const unusable = secretFault(value);
    if (unusable !== undefined) throw faultAt(declared, unusable.field.split('.'), `a value that ${unusable.text}`, undefined);
    const fault = settingsFault(settings) ?? brandFault(value);
    if (fault !== undefined)
      throw faultAt(
        declared,
        fault.field.split('.'),
        `a value that ${fault.text}`,
        fieldOf(value, fault.field) ?? fieldOf(settings, fault.field),
      );
    return { id: session.tenant.id, title: session.tenant.slug, fields: flat(settings, secretsIn(value)), declared };
  },
  newId: (session) => session.tenant.id,
  find: async (queries, session, items) => {
    const [stored] = await load(queries, session);
    return items.map(({ fields }) => {
      if (stored === undefined) return { stored };
      const compared = Object.entries(stored.fields).filter(([name]) => !secretSettingNames.includes(name) || Object.hasOwn(fields, name));
      return { stored: { ...stored, fields: Object.fromEntries(compared) } };
    });
  },
  prepare: async ({ administration, tenant }, items) => {
    for (const { fields } of items)
      await requireSigningKeys(administration, tenant.id, fields['access_token_alg'] as Settings['access_token_alg']);
  },
  create: async () => undefined, // a tenant always has settings
  update: async (queries, session, items) => {
    const { administration, tenant, by } = session;
    for (const { desired, changed } of items) {
      const value = desired.declared.value as Json; // checked by the schema
      const stored = JSON.parse((await lockTenantSettings(queries, administration.database.dialect, tenant.id)) ?? '{}') as Json;
      const named = secretsIn(value);
      const whole = secretSettingNames
        .filter((name) => !named.includes(name) && fieldOf(stored, name) !== undefined)
        .reduce((merged, name) => merge(merged, nest(name, fieldOf(stored, name))), value);
      const settings = sealSettings(administration.encryption, tenant.id, whole);
      await updateTenantSettings(queries, tenant.id, JSON.stringify(settings));
      await followSsoSetting(queries, tenant.id, mergeSettings(stored), mergeSettings(settings));
      await forgetRefusals(
        queries,
        tenant.id,
        named.filter((name) => name.startsWith('push.')).map((name) => name.slice('push.'.length)),
      );
      const data = { fields: [...changed] };
      await recordAct(queries, administration, tenant.id, by, { type: 'settings.updated', target: `tenant:${tenant.id}`, data });
    }
  },
  page: (queries, session, after) => (after === '' ? load(queries, session) : Promise.resolve([])),
  remove: async () => undefined,
  write: (_session, { fields }) => nested(fields),
};

function brandFault(value: Json): FieldFault | undefined {
  const fault = brandingFault((value['branding'] ?? {}) as Json);
  return fault && { ...fault, field: `branding.${fault.field}` };
}

async function load(queries: Parameters<Kind['page']>[0], { tenant }: Session): Promise<readonly Stored[]> {
  const row = await findTenantById(queries, tenant.id);
  if (row === undefined) return [];
  return [{ id: tenant.id, title: tenant.slug, fields: flat(mergeSettings(withoutSecrets(JSON.parse(row.settings))), secretSettingNames) }];
}

const secretsIn = (value: Json): readonly string[] => secretSettingNames.filter((name) => fieldOf(value, name) !== undefined);

const nest = (name: string, value: unknown): Json => {
  const [group = '', member = ''] = name.split('.');
  return { [group]: { [member]: value } };
};

/** Settings by dotted names, so that a plan names the one that changes; of those with a secret the ones given. */
function flat(settings: Json, secrets: readonly string[]): Json {
  const paths = leavesOf(settingFields).map(([path]) => path);
  const compared = paths.filter((path) => !secretSettingNames.includes(path) || secrets.includes(path));
  return Object.fromEntries(compared.map((path) => [path, fieldOf(settings, path)]));
}

function fieldOf(settings: Json, name: string): unknown {
  return name.split('.').reduce<unknown>((at, part) => (at as Json | undefined)?.[part], settings);
}

/** What differs from the defaults, as the nested object a person writes. */
function nested(fields: Json): Json {
  const defaults = flat(defaultSettings, secretSettingNames);
  const written: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (secretSettingNames.includes(name) || canonical(value) === canonical(defaults[name])) continue;
    const parts = name.split('.');
    let at = written;
    for (const part of parts.slice(0, -1)) {
      at[part] ??= {};
      at = at[part] as Record<string, unknown>; // a branch, made here
    }
    at[parts.at(-1)!] = value;
  }
  return written;
}
