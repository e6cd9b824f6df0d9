// Signing in for an organisation (design 19): the parameter, the scope with its chooser, what tokens and UserInfo say, scopes that only a
// role gives, and what becomes of a grant whose person leaves or loses a role. Nobody learns by it which organisations there are.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { organizationsToldMax } from '../../src/contract/limits.ts';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser, type TestClient, type TestUser } from '../support/fixtures.ts';
import type { Json } from '../support/management.ts';
import { decodeJwt, exchange, type Form, postAs, redirectUri, refresh, type Tokens, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { openSsoWorld } from '../support/sso.ts';

const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange';
const [orders, stock] = ['https://orders.example', 'https://stock.example'];

for (const database of databases)
  describe(`signing in for an organisation on ${database}`, async () => {
    const world = await openSsoWorld(database);
    const { server, tenant, authorize, locationOf, step, approveAt, signInAt, asksToSignIn, query } = world;
    const { services } = server.gatehouse;
    let client: TestClient;
    let ada: TestUser;
    let made = 0;
    /** Acme, Globex, and the one that is disabled, whose members Ada may be. */
    let acme: Json;
    let globex: Json;
    let closed: Json;
    const manage = async (method: string, path: string, body?: unknown): Promise<Json> => (await world.manager()).make(method, path, body);
    const idOf = ({ id }: Json): string => String(id);
    const join = async (organization: Json, user: TestUser, roles: readonly string[] = []): Promise<void> =>
      void (await manage('PUT', `/organizations/${idOf(organization)}/members/${user.id}`, { roles }));
    const leave = async (organization: Json, user: TestUser): Promise<void> => {
      const response = await (await world.manager()).call('DELETE', `/organizations/${idOf(organization)}/members/${user.id}`);
      assert.equal(response.status, 204);
    };
    const scope = 'openid offline_access organization orders:read orders:approve';

    before(async () => {
      await world.settings({ extra_grants: [exchangeGrant] });
      await manage('POST', '/organization-roles', { name: 'approver', scopes: ['orders:approve', 'stock:approve'] });
      await manage('POST', '/organization-roles', { name: 'reader', scopes: [] });
      client = await createClient(services, tenant, {
        resources: [orders],
        scopes: ['openid', 'offline_access', 'profile', 'organization', 'organizations', 'orders:read', 'orders:approve'],
      });
    });
    beforeEach(async () => {
      made += 1;
      ada = await createUser(services, tenant);
      acme = await manage('POST', '/organizations', { name: `acme-${made}`, display_name: 'Acme' });
      globex = await manage('POST', '/organizations', { name: `globex-${made}` });
      closed = await manage('POST', '/organizations', { name: `closed-${made}`, enabled: false });
    });
    after(() => server.close());

    const ask = (browser: TestBrowser, changes: Record<string, string> = {}): Promise<Response> =>
      authorize(browser, { scope, ...changes }, client);
    const tokensFor = async (redirect: URL, by = client): Promise<Tokens> => {
      const code = redirect.searchParams.get('code');
      assert.ok(code, `expected a code, found ${redirect.search}`);
      return tokensOf(await exchange(tenant, by, code));
    };
    /** The whole way by the PIN of the mail, where nothing is to be chosen. */
    const signIn = async (changes: Record<string, string> = {}, user = ada, browser = openBrowser()): Promise<URL> =>
      signInAt(browser, asksToSignIn(await ask(browser, changes)), user);
    const organizationIn = (token: string): Json => {
      const { org_id, org_name, org_roles } = decodeJwt(token).claims;
      return { org_id, org_name, org_roles };
    };
    const nothing = { org_id: undefined, org_name: undefined, org_roles: undefined };
    const claimsOf = ({ id, name }: Json, roles: readonly string[]): Json => ({ org_id: id, org_name: name, org_roles: roles });
    const userInfo = async ({ access_token: token }: Tokens): Promise<Json> => {
      const response = await fetch(`${tenant.baseUrl}/v1/idp/oidc/userinfo`, { headers: { authorization: `Bearer ${token}` } });
      assert.equal(response.status, 200);
      return (await response.json()) as Json;
    };

    it('the parameter names one by id or name: tokens and UserInfo say it with the roles held there', async () => {
      await join(acme, ada, ['reader', 'approver']);
      await join(globex, ada);
      for (const named of [idOf(acme), String(acme['name'])]) {
        const tokens = await tokensFor(await signIn({ organization: named, scope: 'openid offline_access' }));
        const said = claimsOf(acme, ['approver', 'reader']);
        assert.deepEqual(organizationIn(tokens.access_token), said);
        assert.deepEqual(organizationIn(tokens.id_token!), said);
        const { org_id, org_name, org_roles } = await userInfo(tokens);
        assert.deepEqual({ org_id, org_name, org_roles }, said);
      }
    });

    it('an unknown, foreign or disabled one looks like an unknown client, before anybody signs in; pushed, like an unknown thing there', async () => {
      await join(closed, ada);
      const bodies = new Set<string>();
      const pushed = new Set<string>();
      for (const organization of [randomUUID(), 'no-such', idOf(closed), String(closed['name']), 'A B', 'x'.repeat(2000)])
        for (const prompt of ['login', 'none']) {
          bodies.add(await assertRefusal(await ask(openBrowser(), { organization, prompt }), 'authorize.unauthorized'));
          const response = await postAs(tenant, client, 'par', { ...Object.fromEntries(query({ scope, organization }, client)) });
          pushed.add(await assertRefusal(response, 'par.invalid_request', { text: 'The organization is unknown.' }));
        }
      const unknown = await fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize?client_id=nobody&redirect_uri=${redirectUri}`);
      bodies.add(await assertRefusal(unknown, 'authorize.unauthorized'));
      assert.equal(bodies.size, 1);
      assert.equal(pushed.size, 1);
      const twice = query({ scope, organization: idOf(acme) }, client);
      twice.append('organization', idOf(globex));
      await assertRefusal(await fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize?${twice}`), 'authorize.invalid_request', {
        text: 'A parameter is repeated.',
      });
    });

    it('who is no member hears access_denied by redirect, signed in or by the session; a member by the session gets the code', async () => {
      await join(globex, ada);
      const browser = openBrowser();
      const refused = await signIn({ organization: idOf(acme) }, ada, browser);
      assert.equal(refused.searchParams.get('error'), 'access_denied');
      assert.deepEqual(
        organizationIn((await tokensFor(await signIn({ organization: idOf(globex) }, ada, browser))).access_token),
        claimsOf(globex, []),
      );
      const again = locationOf(await ask(browser, { organization: idOf(acme), prompt: 'none' }));
      assert.equal(again.searchParams.get('error'), 'access_denied');
      const member = locationOf(await ask(browser, { organization: String(globex['name']), prompt: 'none' }));
      assert.deepEqual(organizationIn((await tokensFor(member)).id_token!), claimsOf(globex, []));
    });

    it('the scope: none for who is in none, the one for who is in one, disabled ones not counted', async () => {
      await join(closed, ada);
      assert.deepEqual(organizationIn((await tokensFor(await signIn())).access_token), nothing);
      await join(globex, ada);
      const browser = openBrowser();
      assert.deepEqual(organizationIn((await tokensFor(await signIn({}, ada, browser))).access_token), claimsOf(globex, []));
      const silent = locationOf(await ask(browser, { prompt: 'none' }));
      assert.deepEqual(organizationIn((await tokensFor(silent)).access_token), claimsOf(globex, []));
    });

    it('in several, the person chooses after they have signed in: JSON, and nothing is finished before', async () => {
      await join(acme, ada, ['approver']);
      await join(globex, ada);
      await join(closed, ada);
      const browser = openBrowser();
      const login = asksToSignIn(await ask(browser));
      const now = async (): Promise<Json> => (await (await browser.send(login)).json()) as Json;
      assert.equal((await now())['organizations'], undefined);
      assert.equal(await approveAt(browser, login, ada), 'organization');
      const asked = await now();
      assert.equal(asked['state'], 'organization');
      assert.deepEqual(asked['organizations'], [
        { id: acme['id'], name: acme['name'], display_name: 'Acme' },
        { id: globex['id'], name: globex['name'], display_name: null },
      ]);
      const post = (name: string, fields: Form = {}): Promise<Response> =>
        browser.send(`${login}/${name}`, { method: 'POST', body: new URLSearchParams(fields as Record<string, string>) });
      await assertRefusal(await post('finish'), 'login.conflict');
      for (const organization of [idOf(closed), randomUUID(), 'x'])
        assert.equal((await post('organization', { organization })).status, 400, organization);
      assert.equal((await post('organization')).status, 400);
      assert.deepEqual(await (await post('organization', { organization: idOf(acme) })).json(), { state: 'approved' });
      await assertRefusal(await post('organization', { organization: idOf(globex) }), 'login.conflict');
      const redirect = new URL((await step(browser, login, 'finish'))['redirect_to'] ?? '');
      assert.deepEqual(organizationIn((await tokensFor(redirect)).access_token), claimsOf(acme, ['approver']));
      // The session does not remember it: the next request asks again.
      const next = asksToSignIn(await ask(browser));
      assert.equal(((await (await browser.send(next)).json()) as Json)['state'], 'organization');
      await step(browser, next, 'organization', { organization: String(globex['name']) });
      const other = new URL((await step(browser, next, 'finish'))['redirect_to'] ?? '');
      assert.deepEqual(organizationIn((await tokensFor(other)).access_token), claimsOf(globex, []));
      const silent = locationOf(await ask(browser, { prompt: 'none' }));
      assert.equal(silent.searchParams.get('error'), 'account_selection_required');
    });

    it('the page of the chooser has a button for each, and its names stay text', async () => {
      await join(acme, ada);
      const hostile = await manage('POST', '/organizations', {
        name: `hostile-${made}`,
        display_name: '<img src=x onerror=alert(1)>\u202e',
      });
      await join(hostile, ada);
      const browser = openBrowser();
      const login = asksToSignIn(await ask(browser));
      await approveAt(browser, login, ada);
      const page = await (await browser.send(login, { headers: { accept: 'text/html' } })).text();
      assert.match(page, /<h1>Choose an organisation<\/h1>/);
      assert.ok(page.includes(`<button class="choice" name="organization" value="${idOf(acme)}">`));
      assert.ok(
        page.includes('&#60;img src=x onerror=alert(1)&#62;</span>') || page.includes('&#60;img src=x onerror=alert(1)&#62;<small>'),
      );
      assert.ok(!page.includes('\u202e') && !page.includes('<img src=x'));
      const chosen = await browser.send(`${login}/organization`, {
        method: 'POST',
        redirect: 'manual',
        headers: { accept: 'text/html', origin: new URL(login).origin },
        body: new URLSearchParams({ organization: idOf(acme) }),
      });
      assert.deepEqual([chosen.status, chosen.headers.get('location')], [303, login]);
    });

    it('nobody sees or chooses organisations of somebody who has not proven who they are', async () => {
      await join(acme, ada);
      await join(globex, ada);
      const browser = openBrowser();
      const login = asksToSignIn(await ask(browser));
      await step(browser, login, 'identify', { identifier: ada.email });
      const now = (await (await browser.send(login)).json()) as Json;
      assert.equal(now['organizations'], undefined);
      const response = await browser.send(`${login}/organization`, {
        method: 'POST',
        body: new URLSearchParams({ organization: idOf(acme) }),
      });
      await assertRefusal(response, 'login.conflict');
    });

    it('a scope that a role names is given by that role alone: the grant is without it elsewhere', async () => {
      await join(acme, ada, ['approver']);
      await join(globex, ada, ['reader']);
      const inAcme = await tokensFor(await signIn({ organization: idOf(acme), resource: orders }));
      assert.equal(inAcme.scope, scope);
      const without = 'openid offline_access organization orders:read';
      const inGlobex = await tokensFor(await signIn({ organization: idOf(globex), resource: orders }));
      assert.equal(inGlobex.scope, without);
      assert.equal(decodeJwt(inGlobex.access_token).claims['scope'], without);
      const nowhere = await tokensFor(await signIn({ scope: 'openid offline_access orders:read orders:approve', resource: orders }));
      assert.equal(nowhere.scope, 'openid offline_access orders:read');
      const more = await refresh(tenant, client, inGlobex.refresh_token, { scope: 'openid orders:approve' });
      await assertRefusal(more, 'token.invalid_scope', { text: 'A scope was not granted.' });
    });

    it('a role taken away, or given, counts from the next token on; the code in between too', async () => {
      await join(acme, ada, ['approver']);
      const redirect = await signIn({ organization: idOf(acme), resource: orders });
      await join(acme, ada, ['reader']);
      const tokens = await tokensFor(redirect);
      assert.equal(tokens.scope, 'openid offline_access organization orders:read');
      assert.deepEqual(organizationIn(tokens.access_token), claimsOf(acme, ['reader']));
      await join(acme, ada, ['approver', 'reader']);
      const next = await tokensOf(await refresh(tenant, client, tokens.refresh_token));
      assert.deepEqual(organizationIn(next.access_token), claimsOf(acme, ['approver', 'reader']));
      assert.equal(next.scope, scope);
      await manage('PATCH', '/organization-roles/approver', { scopes: [] });
      const free = await tokensOf(await refresh(tenant, client, next.refresh_token));
      assert.equal(free.scope, scope); // a scope that no role names is the client's own
      await manage('PATCH', '/organization-roles/approver', { scopes: ['orders:approve', 'stock:approve'] });
    });

    it('who leaves, and while the organisation is disabled: code and refresh are an invalid grant, and UserInfo says no more of it', async () => {
      await join(acme, ada);
      const redirect = await signIn({ organization: idOf(acme) });
      const tokens = await tokensFor(await signIn({ organization: idOf(acme) }));
      await manage('PATCH', `/organizations/${idOf(acme)}`, { enabled: false });
      await assertRefusal(await refresh(tenant, client, tokens.refresh_token), 'token.refresh_invalid');
      await manage('PATCH', `/organizations/${idOf(acme)}`, { enabled: true });
      const kept = await tokensOf(await refresh(tenant, client, tokens.refresh_token)); // nothing was used up
      await leave(acme, ada);
      await assertRefusal(await exchange(tenant, client, redirect.searchParams.get('code')!), 'token.code_invalid');
      await assertRefusal(await refresh(tenant, client, kept.refresh_token), 'token.refresh_invalid');
      const { org_id, org_name, org_roles } = await userInfo(kept);
      assert.deepEqual({ org_id, org_name, org_roles }, nothing);
      await join(acme, ada);
      assert.deepEqual(
        organizationIn((await tokensOf(await refresh(tenant, client, kept.refresh_token))).access_token),
        claimsOf(acme, []),
      );
    });

    it('an exchanged token is for the same organisation, by what its person holds there at that moment', async () => {
      const api = await createClient(services, tenant, {
        grantTypes: [exchangeGrant, 'client_credentials'],
        scopes: [],
        redirectUris: [],
        serves: [orders],
        exchange: [{ resource: stock, scopes: ['stock:read', 'stock:approve'] }],
      });
      await join(acme, ada, ['approver']);
      const tokens = await tokensFor(await signIn({ organization: idOf(acme), resource: orders }));
      const trade = (): Promise<Response> =>
        postAs(tenant, api, 'token', {
          grant_type: exchangeGrant,
          subject_token: tokens.access_token,
          subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
          resource: stock,
        });
      const first = await tokensOf(await trade());
      assert.equal(first.scope, 'stock:read stock:approve');
      assert.deepEqual(organizationIn(first.access_token), claimsOf(acme, ['approver']));
      await join(acme, ada, []);
      assert.equal((await tokensOf(await trade())).scope, 'stock:read');
      await leave(acme, ada);
      await assertRefusal(await trade(), 'exchange.invalid_request');
    });

    it('pushed requests keep it; beside one another organisation is refused, and uses nothing up', async () => {
      await join(acme, ada);
      await join(globex, ada);
      const push = async (changes: Record<string, string>): Promise<string> => {
        const response = await postAs(tenant, client, 'par', { ...Object.fromEntries(query({ scope, ...changes }, client)) });
        assert.equal(response.status, 201);
        return String(((await response.json()) as Json)['request_uri']);
      };
      const start = (uri: string, more: Record<string, string> = {}): Promise<Response> => {
        const sent = new URLSearchParams({ client_id: client.clientId, request_uri: uri, ...more });
        return openBrowser().send(`${tenant.baseUrl}/v1/idp/oidc/authorize?${sent}`);
      };
      const uri = await push({ organization: idOf(acme) });
      for (const organization of [idOf(globex), String(globex['name']), 'no-such'])
        await assertRefusal(await start(uri, { organization }), 'authorize.unauthorized');
      await assertRefusal(await start(await push({}), { organization: idOf(acme) }), 'authorize.unauthorized');
      const browser = openBrowser();
      const sent = new URLSearchParams({ client_id: client.clientId, request_uri: uri, organization: idOf(acme) });
      const login = asksToSignIn(await browser.send(`${tenant.baseUrl}/v1/idp/oidc/authorize?${sent}`));
      assert.deepEqual(organizationIn((await tokensFor(await signInAt(browser, login, ada))).access_token), claimsOf(acme, []));
    });

    it(`the scope organizations: UserInfo lists those a person is in, at most ${organizationsToldMax}`, async () => {
      await join(closed, ada);
      await join(acme, ada, ['reader']);
      const tokens = await tokensFor(await signIn({ scope: 'openid organizations' }));
      assert.deepEqual(organizationIn(tokens.access_token), nothing);
      const said = await userInfo(tokens);
      assert.deepEqual(said['organizations'], [{ id: acme['id'], name: acme['name'], display_name: 'Acme', roles: ['reader'] }]);
      assert.equal(said['org_id'], undefined);
      for (let at = 1; at <= organizationsToldMax; at += 1)
        await join(await manage('POST', '/organizations', { name: `many-${made}-${at}` }), ada);
      assert.equal(((await userInfo(tokens))['organizations'] as readonly Json[]).length, organizationsToldMax);
      assert.equal((await userInfo(await tokensFor(await signIn({ scope: 'openid' }))))['organizations'], undefined);
    });

    it('no rule says what the claims of organisations say', async () => {
      await manage('PUT', '/mappings/oidc', {
        rules: ['org_id', 'org_name', 'org_roles'].map((to) => ({
          to,
          value: 'forged',
          scope: 'openid',
          in: ['access_token', 'id_token', 'userinfo'],
        })),
      });
      const none = await tokensFor(await signIn({ scope: 'openid' }));
      assert.deepEqual(organizationIn(none.access_token), nothing);
      assert.deepEqual(organizationIn(none.id_token!), nothing);
      assert.equal((await userInfo(none))['org_id'], undefined);
      await join(acme, ada);
      const tokens = await tokensFor(await signIn({ organization: idOf(acme), scope: 'openid' }));
      assert.deepEqual(organizationIn(tokens.access_token), claimsOf(acme, []));
      await manage('PUT', '/mappings/oidc', { rules: [] });
    });

    it('the metadata tells of it where there are organisations', async () => {
      const metadata = (await (await fetch(`${tenant.baseUrl}/.well-known/openid-configuration`)).json()) as Record<
        string,
        readonly string[]
      >;
      for (const name of ['organization', 'organizations']) assert.ok(metadata['scopes_supported']!.includes(name));
      for (const name of ['org_id', 'org_name', 'org_roles']) assert.ok(metadata['claims_supported']!.includes(name));
    });
  });
