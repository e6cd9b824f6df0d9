// Workload identity (design 18, part 3; RFC 7523): programs that are known by tokens of their platform, as their client authentication and
// as a grant. The issuer is a server of the test. Whatever is wrong with a token is one answer, and the reason is for the audit trail.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SignJWT } from 'jose';
import { applyDocument } from '../../src/administration/declaration/apply.ts';
import { assembleJwt, assertionForm, type Form, makeKeyPair, postForm } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { callJson, createTestTenant, type Json, jsonOf, type Managed } from '../support/management.ts';
import { decodeJwt, type Tokens } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { machineWith } from '../support/roles.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { startTokenIssuer, type TokenIssuer } from '../support/token-issuer.ts';
import { loopbackAllowed } from '../support/webhooks.ts';

const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const orders = 'https://orders.example';
const subject = 'repo:acme/shop:environment:production';

for (const database of databases)
  describe(`workload identity on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let platform: TokenIssuer;
    let issuer: Json;
    let job: string;
    before(async () => {
      platform = await startTokenIssuer();
      server = await startTestServer(database, { flags: loopbackAllowed });
      tenant = await createTestTenant(server, {
        settings: { extra_grants: [grantType], rate_limits: { client_auth_failures_per_ip: roomyRate } },
      });
      issuer = await tenant.make('POST', '/workload-issuers', { name: 'Platform', issuer: platform.url });
      job = await createJob({ workloads: [{ issuer: platform.url, subject }] });
    });
    after(async () => {
      await server.close();
      await platform.close();
    });

    const createJob = async (fields: Json = {}, at = tenant): Promise<string> => {
      const made = await at.make<{ client_id: string }>('POST', '/clients', {
        name: 'Deployment',
        token_endpoint_auth_method: 'federated_jwt',
        grant_types: ['client_credentials', grantType],
        resources: [orders],
        scopes: ['users:read', 'orders:read'],
        ...fields,
      });
      assert.equal((made as Json)['client_secret'], undefined);
      return made.client_id;
    };
    const seconds = (): number => Math.floor(server.clock.nowMs() / 1000);
    const sign = (claims: Json = {}, header: Json = {}, key = platform.key()): Promise<string> =>
      new SignJWT({ iss: platform.url, sub: subject, aud: tenant.baseUrl, iat: seconds(), exp: seconds() + 600, ...claims })
        .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'JWT', ...header })
        .sign(key.key);
    const post = (path: string, form: Form, at = tenant): Promise<Response> => postForm(`${at.baseUrl}/v1/idp/oidc/${path}`, form);
    const authenticated = async (token: string, more: Json = {}): Promise<Response> =>
      post('token', { grant_type: 'client_credentials', ...assertionForm(token), ...(more as Record<string, string>) });
    const granted = (assertion: string, more: Json = {}, at = tenant): Promise<Response> =>
      post('token', { grant_type: grantType, assertion, ...(more as Record<string, string>) }, at);
    const tokensOf = async (response: Response): Promise<Tokens> => {
      assert.equal(response.status, 200, await response.clone().text());
      return (await response.json()) as Tokens;
    };

    it('a token of the platform is the client at the Management API and at every endpoint, named or not, again and again', async () => {
      const token = await sign();
      for (const more of [{}, { client_id: job }, {}]) {
        const { access_token: own } = await tokensOf(await authenticated(token, more));
        assert.equal(decodeJwt(own).claims['client_id'], job);
        assert.equal((await callJson(`${tenant.managementApi}/users`, own, 'GET')).status, 200);
      }
      const { access_token: own } = await tokensOf(await authenticated(token));
      assert.equal((await jsonOf(await post('introspect', { token: own, ...assertionForm(token) }), 200))['active'], true);
      assert.equal((await post('revoke', { token: own, ...assertionForm(token) })).status, 200);
      assert.equal((await jsonOf(await post('introspect', { token: own, ...assertionForm(token) }), 200))['active'], false);
      const asking = await createJob({
        grant_types: ['authorization_code', 'urn:openid:params:grant-type:ciba'],
        redirect_uris: ['https://rp.example/cb'],
        scopes: ['openid'],
        workloads: [{ issuer: platform.url, subject: 'asking' }],
      });
      const its = assertionForm(await sign({ sub: 'asking' }));
      const request = {
        response_type: 'code',
        redirect_uri: 'https://rp.example/cb',
        scope: 'openid',
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method: 'S256',
      };
      assert.equal((await post('par', { client_id: asking, ...request, ...its })).status, 201);
      const begun = await post('bc-authorize', { scope: 'openid', login_hint: 'nobody@acme.example', ...its });
      assert.notEqual(begun.status, 401, await begun.text());
    });

    it('as a grant it gives a token of an API for the program, bound and narrowed as any, whatever its own method', async () => {
      const token = await sign();
      const { access_token: own, ...rest } = await tokensOf(await granted(token));
      assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 900, scope: 'orders:read' });
      const { sub, aud, client_id: client, sid } = decodeJwt(own).claims;
      assert.deepEqual({ sub, aud, client, sid }, { sub: job, aud: orders, client: job, sid: undefined });
      await tokensOf(await granted(token, { resource: `${orders}/`, client_id: job, ...assertionForm(token) }));
      await assertRefusal(await granted(token, { resource: tenant.managementApi }), 'token.invalid_target', {
        text: 'The requested audience is not available to this client.',
      });
      await assertRefusal(await granted(token, { scope: 'users:read' }), 'token.invalid_scope', { text: 'A scope was not granted.' });
      const both = await createJob({
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: { keys: [makeKeyPair('ES256').publicJwk] },
        workloads: [{ issuer: platform.url, subject: 'both' }],
      });
      assert.equal(decodeJwt((await tokensOf(await granted(await sign({ sub: 'both' })))).access_token).claims['sub'], both);
      await assertRefusal(await authenticated(await sign({ sub: 'both' })), 'client.invalid_client');
      await assertRefusal(await granted(await sign({ sub: 'both' }), assertionForm(token)), 'jwt_bearer.assertion_invalid');
    });

    it('claims are compared as text, all of them', async () => {
      const own = await createJob({
        workloads: [{ issuer: platform.url, claims: { repository_id: '42', ref_protected: 'true', environment: 'production' } }],
      });
      const good = { sub: 'whatever', repository_id: 42, ref_protected: true, environment: 'production' };
      assert.equal(decodeJwt((await tokensOf(await granted(await sign(good)))).access_token).claims['sub'], own);
      const wrong: readonly Json[] = [
        { repository_id: 43 },
        { repository_id: [42] },
        { repository_id: undefined },
        { ref_protected: false },
        { environment: 'Production' },
        { environment: 'production-2' },
        { environment: { toString: 'production' } },
      ];
      for (const one of wrong) await assertRefusal(await granted(await sign({ ...good, ...one })), 'jwt_bearer.assertion_invalid');
    });

    it('every fault is byte-identical, as a grant and as authentication', async (context) => {
      const elsewhere = await createTestTenant(server, { settings: { extra_grants: [grantType] } });
      const foreign = await startTokenIssuer();
      context.after(foreign.close);
      await elsewhere.make('POST', '/workload-issuers', { name: 'Theirs', issuer: foreign.url });
      const disabled = await createJob({ workloads: [{ issuer: platform.url, subject: 'disabled' }], enabled: false });
      for (const _ of [1, 2]) await createJob({ workloads: [{ issuer: platform.url, subject: 'twice' }] });
      const stranger = makeKeyPair('RS256', platform.key().kid);
      const good = await sign();
      const [header, , signature] = good.split('.');
      const changed = Buffer.from(JSON.stringify({ ...decodeJwt(good).claims, sub: 'disabled' })).toString('base64url');
      const hmac = new SignJWT({ iss: platform.url, sub: subject, aud: tenant.baseUrl, iat: seconds(), exp: seconds() + 600 });
      const faults: Readonly<Record<string, string>> = {
        'unknown issuer': await sign({ iss: 'https://stranger.example' }),
        'issuer with a slash': await sign({ iss: `${platform.url}/` }),
        'issuer of another tenant': await sign({ iss: foreign.url }, {}, foreign.key()),
        'another key under its name': await sign({}, {}, stranger),
        'unknown key': await sign({}, { kid: 'unknown' }, makeKeyPair('RS256', 'unknown')),
        'claims changed': `${header}.${changed}.${signature}`,
        'no algorithm': assembleJwt({ alg: 'none' }, decodeJwt(good).claims, Buffer.alloc(0)),
        'its public key as a secret': await hmac
          .setProtectedHeader({ alg: 'HS256', kid: platform.key().kid })
          .sign(Buffer.from(JSON.stringify(platform.key().publicJwk))),
        'a key in the header': await sign({}, { jwk: stranger.publicJwk }, stranger),
        'an address of keys in the header': await sign({}, { jku: `${foreign.url}/keys` }, foreign.key()),
        'an access token by type': await sign({}, { typ: 'at+jwt' }),
        'for another tenant': await sign({ aud: elsewhere.baseUrl }),
        'for nobody': await sign({ aud: undefined }),
        'for its own issuer': await sign({ aud: platform.url }),
        expired: await sign({ exp: seconds() }),
        'without an end': await sign({ exp: undefined }),
        'longer than it may': await sign({ exp: seconds() + 3660 }),
        'longer than it may, made long ago': await sign({ iat: seconds() - 3600, exp: seconds() + 60 }),
        'longer than it may, without iat': await sign({ iat: undefined, exp: seconds() + 3660 }),
        'made later': await sign({ iat: seconds() + 60 }),
        'not yet': await sign({ nbf: seconds() + 60 }),
        'of no client': await sign({ sub: `${subject} ` }),
        'in other letters': await sign({ sub: subject.toUpperCase() }),
        'without a subject': await sign({ sub: undefined }),
        'of a disabled client': await sign({ sub: 'disabled' }),
        'of two clients': await sign({ sub: 'twice' }),
      };
      const [grants, authentications] = [new Set<string>(), new Set<string>()];
      for (const [name, token] of Object.entries(faults)) {
        const [asGrant, asClient] = [await granted(token), await authenticated(token)];
        assert.deepEqual([asGrant.status, asClient.status], [400, 401], name);
        grants.add(await assertRefusal(asGrant, 'jwt_bearer.assertion_invalid'));
        authentications.add(await assertRefusal(asClient, 'client.invalid_client'));
      }
      assert.equal((await authenticated(good, { client_id: disabled })).status, 401);
      assert.deepEqual([grants.size, authentications.size], [1, 1]);
    });

    it('explain tells why', async () => {
      const own = await createTestTenant(server, { settings: { extra_grants: [grantType] } });
      await own.make('POST', '/workload-issuers', { name: 'Platform', issuer: platform.url });
      for (const _ of [1, 2]) await createJob({ workloads: [{ issuer: platform.url, subject }] }, own);
      const refused = await granted(await sign({ aud: own.baseUrl }), {}, own);
      await assertRefusal(refused, 'jwt_bearer.assertion_invalid');
      const id = refused.headers.get('x-request-id')!;
      const found = await eventually(
        async () => (await own.make<{ items: readonly Json[] }>('GET', `/events?request_id=${id}`)).items[0],
        'the refusal in the trail',
      );
      assert.equal(found?.['reason'], 'workload_of_several_clients');
    });

    it('named by client_id one of two clients of a workload authenticates; the grant, which names none, is refused', async () => {
      const [first, second] = [
        await createJob({ workloads: [{ issuer: platform.url, subject: 'shared' }] }),
        await createJob({ workloads: [{ issuer: platform.url, subject: 'shared' }] }),
      ];
      const token = await sign({ sub: 'shared' });
      for (const id of [first, second])
        assert.equal(decodeJwt((await tokensOf(await authenticated(token, { client_id: id }))).access_token).claims['client_id'], id);
      await assertRefusal(await authenticated(token), 'client.invalid_client');
      await assertRefusal(await granted(token, { client_id: first }), 'jwt_bearer.assertion_invalid');
    });

    it('an issuer that is disabled, changed or deleted is none from the next request', async () => {
      const token = await sign();
      const path = `/workload-issuers/${issuer['id']}`;
      await tokensOf(await authenticated(token));
      await tenant.make('PATCH', path, { enabled: false });
      await assertRefusal(await authenticated(token), 'client.invalid_client');
      await tenant.make('PATCH', path, { enabled: true, audiences: ['https://gatehouse.example'] });
      await assertRefusal(await granted(token), 'jwt_bearer.assertion_invalid');
      await tokensOf(await granted(await sign({ aud: ['https://other.example', 'https://gatehouse.example'] })));
      await tenant.make('PATCH', path, { audiences: [], lifetime_seconds_max: 60 });
      await assertRefusal(await granted(token), 'jwt_bearer.assertion_invalid');
      await tokensOf(await granted(await sign({ exp: seconds() + 60 })));
      await tenant.make('PATCH', path, { lifetime_seconds_max: 3600 });
      await tokensOf(await authenticated(token));
      await tenant.make('PATCH', `/clients/${job}`, { workloads: [{ issuer: platform.url, subject: 'other' }] });
      await assertRefusal(await authenticated(token), 'client.invalid_client');
      await tenant.make('PATCH', `/clients/${job}`, { workloads: [{ issuer: platform.url, subject }] });
      await tokensOf(await authenticated(token));
    });

    it('keys that change are fetched by the signature that needs them; a dead server’s are good for an hour', async () => {
      const next = makeKeyPair('ES256');
      platform.rotate(next);
      server.clock.advance(11_000); // the pause between two fetches
      await tokensOf(await granted(await sign()));
      platform.away(true);
      server.clock.advance(3_500_000);
      await tokensOf(await granted(await sign()));
      server.clock.advance(120_000);
      await assertRefusal(await granted(await sign()), 'jwt_bearer.assertion_invalid');
      platform.away(false);
      server.clock.advance(11_000);
      await tokensOf(await granted(await sign()));
      // Strangers who invent keys do not make us hammer the platform.
      const before = platform.asked();
      for (let at = 0; at < 20; at += 1) await granted(await sign({}, { kid: `k${at}` }, makeKeyPair('ES256', `k${at}`)));
      assert.ok(platform.asked() - before <= 2, `${platform.asked() - before} fetches`);
    });

    it('a discovery document of another issuer gives no keys; keys at an address and keys themselves do', async (context) => {
      const other = await startTokenIssuer();
      context.after(other.close);
      other.says({ issuer: 'https://somebody.example' });
      const made = await tenant.make('POST', '/workload-issuers', { name: 'Other', issuer: other.url });
      await createJob({ workloads: [{ issuer: other.url, subject: 'other' }] });
      const token = (): Promise<string> => sign({ iss: other.url, sub: 'other' }, {}, other.key());
      await assertRefusal(await granted(await token()), 'jwt_bearer.assertion_invalid');
      for (const keys of [{ jwks_uri: `${other.url}/keys` }, { jwks: { keys: [other.key().publicJwk] } }]) {
        await tenant.make('PATCH', `/workload-issuers/${made['id']}`, { keys });
        await tokensOf(await granted(await token()));
      }
      const spiffe = 'spiffe://acme.example';
      await tenant.make('POST', '/workload-issuers', {
        name: 'SPIFFE',
        issuer: spiffe,
        keys: { jwks: { keys: [{ ...other.key().publicJwk, use: 'jwt-svid' }] } },
      });
      await createJob({ workloads: [{ issuer: spiffe, subject: `${spiffe}/job` }] });
      const ofDomain = (claims: Json, header: Json = {}): Promise<string> =>
        sign({ iss: spiffe, sub: `${spiffe}/job`, ...claims }, header, other.key());
      await tokensOf(await granted(await ofDomain({ iat: undefined }, { typ: 'JOSE' })));
      // As agents make them: the trust domain is that of the subject.
      await tokensOf(await granted(await ofDomain({ iss: undefined })));
      await createJob({ workloads: [{ issuer: spiffe, claims: { scope: 'any' } }] });
      await tokensOf(await granted(await ofDomain({ iss: undefined, sub: `${spiffe}/other`, scope: 'any' })));
      for (const sub of ['spiffe://evil.example/job', `${spiffe}.evil.example/job`, spiffe, `${spiffe}/`, 'job', undefined])
        for (const iss of [spiffe, undefined])
          await assertRefusal(await granted(await ofDomain({ iss, sub, scope: 'any' })), 'jwt_bearer.assertion_invalid');
    });

    it('whoever writes an issuer holds what the clients have that name it: they could be each of them', async () => {
      const weak = await machineWith(tenant, ['clients:read', 'clients:write']);
      const path = `/workload-issuers/${issuer['id']}`;
      const mine = makeKeyPair('ES256');
      for (const [method, body] of [
        ['PATCH', { keys: { jwks: { keys: [mine.publicJwk] } } }],
        ['PATCH', { issuer: 'https://moved.example' }],
        ['PATCH', { audiences: ['https://weak.example'] }],
        ['DELETE', undefined],
      ] as const)
        assert.match(await (await weak.call(method, path, body)).text(), /lacks the capability users:read/, method);
      // Named before it is registered: to register it would be the same.
      await createJob({ workloads: [{ issuer: 'https://later.example', subject: 'x' }] });
      const later = { name: 'Later', issuer: 'https://later.example', keys: { jwks: { keys: [mine.publicJwk] } } };
      assert.match(await (await weak.call('POST', '/workload-issuers', later)).text(), /lacks the capability users:read/);
      const free = await weak.make('POST', '/workload-issuers', { ...later, issuer: 'https://free.example' });
      assert.match(
        await (await weak.call('PATCH', `/workload-issuers/${free['id']}`, { issuer: 'https://later.example' })).text(),
        /lacks the capability users:read/,
      );
      assert.match(
        await (await weak.call('PATCH', `/clients/${job}`, { workloads: [{ issuer: 'https://free.example', subject: 'x' }] })).text(),
        /lacks the capability users:read/,
      );
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/workload-issuers?search=LATER.example');
      assert.deepEqual(items, []);
    });

    it('clients and issuers of a document are known as well, until a document takes their workload away', async () => {
      const own = await createTestTenant(server, { settings: { extra_grants: [grantType] } });
      const apply = (workloads: readonly Json[]): Promise<unknown> =>
        applyDocument(server.gatehouse.services, own.slug, [
          'gatehouse: 1',
          'clients:',
          `  - { client_id: deployment, name: Deployment, token_endpoint_auth_method: private_key_jwt, jwks: ${JSON.stringify({ keys: [makeKeyPair('ES256').publicJwk] })},`,
          `      grant_types: ["${grantType}"], resources: ["${orders}"], workloads: ${JSON.stringify(workloads)} }`,
          'workload_issuers:',
          `  - { name: Platform, issuer: "${platform.url}" }`,
        ]);
      const ask = async (): Promise<Response> => granted(await sign({ aud: own.baseUrl }), {}, own);
      await apply([{ issuer: platform.url, subject }]);
      assert.equal(decodeJwt((await tokensOf(await ask())).access_token).claims['sub'], 'deployment');
      await apply([{ issuer: platform.url, subject: 'other' }]);
      await assertRefusal(await ask(), 'jwt_bearer.assertion_invalid');
      await apply([
        { issuer: platform.url, subject: 'other' },
        { issuer: platform.url, subject },
      ]);
      await tokensOf(await ask());
      await apply([]);
      await assertRefusal(await ask(), 'jwt_bearer.assertion_invalid');
    });

    it('what a client cannot be is said when it is registered', async () => {
      const refusals: readonly (readonly [string, Json, RegExp])[] = [
        ['/clients', { name: 'X', token_endpoint_auth_method: 'federated_jwt' }, /workloads must name one or more|must name one or more/],
        ['/clients', { name: 'X', workloads: [{ issuer: platform.url }] }, /must name a subject, claims or both/],
        ['/clients', { name: 'X', workloads: [{ issuer: 'platform', subject: 'x' }] }, /has an issuer that must be an https URL/],
        [
          '/clients',
          { name: 'X', type: 'public', token_endpoint_auth_method: 'federated_jwt', workloads: [{ issuer: platform.url, subject: 'x' }] },
          /none for public clients/,
        ],
        ['/workload-issuers', { name: 'X', issuer: tenant.baseUrl }, /must not be this tenant/],
        ['/workload-issuers', { name: 'X', issuer: 'spiffe://acme.example/path' }, /must be an https URL/],
        ['/workload-issuers', { name: 'X', issuer: 'spiffe://other.example' }, /a trust domain has no address/],
        ['/workload-issuers', { name: 'X', issuer: 'https://x.example', keys: {} }, /keys/],
        [
          '/workload-issuers',
          { name: 'X', issuer: 'https://x.example', keys: { discovery: true, jwks_uri: 'https://x.example/keys' } },
          /keys/,
        ],
        [
          '/workload-issuers',
          { name: 'X', issuer: 'https://x.example', keys: { jwks_uri: 'http://x.example/keys' } },
          /must be an https URL/,
        ],
      ];
      for (const [path, body, text] of refusals) {
        const response = await tenant.call('POST', path, body);
        assert.equal(response.status, 400, JSON.stringify(body));
        assert.match(await response.text(), text);
      }
      assert.equal((await tenant.call('POST', '/workload-issuers', { name: 'Again', issuer: platform.url })).status, 409);
    });
  });
