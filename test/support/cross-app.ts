// A tenant that takes identity assertions of an employer's provider, an agent registered at both, and somebody who signed in by it once.
import { SignJWT } from 'jose';
import type { Client } from '../../src/domain/client/client.ts';
import type { ExternalIdentityId, IdentityProviderId } from '../../src/domain/ids.ts';
import { uuidV7 } from '../../src/platform/random.ts';
import { insertExternalIdentity } from '../../src/storage/sign-in/external-identities.ts';
import type { databases } from './databases.ts';
import { createClient, createUser, type TestClient, type TestUser } from './fixtures.ts';
import { createTestTenant, type Json } from './management.ts';
import { type Form, postAs } from './oidc.ts';
import { roomyRate } from './roomy-rate.ts';
import { startTestServer } from './server.ts';
import { startTokenIssuer } from './token-issuer.ts';
import { loopbackAllowed } from './webhooks.ts';

const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
export const chatApi = 'https://api.chat.example/mcp';
export const chatFiles = 'https://files.chat.example';

export type CrossApp = Awaited<ReturnType<typeof openCrossApp>>;
type Provider = Json & { readonly id: string };

export async function openCrossApp(database: (typeof databases)[number], flags: Readonly<Record<string, string>> = {}) {
  const employer = await startTokenIssuer();
  const server = await startTestServer(database, { flags: { ...loopbackAllowed, ...flags } });
  const { services } = server.gatehouse;
  const limits = { client_auth_failures_per_ip: roomyRate, token_requests_per_client: null };
  const managed = await createTestTenant(server, { settings: { extra_grants: [grantType], rate_limits: limits } });
  const tenant = (await services.tenants.bySlug(managed.slug))!;

  const register = (fields: Json): Promise<Provider> =>
    managed.make('POST', '/identity-providers', {
      ...{ kind: 'oidc', name: 'Employer', client_id: 'gatehouse', client_secret: 'secret-of-ours-at-the-employer-0123456789' },
      ...{ trust_email: true, cross_app: true },
      ...fields,
    });
  const createAgent = (changes: Partial<Client> = {}): Promise<TestClient> =>
    createClient(services, tenant, {
      ...{ grantTypes: [grantType], resources: [chatApi, chatFiles], tokenEndpointAuthMethod: 'client_secret_post' },
      scopes: ['chat:read', 'chat:write', 'email', 'offline_access', 'users:read'],
      ...changes,
    });
  const provider = await register({ alias: 'employer', issuer: employer.url });
  const agent = await createAgent();
  /** Somebody who signed in by the provider once. */
  const link = async (user: TestUser, subject = `at-employer-${user.id}`, at = provider, issuer = employer.url): Promise<TestUser> => {
    const id = uuidV7(services.clock.nowMs()) as ExternalIdentityId;
    const row = { id, providerId: at.id as IdentityProviderId, issuer, subject, userId: user.id, email: user.email };
    await services.database.write(tenant.id, (queries) => insertExternalIdentity(queries, tenant.id, row));
    return user;
  };
  const person = await link(await createUser(services, tenant));

  let made = 0;
  const seconds = (): number => Math.floor(server.clock.nowMs() / 1000);
  const claimsOf = (claims: Json): Json => {
    made += 1;
    return {
      ...{ iss: employer.url, sub: `at-employer-${person.id}`, aud: tenant.baseUrl, client_id: agent.clientId },
      ...{ jti: `assertion-${made}`, iat: seconds(), exp: seconds() + 300, resource: chatApi, scope: 'chat:read chat:write' },
      ...claims,
    };
  };
  const sign = (claims: Json = {}, header: Json = {}, key = employer.key()): Promise<string> =>
    new SignJWT(claimsOf(claims)).setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'oauth-id-jag+jwt', ...header }).sign(key.key);
  const post = (assertion: string, form: Form = {}, by = agent, at = tenant): Promise<Response> =>
    postAs(at, by, 'token', { grant_type: grantType, assertion, ...form });
  const sessionsOf = async ({ id }: TestUser): Promise<readonly Json[]> =>
    (await managed.make<{ readonly items: readonly Json[] }>('GET', `/users/${id}/sessions`)).items;
  const isActive = async (token: string): Promise<unknown> =>
    ((await (await postAs(tenant, agent, 'introspect', { token })).json()) as Json)['active'];
  const close = async (): Promise<void> => {
    await server.close();
    await employer.close();
  };
  return {
    ...{ server, services, managed, tenant, employer, provider, agent, person, register, createAgent, link },
    ...{ seconds, claimsOf, sign, post, sessionsOf, isActive, close },
  };
}
