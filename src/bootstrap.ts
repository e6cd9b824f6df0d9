// What happens at a start before anything is served: the master key is checked against the database, and a first start
// creates the root tenant and the operator token.
import type { KeyEncryption } from './crypto/key-encryption.ts';
import { hashSecret } from './crypto/secret-hash.ts';
import { operatorTokenKey, rootTenantSlug } from './domain/tenant.ts';
import type { Services } from './http/services.ts';
import { randomSecret } from './platform/random.ts';
import type { Database } from './storage/database.ts';
import { findInstanceValue, insertInstanceValue, replaceInstanceValue } from './storage/instance.ts';
import { findTenantBySlug } from './storage/tenants.ts';
import { createTenant } from './tokens/tenant-creation.ts';

const checkKey = 'master_key_check';
const checkPurpose = 'master-key-check';
const operatorTokenShownKey = 'operator_token_shown';

/** True when something may have been encrypted under a master key already. */
export async function hasMasterKeyCheck(database: Database): Promise<boolean> {
  return (await database.systemRead((queries) => findInstanceValue(queries, checkKey))) !== undefined;
}

/** Throws when the master key is not the one this database was written with. */
export async function checkMasterKey(database: Database, encryption: KeyEncryption): Promise<void> {
  const stored = await database.system(async (queries) => {
    await insertInstanceValue(queries, checkKey, encryption.encrypt('gatehouse', checkPurpose));
    return findInstanceValue(queries, checkKey);
  });
  try {
    encryption.decrypt(stored!, checkPurpose);
  } catch (error) {
    throw new Error(
      'master_key: expected the key this database was written with, found another. Restore master.key in the data folder, or set GATEHOUSE_MASTER_KEY',
      { cause: error },
    );
  }
}

/** What must be told once, on standard error, when the public URL is known. */
export type Notices = (publicUrl: string) => readonly string[];

/** Creates what a first start needs. Does nothing on later starts. */
export async function bootstrap(services: Services): Promise<Notices> {
  const { config, database, encryption, clock, publicUrl } = services;
  const operatorToken = await prepareOperatorToken(services);
  let root = await database.system((queries) => findTenantBySlug(queries, rootTenantSlug));
  if (root === undefined) {
    const settings = config.dev ? { login_methods: ['phone', 'passkey', 'email_pin'] } : {};
    await createTenant(database, encryption, clock, publicUrl, { slug: rootTenantSlug, name: 'Gatehouse', settings, actor: 'system' });
    root = await database.system((queries) => findTenantBySlug(queries, rootTenantSlug));
  }
  if (root !== undefined) await services.keyRings.of(root.tenant_id); // a key that cannot be opened stops the start here
  return (url) => (operatorToken === undefined ? [] : [`Operator token, shown once, bearer of ${url}/v1/system: ${operatorToken}`]);
}

/** Stores the hash of the configured operator token, or makes one on the first start and gives it. */
async function prepareOperatorToken({ config, database }: Services): Promise<string | undefined> {
  return database.system(async (queries) => {
    if (config.operatorToken !== undefined) {
      await replaceInstanceValue(queries, operatorTokenKey, hashSecret(config.operatorToken));
      return undefined;
    }
    const token = randomSecret();
    const made = await insertInstanceValue(queries, operatorTokenKey, hashSecret(token));
    if (made) return token;
    // A first start that ended before it could show its token: nobody knows it, so another takes its place.
    const lost = database.dialect === 'sqlite' && (await findInstanceValue(queries, operatorTokenShownKey)) === undefined;
    if (!lost) return undefined;
    await replaceInstanceValue(queries, operatorTokenKey, hashSecret(token));
    return token;
  });
}

/** Call when the notices were shown: from then on the operator token stays. */
export async function rememberNoticesShown(database: Database): Promise<void> {
  await database.system((queries) => insertInstanceValue(queries, operatorTokenShownKey, '1'));
}
