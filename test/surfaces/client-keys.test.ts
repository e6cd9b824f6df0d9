// jwks_uri of private_key_jwt clients: fetched once, kept, fetched again when a key rolls over, and never more often than
// the pause allows; and the limit on failed authentications per address.
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { keysFault } from '../../src/domain/client/jwk-set.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { reachesLoopback } from '../support/ciba.ts';
import { assertionForm, basic, type KeyPair, makeKeyPair, postForm, signAssertion } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, rootTenant, type TestClient } from '../support/fixtures.ts';
import { assertRefusal } from '../support/refusal.ts';
import { rsaKeysOfExponent } from '../support/rsa-keys.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`keys of clients on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let host: Server;
    let uri: string;
    let fetches = 0;
    let answer: { readonly status: number; readonly body: string; readonly location?: string };
    const jwks = (...keys: readonly KeyPair[]) => ({ status: 200, body: JSON.stringify({ keys: keys.map((key) => key.publicJwk) }) });

    before(async () => {
      server = await startTestServer(database, { flags: reachesLoopback });
      tenant = await rootTenant(server.gatehouse.services);
      host = createServer((_request, response) => {
        fetches += 1;
        response.writeHead(answer.status, answer.location === undefined ? {} : { location: answer.location }).end(answer.body);
      });
      await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
      uri = `http://127.0.0.1:${(host.address() as AddressInfo).port}`; // listening on TCP
    });
    after(async () => {
      await server.close();
      await new Promise((resolve) => host.close(resolve));
    });

    let paths = 0;
    const makeClient = (jwksUri = `${uri}/jwks-${++paths}`): Promise<TestClient> =>
      createClient(server.gatehouse.services, tenant, {
        tokenEndpointAuthMethod: 'private_key_jwt',
        secretHash: undefined,
        jwks: undefined,
        jwksUri,
      });
    const status = async (client: TestClient, key: KeyPair, kid: string | undefined = key.kid): Promise<number> => {
      const assertion = await signAssertion({ ...key, kid }, client.clientId, server.url, server.clock.nowMs());
      const response = await postForm(`${server.url}/v1/idp/oidc/revoke`, { token: 'x', ...assertionForm(assertion) });
      await response.arrayBuffer();
      return response.status;
    };

    it('every algorithm; one fetch serves many requests', async () => {
      const pairs = (['ES256', 'ES384', 'RS256', 'PS256', 'EdDSA'] as const).map((alg) => makeKeyPair(alg));
      const client = await makeClient();
      answer = jwks(...pairs);
      fetches = 0;
      for (const pair of pairs) assert.equal(await status(client, pair), 200, pair.alg);
      assert.equal(fetches, 1);
    });
    it('a burst at the start makes one fetch', async () => {
      const pair = makeKeyPair('ES256');
      const client = await makeClient();
      answer = jwks(pair);
      fetches = 0;
      const statuses = await Promise.all(Array.from({ length: 20 }, () => status(client, pair)));
      assert.deepEqual([...new Set(statuses)], [200]);
      assert.equal(fetches, 1);
    });
    it('rollover: an unknown kid fetches again, at most once in ten seconds', async () => {
      const [old, next, stranger] = [makeKeyPair('ES256'), makeKeyPair('ES256'), makeKeyPair('ES256')];
      const client = await makeClient();
      answer = jwks(old);
      fetches = 0;
      assert.equal(await status(client, old), 200);
      answer = jwks(old, next);
      assert.equal(await status(client, next), 401, 'within the pause');
      for (let attempt = 0; attempt < 10; attempt += 1) assert.equal(await status(client, stranger), 401);
      assert.equal(fetches, 1);
      await server.clock.advance(10_001);
      assert.equal(await status(client, next), 200);
      assert.equal(fetches, 2);
      for (let attempt = 0; attempt < 10; attempt += 1) assert.equal(await status(client, stranger), 401);
      assert.equal(fetches, 2);
      assert.equal(await status(client, old), 200);
    });
    it('a key that was taken away stops working within ten minutes; an unreachable server is bridged for an hour', async () => {
      const [old, next] = [makeKeyPair('ES256'), makeKeyPair('ES256')];
      const client = await makeClient();
      answer = jwks(old, next);
      assert.equal(await status(client, old), 200);
      answer = jwks(next);
      await server.clock.advance(600_001);
      assert.equal(await status(client, old), 401);
      assert.equal(await status(client, next), 200);
      answer = { status: 500, body: '' };
      await server.clock.advance(1_800_000);
      assert.equal(await status(client, next), 200);
      await server.clock.advance(1_800_001);
      assert.equal(await status(client, next), 401);
    });
    it('an RSA key with a long exponent is none: of a set of them each request would verify with every one', async () => {
      const pairOf = (exponent: bigint): KeyPair => {
        const { privateKey, publicKey } = rsaKeysOfExponent(exponent);
        const kid = `of ${exponent}`;
        return { alg: 'RS256', kid, key: privateKey, publicJwk: { ...publicKey.export({ format: 'jwk' }), kid } };
      };
      const [usual, longest, long] = [pairOf(65_537n), pairOf(2n ** 31n - 1n), pairOf(2n ** 61n - 1n)];
      const client = await makeClient();
      answer = jwks(usual, longest, long);
      for (const pair of [usual, longest]) assert.equal(await status(client, pair), 200, pair.kid);
      assert.equal(await status(client, long), 401);
      const fault = 'must hold RSA keys of 2048 to 8192 bits, with an exponent of at most 33';
      assert.deepEqual(
        [keysFault({ keys: [usual.publicJwk, longest.publicJwk] }), keysFault({ keys: [long.publicJwk] })],
        [undefined, fault],
      );
    });
    it('what is no key set: 401, one fetch, never a fault', async () => {
      const pair = makeKeyPair('ES256');
      const good = jwks(pair).body;
      const answers = [
        { status: 404, body: good },
        { status: 302, body: good, location: `${uri}/elsewhere` },
        { status: 200, body: 'nonsense' },
        { status: 200, body: '[]' },
        { status: 200, body: '{"keys":{}}' },
        { status: 200, body: '{"keys":[null,1,"x",[],{},{"kty":"EC"},{"kty":"oct","k":"AAAA"}]}' },
        { status: 200, body: `${good}${' '.repeat(64 * 1024)}` },
      ];
      for (const one of answers) {
        const client = await makeClient();
        answer = one;
        fetches = 0;
        assert.equal(await status(client, pair), 401, one.body.slice(0, 40));
        assert.equal(fetches, 1);
      }
    });
    it('limits of a key set: 100 keys and 64 KiB pass, more does not', async () => {
      const pair = makeKeyPair('ES256', 'mine');
      const others = Array.from({ length: 99 }, (_, index) => ({ ...pair.publicJwk, kid: `other-${index}`, use: 'enc' }));
      const whole = JSON.stringify({ keys: [...others, pair.publicJwk] });
      const sets: readonly (readonly [string, number])[] = [
        [whole, 200],
        [JSON.stringify({ keys: [...others, others[0], pair.publicJwk] }), 401],
        [whole.padEnd(64 * 1024, ' '), 200],
        [whole.padEnd(64 * 1024 + 1, ' '), 401],
      ];
      for (const [body, expected] of sets) {
        answer = { status: 200, body };
        assert.equal(await status(await makeClient(), pair), expected, `${body.length} bytes`);
      }
    });
    it('use, key_ops and alg of a key are respected', async () => {
      const pair = makeKeyPair('RS256', 'k');
      for (const change of [{ use: 'enc' }, { key_ops: ['encrypt'] }, { alg: 'PS256' }]) {
        const client = await makeClient();
        answer = { status: 200, body: JSON.stringify({ keys: [{ ...pair.publicJwk, ...change }] }) };
        assert.equal(await status(client, pair), 401, JSON.stringify(change));
      }
    });
    it('an address in a private network is not fetched', async () => {
      assert.equal(await status(await makeClient('https://10.0.0.1/jwks'), makeKeyPair('ES256')), 401);
    });

    it('7.19 oauth.rate_limited: 60 failures of a client from an address are answered 401, the 61st 429; right credentials pass', async () => {
      const limited = await createOtherTenant(server.gatehouse.services, `limited-${database}`);
      const client = await createClient(server.gatehouse.services, limited);
      const post = (secret: string): Promise<Response> =>
        postForm(`${limited.baseUrl}/v1/idp/oidc/revoke`, { token: 'x' }, basic(client.clientId, secret));
      for (let attempt = 0; attempt < 100; attempt += 1) assert.equal((await post(client.secret)).status, 200);
      for (let attempt = 0; attempt < 60; attempt += 1) assert.equal((await post('wrong')).status, 401, `failure ${attempt + 1}`);
      const response = await post('wrong');
      const waitSeconds = Number(response.headers.get('retry-after'));
      assert.ok(waitSeconds >= 1 && waitSeconds <= 60, `retry-after ${waitSeconds}`);
      await assertRefusal(response, 'oauth.rate_limited', { text: 'Too many requests.', fields: { retry_after_seconds: waitSeconds } });
      assert.equal((await post(client.secret)).status, 200);
    });
  });
}
