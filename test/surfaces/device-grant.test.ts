// The device authorization grant (RFC 8628; design 14, 6): off until a tenant has it, codes for a device, the page where a person lets
// it in, polling by the rules of contract 7.10, and tokens once.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { deviceCodeIntervalSeconds, deviceCodeSeconds, userAgentCharsMax, userCodeCharsMax } from '../../src/contract/limits.ts';
import { createAccountTenant, createPerson, openAccount, textOf } from '../support/account.ts';
import { databases } from '../support/databases.ts';
import { createProofKey } from '../support/dpop.ts';
import type { TestUser } from '../support/enrolled-phone.ts';
import { type AppVisitor, openApp } from '../support/first-party-app.ts';
import { createTestClient, createTestTenant, type Json, jsonOf, type Managed } from '../support/management.ts';
import { decodeJwt, formBody, type Tokens, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';
const api = 'https://api.example/orders';

interface Started {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
  readonly expires_in: number;
  readonly interval: number;
}
interface Device {
  readonly client_id: string;
  readonly client_secret?: string;
}

for (const database of databases) {
  describe(`device grant on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let tv: Device;
    let visitor: AppVisitor;
    let person: TestUser;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createAccountTenant(server, {
        extra_grants: [deviceGrant],
        rate_limits: { login_starts_per_ip: roomyRate, device_code_misses: roomyRate },
      });
      tv = await register();
      ({ visitor, person } = await openAccount(server, tenant));
    });
    after(() => server.close());

    const register = (changes: Json = {}, at = tenant): Promise<Device> =>
      createTestClient(at, {
        name: 'Television',
        type: 'public',
        token_endpoint_auth_method: 'none',
        redirect_uris: [],
        grant_types: [deviceGrant, 'refresh_token'],
        scopes: ['openid', 'email', 'offline_access'],
        ...changes,
      });
    const post = (
      endpoint: string,
      by: Device,
      form: Readonly<Record<string, string | undefined>> = {},
      headers: Readonly<Record<string, string>> = {},
      at = tenant,
    ): Promise<Response> =>
      fetch(`${at.baseUrl}/v1/idp/oidc/${endpoint}`, {
        method: 'POST',
        body: formBody({ client_id: by.client_id, client_secret: by.client_secret, ...form }),
        headers,
      });
    const begin = async (by = tv, form: Readonly<Record<string, string>> = { scope: 'openid email offline_access' }): Promise<Started> =>
      jsonOf<Started>(await post('device-authorization', by, form, { 'user-agent': 'Television/1' }), 200);
    const poll = (started: Started, by = tv, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
      post('token', by, { grant_type: deviceGrant, device_code: started.device_code }, headers);
    const decide = async (started: Pick<Started, 'user_code'>, decision: string, by = visitor): Promise<string> => {
      const response = await by.submit('/device/decision', { user_code: started.user_code, decision });
      return textOf(response, 200);
    };
    /** Another person, so that the misses of one do not count for the next. */
    const anotherVisitor = async (fields: Json = {}): Promise<AppVisitor> => (await openAccount(server, tenant, fields)).visitor;

    it('off: no endpoint, no page, no grant, nothing in discovery, whatever the client has', async () => {
      const off = await createTestTenant(server, { settings: { login_methods: ['email_pin'] } });
      const device = await register({}, off);
      await assertRefusal(await post('device-authorization', device, {}, {}, off), 'oauth.not_found', { text: /./ });
      const page = await fetch(`${off.baseUrl}/device`, { headers: { accept: 'application/json' } });
      await assertRefusal(page, 'login.not_found');
      const { visitor: someone } = await openAccount(server, off);
      assert.equal((await someone.page('/device')).status, 404);
      assert.equal((await someone.submit('/device', { user_code: 'BCDF-GHJK' })).status, 404);
      assert.equal((await someone.submit('/device/decision', { user_code: 'BCDF-GHJK', decision: 'allow' })).status, 404);
      const stranger = { client_id: 'nobody' };
      for (const by of [device, stranger]) {
        const answer = await post('token', by, { grant_type: deviceGrant, device_code: 'x' }, {}, off);
        await assertRefusal(answer, 'token.unsupported_grant_type');
      }
      const metadata = await jsonOf(await fetch(`${off.baseUrl}/.well-known/openid-configuration`), 200);
      assert.equal(metadata['device_authorization_endpoint'], undefined);
      assert.ok(!(metadata['grant_types_supported'] as readonly string[]).includes(deviceGrant));
    });
    it('on: discovery names the endpoint and the grant', async () => {
      const metadata = await jsonOf(await fetch(`${tenant.baseUrl}/.well-known/openid-configuration`), 200);
      assert.equal(metadata['device_authorization_endpoint'], `${tenant.baseUrl}/v1/idp/oidc/device-authorization`);
      assert.ok((metadata['grant_types_supported'] as readonly string[]).includes(deviceGrant));
    });
    it('token.unsupported_grant_type: on in the tenant, off for the client, after client authentication', async () => {
      const other = await register({ grant_types: ['refresh_token'], name: 'Other' });
      await assertRefusal(await post('token', other, { grant_type: deviceGrant, device_code: 'x' }), 'token.unsupported_grant_type');
      const nobody = { client_id: 'nobody' };
      await assertRefusal(await post('token', nobody, { grant_type: deviceGrant, device_code: 'x' }), 'client.invalid_client');
      await assertRefusal(await post('device-authorization', other), 'device_grant.unauthorized_client', { text: /may not use/ });
      await assertRefusal(await post('device-authorization', nobody), 'client.invalid_client');
    });
    it('device authorization: codes, addresses, 600 seconds, every 5', async () => {
      const response = await post('device-authorization', tv, { scope: 'openid' });
      assert.equal(response.headers.get('cache-control'), 'no-store');
      const started = await jsonOf<Started>(response, 200);
      assert.match(started.user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
      assert.match(started.device_code, /^[A-Za-z0-9_-]{43}$/);
      const { device_code: _device, user_code: code, ...rest } = started;
      assert.deepEqual(rest, {
        verification_uri: `${tenant.baseUrl}/device`,
        verification_uri_complete: `${tenant.baseUrl}/device?user_code=${code}`,
        expires_in: deviceCodeSeconds,
        interval: deviceCodeIntervalSeconds,
      });
    });
    it('device authorization: what is wrong with a request', async () => {
      const twice = await fetch(`${tenant.baseUrl}/v1/idp/oidc/device-authorization`, {
        method: 'POST',
        body: new URLSearchParams([...Object.entries({ client_id: tv.client_id, scope: 'openid' }), ['scope', 'openid']]),
      });
      await assertRefusal(twice, 'device_grant.invalid_request', { text: /repeated/ });
      await assertRefusal(await post('device-authorization', tv, { authorization_details: '[]' }), 'device_grant.invalid_request', {
        text: /authorization_details/,
      });
      await assertRefusal(await post('device-authorization', tv, { resource: api }), 'device_grant.invalid_target', { text: /audience/ });
      await assertRefusal(await post('device-authorization', tv, { scope: 'openid admin' }), 'device_grant.invalid_scope', {
        text: /scope/,
      });
    });

    it('the whole way: the short address, the code, who asks, allow, tokens once', async () => {
      const orders = await register({ resources: [api], name: 'Orders <b>' });
      const started = await begin(orders, { scope: 'openid email offline_access', resource: api });
      await assertRefusal(await poll(started, orders), 'device_grant.authorization_pending');
      const short = await fetch(started.verification_uri_complete, { redirect: 'manual' });
      assert.deepEqual(
        [short.status, short.headers.get('location')],
        [303, `${tenant.baseUrl}/account/device?user_code=${started.user_code}`],
      );
      const bare = await fetch(started.verification_uri, { redirect: 'manual' });
      assert.equal(bare.headers.get('location'), `${tenant.baseUrl}/account/device`);
      // Not signed in: the sign-in first, then back to the same page.
      const before = await fetch(short.headers.get('location')!, { redirect: 'manual' });
      assert.match(before.headers.get('location') ?? '', /\/v1\/idp\/oidc\/authorize\?/);
      // The code in the link stands in the field and decides nothing.
      const filled = await textOf(await visitor.page(`/device?user_code=${started.user_code}`), 200);
      assert.match(filled, new RegExp(`value="${started.user_code}"`));
      assert.doesNotMatch(filled, /Orders|id="allow"/);
      const shown = await textOf(await visitor.submit('/device', { user_code: started.user_code.toLowerCase().replace('-', ' ') }), 200);
      for (const part of ['Orders &#60;b&#62;', started.user_code, 'Television/1', '127.0.0.1', 'see your email address'])
        assert.ok(shown.includes(part), `${part} in ${shown.slice(0, 3000)}`);
      await server.clock.advance(10_000);
      await assertRefusal(await poll(started, orders), 'device_grant.authorization_pending');
      assert.match(await decide(started, 'allow'), /The device is signed in/);
      const tokens = await tokensOf(await poll(started, orders));
      const { claims } = decodeJwt(tokens.access_token);
      assert.deepEqual([claims['sub'], claims['client_id'], claims['scope']], [person.id, orders.client_id, 'openid email offline_access']);
      assert.equal(claims['aud'], api);
      assert.deepEqual(decodeJwt(tokens.id_token!).claims['amr'], ['otp']);
      await assertRefusal(await poll(started, orders), 'device_grant.code_invalid');
      const next = await tokensOf(await post('token', orders, { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }));
      assert.equal(decodeJwt(next.access_token).claims['sid'], claims['sid']);
      const events = await textOf(await visitor.page('/activity'), 200);
      assert.match(events, /Signed in to Orders/);
    });
    it('an origin as audience is the registered one, however it is spelled', async () => {
      const origin = 'https://mcp.example';
      const tool = await register({ resources: [origin], scopes: ['offline_access'] });
      const started = await begin(tool, { scope: 'offline_access', resource: `${origin}/` });
      await decide(started, 'allow');
      const tokens = await tokensOf(await poll(started, tool));
      assert.equal(decodeJwt(tokens.access_token).claims['aud'], origin);
    });
    it('device_grant.access_denied: the person denies; nobody can allow it any more', async () => {
      const started = await begin();
      assert.match(await decide(started, 'deny'), /was not let in/);
      await assertRefusal(await poll(started), 'device_grant.access_denied', { text: /./ });
      assert.equal((await visitor.submit('/device/decision', { user_code: started.user_code, decision: 'allow' })).status, 400);
      await assertRefusal(await poll(started), 'device_grant.access_denied', { text: /./ });
    });
    it('device_grant.access_denied: the person allows it but may not use the application', async () => {
      const closed = await register({ access_policy: 'assigned' });
      const started = await begin(closed);
      const response = await visitor.submit('/device/decision', { user_code: started.user_code, decision: 'allow' });
      assert.match(await textOf(response, 400), /may not use this application/);
      await assertRefusal(await poll(started, closed), 'device_grant.access_denied', { text: /./ });
    });
    it('a device whose client lost the grant meanwhile is not let in, and nobody is told that it was', async () => {
      const someone = await anotherVisitor();
      const losing = await register();
      const started = await begin(losing);
      await tenant.make('PATCH', `/clients/${losing.client_id}`, { grant_types: ['refresh_token'] });
      assert.equal((await someone.submit('/device', { user_code: started.user_code })).status, 400);
      const answer = await someone.submit('/device/decision', { user_code: started.user_code, decision: 'allow' });
      assert.doesNotMatch(await textOf(answer, 400), /signed in/);
    });
    it('device_grant.code_invalid: missing, unknown, of another client, of another tenant, and a person suspended in between', async () => {
      await assertRefusal(await post('token', tv, { grant_type: deviceGrant }), 'device_grant.code_invalid');
      await assertRefusal(await poll({ ...(await begin()), device_code: 'x'.repeat(43) }), 'device_grant.code_invalid');
      const started = await begin();
      const other = await register();
      await assertRefusal(await poll(started, other), 'device_grant.code_invalid');
      const { visitor: leaving, person: leaver } = await openAccount(server, tenant);
      await decide(started, 'allow', leaving);
      await tenant.make('POST', `/users/${leaver.id}/suspend`);
      await assertRefusal(await poll(started), 'device_grant.code_invalid');
    });
    it('a confidential device authenticates; a key binds the refresh tokens of a public one', async () => {
      const someone = await anotherVisitor();
      const box = await register({ type: 'confidential', token_endpoint_auth_method: 'client_secret_post' });
      await assertRefusal(await post('device-authorization', { client_id: box.client_id }), 'client.invalid_client');
      const started = await begin(box);
      await decide(started, 'allow', someone);
      await assertRefusal(await poll(started, { client_id: box.client_id }), 'client.invalid_client');
      await tokensOf(await poll(started, box));
      const [key, other] = [await createProofKey(), await createProofKey()];
      const url = `${tenant.baseUrl}/v1/idp/oidc/token`;
      const iat = (): number => Math.floor(server.clock.nowMs() / 1000);
      const prove = async (by: typeof key): Promise<{ readonly dpop: string }> => {
        const first = await post('token', tv, { grant_type: deviceGrant }, { dpop: await by.prove(url, { claims: { iat: iat() } }) });
        return { dpop: await by.prove(url, { claims: { iat: iat(), nonce: first.headers.get('dpop-nonce') } }) };
      };
      const bound = await begin();
      await decide(bound, 'allow', someone);
      const tokens: Tokens = await tokensOf(await poll(bound, tv, await prove(key)));
      assert.equal(tokens.token_type, 'DPoP');
      const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
      await assertRefusal(await post('token', tv, form, await prove(other)), 'token.refresh_invalid');
      await tokensOf(await post('token', tv, form, await prove(key)));
    });
    it('decided once: of 20 decisions at the same time one counts', async () => {
      const people = await Promise.all(Array.from({ length: 4 }, () => anotherVisitor()));
      const started = await begin();
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_none, index) =>
          people[index % 4]!.submit('/device/decision', { user_code: started.user_code, decision: index % 2 === 0 ? 'allow' : 'deny' }),
        ),
      );
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array.from({ length: 19 }, () => 400)]);
    });
    it('redeemed once: of 50 polls at the same time one gets tokens', async () => {
      const started = await begin();
      await decide(started, 'allow', await anotherVisitor());
      const answers = await Promise.all(Array.from({ length: 50 }, () => poll(started)));
      assert.equal(answers.filter(({ status }) => status === 200).length, 1);
      for (const answer of answers) if (answer.status !== 200) await assertRefusal(answer, 'device_grant.code_invalid');
    });

    it('limits: a code is read to 64 characters, a User-Agent kept to 300', async () => {
      const someone = await anotherVisitor();
      const agent = 'a'.repeat(userAgentCharsMax);
      for (const userAgent of [agent, `${agent}b`]) {
        const started = await jsonOf<Started>(
          await post('device-authorization', tv, { scope: 'openid' }, { 'user-agent': userAgent }),
          200,
        );
        const padded = ' '.repeat(userCodeCharsMax - started.user_code.length);
        const shown = await textOf(await someone.submit('/device', { user_code: `${padded}${started.user_code}` }), 200);
        assert.match(shown, new RegExp(`>${agent}<`));
        assert.equal((await someone.submit('/device', { user_code: ` ${padded}${started.user_code}` })).status, 400);
      }
    });
    it('forms need the token of the session and no foreign origin', async () => {
      const someone = await anotherVisitor();
      const started = await begin();
      for (const path of ['/device', '/device/decision']) {
        const fields = { user_code: started.user_code, decision: 'allow' };
        assert.equal((await someone.submit(path, fields, { csrf: 'x' })).status, 403);
        assert.equal((await someone.submit(path, fields, { origin: 'https://evil.example' })).status, 403);
      }
      await assertRefusal(await poll(started), 'device_grant.authorization_pending');
    });
    it('management.rate_limited: 10 misses of a person or an address in 10 minutes, the next attempt is 429, right codes too', async () => {
      const limited = await createAccountTenant(server, { extra_grants: [deviceGrant] });
      const { visitor: guesser } = await openAccount(server, limited);
      const device = await register({}, limited);
      const start = async (): Promise<Started> =>
        jsonOf<Started>(await post('device-authorization', device, { scope: 'openid' }, {}, limited), 200);
      const started = await start();
      const right = { user_code: started.user_code, decision: 'allow' };
      for (let miss = 0; miss < 10; miss += 1) {
        assert.equal((await guesser.submit('/device', { user_code: 'BBBB-BBBB' })).status, 400, `miss ${miss + 1}`);
        if (miss < 9) await textOf(await guesser.submit('/device', right), 200); // hits do not count
      }
      for (const path of ['/device', '/device/decision']) {
        const refused = await guesser.submit(path, right);
        assert.equal(refused.status, 429);
        assert.ok(Number(refused.headers.get('retry-after')) > 0);
      }
      const neighbour = await openApp(server, 'account', limited, (await createPerson(limited)).email);
      assert.equal((await neighbour.visitor.submit('/device', right)).status, 429, 'somebody else at the same address');
      await assertRefusal(
        await post('token', device, { grant_type: deviceGrant, device_code: started.device_code }, {}, limited),
        'device_grant.authorization_pending',
      );
    });
    it('device_grant.slow_down: a poll sooner than the interval adds 5 seconds; device_grant.expired_token at the end', async () => {
      const [late, started] = [await anotherVisitor(), await begin()];
      await assertRefusal(await poll(started), 'device_grant.authorization_pending');
      await server.clock.advance(deviceCodeIntervalSeconds * 400);
      await assertRefusal(await poll(started), 'device_grant.slow_down', { text: /5 seconds longer/ });
      await server.clock.advance(7_000);
      await assertRefusal(await poll(started), 'device_grant.slow_down', { text: /./ });
      await server.clock.advance(15_000);
      await assertRefusal(await poll(started), 'device_grant.authorization_pending');
      await server.clock.advance(deviceCodeSeconds * 1000);
      await assertRefusal(await poll(started), 'device_grant.expired_token', { text: /./ });
      assert.equal((await late.submit('/device', { user_code: started.user_code })).status, 400);
      assert.equal((await late.submit('/device/decision', { user_code: started.user_code, decision: 'allow' })).status, 400);
      await assertRefusal(await poll(started), 'device_grant.expired_token', { text: /./ });
    });
    it('an approved code that is not fetched in time is over', async () => {
      const someone = await anotherVisitor();
      const started = await begin();
      await decide(started, 'allow', someone);
      await server.clock.advance(deviceCodeSeconds * 1000);
      await assertRefusal(await poll(started), 'device_grant.expired_token', { text: /./ });
    });
  });
}
