// The secret among a tenant's settings: the decryption key of Play Integrity. In settings as stored it is
// `decryption_key_encrypted`, under the master key (R7); clear it is only in a change on its way in and in the hands of the
// attestation. Called by administration/settings.ts, the device plane and the start.

import { sql } from 'kysely';
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import type { TenantId } from '../domain/ids.ts';
import type { ConfigCache } from '../storage/config-cache.ts';
import type { Database } from '../storage/database.ts';
import { replaceTenantSettings, type TenantTable } from '../storage/tenants.ts';

type Json = Readonly<Record<string, unknown>>;

const purposeOf = (tenant: TenantId): string => `play-integrity:${tenant}`;

/** The settings with the key encrypted where it stood clear. */
export function sealSettings(encryption: KeyEncryption, tenant: TenantId, settings: Json): Json {
  return changePlayIntegrity(settings, ({ decryption_key: key, ...others }) =>
    typeof key === 'string' ? { ...others, decryption_key_encrypted: encryption.encrypt(key, purposeOf(tenant)) } : others,
  );
}

/** The settings without the key, clear or encrypted: what may be shown, recorded and exported. */
export function withoutSecrets(settings: Json): Json {
  return changePlayIntegrity(settings, ({ decryption_key: _clear, decryption_key_encrypted: _encrypted, ...shown }) => shown);
}

/** The key as it was given, or undefined when none is stored. Throws when it was not encrypted for this tenant. */
export function openPlayDecryptionKey(encryption: KeyEncryption, tenant: TenantId, playIntegrity: Json | null): string | undefined {
  const encrypted = playIntegrity?.['decryption_key_encrypted'];
  return typeof encrypted === 'string' ? encryption.decrypt(encrypted, purposeOf(tenant)).toString() : undefined;
}

/**
 * Encrypts keys that an earlier release stored clear, one tenant at a time, unless its settings changed meanwhile. On the
 * embedded database the clear text is overwritten as well.
 */
export async function sealStoredSettings(
  { database, cache, encryption }: { readonly database: Database; readonly cache: ConfigCache; readonly encryption: KeyEncryption },
  tenants: readonly TenantTable[],
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

function changePlayIntegrity(settings: Json, change: (play: Json) => Json): Json {
  const attestation = settings['attestation'] as Json | undefined; // an object by the schema, if it is there
  const play = attestation?.['play_integrity'] as Json | null | undefined;
  if (play === null || play === undefined) return settings;
  return { ...settings, attestation: { ...attestation, play_integrity: change(play) } };
}
