// Auth.js (@auth/core, unpatched) as the relying party of a website, from our discovery document alone. The test is the browser: it
// carries the website's cookies and signs the person in.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exportJWK, generateKeyPair } from 'jose';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, createUser, type TestClient, type TestUser } from '../support/fixtures.ts';
import { jsonOf } from '../support/management.ts';
import { basic, decodeJwt, formBody, type Tokens, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { visit } from '../support/relying-party.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { asAcme, asGlobex, openTwoOrganizations, ordersClient, saidOf } from '../support/two-organizations.ts';

// Its types would bring in a browser's, which contradict those of Node.
const name: string = '@auth/core';
const { Auth } = (await import(name)) as { readonly Auth: (request: Request, config: object) => Promise<Response> };
const site = 'https://shop.example';
const callback = `${site}/auth/callback/gatehouse`;
const methods = ['client_secret_basic', 'client_secret_post', 'none'] as const;
type Method = (typeof methods)[number] | 'private_key_jwt';

interface Website {
  readonly browser: TestBrowser;
  /** What it logged: the kind of each error, and what it wraps. */
  readonly errors: string[];
}

/** What Auth.js keeps in its cookie. */
interface Kept {
  readonly tokens: Tokens;
  readonly subject: string;
}

interface JwtCall {
  readonly token: Kept;
  readonly account?: (Tokens & { readonly providerAccountId: string }) | null;
  readonly trigger?: string;
}

interface SessionCall {
  readonly session: object;
  readonly token: Kept;
}

interface Session {
  readonly user?: { readonly name?: string; readonly email?: string };
  readonly subject?: string;
  readonly accessToken?: string;
  readonly idToken?: string;
}

for (const database of databases) {
  describe(`Auth.js on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let endSessionEndpoint: string;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createOtherTenant(server.gatehouse.services, 'shop', { login_methods: ['email_pin'] });
      const found = await jsonOf(await fetch(`${tenant.baseUrl}/.well-known/openid-configuration`), 200);
      endSessionEndpoint = String(found['end_session_endpoint']);
    });
    after(() => server.close());

    /** The session is kept in Auth.js' own cookie, refreshed and ended as its guides say. */
    const openWebsite = async (
      method: Method = 'client_secret_basic',
      { at = tenant, changes = {} as Partial<TestClient>, scope = 'openid profile email offline_access' } = {},
    ): Promise<Website> => {
      const keys = await generateKeyPair('ES256', { extractable: true });
      const client = await createClient(server.gatehouse.services, at, {
        type: method === 'none' ? 'public' : 'confidential',
        tokenEndpointAuthMethod: method,
        redirectUris: [callback],
        postLogoutRedirectUris: [`${site}/`],
        ...(method === 'private_key_jwt'
          ? { secretHash: undefined, jwks: { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'k1' }] } }
          : {}),
        ...changes,
      });
      const errors: string[] = [];
      const config = {
        basePath: '/auth',
        trustHost: true,
        secret: 'the-secret-of-the-website-0123456789',
        providers: [
          {
            id: 'gatehouse',
            name: 'Gatehouse',
            type: 'oidc',
            issuer: at.baseUrl,
            clientId: client.clientId,
            ...(method === 'client_secret_basic' || method === 'client_secret_post' ? { clientSecret: client.secret } : {}),
            ...(method === 'private_key_jwt' ? { token: { clientPrivateKey: { key: keys.privateKey, kid: 'k1' } } } : {}),
            client: { token_endpoint_auth_method: method },
            idToken: false, // names and addresses are claims of UserInfo
            authorization: { params: { scope } },
            checks: ['pkce', 'state', 'nonce'],
          },
        ],
        callbacks: {
          jwt: async ({ token, account, trigger }: JwtCall) => {
            if (account !== null && account !== undefined) return { ...token, tokens: account, subject: account.providerAccountId };
            return trigger === 'update' ? { ...token, tokens: await refreshed(at, client, token.tokens) } : token;
          },
          session: ({ session, token: { subject, tokens } }: SessionCall) => ({
            ...session,
            subject,
            accessToken: tokens.access_token,
            idToken: tokens.id_token,
          }),
          redirect: ({ url }: { readonly url: string }) => url,
        },
        logger: { error: (error: Error) => void errors.push(`${error.name} ${causeOf(error)}`), warn: () => undefined },
      };
      return { browser: openBrowser((url, init) => Auth(new Request(url, init), config)), errors };
    };
    const refreshed = async (at: Tenant, client: TestClient, { refresh_token: token }: Tokens): Promise<Tokens> => {
      const body = formBody({ grant_type: 'refresh_token', refresh_token: token });
      const { token_endpoint: endpoint } = await jsonOf(await fetch(`${at.baseUrl}/.well-known/openid-configuration`), 200);
      return tokensOf(await fetch(String(endpoint), { method: 'POST', headers: { authorization: basic(client) }, body }));
    };
    const post = async ({ browser }: Website, path: string, fields: Readonly<Record<string, string>> = {}): Promise<Response> => {
      const { csrfToken } = await jsonOf<{ csrfToken: string }>(await browser.send(`${site}/auth/csrf`), 200);
      return browser.send(`${site}/auth/${path}`, { method: 'POST', body: new URLSearchParams({ csrfToken, ...fields }) });
    };
    /** The website's script asks for its session anew. */
    const update = async ({ browser }: Website): Promise<Response> => {
      const { csrfToken } = await jsonOf<{ csrfToken: string }>(await browser.send(`${site}/auth/csrf`), 200);
      const headers = { 'content-type': 'application/json' };
      return browser.send(`${site}/auth/session`, { method: 'POST', headers, body: JSON.stringify({ csrfToken, data: {} }) });
    };
    const leave = async (website: Website): Promise<URL> =>
      locationOf(await post(website, 'signin/gatehouse', { callbackUrl: `${site}/` }));
    /** Goes to us and signs in; gives the address that leads back. */
    const visitUs = async (website: Website, user: TestUser): Promise<URL> => visit(server, await leave(website), user.email);
    const sessionOf = async ({ browser }: Website): Promise<Session | null> => jsonOf(await browser.send(`${site}/auth/session`), 200);
    const signedIn = async (method?: Method): Promise<{ readonly website: Website; readonly user: TestUser }> => {
      const [website, user] = [await openWebsite(method), await createUser(server.gatehouse.services, tenant)];
      const arrived = await website.browser.send((await visitUs(website, user)).href);
      assert.deepEqual([locationOf(arrived).href, website.errors], [`${site}/`, []]);
      return { website, user };
    };
    /** It takes no answer like this one: an error page, no session, and what it logged. */
    const assertNoSession = async (website: Website, address: URL, error: RegExp): Promise<void> => {
      const to = locationOf(await website.browser.send(address.href));
      assert.deepEqual([to.pathname, to.searchParams.get('error')], ['/auth/error', 'Configuration']);
      assert.match(website.errors.join('\n'), error);
      assert.equal(await sessionOf(website), null);
    };

    for (const method of methods)
      it(`${method}: signs a person in with PKCE, state and nonce; the session has their claims`, async () => {
        const { website, user } = await signedIn(method);
        const session = await sessionOf(website);
        assert.deepEqual([session?.user?.name, session?.user?.email, session?.subject], ['Ada Lovelace', user.email, user.id]);
      });
    it('asks for a code with S256, a state and a nonce, at the address of our discovery document', async () => {
      const address = await leave(await openWebsite());
      assert.ok(address.href.startsWith(`${tenant.baseUrl}/v1/idp/oidc/authorize?`), address.href);
      const asked = Object.fromEntries(address.searchParams);
      assert.deepEqual([asked['response_type'], asked['code_challenge_method'], asked['redirect_uri']], ['code', 'S256', callback]);
      for (const name of ['state', 'nonce', 'code_challenge']) assert.match(asked[name] ?? '', /.{40,}/, name);
    });
    it('an update of the session refreshes the tokens, each time with the newest', async () => {
      const { website, user } = await signedIn();
      const seen = [(await sessionOf(website))?.accessToken];
      for (const _ of ['once', 'again']) {
        const session = await jsonOf<Session>(await update(website), 200);
        assert.equal(decodeJwt(session.accessToken ?? '').claims['sub'], user.id);
        seen.push(session.accessToken);
      }
      assert.deepEqual([new Set(seen).size, website.errors], [3, []]);
    });
    it('switches between two organisations of one person: the one that signIn names, or the one they choose with us', async () => {
      const two = await openTwoOrganizations(server);
      const scope = ordersClient.scopes.join(' ');
      const website = await openWebsite('client_secret_basic', { at: two.tenant, changes: ordersClient, scope });
      const accessToken = async (): Promise<object> => decodeJwt((await sessionOf(website))?.accessToken ?? '').claims;
      const switchTo = async (named: Readonly<Record<string, string>>, choice?: 'acme' | 'globex'): Promise<readonly unknown[]> => {
        // The third argument of its signIn() is what it adds to our address.
        const away = locationOf(await post(website, `signin/gatehouse?${new URLSearchParams(named)}`, { callbackUrl: `${site}/` }));
        assert.equal(away.searchParams.get('organization'), named['organization'] ?? null);
        const arrived = await website.browser.send((await two.visit(away, choice)).href);
        assert.deepEqual([locationOf(arrived).href, website.errors], [`${site}/`, []]);
        assert.equal((await sessionOf(website))?.subject, two.user.id);
        return saidOf({ ...(await accessToken()) });
      };
      assert.deepEqual(await switchTo({ organization: 'acme' }), asAcme);
      assert.deepEqual(await switchTo({ organization: 'globex' }), asGlobex);
      assert.deepEqual(await switchTo({}, 'acme'), asAcme);
      assert.deepEqual(await switchTo({}, 'globex'), asGlobex);
      await jsonOf(await update(website), 200);
      assert.deepEqual(saidOf({ ...(await accessToken()) }), asGlobex, 'a refresh stays there');
      assert.equal(two.typed(), 1);
    });
    it('signs out: of the website, then with us, and the way back', async () => {
      const { website } = await signedIn();
      const { idToken = '' } = (await sessionOf(website)) ?? {};
      assert.equal(locationOf(await post(website, 'signout', { callbackUrl: `${site}/` })).href, `${site}/`);
      assert.equal(await sessionOf(website), null);
      const query = new URLSearchParams({ id_token_hint: idToken, post_logout_redirect_uri: `${site}/` });
      const ended = await fetch(`${endSessionEndpoint}?${query}`, { redirect: 'manual' });
      assert.deepEqual([ended.status, ended.headers.get('location')], [303, `${site}/`]);
      query.set('post_logout_redirect_uri', `${site}/elsewhere`);
      await assertRefusal(await fetch(`${endSessionEndpoint}?${query}`, { redirect: 'manual' }), 'logout.invalid_request');
    });

    it('a state that was changed, and one of another sign-in', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const website = await openWebsite();
      const back = await visitUs(website, user);
      back.searchParams.set('state', 'changed');
      await assertNoSession(website, back, /unexpected "state"/);
      const other = await openWebsite();
      await leave(other);
      await assertNoSession(other, back, /unexpected "state"/);
    });
    it('a verifier of another sign-in: we give no tokens', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const website = await openWebsite();
      const first = await leave(website);
      const foreign = cookiesOf(website, 'pkce');
      const back = await visit(server, await leave(website), user.email);
      assert.ok(first.searchParams.get('code_challenge'));
      for (const [name, value] of foreign) website.browser.cookies.set(name, value);
      await assertNoSession(website, back, /invalid_grant/);
    });
    it('a nonce of another sign-in: it takes no token of ours', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const website = await openWebsite();
      await leave(website);
      const foreign = cookiesOf(website, 'nonce');
      const back = await visit(server, await leave(website), user.email);
      for (const [name, value] of foreign) website.browser.cookies.set(name, value);
      await assertNoSession(website, back, /nonce/);
    });
    it('a code that was used: we give no tokens, and its refresh token ends', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const website = await openWebsite();
      const back = await visitUs(website, user);
      const before = new Map(website.browser.cookies);
      assert.equal(locationOf(await website.browser.send(back.href)).href, `${site}/`);
      const after = new Map(website.browser.cookies);
      restore(website, before);
      await assertNoSession(website, back, /invalid_grant/);
      restore(website, after);
      assert.equal(await jsonOf(await update(website), 200), null);
      assert.match(website.errors.at(-1) ?? '', /invalid_grant/);
    });
    it('the answer of another issuer', async () => {
      const website = await openWebsite();
      const back = await visitUs(website, await createUser(server.gatehouse.services, tenant));
      back.searchParams.set('iss', 'https://other.example');
      await assertNoSession(website, back, /"iss"/);
    });
    it('private_key_jwt: its assertion names two audiences, which we refuse', async () => {
      const website = await openWebsite('private_key_jwt');
      const back = await visitUs(website, await createUser(server.gatehouse.services, tenant));
      await assertNoSession(website, back, /invalid_client/);
    });
  });
}

function locationOf(response: Response): URL {
  assert.equal(response.status, 302);
  return new URL(response.headers.get('location') ?? '');
}

/** The cookies in which it keeps what it sent, by a part of their names. */
const cookiesOf = ({ browser }: Website, part: string): readonly (readonly [string, string])[] =>
  [...browser.cookies].filter(([name]) => name.includes(part));

function restore({ browser }: Website, cookies: ReadonlyMap<string, string>): void {
  browser.cookies.clear();
  for (const [name, value] of cookies) browser.cookies.set(name, value);
}

/** What is behind an error of Auth.js: the message of the library below, and the error code of an answer of ours. */
function causeOf({ cause }: Error): string {
  const { err } = (cause ?? {}) as { readonly err?: Error & { readonly error?: string } };
  return `${err?.error ?? ''} ${err?.message ?? ''}`;
}
