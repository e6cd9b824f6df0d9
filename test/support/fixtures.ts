// Rows a test needs before it can speak to the server: clients and users, inserted through storage as a management call would.
import { hashSecret } from '../../src/crypto/secret-hash.ts';
import { type Client, plainClient } from '../../src/domain/client/client.ts';
import { foldKey } from '../../src/domain/fold.ts';
import type { UserId } from '../../src/domain/ids.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Services } from '../../src/http/services.ts';
import { randomSecret, uuidV7 } from '../../src/platform/random.ts';
import { databaseNowMs } from '../../src/storage/engine/instance.ts';
import { insertClient } from '../../src/storage/registry/clients/clients.ts';
import { createTenant, randomClientId } from '../../src/tokens/tenant-creation.ts';

export type TestClient = Client & { readonly secret: string };

/** A confidential code-flow client (client_secret_basic) unless told otherwise. */
export async function createClient(services: Services, tenant: Tenant, changes: Partial<Client> = {}): Promise<TestClient> {
  const secret = randomSecret();
  const isPublic = changes.type === 'public';
  const client: Client = {
    ...plainClient(randomClientId(), 'Test client', services.clock.nowMs()),
    tokenEndpointAuthMethod: isPublic ? 'none' : 'client_secret_basic',
    secretHash: isPublic ? undefined : hashSecret(secret),
    redirectUris: ['https://rp.example/callback'],
    postLogoutRedirectUris: ['https://rp.example/signed-out'],
    grantTypes: ['authorization_code', 'refresh_token'],
    scopes: ['openid', 'profile', 'email', 'phone', 'address', 'offline_access', 'groups'],
    ...changes,
  };
  await services.cache.write(tenant.id, (queries) => insertClient(queries, tenant.id, client));
  return { ...client, secret };
}

export interface TestUser {
  readonly id: UserId;
  readonly email: string;
}

let usersMade = 0;

/** An active user with a primary email. */
export async function createUser(services: Services, tenant: Tenant, givenEmail?: string): Promise<TestUser> {
  usersMade += 1;
  const email = givenEmail ?? `user${usersMade}@people.example`;
  const id = uuidV7(services.clock.nowMs()) as UserId; // made here
  const userName = email;
  await services.database.write(tenant.id, async (queries) => {
    await queries
      .insertInto('users')
      .values({
        ...absentNames,
        tenant_id: tenant.id,
        id,
        user_name: userName,
        user_name_key: foldKey(userName),
        state: 'active',
        given_name: 'Ada',
        family_name: 'Lovelace',
        origin: 'console',
        role: 'user',
        version: 1,
        created_at: databaseNowMs,
        updated_at: databaseNowMs,
      })
      .execute();
    await queries
      .insertInto('user_emails')
      .values({
        tenant_id: tenant.id,
        user_id: id,
        position: 0,
        value: email,
        value_key: foldKey(email),
        type: 'work',
        display: null,
        is_primary: 1,
      })
      .execute();
  });
  return { id, email };
}

const absentNames = {
  external_id: null,
  display_name: null,
  middle_name: null,
  honorific_prefix: null,
  honorific_suffix: null,
  name_formatted: null,
  nick_name: null,
  profile_url: null,
  title: null,
  user_type: null,
  preferred_language: null,
  locale: null,
  timezone: null,
};

/** The tenant at the root of the server. */
export async function rootTenant(services: Services): Promise<Tenant> {
  const tenant = await services.tenants.bySlug('main');
  if (tenant === undefined) throw new Error('the root tenant is missing');
  return tenant;
}

/** Another tenant on the same server, at /t/<slug>, with these settings different from the defaults. */
export async function createOtherTenant(
  services: Services,
  slug: string,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<Tenant> {
  const input = { slug, name: slug, actor: 'test', settings };
  const made = await createTenant(services, input);
  if (!made.ok) throw new Error(`tenant ${slug} exists`);
  services.cache.forget(made.tenant.id);
  return made.tenant;
}
