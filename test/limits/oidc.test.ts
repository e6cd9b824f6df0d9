// Limits of the OAuth and OpenID Connect endpoints at n and n+1, over HTTP.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import {
  assertionJtiCharsMax,
  assertionLifetimeSecondsMax,
  bindingMessageCharsMax,
  codeVerifierCharsMax,
  codeVerifierCharsMin,
  dpopJtiCharsMax,
  dpopKeyCharsMax,
  dpopProofCharsMax,
  hintCharsMax,
  identifierCharsMax,
  jwksBytesMax,
  jwksKeysMax,
  nonceCharsMax,
  notificationTokenCharsMax,
  parameterCharsMax,
  parametersMax,
  pushedRequestBytesMax,
  pushedRequestsPerClientMax,
  scopeCharsMax,
  stateCharsMax,
} from '../../src/contract/limits.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Services } from '../../src/http/services.ts';
import { cibaGrantType, reachesLoopback } from '../support/ciba.ts';
import { assertionForm, type KeyPair, makeKeyPair, postForm, signAssertion } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { createProofKey, type ProofKey } from '../support/dpop.ts';
import { createClient, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { challenge, exchange, issueCode, postAs, redirectUri, tokensOf, verifier } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestClock, type TestServer } from '../support/server.ts';

const s256 = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** Stands still, so that a limit in seconds can be met exactly. */
const startedAtMs = Date.now();
const stoppedClock: TestClock = { nowMs: () => startedAtMs, advance: async () => assert.fail('this clock stands still') };

for (const database of databases) {
  describe(`limits of OIDC on ${database}`, () => {
    let server: TestServer;
    let services: Services;
    let tenant: Tenant;
    let client: TestClient;
    let user: TestUser;
    before(async () => {
      server = await startTestServer(database, { flags: reachesLoopback, clock: stoppedClock });
      services = server.gatehouse.services;
      tenant = await rootTenant(services);
      client = await createClient(services, tenant);
      user = await createUser(services, tenant);
    });
    after(() => server.close());

    const push = (form: Readonly<Record<string, string>>, as = client): Promise<Response> =>
      postAs(tenant, as, 'par', {
        response_type: 'code',
        redirect_uri: redirectUri,
        scope: 'openid',
        code_challenge: challenge,
        code_challenge_method: 'S256',
        ...form,
      });

    for (const [name, limit, max] of [
      ['state', 'stateCharsMax', stateCharsMax],
      ['nonce', 'nonceCharsMax', nonceCharsMax],
      ['login_hint', 'identifierCharsMax', identifierCharsMax],
      ['acr_values', 'hintCharsMax', hintCharsMax],
      ['ui_locales', 'hintCharsMax', hintCharsMax],
      ['anything', 'parameterCharsMax', parameterCharsMax],
    ] as const)
      it(`${limit}: ${name} of a pushed request`, async () => {
        const taken = await push({ [name]: 'a'.repeat(max) });
        assert.equal(taken.status, 201, await taken.clone().text());
        await assertRefusal(await push({ [name]: 'a'.repeat(max + 1) }), 'par.invalid_request', { text: /./ });
      });

    it('parametersMax: of a pushed request', async () => {
      const own = 5; // what push() sends; the client authenticates in a header
      const more = (count: number) => Object.fromEntries(Array.from({ length: count - own }, (_, at) => [`p${at}`, 'x']));
      assert.equal((await push(more(parametersMax))).status, 201);
      await assertRefusal(await push(more(parametersMax + 1)), 'par.invalid_request', { text: /./ });
    });

    it('pushedRequestBytesMax: what is stored of a pushed request', async () => {
      const form = { nonce: 'n', prompt: 'login', audience: '', acr_values: '\u00e4'.repeat(100) };
      const storedBytes = async (state: string): Promise<number> => {
        assert.equal((await push({ ...form, state })).status, 201);
        const rows = await services.database.read(tenant.id, (queries) =>
          queries.selectFrom('pushed_requests').select('parameters').execute(),
        );
        return Math.max(...rows.map(({ parameters }) => parameters.length).filter((bytes) => bytes <= pushedRequestBytesMax));
      };
      const wide = '\u00e4'.repeat(2350); // six bytes each
      const room = pushedRequestBytesMax - (await storedBytes(wide));
      assert.ok(room > 0 && wide.length + room < stateCharsMax, String(room));
      assert.equal(await storedBytes(`${wide}${'a'.repeat(room)}`), pushedRequestBytesMax);
      await assertRefusal(await push({ ...form, state: `${wide}${'a'.repeat(room + 1)}` }), 'par.invalid_request', {
        text: 'The request is too large.',
      });
    });
    it('7.19 oauth.rate_limited: pushedRequestsPerClientMax requests of a client may wait, and one is used up or expires before another', async () => {
      const busy = await createClient(services, tenant);
      const rows = pushedRequestsPerClientMax - 1;
      await services.database.write(tenant.id, (queries) =>
        sql`INSERT INTO pushed_requests (tenant_id, reference_hash, client_id, parameters, created_at, expires_at)
          WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${sql.lit(rows)})
          SELECT ${sql.lit(tenant.id)}, 'waiting-' || n, ${sql.lit(busy.clientId)}, '', 0, ${sql.lit(startedAtMs + 3_600_000)} FROM numbers`.execute(
          queries,
        ),
      );
      assert.equal((await push({}, busy)).status, 201);
      const refused = await push({}, busy);
      await assertRefusal(refused, 'oauth.rate_limited', { fields: { retry_after_seconds: 10 } });
      assert.equal((await push({})).status, 201, 'another client');
      await services.database.write(tenant.id, (queries) =>
        sql`UPDATE pushed_requests SET used_at = 1 WHERE tenant_id = ${tenant.id} AND reference_hash = 'waiting-1'`.execute(queries),
      );
      assert.equal((await push({}, busy)).status, 201);
      await assertRefusal(await push({}, busy), 'oauth.rate_limited', { fields: { retry_after_seconds: 10 } });
      await services.database.write(tenant.id, (queries) =>
        sql`UPDATE pushed_requests SET expires_at = 1 WHERE tenant_id = ${tenant.id} AND reference_hash = 'waiting-2'`.execute(queries),
      );
      assert.equal((await push({}, busy)).status, 201);
    });

    it('scopeCharsMax: a scope list of exactly so many characters', async () => {
      const listOf = (length: number): readonly string[] => {
        const names = Array.from({ length: 40 }, (_, at) => `s${String(at).padStart(2, '0')}${'x'.repeat(97)}`); // 40 of 100 and the spaces between
        return [...names, 'y'.repeat(length - 40 * 101)];
      };
      for (const [length, status] of [
        [scopeCharsMax, 201],
        [scopeCharsMax + 1, 400],
      ] as const) {
        const scopes = listOf(length);
        const wide = await createClient(services, tenant, { scopes });
        assert.equal(scopes.join(' ').length, length);
        assert.equal((await push({ scope: scopes.join(' ') }, wide)).status, status);
      }
    });

    it('codeVerifierCharsMin, codeVerifierCharsMax: 43 to 128 characters', async () => {
      const redeem = async (length: number): Promise<Response> => {
        const own = 'v'.repeat(length);
        const code = await issueCode(server, tenant, client, user, { codeChallenge: s256(own) });
        return exchange(tenant, client, code, { code_verifier: own });
      };
      for (const length of [codeVerifierCharsMin, codeVerifierCharsMax]) assert.equal((await redeem(length)).status, 200);
      for (const length of [codeVerifierCharsMin - 1, codeVerifierCharsMax + 1])
        await assertRefusal(await redeem(length), 'token.pkce_failed');
    });

    it('stateCharsMax: of a logout', async () => {
      const hint = async (): Promise<string> =>
        (await tokensOf(await exchange(tenant, client, await issueCode(server, tenant, client, user)))).id_token!;
      const logout = async (length: number): Promise<Response> =>
        fetch(
          `${tenant.baseUrl}/v1/idp/oidc/logout?${new URLSearchParams({ id_token_hint: await hint(), post_logout_redirect_uri: client.postLogoutRedirectUris[0]!, state: 's'.repeat(length) })}`,
          { redirect: 'manual' },
        );
      assert.equal((await logout(stateCharsMax)).status, 303);
      await assertRefusal(await logout(stateCharsMax + 1), 'logout.invalid_request');
    });

    it('bindingMessageCharsMax, identifierCharsMax, notificationTokenCharsMax: of a CIBA request', async () => {
      const ciba = { grantTypes: [cibaGrantType], scopes: ['openid'] } as const;
      const poll = await createClient(services, tenant, { ...ciba, backchannelTokenDeliveryMode: 'poll' });
      const ping = await createClient(services, tenant, {
        ...ciba,
        backchannelTokenDeliveryMode: 'ping',
        backchannelClientNotificationEndpoint: 'https://rp.example/notify',
      });
      const start = (as: TestClient, form: object): Promise<Response> =>
        postAs(tenant, as, 'bc-authorize', { scope: 'openid', login_hint: user.email, ...form });
      assert.equal((await start(poll, { binding_message: 'b'.repeat(bindingMessageCharsMax) })).status, 200);
      await assertRefusal(await start(poll, { binding_message: 'b'.repeat(bindingMessageCharsMax + 1) }), 'ciba.invalid_request', {
        text: /./,
      });
      const long = await createUser(services, tenant, `${'l'.repeat(identifierCharsMax - 12)}@example.com`);
      assert.equal((await start(poll, { login_hint: long.email })).status, 200);
      const longer = await createUser(services, tenant, `${'l'.repeat(identifierCharsMax - 11)}@example.com`);
      await assertRefusal(await start(poll, { login_hint: longer.email }), 'ciba.unknown_user_id');
      assert.equal((await start(ping, { client_notification_token: 't'.repeat(notificationTokenCharsMax) })).status, 200);
      await assertRefusal(
        await start(ping, { client_notification_token: 't'.repeat(notificationTokenCharsMax + 1) }),
        'ciba.invalid_request',
        {
          text: /./,
        },
      );
    });

    describe('client assertions', () => {
      let keys: KeyPair;
      let host: Server;
      let document = '';
      let paths = 0;
      before(async () => {
        keys = makeKeyPair('ES256');
        host = createServer((_request, response) => response.end(document));
        await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
      });
      after(() => new Promise((resolve) => host.close(resolve)));
      const revoke = async (as: TestClient, claims: object = {}): Promise<Response> => {
        const assertion = await signAssertion(keys, as.clientId, server.url, server.clock.nowMs(), { ...claims });
        return postForm(`${server.url}/v1/idp/oidc/revoke`, { token: 'x', ...assertionForm(assertion) });
      };
      const byKey = (changes: object): Promise<TestClient> =>
        createClient(services, tenant, { tokenEndpointAuthMethod: 'private_key_jwt', secretHash: undefined, ...changes });

      it('assertionJtiCharsMax, assertionLifetimeSecondsMax', async () => {
        const as = await byKey({ jwks: { keys: [keys.publicJwk] } });
        assert.equal((await revoke(as, { jti: 'j'.repeat(assertionJtiCharsMax) })).status, 200);
        await assertRefusal(await revoke(as, { jti: 'j'.repeat(assertionJtiCharsMax + 1) }), 'client.invalid_client');
        const now = Math.floor(server.clock.nowMs() / 1000);
        assert.equal((await revoke(as, { exp: now + assertionLifetimeSecondsMax })).status, 200);
        await assertRefusal(await revoke(as, { exp: now + assertionLifetimeSecondsMax + 1 }), 'client.invalid_client');
      });

      it('jwksBytesMax, jwksKeysMax: of what a jwks_uri answers', async () => {
        const { port } = host.address() as AddressInfo; // listening on TCP
        const fetched = async (text: string): Promise<number> => {
          paths += 1;
          document = text;
          return (await revoke(await byKey({ jwks: undefined, jwksUri: `http://127.0.0.1:${port}/${paths}` }))).status;
        };
        const sized = (bytes: number): string => JSON.stringify({ keys: [keys.publicJwk] }).padEnd(bytes, ' ');
        assert.equal(await fetched(sized(jwksBytesMax)), 200);
        assert.equal(await fetched(sized(jwksBytesMax + 1)), 401);
        const { publicJwk: other } = makeKeyPair('ES256');
        const last = (count: number): string =>
          JSON.stringify({ keys: [...Array.from({ length: count - 1 }, (_, at) => ({ ...other, kid: `k${at}` })), keys.publicJwk] });
        assert.equal(await fetched(last(jwksKeysMax)), 200);
        assert.equal(await fetched(last(jwksKeysMax + 1)), 401);
      });
    });

    describe('DPoP proofs', () => {
      let key: ProofKey;
      const iat = Math.floor(startedAtMs / 1000);
      const tokenUrl = (): string => `${tenant.baseUrl}/v1/idp/oidc/token`;
      before(async () => {
        key = await createProofKey();
      });
      const redeem = async (dpop: string): Promise<Response> => {
        const code = await issueCode(server, tenant, client, user);
        const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier };
        return postAs(tenant, client, 'token', form, { dpop });
      };
      const nonce = async (): Promise<string> =>
        (await redeem(await key.prove(tokenUrl(), { claims: { iat } }))).headers.get('dpop-nonce') ?? '';

      it('dpopJtiCharsMax', async () => {
        const claims = { nonce: await nonce(), iat };
        assert.equal((await redeem(await key.prove(tokenUrl(), { claims: { ...claims, jti: 'j'.repeat(dpopJtiCharsMax) } }))).status, 200);
        const over = await key.prove(tokenUrl(), { claims: { ...claims, jti: 'k'.repeat(dpopJtiCharsMax + 1) } });
        await assertRefusal(await redeem(over), 'dpop.invalid_proof');
      });

      it('dpopProofCharsMax: a proof of exactly so many characters', async () => {
        const claims = { nonce: await nonce(), iat };
        const proofOf = async (length: number): Promise<string> => {
          // Base64url steps by one or two characters a byte; padding the header too reaches every length.
          for (let inHeader = 0; inHeader < 3; inHeader += 1)
            for (let pad = Math.floor((length * 3) / 4) - 700; ; pad += 1) {
              const header = { kid: 'k'.repeat(inHeader) };
              const proof = await key.prove(tokenUrl(), { claims: { ...claims, pad: 'p'.repeat(pad) }, header });
              if (proof.length === length) return proof;
              if (proof.length > length) break;
            }
          throw new Error(`no proof of ${length} characters`);
        };
        assert.equal((await redeem(await proofOf(dpopProofCharsMax))).status, 200);
        await assertRefusal(await redeem(await proofOf(dpopProofCharsMax + 1)), 'dpop.invalid_proof');
      });

      it('dpopKeyCharsMax: a member of the key', async () => {
        const claims = { nonce: await nonce(), iat };
        const withKid = (length: number): Promise<string> =>
          key.prove(tokenUrl(), { claims, header: { jwk: { ...key.publicJwk, kid: 'k'.repeat(length) } } });
        assert.equal((await redeem(await withKid(dpopKeyCharsMax))).status, 200);
        await assertRefusal(await redeem(await withKid(dpopKeyCharsMax + 1)), 'dpop.invalid_proof');
      });
    });
  });
}
