// Contract 7.2: the token endpoint, each row by each trigger the contract and the design name.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { UserId } from '../../src/domain/ids.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Services } from '../../src/http/services.ts';
import { revokeGrantsOfUser } from '../../src/storage/oidc/grants.ts';
import { updateClient } from '../../src/storage/registry/clients/clients.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { decodeJwt, exchange, issueCode, postAs, redirectUri, refresh, tokensOf, verifier } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`7.2 token endpoint on ${database}`, () => {
    let server: TestServer;
    let services: Services;
    let tenant: Tenant;
    let client: TestClient;
    let user: TestUser;
    const code = (options: Parameters<typeof issueCode>[4] = {}): Promise<string> => issueCode(server, tenant, client, user, options);
    const invalidGrant = '{"error":"invalid_grant"}';
    before(async () => {
      server = await startTestServer(database);
      services = server.gatehouse.services;
      tenant = await rootTenant(services);
      client = await createClient(services, tenant, { resources: ['https://api.example'] });
      user = await createUser(services, tenant);
    });
    after(() => server.close());

    const setUserState = (state: string): Promise<unknown> =>
      services.database.write(tenant.id, (queries) =>
        queries.updateTable('users').set({ state }).where('tenant_id', '=', tenant.id).where('id', '=', user.id).execute(),
      );

    it('token.invalid_request: a repeated parameter', async () => {
      const form = new URLSearchParams([
        ['grant_type', 'authorization_code'],
        ['code', 'a'],
        ['code', 'b'],
      ]);
      await assertRefusal(await postAs(tenant, client, 'token', form), 'token.invalid_request', { text: 'A parameter is repeated.' });
    });
    it('token.invalid_request: malformed percent-encoding', async () => {
      const response = await fetch(`${tenant.baseUrl}/v1/idp/oidc/token`, {
        method: 'POST',
        body: 'grant_type=%zz',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
      await assertRefusal(response, 'token.invalid_request', { text: 'A parameter is not correctly encoded.' });
    });
    it('token.invalid_request: authorization_details, which costs the code nothing', async () => {
      const given = await code();
      await assertRefusal(await exchange(tenant, client, given, { authorization_details: '[]' }), 'token.invalid_request', {
        text: 'authorization_details are not supported.',
      });
      assert.equal((await exchange(tenant, client, given)).status, 200);
    });
    it('token.invalid_request: max_age is not a number', async () => {
      await assertRefusal(await exchange(tenant, client, await code(), { max_age: '-1' }), 'token.invalid_request', {
        text: 'max_age is not a number of seconds.',
      });
    });
    it('oauth.unsupported_media_type: JSON instead of a form', async () => {
      const response = await fetch(`${tenant.baseUrl}/v1/idp/oidc/token`, {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json' },
      });
      await assertRefusal(response, 'oauth.unsupported_media_type');
    });
    for (const [name, grantType] of [
      ['missing', undefined],
      ['empty', ''],
      ['unknown', 'password'],
      ['another case', 'Authorization_Code'],
    ] as const)
      it(`token.unsupported_grant_type: grant_type ${name}`, async () => {
        await assertRefusal(await postAs(tenant, client, 'token', { grant_type: grantType }), 'token.unsupported_grant_type');
      });
    it('token.unsupported_grant_type comes before client authentication', async () => {
      const stranger = { ...client, secret: 'wrong' };
      await assertRefusal(await postAs(tenant, stranger, 'token', { grant_type: 'password' }), 'token.unsupported_grant_type');
    });
    it('token.unauthorized_client: a grant the client is not registered for', async () => {
      await assertRefusal(await postAs(tenant, client, 'token', { grant_type: 'client_credentials' }), 'token.unauthorized_client', {
        text: 'This client may not use this grant.',
      });
    });
    it('token.unauthorized_client: client_credentials by a public client', async () => {
      const spa = await createClient(services, tenant, { type: 'public', grantTypes: ['client_credentials'] });
      await assertRefusal(await postAs(tenant, spa, 'token', { grant_type: 'client_credentials' }), 'token.unauthorized_client', {
        text: 'This client may not use this grant.',
      });
    });

    const codeTriggers: readonly (readonly [string, () => Promise<Response>])[] = [
      ['code missing', () => exchange(tenant, client, '', { code: undefined })],
      ['code empty', () => exchange(tenant, client, '')],
      ['code unknown', () => exchange(tenant, client, 'no-such-code')],
      ['redirect_uri missing', async () => exchange(tenant, client, await code(), { redirect_uri: undefined })],
      ['redirect_uri differs', async () => exchange(tenant, client, await code(), { redirect_uri: `${redirectUri}/` })],
      ['code of another client', async () => exchange(tenant, await createClient(services, tenant), await code())],
      [
        'code of another tenant',
        async () => {
          const other = await createOtherTenant(services, `codes-${database}`);
          return exchange(other, await createClient(services, other), await code());
        },
      ],
      [
        'code already used',
        async () => {
          const used = await code();
          await tokensOf(await exchange(tenant, client, used));
          return exchange(tenant, client, used);
        },
      ],
      [
        'user suspended',
        async () => {
          const waiting = await code();
          await setUserState('suspended');
          const response = await exchange(tenant, client, waiting);
          await setUserState('active');
          return response;
        },
      ],
      [
        'access gate closed in between',
        async () => {
          const gated = await createClient(services, tenant, { accessPolicy: 'assigned' });
          return exchange(tenant, gated, await issueCode(server, tenant, gated, user));
        },
      ],
      [
        'code expired',
        async () => {
          const waiting = await code();
          await server.clock.advance(60_000);
          return exchange(tenant, client, waiting);
        },
      ],
    ];
    for (const [name, trigger] of codeTriggers)
      it(`token.code_invalid: ${name}`, async () => {
        assert.equal(await assertRefusal(await trigger(), 'token.code_invalid'), invalidGrant);
      });

    const pkceTriggers: readonly (readonly [string, () => Promise<Response>])[] = [
      ['verifier missing when a challenge is stored', async () => exchange(tenant, client, await code(), { code_verifier: undefined })],
      ['verifier empty', async () => exchange(tenant, client, await code(), { code_verifier: '' })],
      ['verifier of 42 characters', async () => exchange(tenant, client, await code(), { code_verifier: 'a'.repeat(42) })],
      ['verifier of 129 characters', async () => exchange(tenant, client, await code(), { code_verifier: 'a'.repeat(129) })],
      [
        'verifier with a character outside RFC 7636',
        async () => exchange(tenant, client, await code(), { code_verifier: `${'a'.repeat(43)}!` }),
      ],
      [
        'verifier of 43 characters that does not match',
        async () => exchange(tenant, client, await code(), { code_verifier: 'a'.repeat(43) }),
      ],
      [
        'verifier of 128 characters that does not match',
        async () => exchange(tenant, client, await code(), { code_verifier: 'a'.repeat(128) }),
      ],
      ['verifier supplied when no challenge was stored', async () => exchange(tenant, client, await code({ codeChallenge: undefined }))],
    ];
    for (const [name, trigger] of pkceTriggers)
      it(`token.pkce_failed: ${name}`, async () => {
        assert.equal(await assertRefusal(await trigger(), 'token.pkce_failed'), invalidGrant);
      });

    it('a wrong verifier, redirect_uri or client does not burn the code', async () => {
      const kept = await code();
      await exchange(tenant, client, kept, { code_verifier: 'a'.repeat(43) });
      await exchange(tenant, client, kept, { redirect_uri: 'https://evil.example/' });
      await exchange(tenant, await createClient(services, tenant), kept);
      await exchange(tenant, client, kept, { scope: 'openid admin' });
      await tokensOf(await exchange(tenant, client, kept));
    });
    it('a code without a challenge is redeemed without a verifier', async () => {
      await tokensOf(await exchange(tenant, client, await code({ codeChallenge: undefined }), { code_verifier: undefined }));
    });
    it('a second use by the right client ends what the first one issued; one by a stranger does not', async () => {
      const used = await code();
      const { refresh_token: token } = await tokensOf(await exchange(tenant, client, used));
      await exchange(tenant, await createClient(services, tenant), used);
      await exchange(tenant, client, used, { code_verifier: 'a'.repeat(43) });
      const { refresh_token: next } = await tokensOf(await refresh(tenant, client, token));
      await assertRefusal(await exchange(tenant, client, used), 'token.code_invalid');
      await assertRefusal(await refresh(tenant, client, next), 'token.refresh_invalid');
    });

    it('token.invalid_scope: a scope outside the grant at exchange', async () => {
      await assertRefusal(await exchange(tenant, client, await code(), { scope: 'openid address' }), 'token.invalid_scope', {
        text: 'A scope was not granted.',
      });
    });
    it('token.invalid_scope: a scope not bound to the client', async () => {
      await assertRefusal(await exchange(tenant, client, await code(), { scope: 'openid admin' }), 'token.invalid_scope', {
        text: 'A scope is not bound to this client.',
      });
    });
    it('token.invalid_scope: malformed', async () => {
      await assertRefusal(await exchange(tenant, client, await code(), { scope: 'openid  "' }), 'token.invalid_scope', {
        text: 'scope is malformed.',
      });
    });
    it('token.invalid_scope: a scope the client lost since, at refresh', async () => {
      const shrinking = await createClient(services, tenant);
      const { refresh_token: token } = await tokensOf(await exchange(tenant, shrinking, await issueCode(server, tenant, shrinking, user)));
      await services.cache.write(tenant.id, (queries) =>
        updateClient(queries, tenant.id, { ...shrinking, scopes: ['openid', 'offline_access'] }),
      );
      await assertRefusal(await refresh(tenant, shrinking, token), 'token.invalid_scope', { text: 'A scope is not bound to this client.' });
      const narrowed = await tokensOf(await refresh(tenant, shrinking, token, { scope: 'openid' }));
      assert.equal(narrowed.scope, 'openid', 'the refused request did not burn the token');
    });
    it('token.login_required: max_age of the authorization exceeded at exchange', async () => {
      const old = await code({ maxAgeSeconds: 10 });
      await server.clock.advance(11_000);
      await assertRefusal(await exchange(tenant, client, old), 'token.login_required', { text: 'The user has to sign in again.' });
    });
    it('token.login_required: max_age as a token parameter, at exchange and at refresh', async () => {
      const old = await code();
      await server.clock.advance(30_000);
      const text = 'The user has to sign in again.';
      await assertRefusal(await exchange(tenant, client, old, { max_age: '29' }), 'token.login_required', { text });
      const { refresh_token: token } = await tokensOf(await exchange(tenant, client, old, { max_age: '45' }));
      await assertRefusal(await refresh(tenant, client, token, { max_age: '29' }), 'token.login_required', { text });
      await tokensOf(await refresh(tenant, client, token));
    });
    it('token.invalid_target: an audience outside the grant, and more than one', async () => {
      const text = 'The requested audience is not available to this client.';
      const bound = await code({ resource: 'https://api.example' });
      await assertRefusal(await exchange(tenant, client, bound, { resource: 'https://other.example' }), 'token.invalid_target', { text });
      const two = new URLSearchParams({
        grant_type: 'authorization_code',
        code: bound,
        redirect_uri: redirectUri,
        code_verifier: verifier,
      });
      two.append('resource', 'https://api.example');
      two.append('resource', 'https://other.example');
      await assertRefusal(await postAs(tenant, client, 'token', two), 'token.invalid_target', { text });
      const { access_token: token } = await tokensOf(await exchange(tenant, client, bound, { resource: 'https://api.example' }));
      assert.equal(decodeJwt(token).claims['aud'], 'https://api.example');
    });

    const refreshTriggers: readonly (readonly [string, () => Promise<Response>])[] = [
      ['refresh_token missing', () => refresh(tenant, client, undefined)],
      ['refresh_token unknown', () => refresh(tenant, client, 'x'.repeat(43))],
      ['refresh_token malformed', () => refresh(tenant, client, 'x')],
      ['refresh_token of another client', async () => refresh(tenant, await createClient(services, tenant), await family())],
      [
        'refresh_token revoked',
        async () => {
          const token = await family();
          await services.database.write(tenant.id, (queries) => revokeGrantsOfUser(queries, tenant.id, user.id as UserId, 'administrator'));
          return refresh(tenant, client, token);
        },
      ],
      [
        'refresh_token reused',
        async () => {
          const token = await family();
          await tokensOf(await refresh(tenant, client, token));
          return refresh(tenant, client, token);
        },
      ],
      [
        'user suspended',
        async () => {
          const token = await family();
          await setUserState('suspended');
          const response = await refresh(tenant, client, token);
          await setUserState('active');
          return response;
        },
      ],
      [
        'access gate closed',
        async () => {
          const gated = await createClient(services, tenant);
          const token = (await tokensOf(await exchange(tenant, gated, await issueCode(server, tenant, gated, user)))).refresh_token;
          await services.cache.write(tenant.id, (queries) => updateClient(queries, tenant.id, { ...gated, accessPolicy: 'assigned' }));
          return refresh(tenant, gated, token);
        },
      ],
      [
        'refresh_token idle for too long',
        async () => {
          const token = await family();
          await server.clock.advance(1_209_600_000);
          return refresh(tenant, client, token);
        },
      ],
    ];
    const family = async (): Promise<string | undefined> => (await tokensOf(await exchange(tenant, client, await code()))).refresh_token;
    for (const [name, trigger] of refreshTriggers)
      it(`token.refresh_invalid: ${name}`, async () => {
        assert.equal(await assertRefusal(await trigger(), 'token.refresh_invalid'), invalidGrant);
      });
    it('token.refresh_invalid: reuse ends the whole family, the newest token included', async () => {
      const first = await family();
      const { refresh_token: second } = await tokensOf(await refresh(tenant, client, first));
      const { refresh_token: third } = await tokensOf(await refresh(tenant, client, second));
      await assertRefusal(await refresh(tenant, client, first), 'token.refresh_invalid');
      await assertRefusal(await refresh(tenant, client, third), 'token.refresh_invalid');
    });
    it('token.refresh_invalid: the absolute lifetime ends a family that is in use', async () => {
      let token = await family();
      for (let week = 0; week < 6; week += 1) {
        await server.clock.advance(1_200_000_000);
        token = (await tokensOf(await refresh(tenant, client, token))).refresh_token;
      }
      await server.clock.advance(600_000_000);
      await assertRefusal(await refresh(tenant, client, token), 'token.refresh_invalid');
    });
    it('refresh_reuse_leeway_seconds: the same successor within it, never a fork', async () => {
      const mobile = await createClient(services, tenant, { type: 'public', refreshReuseLeewaySeconds: 10 });
      const issued = await tokensOf(await exchange(tenant, mobile, await issueCode(server, tenant, mobile, user)));
      const first = await tokensOf(await refresh(tenant, mobile, issued.refresh_token));
      const again = await tokensOf(await refresh(tenant, mobile, issued.refresh_token));
      assert.equal(again.refresh_token, first.refresh_token);
      await server.clock.advance(10_000);
      await assertRefusal(await refresh(tenant, mobile, issued.refresh_token), 'token.refresh_invalid');
      await assertRefusal(await refresh(tenant, mobile, first.refresh_token), 'token.refresh_invalid');
    });
  });
}
