// The settings of a tenant in a document: what differs from the defaults. A setting the section does not name has its default.
// The decryption key of Play Integrity never leaves the database, so `attestation.play_integrity` stays as it is unless named.
import { defaultSettings, merge, mergeSettings, type Settings } from '../../domain/settings.ts';
import { findTenantById, updateTenant } from '../../storage/tenants.ts';
import { sealSettings, withoutSecrets } from '../../tokens/secret-settings.ts';
import { recordAct } from '../administration.ts';
import { settingsFault } from '../settings.ts';
import { rateLimitFields, settingsChange } from '../settings-schema.ts';
import { requireSigningKeys } from '../signing-keys.ts';
import { canonical, faultAt, type Json, type Kind, type Session, type Stored } from './document.ts';

const playIntegrity = 'attestation.play_integrity';

export const settingsKind: Kind = {
  section: 'settings',
  noun: 'settings',
  single: true,
  schema: settingsChange,
  uniqueField: 'settings',
  isConfiguration: true,
  examine: (session, declared) => {
    const value = declared.value as Json; // checked by the schema
    for (const [limit, given] of Object.entries((value['rate_limits'] ?? {}) as Json)) {
      const base = defaultSettings.rate_limits[limit as keyof Settings['rate_limits']];
      const missing =
        base === null && given !== null ? Object.keys(rateLimitFields).find((part) => !Object.hasOwn(given as object, part)) : undefined;
      if (missing !== undefined)
        throw faultAt(declared, ['rate_limits', limit, missing], 'a value, because this limit is off by default', undefined);
    }
    const settings = mergeSettings(value);
    const fault = settingsFault(settings);
    if (fault !== undefined) throw faultAt(declared, fault.field.split('.'), `a value that ${fault.text}`, fieldOf(settings, fault.field));
    return { id: session.tenant.id, title: session.tenant.slug, fields: flat(settings, namesPlayIntegrity(value)), declared };
  },
  newId: (session) => session.tenant.id,
  find: async (queries, session, items) => {
    const [stored] = await load(queries, session);
    return items.map(({ fields }) => {
      if (stored === undefined || Object.hasOwn(fields, playIntegrity)) return { stored };
      const { [playIntegrity]: _kept, ...others } = stored.fields;
      return { stored: { ...stored, fields: others } };
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
      const before = await findTenantById(queries, tenant.id);
      const kept = fieldOf(JSON.parse(before?.settings ?? '{}'), playIntegrity);
      const keep = namesPlayIntegrity(value) || kept === undefined ? {} : { attestation: { play_integrity: kept } };
      const settings = sealSettings(
        administration.encryption,
        tenant.id,
        merge(value, keep.attestation === undefined ? {} : { attestation: merge((value['attestation'] ?? {}) as Json, keep.attestation) }),
      );
      await updateTenant(queries, tenant.id, { settings: JSON.stringify(settings) });
      const data = { fields: [...changed] };
      await recordAct(queries, administration, tenant.id, by, { type: 'settings.updated', target: `tenant:${tenant.id}`, data });
    }
  },
  page: (queries, session, after) => (after === '' ? load(queries, session) : Promise.resolve([])),
  remove: async () => undefined,
  write: (_session, { fields }) => nested(fields),
};

async function load(queries: Parameters<Kind['page']>[0], { tenant }: Session): Promise<readonly Stored[]> {
  const row = await findTenantById(queries, tenant.id);
  if (row === undefined) return [];
  return [{ id: tenant.id, title: tenant.slug, fields: flat(mergeSettings(withoutSecrets(JSON.parse(row.settings))), true) }];
}

const namesPlayIntegrity = (value: Json): boolean => Object.hasOwn((value['attestation'] ?? {}) as object, 'play_integrity');

/** Settings by dotted names, so that a plan names the one that changes. */
function flat(settings: Json, withPlayIntegrity: boolean): Json {
  const fields: Record<string, unknown> = {};
  const visit = (value: unknown, path: string): void => {
    const isBranch =
      typeof value === 'object' && value !== null && !Array.isArray(value) && !atoms.has(path) && !path.startsWith('rate_limits.');
    if (!isBranch) fields[path] = value;
    else for (const [name, member] of Object.entries(value)) visit(member, path === '' ? name : `${path}.${name}`);
  };
  visit(settings, '');
  if (!withPlayIntegrity) delete fields[playIntegrity];
  return fields;
}

const atoms: ReadonlySet<string> = new Set(['branding', playIntegrity]);

function fieldOf(settings: Json, name: string): unknown {
  return name.split('.').reduce<unknown>((at, part) => (at as Json | undefined)?.[part], settings);
}

/** What differs from the defaults, as the nested object a person writes. */
function nested(fields: Json): Json {
  const defaults = flat(defaultSettings, true);
  const written: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (name === playIntegrity || canonical(value) === canonical(defaults[name])) continue;
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
