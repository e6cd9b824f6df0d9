// The secrets among a tenant's settings: the decryption key of Play Integrity, the private keys of push accounts, the password at a mail server. In settings as
// stored each is `<name>_encrypted`, under the master key (R7); clear it is only in a change on its way in and in the hands of whoever
// uses it. Called by administration/settings.ts, the device plane, the sending of pushes and the start.

import { sql } from 'kysely';
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import type { MailServer } from '../domain/appearance/mail-server.ts';
import { playFormat } from '../domain/device/attestation-formats.ts';
import type { FieldFault } from '../domain/field.ts';
import type { TenantId } from '../domain/ids.ts';
import { parseApnsAccount } from '../platform/push/apns.ts';
import { parseFcmAccount } from '../platform/push/fcm.ts';
import type { ConfigCache } from '../storage/engine/config/config-cache.ts';
import type { Database } from '../storage/engine/database.ts';
import { replaceTenantSettings, type StoredTenant } from '../storage/registry/tenants.ts';

type Json = Readonly<Record<string, unknown>>;

interface SecretSetting {
  readonly group: string;
  readonly name: string;
  /** The member that is secret. */
  readonly secret: string;
  readonly purpose: string;
  /** The members that are kept; all unless given. */
  readonly kept?: readonly string[];
  /** Throws for an account that cannot work. */
  readonly parse?: (account: Json) => unknown;
}

const playIntegrity: SecretSetting = {
  group: 'attestation',
  name: 'play_integrity',
  secret: 'decryption_key',
  purpose: playFormat,
};
const pushAccounts = {
  apns: { group: 'push', name: 'apns', secret: 'private_key', purpose: 'push-apns', parse: (account: Json) => parseApnsAccount(account) },
  fcm: {
    group: 'push',
    name: 'fcm',
    secret: 'private_key',
    purpose: 'push-fcm',
    kept: ['project_id', 'client_email', 'private_key'],
    parse: parseFcmAccount,
  },
} as const;
const mailServer: SecretSetting = { group: 'smtp', name: 'server', secret: 'password', purpose: 'smtp-password' };
const secretSettings: readonly SecretSetting[] = [playIntegrity, pushAccounts.apns, pushAccounts.fcm, mailServer];

/** The settings with a secret in them, by their dotted names. */
export const secretSettingNames: readonly string[] = secretSettings.map(({ group, name }) => `${group}.${name}`);

/** The secrets in them. */
export const secretSettingPaths: readonly string[] = secretSettings.map(({ group, name, secret }) => `${group}.${name}.${secret}`);

/** The settings with every secret encrypted where it stood clear. */
export function sealSettings(encryption: KeyEncryption, tenant: TenantId, settings: Json): Json {
  return changeSecrets(settings, (value, { secret, purpose, kept }) => {
    const { [secret]: clear, ...others } = value;
    if (typeof clear !== 'string') return value;
    const shown = kept === undefined ? others : Object.fromEntries(Object.entries(others).filter(([name]) => kept.includes(name)));
    return { ...shown, [`${secret}_encrypted`]: encryption.encrypt(clear, `${purpose}:${tenant}`) };
  });
}

/** The opposite of sealSettings. */
export function openSettings(encryption: KeyEncryption, tenant: TenantId, settings: Json): Json {
  return changeSecrets(settings, (value, one) => {
    const { [`${one.secret}_encrypted`]: _encrypted, ...others } = value;
    const clear = openSecret(encryption, tenant, one, value);
    return clear === undefined ? value : { ...others, [one.secret]: clear };
  });
}

/** The settings without the secrets, clear or encrypted: what may be shown, recorded and exported. */
export function withoutSecrets(settings: Json): Json {
  return changeSecrets(settings, (value, { secret, kept }) => {
    const { [secret]: _clear, [`${secret}_encrypted`]: _encrypted, ...shown } = value;
    return kept === undefined ? shown : Object.fromEntries(Object.entries(shown).filter(([name]) => kept.includes(name)));
  });
}

/** What is wrong with a secret that a change brings; it has the right shape. */
export function secretFault(change: Json): FieldFault | undefined {
  for (const { group, name, secret, parse } of secretSettings) {
    const value = ((change[group] ?? {}) as Json)[name] as Json | null | undefined;
    if (parse === undefined || value === null || value === undefined) continue;
    try {
      parse(value);
    } catch {
      return { field: `${group}.${name}.${secret}`, text: `must be the private key of such an account, as PEM` };
    }
  }
  return undefined;
}

/** The key as it was given, or undefined when none is stored. Throws when it was not encrypted for this tenant. */
export function openPlayDecryptionKey(encryption: KeyEncryption, tenant: TenantId, stored: Json | null): string | undefined {
  return openSecret(encryption, tenant, playIntegrity, stored);
}

/** A push account with its private key, or undefined when the tenant has none. Throws when it was not encrypted for this tenant. */
export function openPushAccount(encryption: KeyEncryption, tenant: TenantId, name: 'apns' | 'fcm', stored: Json | null): Json | undefined {
  const privateKey = openSecret(encryption, tenant, pushAccounts[name], stored);
  return privateKey === undefined ? undefined : { ...stored, private_key: privateKey };
}

/** The password at the tenant's mail server, or undefined when none is kept. Throws when it was not encrypted for this tenant. */
export function openMailPassword(encryption: KeyEncryption, tenant: TenantId, stored: MailServer): string | undefined {
  return openSecret(encryption, tenant, mailServer, { ...stored });
}

function openSecret(
  encryption: KeyEncryption,
  tenant: TenantId,
  { secret, purpose }: SecretSetting,
  stored: Json | null,
): string | undefined {
  const encrypted = stored?.[`${secret}_encrypted`];
  return typeof encrypted === 'string' ? encryption.decrypt(encrypted, `${purpose}:${tenant}`).toString() : undefined;
}

/**
 * Encrypts keys that an earlier release stored clear, one tenant at a time, unless its settings changed meanwhile. On the
 * embedded database the clear text is overwritten as well.
 */
export async function sealStoredSettings(
  { database, cache, encryption }: { readonly database: Database; readonly cache: ConfigCache; readonly encryption: KeyEncryption },
  tenants: readonly StoredTenant[],
): Promise<void> {
  for (const { tenant_id: tenant, settings } of tenants) {
    if (!settings.includes('"decryption_key"')) continue;
    const sealed = JSON.stringify(sealSettings(encryption, tenant, JSON.parse(settings)));
    await cache.write(tenant, async (queries) => {
      if (database.dialect === 'sqlite') await sql`PRAGMA secure_delete = ON`.execute(queries);
      await replaceTenantSettings(queries, tenant, settings, sealed);
    });
  }
}

function changeSecrets(settings: Json, change: (value: Json, setting: SecretSetting) => Json): Json {
  let changed = settings;
  for (const setting of secretSettings) {
    const group = changed[setting.group] as Json | undefined; // an object by the schema, if it is there
    const value = group?.[setting.name] as Json | null | undefined;
    if (value !== null && value !== undefined)
      changed = { ...changed, [setting.group]: { ...group, [setting.name]: change(value, setting) } };
  }
  return changed;
}
