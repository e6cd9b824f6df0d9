// Drives the SAML surface of a test server as a browser and a service provider would: registers providers, sends
// requests over both bindings, and reads what comes back.
import assert from 'node:assert/strict';
import type { KeyObject } from 'node:crypto';
import { createThing } from '../../src/administration/kinds.ts';
import { registered } from '../../src/administration/registered.ts';
import type { UserId } from '../../src/domain/ids.ts';
import type { ServiceProvider } from '../../src/domain/saml/service-provider.ts';
import type { AuthenticationMethod } from '../../src/domain/sign-in/login-methods.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { uuidV7 } from '../../src/platform/random.ts';
import type { UserTable } from '../../src/storage/people/user-rows.ts';
import { readySamlSession } from '../../src/storage/saml/saml-sessions.ts';
import { type AuthnRequestParts, buildAuthnRequest, buildRedirectQuery, signPostRequest } from './saml-requests.ts';
import type { TestServer } from './server.ts';

export const acsUrl = 'https://sp.example/acs';

export interface SamlIdp {
  readonly tenant: Tenant;
  readonly base: string;
  readonly ssoUrl: string;
  readonly register: (fields: Readonly<Record<string, unknown>>) => Promise<ServiceProvider>;
  readonly change: (provider: ServiceProvider) => Promise<void>;
  /** A request that is right unless `parts` make it wrong. */
  readonly request: (parts?: AuthnRequestParts) => string;
  readonly get: (query: string, headers?: Readonly<Record<string, string>>) => Promise<Response>;
  readonly post: (form: string | Readonly<Record<string, string>>, headers?: Readonly<Record<string, string>>) => Promise<Response>;
  readonly redirect: (xml: string, options?: { readonly relayState?: string; readonly privateKey?: KeyObject }) => Promise<Response>;
  readonly postXml: (xml: string, relayState?: string) => Promise<Response>;
  readonly postSigned: (parts: AuthnRequestParts, privateKey: KeyObject) => Promise<Response>;
}

let requests = 0;

/** The provider of the root tenant, or of the one with the slug. */
export async function openSamlIdp(server: TestServer, slug = 'main'): Promise<SamlIdp> {
  const { cache, tenants, clock } = server.gatehouse.services;
  const tenant = (await tenants.bySlug(slug)) ?? assert.fail(`no tenant ${slug}`);
  const ssoUrl = `${tenant.baseUrl}/v1/idp/saml/sso`;
  const request = (parts: AuthnRequestParts = {}): string => {
    requests += 1;
    return buildAuthnRequest({
      id: `_request-${requests}`,
      destination: ssoUrl,
      issueInstant: new Date(clock.nowMs()).toISOString(),
      ...parts,
    });
  };
  const send = (path: string, init: RequestInit): Promise<Response> => {
    requests += 1; // an address of its own for every request, so that the limit per address stays out of the way
    const headers = {
      accept: 'application/json',
      'x-forwarded-for': `10.${requests >> 16}.${(requests >> 8) & 255}.${requests & 255}`,
      ...init.headers,
    };
    return fetch(`${ssoUrl}${path}`, { redirect: 'manual', ...init, headers });
  };
  const post: SamlIdp['post'] = (form, headers) =>
    send('', {
      method: 'POST',
      body: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });
  const get: SamlIdp['get'] = (query, headers) => send(`?${query}`, { headers: { ...headers } });
  const postXml: SamlIdp['postXml'] = (xml, relayState) =>
    post({ SAMLRequest: Buffer.from(xml).toString('base64'), ...(relayState === undefined ? {} : { RelayState: relayState }) });
  return {
    tenant,
    base: tenant.baseUrl,
    ssoUrl,
    register: async (fields) => {
      const done = await createThing(
        registered.service_provider,
        server.gatehouse.services,
        { tenant, by: { actor: 'operator' } },
        {
          acs: [{ url: acsUrl }],
          ...fields,
        },
      );
      assert.ok(done.ok, JSON.stringify(done));
      return done.thing as ServiceProvider;
    },
    change: async (provider) => {
      const { rows } = registered.service_provider;
      assert.ok(await cache.write(tenant.id, (queries) => rows.update(queries, tenant.id, provider.id, provider)));
    },
    request,
    get,
    post,
    redirect: (xml, options) => get(buildRedirectQuery(xml, options)),
    postXml,
    postSigned: (parts, privateKey) => postXml(signPostRequest(request(parts), privateKey)),
  };
}

/** Flags of a server whose tests count no address twice. */
export const samlFlags = { trusted_proxies: '127.0.0.1/32' } as const;

/** Asserts that a sign-in was started; gives the JSON. */
export async function assertStarted(
  response: Response,
): Promise<{ readonly session_id: string; readonly login_url: string; readonly expires_in: number }> {
  const raw = await response.text();
  assert.equal(response.status, 200, raw);
  const body = JSON.parse(raw);
  assert.deepEqual(Object.keys(body), ['session_id', 'login_url', 'expires_in']);
  assert.match(body.session_id, /^[A-Za-z0-9_-]{43}$/);
  assert.equal(body.expires_in, 600);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  assert.match(response.headers.get('set-cookie') ?? '', /gh-tx-[^=]+=/);
  return body;
}

let users = 0;

/** Inserts a user; `columns` overrides what it is made of, `emails` are in order with the primary one marked. */
export async function insertSamlUser(
  server: TestServer,
  tenant: Tenant,
  columns: Readonly<Record<string, string>> = {},
  emails: readonly { readonly value: string; readonly primary?: boolean }[] = [],
): Promise<UserId> {
  users += 1;
  const { database, clock } = server.gatehouse.services;
  const id = uuidV7(clock.nowMs()) as UserId;
  const nothing = Object.fromEntries(userTextColumns.map((name) => [name, null]));
  const names = {
    user_name: `user-${users}`,
    user_name_key: `user-${users}-key`,
    state: 'active',
    origin: 'console',
    role: 'user',
    ...columns,
  };
  const row = { ...nothing, tenant_id: tenant.id, id, version: 1, created_at: clock.nowMs(), updated_at: clock.nowMs(), ...names };
  await database.write(tenant.id, async (queries) => {
    await queries
      .insertInto('users')
      .values(row as unknown as UserTable)
      .execute(); // nothing and names fill every column
    for (const [position, email] of emails.entries()) {
      const value_key = `${email.value}-${users}`;
      const entry = {
        tenant_id: tenant.id,
        user_id: id,
        position,
        value: email.value,
        value_key,
        type: null,
        display: null,
        is_primary: email.primary ? 1 : 0,
      };
      await queries.insertInto('user_emails').values(entry).execute();
    }
  });
  return id;
}

const userTextColumns = [
  'external_id', 'display_name', 'given_name', 'family_name', 'middle_name', 'honorific_prefix', 'honorific_suffix', 'name_formatted',
  'nick_name', 'profile_url', 'title', 'user_type', 'preferred_language', 'locale', 'timezone',
]; // biome-ignore format: one list

/** A started sign-in as the browser holds it. */
export interface StartedSignIn {
  readonly sessionId: string;
  readonly cookie: string;
}

/** Starts a sign-in and gives what the browser then has. */
export async function startSignIn(response: Response): Promise<StartedSignIn> {
  const cookie = (response.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
  const { session_id: sessionId } = await assertStarted(response);
  return { sessionId, cookie };
}

/** Makes a session ready as the shared sign-in does when the person has finished it. */
export async function finishSignIn(
  server: TestServer,
  tenant: Tenant,
  sessionId: string,
  userId: UserId | undefined,
  method: AuthenticationMethod = 'email_pin',
): Promise<void> {
  const { database, clock } = server.gatehouse.services;
  const subject = userId === undefined ? undefined : { userId, authTimeSeconds: Math.floor(clock.nowMs() / 1000), method };
  assert.equal(await database.write(tenant.id, (queries) => readySamlSession(queries, tenant.id, sessionId, subject)), true);
}

export function postback(base: string, sessionId: string, cookie: string, accept = 'application/json'): Promise<Response> {
  return fetch(`${base}/v1/idp/saml/postback?session=${sessionId}`, { headers: { cookie, accept } });
}

/** Asserts a delivery in JSON; gives the Response's XML and the rest. */
export async function assertDelivered(
  response: Response,
): Promise<{ readonly xml: string; readonly acsUrl: string; readonly relayState: string | null }> {
  const raw = await response.text();
  assert.equal(response.status, 200, raw);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  const body = JSON.parse(raw);
  assert.deepEqual(Object.keys(body), ['acs_url', 'saml_response', 'relay_state']);
  return { xml: Buffer.from(body.saml_response, 'base64').toString(), acsUrl: body.acs_url, relayState: body.relay_state };
}
