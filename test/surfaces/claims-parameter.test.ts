// The claims parameter (OpenID Connect Core 5.5): claims one by one, within the client's scopes, in the ID token and at UserInfo.
import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import { requestedClaimsMax } from '../../src/contract/limits.ts';
import { openBrowser } from '../support/browser.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser, type TestUser } from '../support/fixtures.ts';
import { pinOf } from '../support/mailbox.ts';
import { decodeJwt, exchange, postAs, redirectUri, refresh, type Tokens, tokensOf } from '../support/oidc.ts';
import { assertRedirectRefusal, assertRefusal } from '../support/refusal.ts';
import { openSsoWorld } from '../support/sso.ts';

const protocolClaims = [...['acr', 'amr', 'at_hash', 'aud', 'auth_time', 'azp', 'exp', 'iat', 'iss', 'sid', 'sub', 'token_use']] as const;

for (const database of databases) {
  describe(`The claims parameter on ${database}`, async () => {
    const world = await openSsoWorld(database);
    const { server, tenant, client, authorize, signIn, step, locationOf, asksToSignIn, errorOf, settings } = world;
    let ada: TestUser;
    after(() => server.close());
    beforeEach(async () => {
      ada = await createUser(server.gatehouse.services, tenant);
    });
    const asking = (claims: object | string, more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
      scope: 'openid offline_access',
      claims: typeof claims === 'string' ? claims : JSON.stringify(claims),
      ...more,
    });
    const tokensFor = async (claims: object, of = client): Promise<Tokens> => {
      const browser = openBrowser();
      const login = locationOf(await authorize(browser, asking(claims), of)).href;
      const redirect = await world.signInAt(browser, login, ada);
      return tokensOf(await exchange(tenant, of, redirect.searchParams.get('code') ?? ''));
    };
    const shownIn = (tokens: Tokens): Record<string, unknown> => {
      const { claims } = decodeJwt(tokens.id_token ?? '');
      return Object.fromEntries(Object.entries(claims).filter(([name]) => !(protocolClaims as readonly string[]).includes(name)));
    };
    const userInfo = async (tokens: Tokens): Promise<unknown> =>
      (await fetch(`${tenant.baseUrl}/v1/idp/oidc/userinfo`, { headers: { authorization: `Bearer ${tokens.access_token}` } })).json();

    it('each member shows its claims and no others, after a refresh too; unknown ones are ignored', async () => {
      const tokens = await tokensFor({
        id_token: { email: { essential: true }, given_name: null, 'given_name#de': null, shoe_size: null },
        userinfo: { family_name: { value: 'other' }, email_verified: { essential: false } },
        somewhere: { name: null },
      });
      assert.deepEqual(shownIn(tokens), { given_name: 'Ada', email: ada.email });
      assert.deepEqual(await userInfo(tokens), { sub: ada.id, family_name: 'Lovelace', email_verified: true });
      const again = await tokensOf(await refresh(tenant, client, tokens.refresh_token));
      assert.deepEqual(shownIn(again), { given_name: 'Ada', email: ada.email });
      assert.deepEqual(await userInfo(again), { sub: ada.id, family_name: 'Lovelace', email_verified: true });
    });
    it('nothing beyond the scopes of the client, as it is when the token is made', async () => {
      const { services } = server.gatehouse;
      const narrow = await createClient(services, tenant, { scopes: ['openid', 'offline_access', 'profile'] });
      const wanted = { id_token: { email: null, name: null }, userinfo: { email: null, name: null } };
      const tokens = await tokensFor(wanted, narrow);
      assert.deepEqual(shownIn(tokens), { name: 'Ada Lovelace' });
      assert.deepEqual(await userInfo(tokens), { sub: ada.id, name: 'Ada Lovelace' });
      const manager = await world.manager();
      const changed = await manager.call('PATCH', `/clients/${narrow.clientId}`, { scopes: ['openid', 'offline_access'] });
      assert.equal(changed.status, 200);
      assert.deepEqual(await userInfo(tokens), { sub: ada.id });
      assert.deepEqual(shownIn(await tokensOf(await refresh(tenant, narrow, tokens.refresh_token))), {});
    });
    it('consent names the scopes that would show the claims, and remembers them', async () => {
      const careful = await createClient(server.gatehouse.services, tenant, { requireConsent: true });
      const browser = openBrowser();
      const login = locationOf(await authorize(browser, asking({ userinfo: { email: null } }, { scope: 'openid' }), careful)).href;
      await step(browser, login, 'identify', { identifier: ada.email });
      await step(browser, login, 'method', { method: 'email_pin' });
      await step(browser, login, 'pin', { pin: await pinOf(server, ada.email) });
      const shown = (await (await browser.send(login)).json()) as { consent: unknown };
      assert.deepEqual(shown.consent, { scopes: ['openid', 'email'] });
      await step(browser, login, 'finish');
      const silent = { scope: 'openid', prompt: 'none' };
      assert.ok(
        locationOf(await authorize(browser, { ...asking({ userinfo: { email: null } }), ...silent }, careful)).searchParams.has('code'),
      );
      assert.equal(
        errorOf(locationOf(await authorize(browser, { ...asking({ userinfo: { phone_number: null } }), ...silent }, careful))),
        'consent_required',
      );
    });
    it('sub names the account: hers is answered, another signing in is login_required', async () => {
      const browser = await world.signedIn(ada);
      const claims = { id_token: { sub: { value: ada.id } } };
      assert.ok(locationOf(await authorize(browser, asking(claims))).searchParams.has('code'));
      const bob = await createUser(server.gatehouse.services, tenant);
      assert.equal(errorOf(await signIn(openBrowser(), bob, asking(claims))), 'login_required');
      assert.equal(
        errorOf(locationOf(await authorize(browser, asking({ userinfo: { sub: { value: bob.id } } }, { prompt: 'none' })))),
        'login_required',
      );
    });
    it('an essential acr is met by the strongest value that the sign-in reaches; values alone ask like acr_values', async () => {
      const acrOf = async (acr: object): Promise<unknown> =>
        decodeJwt((await tokensFor({ id_token: { acr } })).id_token ?? '').claims['acr'];
      assert.equal(await acrOf({ essential: true, values: ['urn:x', 'otp'] }), 'otp');
      assert.equal(await acrOf({ essential: true }), 'otp');
      assert.equal(await acrOf({ value: 'otp' }), 'otp');
      const browser = await world.signedIn(ada);
      const strong = asking({ id_token: { acr: { values: ['phone'] } } });
      asksToSignIn(await authorize(browser, strong));
      assert.equal(errorOf(locationOf(await authorize(browser, { ...strong, prompt: 'none' }))), 'interaction_required');
    });
    it('authorize.unmet_authentication_requirements: no sign-in here meets an essential acr', async () => {
      for (const values of [['urn:mace:incommon:iap:silver'], ['phr']])
        await assertRedirectRefusal(
          await authorize(openBrowser(), asking({ id_token: { acr: { essential: true, values } } })),
          'authorize.unmet_authentication_requirements',
          { redirectUri, iss: tenant.baseUrl, state: 'state-1' },
        );
      asksToSignIn(await authorize(openBrowser(), asking({ id_token: { acr: { essential: true, values: ['phone'] } } })));
      asksToSignIn(await authorize(openBrowser(), asking({ id_token: { acr: { values: ['urn:mace:incommon:iap:silver'] } } })));
      await settings({ login_methods: ['passkey', 'email_pin'] });
      asksToSignIn(await authorize(openBrowser(), asking({ id_token: { acr: { essential: true, values: ['phr'] } } })));
      await settings({});
    });
    it('as many claims as the limit, both members together, and one more', async () => {
      const many = (count: number): Record<string, string> =>
        asking({
          id_token: { name: null },
          userinfo: Object.fromEntries(Array.from({ length: count - 1 }, (_, index) => [`c${index}`, null])),
        });
      asksToSignIn(await authorize(openBrowser(), many(requestedClaimsMax)));
      await assertRefusal(await authorize(openBrowser(), many(requestedClaimsMax + 1)), 'authorize.invalid_request', {
        text: 'claims asks for more than 100 claims.',
      });
    });
    it('malformed claims are invalid_request, at authorize and PAR; pushed ones are kept', async () => {
      const malformed = [
        ...['nonsense', '[]', '"x"', '{"id_token":[]}', '{"id_token":{"email":1}}', '{"userinfo":{"email":{"essential":"yes"}}}'],
        ...['{"id_token":{"acr":{"values":[1]}}}', '{"id_token":{"acr":{"value":"a b"}}}', '{"id_token":{"sub":{"value":1}}}'],
        ...['{"id_token":{"sub":{"value":"a"}},"userinfo":{"sub":{"value":"b"}}}', '{"id_token":{},"id_token":{}}'],
        '{"id_token":{"__proto__":null}}',
      ];
      const text = 'claims is malformed.';
      for (const claims of malformed) {
        await assertRefusal(await authorize(openBrowser(), asking(claims)), 'authorize.invalid_request', { text });
        const pushed = await postAs(tenant, client, 'par', Object.fromEntries(world.query(asking(claims))));
        await assertRefusal(pushed, 'par.invalid_request', { text });
      }
      const pushed = await postAs(tenant, client, 'par', Object.fromEntries(world.query(asking({ id_token: { email: null } }))));
      const { request_uri: requestUri } = (await pushed.json()) as { request_uri: string };
      const browser = openBrowser();
      const query = new URLSearchParams({ client_id: client.clientId, request_uri: requestUri });
      const login = locationOf(await browser.send(`${tenant.baseUrl}/v1/idp/oidc/authorize?${query}`)).href;
      const redirect = await world.signInAt(browser, login, ada);
      assert.deepEqual(shownIn(await tokensOf(await exchange(tenant, client, redirect.searchParams.get('code') ?? ''))), {
        email: ada.email,
      });
    });
  });
}
