// A tenant with another provider to sign in with, and browsers that go there and come back.
import assert from 'node:assert/strict';
import type pg from 'pg';
import type { Flags } from '../../src/config.ts';
import type { IdentityProviderId } from '../../src/domain/ids.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { identityHash } from '../../src/storage/sign-in/external-identities.ts';
import { openBrowser, type TestBrowser } from './browser.ts';
import { reachesLoopback } from './ciba.ts';
import type { databases } from './databases.ts';
import { createClient, type TestClient } from './fixtures.ts';
import { createTestTenant, type Json, type Managed } from './management.ts';
import { challenge, decodeJwt, exchange, redirectUri, tokensOf } from './oidc.ts';
import { roomyRate } from './roomy-rate.ts';
import { startTestServer } from './server.ts';
import { type Claims, startUpstream, type TestUpstream } from './upstream.ts';

export type ExternalWorld = Awaited<ReturnType<typeof openExternalWorld>>;

export async function openExternalWorld(database: (typeof databases)[number], flags: Flags = {}) {
  const server = await startTestServer(database, { flags: { trusted_proxies: '127.0.0.1', ...reachesLoopback, ...flags } });
  const managed: Managed = await createTestTenant(server, {
    slug: 'fed',
    settings: {
      login_methods: ['phone', 'passkey', 'email_pin'],
      rate_limits: { login_starts_per_ip: roomyRate, pin_attempts_per_ip: roomyRate },
      pin: { resend_cooldown_seconds: 1 },
    },
  });
  const upstream = await startUpstream(server.clock.nowMs);
  const tenant = (await server.gatehouse.services.tenants.bySlug('fed')) as Tenant;
  const client: TestClient = await createClient(server.gatehouse.services, tenant);
  const register = (fields: Json = {}, at: TestUpstream = upstream): Promise<Json & { readonly id: string }> =>
    managed.make('POST', '/identity-providers', {
      alias: 'acme',
      kind: 'oidc',
      name: 'Acme',
      issuer: at.issuer,
      client_id: 'gatehouse',
      client_secret: 'secret-of-gatehouse-at-acme-0123456789',
      trust_email: true,
      ...fields,
    });
  /** A browser at the sign-in page of a new request. */
  const begin = async (changes: Readonly<Record<string, string>> = {}) => {
    const browser = openBrowser();
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: client.clientId,
      redirect_uri: redirectUri,
      scope: 'openid profile email',
      state: 'state-1',
      nonce: 'nonce-1',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...changes,
    });
    const response = await browser.send(`${tenant.baseUrl}/v1/idp/oidc/authorize?${query}`);
    assert.equal(response.status, 303, await response.text());
    return { browser, login: response.headers.get('location') ?? '' };
  };
  const post = (browser: TestBrowser, url: string, fields: Readonly<Record<string, string>> = {}): Promise<Response> =>
    browser.send(url, { method: 'POST', body: new URLSearchParams(fields) });
  const jsonOf = async (response: Response): Promise<Json> => {
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return JSON.parse(text);
  };
  /** Leaves for a provider; gives the address there. */
  const leave = async ({ browser, login }: Visit, alias = 'acme'): Promise<string> =>
    String((await jsonOf(await post(browser, `${login}/external`, { alias })))['redirect_to']);
  /** There and back; gives the answer of the callback. */
  const visit = async (at: Visit, claims: Claims, provider: TestUpstream = upstream, alias = 'acme'): Promise<Response> =>
    at.browser.send(provider.signIn(await leave(at, alias), claims).href);
  const finish = async ({ browser, login }: Visit): Promise<Claims> => {
    const to = new URL(String((await jsonOf(await post(browser, `${login}/finish`)))['redirect_to']));
    const code = to.searchParams.get('code');
    assert.ok(code, `expected a code, found ${to.search}`);
    return decodeJwt((await tokensOf(await exchange(tenant, client, code))).id_token ?? '').claims;
  };
  /** Every link there is, by subject. */
  const links = (): Promise<readonly { readonly subject: string; readonly user_id: string }[]> =>
    server.gatehouse.services.database.read(tenant.id, (queries) =>
      queries
        .selectFrom('external_identities')
        .select(['subject', 'user_id'])
        .where('tenant_id', '=', tenant.id)
        .orderBy('subject')
        .execute(),
    );
  return { server, managed, upstream, tenant, client, register, begin, post, jsonOf, leave, visit, finish, links };
}

export interface Visit {
  readonly browser: TestBrowser;
  readonly login: string;
}

/** Links as the server does, in a transaction of a connection beside it. */
export const insertLink = (
  session: pg.Client,
  { id: tenant }: Tenant,
  key: { readonly providerId: IdentityProviderId; readonly issuer: string; readonly subject: string },
  userId: string,
): Promise<unknown> =>
  session.query(
    `INSERT INTO external_identities (tenant_id, id, provider_id, issuer, subject, identity_hash, user_id, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, 0)`,
    [tenant, `link-of-${userId}`, key.providerId, key.issuer, key.subject, identityHash(key), userId],
  );
