// What happens at a start before anything is served: the master key is checked against the database, and a first start
// creates the root tenant and the operator token.
import { createSetupToken, setupLink } from './administration/admin-setup.ts';
import { createClient } from './administration/clients.ts';
import type { KeyEncryption } from './crypto/key-encryption.ts';
import { hashSecret } from './crypto/secret-hash.ts';
import type { TenantId } from './domain/ids.ts';
import { operatorTokenKey, publicUrlKey, rootTenantSlug } from './domain/tenant.ts';
import type { Services } from './http/services.ts';
import { randomSecret } from './platform/random.ts';
import type { Database } from './storage/database.ts';
import { findInstanceValue, insertInstanceValue, replaceInstanceValue } from './storage/instance.ts';
import { findTenantBySlug, listTenants } from './storage/tenants.ts';
import { sealStoredSettings } from './tokens/secret-settings.ts';
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
  const found = await database.systemRead((queries) => findTenantBySlug(queries, rootTenantSlug));
  const shown = await database.systemRead((queries) => findInstanceValue(queries, operatorTokenShownKey));
  if (found === undefined) {
    const settings = config.dev ? { login_methods: ['phone', 'passkey', 'email_pin'] } : {};
    await createTenant(database, encryption, clock, publicUrl, { slug: rootTenantSlug, name: 'Gatehouse', settings, actor: 'system' });
  }
  await openEveryKey(services);
  const root = found ?? (await database.systemRead((queries) => findTenantBySlug(queries, rootTenantSlug)));
  // A first start that ended before it could show its notices shows them at the next one.
  const first = root !== undefined && (found === undefined || (database.dialect === 'sqlite' && shown === undefined));
  const welcome = first ? await prepareWelcome(services, root.tenant_id) : () => [];
  return (url) => [
    ...(operatorToken === undefined ? [] : [`Operator token, shown once, bearer of ${url}/v1/system: ${operatorToken}`]),
    ...welcome(url),
  ];
}

/** The first administrator's link and a client to try things with, told once. */
async function prepareWelcome(services: Services, root: TenantId): Promise<Notices> {
  const by = { actor: 'system' };
  const token = await createSetupToken(services, root, null, by);
  const sample = await createClient(services, root, sampleClient, by);
  return (url) => [
    `Administrator, set up once within 7 days: ${setupLink(url, token)}`,
    ...(sample.ok
      ? [`Sample client: client_id ${sample.client.clientId}, client_secret ${sample.secret}, redirect URI ${sampleRedirectUri}`]
      : []),
    `Next: open the administrator link, then ${url}/.well-known/openid-configuration shows every endpoint.`,
  ];
}

const sampleRedirectUri = 'http://127.0.0.1:3000/callback';
const sampleClient = {
  name: 'Sample client',
  redirect_uris: [sampleRedirectUri],
  post_logout_redirect_uris: ['http://127.0.0.1:3000/'],
  grant_types: ['authorization_code', 'refresh_token'],
  scopes: ['openid', 'profile', 'email', 'offline_access'],
} as const;

const tenantsPerPage = 200;

/** Secrets an earlier release stored clear are encrypted. A key that cannot be opened stops the start here, before anything is served with half a key ring. */
async function openEveryKey(services: Services): Promise<void> {
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

/** Tells commands beside this server where it is. */
export async function rememberPublicUrl(database: Database, publicUrl: string): Promise<void> {
  await database.system(async (queries) => {
    if ((await findInstanceValue(queries, publicUrlKey)) !== publicUrl) await replaceInstanceValue(queries, publicUrlKey, publicUrl);
  });
}
