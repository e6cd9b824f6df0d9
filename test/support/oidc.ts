// Speaking OpenID Connect to a test server: codes made as a finished sign-in makes them, and token requests as a client sends them.
import { createHash } from 'node:crypto';
import { hashSecret } from '../../src/crypto/secret-hash.ts';
import type { GrantId } from '../../src/domain/ids.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { nowSeconds } from '../../src/platform/clock.ts';
import { randomSecret, uuidV7 } from '../../src/platform/random.ts';
import { insertAuthorizationCode, type NewAuthorizationCode } from '../../src/storage/oidc/authorization-codes.ts';
import type { TestClient, TestUser } from './fixtures.ts';
import type { TestServer } from './server.ts';

export const verifier = 'verifier-of-the-tests-0123456789-abcdefghijklm';
export const challenge = createHash('sha256').update(verifier).digest('base64url');
export const redirectUri = 'https://rp.example/callback';

export interface CodeOptions {
  readonly scope?: string;
  readonly resource?: string;
  readonly maxAgeSeconds?: number;
  readonly codeChallenge?: string | undefined;
  readonly dpopJkt?: string;
}

/** A code as the finish of a sign-in stores it, for `user` at `client`. */
export async function issueCode(
  server: TestServer,
  tenant: Tenant,
  client: TestClient,
  user: TestUser,
  options: CodeOptions = {},
): Promise<string> {
  const { services } = server.gatehouse;
  const code = randomSecret();
  const row: NewAuthorizationCode = {
    codeHash: hashSecret(code),
    redirectUri,
    codeChallenge: 'codeChallenge' in options ? options.codeChallenge : challenge,
    dpopJkt: options.dpopJkt,
    grant: {
      id: uuidV7(services.clock.nowMs()) as GrantId, // made here
      clientId: client.clientId,
      userId: user.id,
      scope: options.scope ?? 'openid profile email offline_access',
      resource: options.resource,
      authTimeSeconds: nowSeconds(services.clock),
      acr: undefined,
      amr: ['otp'],
      nonce: 'nonce-1',
      maxAgeSeconds: options.maxAgeSeconds,
    },
    lifetimeSeconds: tenant.settings.authorization_code_lifetime_seconds,
  };
  await services.database.write(tenant.id, (queries) => insertAuthorizationCode(queries, tenant.id, row));
  return code;
}

export type Form = Readonly<Record<string, string | undefined>>;

export function formBody(form: Form): URLSearchParams {
  const body = new URLSearchParams();
  for (const [name, value] of Object.entries(form)) if (value !== undefined) body.append(name, value);
  return body;
}

export const basic = (client: TestClient): string =>
  `Basic ${Buffer.from(`${encodeURIComponent(client.clientId)}:${encodeURIComponent(client.secret)}`).toString('base64')}`;

/** POST {base_url}/v1/idp/oidc/<endpoint> as the client, which authenticates by its registered method. */
export function postAs(
  tenant: Tenant,
  client: TestClient,
  endpoint: string,
  form: Form | URLSearchParams,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const body = form instanceof URLSearchParams ? form : formBody(form);
  const auth: Record<string, string> = {};
  if (client.tokenEndpointAuthMethod === 'client_secret_basic') auth['authorization'] = basic(client);
  else body.append('client_id', client.clientId);
  if (client.tokenEndpointAuthMethod === 'client_secret_post') body.append('client_secret', client.secret);
  return fetch(`${tenant.baseUrl}/v1/idp/oidc/${endpoint}`, { method: 'POST', body, headers: { ...auth, ...headers } });
}

export const exchange = (tenant: Tenant, client: TestClient, code: string, changes: Form = {}): Promise<Response> =>
  postAs(tenant, client, 'token', {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
    ...changes,
  });

export const refresh = (tenant: Tenant, client: TestClient, token: string | undefined, changes: Form = {}): Promise<Response> =>
  postAs(tenant, client, 'token', { grant_type: 'refresh_token', refresh_token: token, ...changes });

export interface Tokens {
  readonly access_token: string;
  readonly token_type: string;
  readonly expires_in: number;
  readonly refresh_token?: string;
  readonly id_token?: string;
  readonly scope: string;
}

/** The tokens of a successful answer; fails the test for any other. */
export async function tokensOf(response: Response): Promise<Tokens> {
  const text = await response.text();
  if (response.status !== 200) throw new Error(`expected tokens, found ${response.status} ${text}`);
  return JSON.parse(text);
}

/** Header and claims of a JWT, unverified. */
export function decodeJwt(token: string): { readonly header: Record<string, unknown>; readonly claims: Record<string, unknown> } {
  const [header, claims] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString());
  return { header: JSON.parse(header!), claims: JSON.parse(claims!) };
}
