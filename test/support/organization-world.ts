// Two customers of a tenant with providers of their own, whose domains are proven, and browsers that sign in for them.
import assert from 'node:assert/strict';
import type { TenantId } from '../../src/domain/ids.ts';
import { openBrowser, type TestBrowser } from './browser.ts';
import type { databases } from './databases.ts';
import { startDns } from './dns-server.ts';
import { openExternalWorld, type Visit } from './external.ts';
import { createClient, createUser, type TestUser } from './fixtures.ts';
import { pinOf } from './mailbox.ts';
import { clientCredentialsToken, type Json, managedWith } from './management.ts';
import { challenge, decodeJwt, exchange, redirectUri, type Tokens, tokensOf } from './oidc.ts';
import type { TestServer } from './server.ts';
import { type Claims, startUpstream, type TestUpstream } from './upstream.ts';

export type OrganizationWorld = Awaited<ReturnType<typeof openOrganizationWorld>>;

export async function openOrganizationWorld(database: (typeof databases)[number]) {
  const dns = await startDns();
  const world = await openExternalWorld(database, { dns_servers: dns.address });
  const { server, managed, tenant, begin, post, jsonOf } = world;
  const { services } = server.gatehouse;
  const theirs = await startUpstream(server.clock.nowMs);
  const client = await createClient(services, tenant, {
    scopes: ['openid', 'profile', 'email', 'offline_access', 'organization', 'orders:approve'],
    resources: ['https://orders.example'],
  });
  /** With a token of now: the clock goes on by minutes here. */
  const manage = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const token = await clientCredentialsToken(managed.baseUrl, managed.adminClientId, managed.adminClientSecret);
    return managedWith(token, managed).make(method, path, body);
  };
  await manage('PATCH', '/settings', { sso_session: 'browser' });
  await manage('POST', '/organization-roles', { name: 'approver', scopes: ['orders:approve'] });
  await world.register({ alias: 'shared', name: 'Shared', create_users: true });
  await world.register({ alias: 'acme', name: 'Acme', create_users: true });
  await world.register({ alias: 'globex', name: 'Globex', create_users: true }, theirs);
  const make = (fields: Json): Promise<Json & { readonly id: string }> =>
    manage('POST', '/organizations', fields) as Promise<Json & { readonly id: string }>;
  const acme = await make({ name: 'acme', domains: ['acme.example'], identity_providers: ['acme'] });
  const globex = await make({ name: 'globex', domains: ['globex.example'], identity_providers: ['globex'] });
  const prove = async ({ id }: { readonly id: string }): Promise<void> => {
    const { domain_proofs: proofs } = await manage('GET', `/organizations/${id}`);
    for (const { name, value } of proofs as readonly { name: string; value: string }[]) dns.records.set(name, [value]);
    await manage('POST', `/organizations/${id}/check-domains`);
  };
  for (const one of [acme, globex]) await prove(one);
  const rules = (organization: { readonly id: string }, fields: Json): Promise<Json> =>
    manage('PATCH', `/organizations/${organization.id}`, fields);
  /** What both are again before each test. */
  const reset = async (): Promise<void> => {
    for (const one of [acme, globex])
      await rules(one, { sign_in: 'any', acr_min: null, join: ['invitation'], default_roles: [], branding: {}, enabled: true });
  };
  let people = 0;
  const person = (domain = 'elsewhere.example'): Promise<TestUser> => {
    people += 1;
    return createUser(services, tenant, `person${people}@${domain}`);
  };
  const join = (organization: { readonly id: string }, { id }: { readonly id: string }, roles: readonly string[] = []): Promise<Json> =>
    manage('PUT', `/organizations/${organization.id}/members/${id}`, { roles });
  const organizationsOf = async ({ id }: { readonly id: string }): Promise<readonly unknown[]> => {
    const { items } = await manage('GET', `/users/${id}/organizations`);
    return (items as readonly Json[]).map(({ name, roles }) => [name, roles]);
  };
  const scope = 'openid profile email offline_access orders:approve';
  const ask = (browser: TestBrowser, changes: Readonly<Record<string, string>> = {}): Promise<Response> => {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: client.clientId,
      redirect_uri: redirectUri,
      scope,
      state: 'state-1',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...changes,
    });
    return browser.send(`${tenant.baseUrl}/v1/idp/oidc/authorize?${query}`);
  };
  /** At the sign-in page for an organisation, or for none. */
  const at = async (changes: Readonly<Record<string, string>> = {}, browser = openBrowser()): Promise<Visit> => {
    const response = await ask(browser, changes);
    assert.equal(response.status, 303, await response.text());
    return { browser, login: response.headers.get('location') ?? '' };
  };
  const now = async ({ browser, login }: Visit): Promise<Json> => jsonOf(await browser.send(login));
  const step = async ({ browser, login }: Visit, name: string, fields: Readonly<Record<string, string>> = {}): Promise<Json> =>
    jsonOf(await post(browser, `${login}/${name}`, fields));
  /** Proves the account by the PIN that is mailed; the mailbox may be written to again afterwards. */
  const byPin = async (visit: Visit, { email }: TestUser): Promise<void> => {
    if ((await now(visit))['state'] !== 'choose') await step(visit, 'identify', { identifier: email });
    await step(visit, 'method', { method: 'email_pin' });
    await step(visit, 'pin', { pin: await pinOf(server, email) });
    await server.clock.advance(61_000);
  };
  /** Goes to a provider and comes back as these claims say; gives the answer. */
  const there = async (
    visit: Visit,
    alias: string,
    claims: Claims,
    upstream: TestUpstream = alias === 'globex' ? theirs : world.upstream,
  ) => {
    const { redirect_to: to } = await step(visit, 'external', { alias });
    return visit.browser.send(upstream.signIn(String(to), claims).href);
  };
  /** Where the browser is sent in the end. */
  const finish = async (visit: Visit): Promise<URL> => new URL(String((await step(visit, 'finish'))['redirect_to']));
  const tokens = async (redirect: URL): Promise<Tokens> => {
    const code = redirect.searchParams.get('code');
    assert.ok(code, `expected a code, found ${redirect.search}`);
    return tokensOf(await exchange(tenant, client, code));
  };
  const claims = async (redirect: URL): Promise<Claims> => decodeJwt((await tokens(redirect)).id_token ?? '').claims;
  const close = async (): Promise<void> => {
    await world.upstream.close();
    await theirs.close();
    await dns.close();
    await server.close();
  };
  const own = { ...world, begin, client, dns, theirs };
  return {
    ...own,
    acme,
    globex,
    manage,
    rules,
    reset,
    prove,
    person,
    join,
    organizationsOf,
    ask,
    at,
    now,
    step,
    byPin,
    there,
    finish,
    tokens,
    claims,
    close,
  };
}

export const verified = (email: string, sub = email): Claims => ({ sub, email, email_verified: true });

const perStatement = 8000;

/** An organisation names so many providers that there are not, as many had to be made one by one otherwise. */
export async function nameProviders(
  { gatehouse: { services } }: TestServer,
  { id }: { readonly id: string },
  { organization, count }: { readonly organization: string; readonly count: number },
): Promise<void> {
  const tenant = id as TenantId;
  await services.database.write(tenant, async (queries) => {
    for (let from = 0; from < count; from += perStatement) {
      const aliases = Array.from({ length: Math.min(perStatement, count - from) }, (_, at) => `x-${from + at}`);
      await queries
        .insertInto('organization_providers')
        .values(aliases.map((alias) => ({ tenant_id: tenant, alias, organization_id: organization, tested_at: null })))
        .execute();
    }
  });
}
