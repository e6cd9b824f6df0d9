// Contract 7.11: every failure of client authentication is one answer, on every endpoint, whatever the trigger.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { encryptClientSecret } from '../../src/tokens/client-secret.ts';
import { randomClientId } from '../../src/tokens/tenant-creation.ts';
import {
  assembleJwt,
  assertionForm,
  assertionType,
  basic,
  type Form,
  type KeyPair,
  makeKeyPair,
  postForm,
  secretKey,
  signAssertion,
} from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, rootTenant, type TestClient } from '../support/fixtures.ts';
import { assertRefusal } from '../support/refusal.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/** The endpoints of contract 5, each with parameters that are complete but for the client. */
const endpoints: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  par: { response_type: 'code', redirect_uri: 'https://rp.example/callback' },
  token: { grant_type: 'client_credentials' },
  'bc-authorize': { scope: 'openid', login_hint: 'nobody' },
  introspect: { token: 'nothing' },
  revoke: { token: 'nothing' },
};

interface Attempt {
  readonly form: Form;
  readonly headers?: Readonly<Record<string, string>>;
}

for (const database of databases) {
  describe(`7.11 client authentication on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let byBasic: TestClient;
    let byPost: TestClient;
    let bySecretJwt: TestClient;
    let byKeyJwt: TestClient;
    let publicClient: TestClient;
    let disabled: TestClient;
    let foreign: TestClient;
    let keys: KeyPair;
    const noLimit = { rate_limits: { client_auth_failures_per_ip: roomyRate } };

    before(async () => {
      server = await startTestServer(database);
      const { services } = server.gatehouse;
      tenant = await rootTenant(services);
      await services.cache.write(tenant.id, (queries) =>
        queries
          .updateTable('tenants')
          .set({ settings: JSON.stringify(noLimit) })
          .where('tenant_id', '=', tenant.id)
          .execute(),
      );
      const ciba = {
        grantTypes: ['urn:openid:params:grant-type:ciba', 'client_credentials'],
        backchannelTokenDeliveryMode: 'poll',
      } as const;
      byBasic = await createClient(services, tenant, ciba);
      byPost = await createClient(services, tenant, { ...ciba, tokenEndpointAuthMethod: 'client_secret_post' });
      const clientId = randomClientId();
      const secretEncrypted = encryptClientSecret(services.encryption, tenant.id, clientId, 'a-secret-of-the-client-and-of-ours-alone');
      bySecretJwt = await createClient(services, tenant, {
        ...ciba,
        clientId,
        tokenEndpointAuthMethod: 'client_secret_jwt',
        secretHash: undefined,
        secretEncrypted,
      });
      keys = makeKeyPair('ES256');
      byKeyJwt = await createClient(services, tenant, {
        ...ciba,
        tokenEndpointAuthMethod: 'private_key_jwt',
        secretHash: undefined,
        jwks: { keys: [keys.publicJwk] },
      });
      publicClient = await createClient(services, tenant, { type: 'public' });
      disabled = await createClient(services, tenant, { ...ciba, enabled: false });
      foreign = await createClient(services, await createOtherTenant(services, 'other'), ciba);
    });
    after(() => server.close());

    const url = (endpoint: string): string => `${server.url}/v1/idp/oidc/${endpoint}`;
    const attempt = (endpoint: string, { form, headers }: Attempt): Promise<Response> => {
      const own = Array.isArray(form) ? form : Object.entries(form);
      return postForm(url(endpoint), [...Object.entries(endpoints[endpoint]!), ...own] as [string, string][], headers);
    };
    const sign = (
      endpoint: string,
      key: Parameters<typeof signAssertion>[0],
      client: TestClient,
      claims = {},
      header = {},
    ): Promise<string> => signAssertion(key, client.clientId, url(endpoint), server.clock.nowMs(), claims, header);
    const hmac = () => secretKey('a-secret-of-the-client-and-of-ours-alone');
    const seconds = (ahead: number): number => Math.floor(server.clock.nowMs() / 1000) + ahead;

    /** Every trigger of the contract's row, and the ways to each. */
    const triggers: Readonly<Record<string, (endpoint: string) => Attempt | Promise<Attempt>>> = {
      'unknown client_id, Basic': () => ({ form: {}, headers: basic('nobody', 'x') }),
      'unknown client_id, post': () => ({ form: { client_id: 'nobody', client_secret: 'x' } }),
      'unknown client_id of hostile length': () => ({ form: { client_id: 'n'.repeat(5000), client_secret: 'x' } }),
      'client of another tenant': () => ({ form: {}, headers: basic(foreign.clientId, foreign.secret) }),
      'disabled client': () => ({ form: {}, headers: basic(disabled.clientId, disabled.secret) }),
      'wrong secret, Basic': () => ({ form: {}, headers: basic(byBasic.clientId, `${byBasic.secret}x`) }),
      'wrong secret, post': () => ({ form: { client_id: byPost.clientId, client_secret: 'x' } }),
      'empty secret, Basic': () => ({ form: {}, headers: basic(byBasic.clientId, '') }),
      'empty secret, post': () => ({ form: { client_id: byPost.clientId, client_secret: '' } }),
      'no client at all': () => ({ form: {} }),
      'secret without client_id': () => ({ form: { client_secret: byPost.secret } }),
      'confidential client without a credential': () => ({ form: { client_id: byBasic.clientId } }),
      'Authorization: another scheme': () => ({ form: {}, headers: { authorization: `Bearer ${byBasic.secret}` } }),
      'Authorization: not base64': () => ({ form: {}, headers: { authorization: 'Basic ***' } }),
      'Authorization: no colon': () => ({
        form: {},
        headers: { authorization: `Basic ${Buffer.from(byBasic.clientId).toString('base64')}` },
      }),
      'Authorization: empty': () => ({ form: {}, headers: { authorization: '' } }),
      'Authorization: bad percent-encoding in the id': () => ({
        form: {},
        headers: { authorization: `Basic ${Buffer.from('%zz:x').toString('base64')}` },
      }),
      'Authorization: bad percent-encoding in the secret': () => ({
        form: {},
        headers: { authorization: `Basic ${Buffer.from(`${byBasic.clientId}:%f`).toString('base64')}` },
      }),
      'Authorization: U+0000 in the id': () => ({ form: {}, headers: basic('a\u0000b', 'x') }),
      'multiple mechanisms: Basic and client_secret': () => ({
        form: { client_secret: byBasic.secret },
        headers: basic(byBasic.clientId, byBasic.secret),
      }),
      'multiple mechanisms: Basic and an empty client_secret': () => ({
        form: { client_secret: '' },
        headers: basic(byBasic.clientId, byBasic.secret),
      }),
      'multiple mechanisms: Basic and an assertion': async (endpoint) => ({
        form: assertionForm(await sign(endpoint, keys, byKeyJwt)),
        headers: basic(byBasic.clientId, byBasic.secret),
      }),
      'multiple mechanisms: client_secret and an assertion': async (endpoint) => ({
        form: { ...assertionForm(await sign(endpoint, keys, byKeyJwt)), client_id: byKeyJwt.clientId, client_secret: '' },
      }),
      'Basic with another client_id in the body': () => ({
        form: { client_id: byPost.clientId },
        headers: basic(byBasic.clientId, byBasic.secret),
      }),
      'method not registered: post for Basic': () => ({ form: { client_id: byBasic.clientId, client_secret: byBasic.secret } }),
      'method not registered: Basic for post': () => ({ form: {}, headers: basic(byPost.clientId, byPost.secret) }),
      'method not registered: HMAC for private_key_jwt': async (endpoint) => ({
        form: assertionForm(await sign(endpoint, hmac(), byKeyJwt)),
      }),
      'method not registered: key for client_secret_jwt': async (endpoint) => ({
        form: assertionForm(await sign(endpoint, keys, bySecretJwt)),
      }),
      'method not registered: assertion for Basic': async (endpoint) => ({
        form: assertionForm(await sign(endpoint, secretKey(byBasic.secret), byBasic)),
      }),
      'method not registered: the shared secret sent as such': () => ({
        form: { client_id: bySecretJwt.clientId, client_secret: 'a-secret-of-the-client-and-of-ours-alone' },
      }),
      'public client presenting a secret': () => ({ form: { client_id: publicClient.clientId, client_secret: 'x' } }),
      'public client presenting an empty secret': () => ({ form: { client_id: publicClient.clientId, client_secret: '' } }),
      'public client presenting Basic': () => ({ form: {}, headers: basic(publicClient.clientId, '') }),
      'public client presenting an assertion': async (endpoint) => ({ form: assertionForm(await sign(endpoint, keys, publicClient)) }),
      'assertion: type missing': async (endpoint) => ({ form: { client_assertion: await sign(endpoint, keys, byKeyJwt) } }),
      'assertion: another type': async (endpoint) => ({
        form: { client_assertion: await sign(endpoint, keys, byKeyJwt), client_assertion_type: `${assertionType}x` },
      }),
      'assertion: missing, type alone': () => ({ form: { client_id: byKeyJwt.clientId, client_assertion_type: assertionType } }),
      'assertion: not a JWT': () => ({ form: assertionForm('x.y') }),
      'assertion: another client_id in the body': async (endpoint) => ({
        form: { ...assertionForm(await sign(endpoint, keys, byKeyJwt)), client_id: byBasic.clientId },
      }),
      'assertion: unknown client': async (endpoint) => ({
        form: assertionForm(await signAssertion(keys, 'nobody', url(endpoint), server.clock.nowMs())),
      }),
      'assertion: sub with U+0000': async (endpoint) => ({
        form: assertionForm(await sign(endpoint, keys, byKeyJwt, { sub: 'a\u0000' })),
      }),
      'assertion: iss is not the client': async (endpoint) => ({
        form: assertionForm(await sign(endpoint, keys, byKeyJwt, { iss: byBasic.clientId })),
      }),
      'assertion: sub missing': async (endpoint) => ({
        form: { ...assertionForm(await sign(endpoint, keys, byKeyJwt, { sub: undefined })), client_id: byKeyJwt.clientId },
      }),
      'assertion: another audience': async (endpoint) => ({
        form: assertionForm(await sign(endpoint, keys, byKeyJwt, { aud: 'https://other.example' })),
      }),
      'assertion: audience missing': async (endpoint) => ({
        form: assertionForm(await sign(endpoint, keys, byKeyJwt, { aud: undefined })),
      }),
      'assertion: expired': async (endpoint) => ({ form: assertionForm(await sign(endpoint, keys, byKeyJwt, { exp: seconds(-1) })) }),
      'assertion: exp missing': async (endpoint) => ({ form: assertionForm(await sign(endpoint, keys, byKeyJwt, { exp: undefined })) }),
      'assertion: exp more than 600 s ahead': async (endpoint) => ({
        form: assertionForm(await sign(endpoint, keys, byKeyJwt, { exp: seconds(610) })),
      }),
      'assertion: not yet valid': async (endpoint) => ({ form: assertionForm(await sign(endpoint, keys, byKeyJwt, { nbf: seconds(60) })) }),
      'assertion: issued in the future': async (endpoint) => ({
        form: assertionForm(await sign(endpoint, keys, byKeyJwt, { iat: seconds(60) })),
      }),
      'assertion: jti missing': async (endpoint) => ({ form: assertionForm(await sign(endpoint, keys, byKeyJwt, { jti: undefined })) }),
      'assertion: jti over its limit': async (endpoint) => ({
        form: assertionForm(await sign(endpoint, keys, byKeyJwt, { jti: 'j'.repeat(257) })),
      }),
      'assertion: used before': async (endpoint) => {
        const form = assertionForm(await sign(endpoint, keys, byKeyJwt));
        const first = await attempt(endpoint, { form });
        assert.notEqual(first.status, 401, 'the first use authenticates');
        return { form };
      },
      'assertion: signed by another key': async (endpoint) => ({
        form: assertionForm(await sign(endpoint, { ...makeKeyPair('ES256'), kid: keys.kid }, byKeyJwt)),
      }),
      'assertion: unknown kid': async (endpoint) => ({ form: assertionForm(await sign(endpoint, { ...keys, kid: 'other' }, byKeyJwt)) }),
      'assertion: wrong HMAC secret': async (endpoint) => ({
        form: assertionForm(await sign(endpoint, secretKey('another-secret-that-is-not-the-one'), bySecretJwt)),
      }),
      'assertion: alg none': (endpoint) => ({ form: assertionForm(forged({ alg: 'none' }, endpoint)) }),
      'assertion: HS256 keyed with the public key': async (endpoint) => {
        const pem = JSON.stringify(keys.publicJwk);
        return { form: assertionForm(await sign(endpoint, { ...secretKey(pem), kid: keys.kid }, byKeyJwt)) };
      },
      'assertion: critical header': async (endpoint) => ({
        form: assertionForm(await sign(endpoint, keys, byKeyJwt, {}, { crit: ['urn:example:critical'], 'urn:example:critical': 1 })),
      }),
      'assertion: embedded jwk': async (endpoint) => {
        const own = makeKeyPair('ES256');
        return { form: assertionForm(await sign(endpoint, own, byKeyJwt, {}, { jwk: own.publicJwk })) };
      },
      'assertion: jku': async (endpoint) => ({
        form: assertionForm(await sign(endpoint, keys, byKeyJwt, {}, { jku: 'https://evil.example/jwks' })),
      }),
      'assertion: x5u': async (endpoint) => ({
        form: assertionForm(await sign(endpoint, keys, byKeyJwt, {}, { x5u: 'https://evil.example/cert' })),
      }),
      'assertion: typ of an access token': async (endpoint) => ({
        form: assertionForm(await sign(endpoint, keys, byKeyJwt, {}, { typ: 'at+jwt' })),
      }),
      'assertion: kid with a path': async (endpoint) => ({
        form: assertionForm(await sign(endpoint, { ...makeKeyPair('ES256'), kid: '../../dev/null' }, byKeyJwt)),
      }),
      'assertion: kid with SQL': async (endpoint) => ({
        form: assertionForm(await sign(endpoint, { ...makeKeyPair('ES256'), kid: "' OR 1=1 --" }, byKeyJwt)),
      }),
    };

    function forged(header: object, endpoint: string): string {
      const id = byKeyJwt.clientId;
      return assembleJwt(header, { iss: id, sub: id, aud: url(endpoint), exp: seconds(60), jti: 'forged' }, Buffer.from('x'));
    }

    const answers = new Set<string>();
    for (const endpoint of Object.keys(endpoints)) {
      for (const [trigger, make] of Object.entries(triggers)) {
        it(`7.11 client.invalid_client: /${endpoint}, ${trigger}`, async () => {
          const made = await make(endpoint);
          const response = await attempt(endpoint, made);
          const challenge = response.headers.get('www-authenticate');
          answers.add(await assertRefusal(response, 'client.invalid_client'));
          assert.equal(challenge, made.headers?.['authorization'] === undefined ? null : 'Basic realm="gatehouse"');
        });
      }

      it(`/${endpoint}: each method authenticates its client`, async () => {
        const good: readonly Attempt[] = [
          { form: {}, headers: basic(byBasic.clientId, byBasic.secret) },
          { form: { client_id: byBasic.clientId }, headers: basic(byBasic.clientId, byBasic.secret) },
          { form: { client_id: byPost.clientId, client_secret: byPost.secret } },
          { form: assertionForm(await sign(endpoint, hmac(), bySecretJwt)) },
          { form: { ...assertionForm(await sign(endpoint, hmac(), bySecretJwt)), client_id: bySecretJwt.clientId } },
          { form: assertionForm(await sign(endpoint, keys, byKeyJwt)) },
          { form: assertionForm(await sign(endpoint, keys, byKeyJwt, { aud: server.url })) },
          { form: assertionForm(await sign(endpoint, keys, byKeyJwt, { aud: [`${server.url}/v1/idp/oidc/token`] })) },
          { form: assertionForm(await sign(endpoint, keys, byKeyJwt, { exp: seconds(599), jti: `j${endpoint}`.padEnd(256, 'j') })) },
          { form: assertionForm(await sign(endpoint, { ...keys, kid: undefined }, byKeyJwt)) },
          { form: assertionForm(await sign(endpoint, keys, byKeyJwt, {}, { typ: 'client-authentication+jwt' })) },
        ];
        for (const [index, one] of good.entries()) {
          const response = await attempt(endpoint, one);
          assert.notEqual(response.status, 401, `attempt ${index}: ${await response.text()}`);
        }
      });
    }

    it('7.11 client.invalid_client: all triggers on all endpoints, byte for byte', () => {
      assert.deepEqual([...answers], ['{"error":"invalid_client"}']);
    });
  });
}
