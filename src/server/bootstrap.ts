// What happens at a start before anything is served: the master key is checked against the database, and a first start
// creates the root tenant and the operator token.
import { createSetupToken } from '../administration/admin-setup.ts';
import type { Administration } from '../administration/administration.ts';
import { isDevelopment } from '../config.ts';
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import { hashSecret } from '../crypto/secret-hash.ts';
import { operatorTokenKey, publicUrlKey, rootTenantSlug } from '../domain/tenant/tenant.ts';
import type { Parts } from '../http/services.ts';
import { randomSecret } from '../platform/random.ts';
import type { Database } from '../storage/engine/database.ts';
import { findInstanceValue, insertInstanceValue, replaceInstanceValue } from '../storage/engine/instance.ts';
import { listKeylessAdministrators } from '../storage/people/own-keys.ts';
import { findTenantBySlug, listTenants } from '../storage/registry/tenants.ts';
import { sealStoredSettings } from '../tokens/secret-settings.ts';
import { createTenant } from '../tokens/tenant-creation.ts';
import { createSampleTenant, firstLines, sampleSlug } from './first-start.ts';

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

/** What must be told on standard error when the public URL is known. */
export type Notices = (publicUrl: string) => readonly string[];

/** Creates what a first start needs; `withSample` adds a tenant to try things in while developing. Later starts create nothing. */
export async function bootstrap(services: Administration & Parts<'config' | 'keyRings'>, withSample: boolean): Promise<Notices> {
  const { config, database } = services;
  const operatorToken = await prepareOperatorToken(services);
  const found = await database.systemRead((queries) => findTenantBySlug(queries, rootTenantSlug));
  const shown = await database.systemRead((queries) => findInstanceValue(queries, operatorTokenShownKey));
  // Of nodes that start at once one makes the root tenant, and it alone the first administrator; the others wait for its commit.
  const made = found === undefined && (await createTenant(services, { slug: rootTenantSlug, name: 'Gatehouse', actor: 'system' })).ok;
  const root = found ?? (await database.systemRead((queries) => findTenantBySlug(queries, rootTenantSlug)));
  // A first start that ended before it could show its notices shows them at the next one.
  const isFirst = root !== undefined && (made || (database.dialect === 'sqlite' && shown === undefined));
  const setupToken = isFirst ? await createSetupToken(services, root.tenant_id, { user: null }, { actor: 'system' }) : undefined;
  const isTrying = isDevelopment(config);
  if (isFirst && isTrying && withSample) await createSampleTenant(services);
  await openEveryKey(services);
  const sample = isTrying ? await database.systemRead((queries) => findTenantBySlug(queries, sampleSlug)) : undefined;
  return (url) => firstLines(url, { operatorToken, setupToken, isTrying, hasSample: sample !== undefined });
}

/** What is told at each start while it is so: who reads the mail of such an administrator of the deployment comes in as them. */
export async function tellKeylessOperators({ database }: Parts<'database'>): Promise<readonly string[]> {
  const root = await database.systemRead((queries) => findTenantBySlug(queries, rootTenantSlug));
  if (root === undefined) return [];
  const { length } = await database.read(root.tenant_id, (queries) => listKeylessAdministrators(queries, root.tenant_id));
  if (length === 0) return [];
  const who = length === 1 ? '1 administrator of the root tenant has' : `${length} administrators of the root tenant have`;
  return [`${who} neither passkey nor phone: whoever reads their mail comes in as them. Let them add one at /account`];
}

const tenantsPerPage = 200;

/** Secrets an earlier release stored clear are encrypted. A key that cannot be opened stops the start here, before anything is served with half a key ring. */
async function openEveryKey(services: Parts<'cache' | 'database' | 'encryption' | 'keyRings'>): Promise<void> {
  const { database, keyRings } = services;
  for (let afterSlug = ''; ; ) {
    const page = await database.systemRead((queries) => listTenants(queries, { afterSlug, limit: tenantsPerPage }));
    await Promise.all(page.map((tenant) => keyRings.of(tenant.tenant_id)));
    await sealStoredSettings(services, page);
    const last = page.at(-1);
    if (last === undefined || page.length < tenantsPerPage) return;
    afterSlug = last.slug;
  }
}

/** Stores the hash of the configured operator token, or makes one on the first start and gives it. */
async function prepareOperatorToken({ config, database }: Parts<'config' | 'database'>): Promise<string | undefined> {
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

/** Where the server before this one was. */
export const findPublicUrl = (database: Database): Promise<string | undefined> =>
  database.systemRead((queries) => findInstanceValue(queries, publicUrlKey));

/** Tells commands beside this server where it is. */
export async function rememberPublicUrl(database: Database, publicUrl: string): Promise<void> {
  await database.system(async (queries) => {
    if ((await findInstanceValue(queries, publicUrlKey)) !== publicUrl) await replaceInstanceValue(queries, publicUrlKey, publicUrl);
  });
}
