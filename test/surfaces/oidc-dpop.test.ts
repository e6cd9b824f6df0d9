// DPoP (RFC 9449): tokens bound to a key, proofs used once, nonces of ours, codes and refresh tokens that ask for the same key.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Services } from '../../src/http/services.ts';
import { databases } from '../support/databases.ts';
import { athOf, createProofKey, type ProofChanges, type ProofKey } from '../support/dpop.ts';
import { changeSettings } from '../support/enrolled-phone.ts';
import { createClient, createOtherTenant, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { decodeJwt, issueCode, postAs, redirectUri, type Tokens, tokensOf, verifier } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`DPoP on ${database}`, () => {
    let server: TestServer;
    let services: Services;
    let tenant: Tenant;
    let client: TestClient;
    let spa: TestClient;
    let user: TestUser;
    let key: ProofKey;
    let tokenUrl: string;
    before(async () => {
      server = await startTestServer(database);
      services = server.gatehouse.services;
      // Proofs that are refused count as failures of their address: a quick machine sends more than it may.
      await changeSettings(server, { rate_limits: { client_auth_failures_per_ip: roomyRate } });
      tenant = await rootTenant(services);
      client = await createClient(services, tenant);
      spa = await createClient(services, tenant, { type: 'public' });
      user = await createUser(services, tenant);
      key = await createProofKey();
      tokenUrl = `${tenant.baseUrl}/v1/idp/oidc/token`;
    });
    after(() => server.close());

    const form = (code: string): Record<string, string> => ({
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    });
    /** A nonce as a client gets one: by asking without. */
    const nonce = async (at = tenant): Promise<string> => {
      const proof = await key.prove(`${at.baseUrl}/v1/idp/oidc/token`);
      const response = await postAs(tenant === at ? tenant : at, await clientAt(at), 'token', form('x'), { dpop: proof });
      await assertRefusal(response, 'dpop.use_nonce');
      const given = response.headers.get('dpop-nonce');
      assert.ok(given);
      return given;
    };
    const clientAt = async (at: Tenant): Promise<TestClient> => (at === tenant ? client : createClient(services, at));
    const proofWith = async (changes: ProofChanges = {}, by = key): Promise<string> =>
      by.prove(tokenUrl, { ...changes, claims: { nonce: await nonce(), ...changes.claims } });
    const signIn = async (by = client, proofKey = key, options: { dpopJkt?: string } = {}): Promise<Tokens> =>
      tokensOf(
        await postAs(tenant, by, 'token', form(await issueCode(server, tenant, by, user, options)), {
          dpop: await proofWith({}, proofKey),
        }),
      );
    const userInfo = (token: string, proof: string | undefined, scheme = 'DPoP'): Promise<Response> =>
      fetch(`${tenant.baseUrl}/v1/idp/oidc/userinfo`, {
        headers: { authorization: `${scheme} ${token}`, ...(proof === undefined ? {} : { dpop: proof }) },
      });
    const userInfoProof = (token: string, changes: ProofChanges = {}, by = key): Promise<string> =>
      by.prove(`${tenant.baseUrl}/v1/idp/oidc/userinfo`, { ...changes, claims: { htm: 'GET', ath: athOf(token), ...changes.claims } });

    it('a token is bound to the key, and UserInfo opens with a proof of it', async () => {
      const tokens = await signIn();
      assert.equal(tokens.token_type, 'DPoP');
      assert.deepEqual(decodeJwt(tokens.access_token).claims['cnf'], { jkt: key.thumbprint });
      const response = await userInfo(tokens.access_token, await userInfoProof(tokens.access_token));
      assert.equal(response.status, 200, await response.text());
      const introspected = await (await postAs(tenant, client, 'introspect', { token: tokens.access_token })).json();
      const { token_type: type, cnf } = introspected as Record<string, unknown>;
      assert.deepEqual({ type, cnf }, { type: 'DPoP', cnf: { jkt: key.thumbprint } });
    });
    for (const alg of ['ES256', 'ES384', 'EdDSA', 'RS256', 'PS256'])
      it(`${alg} keys are taken`, async () => {
        const own = await createProofKey(alg);
        assert.deepEqual(decodeJwt((await signIn(client, own)).access_token).claims['cnf'], { jkt: own.thumbprint });
      });

    const wrong: readonly (readonly [string, () => Promise<string>])[] = [
      ['not a JWT', async () => 'x'],
      ['longer than any proof', async () => 'x'.repeat(8193)],
      ['typ JWT', () => proofWith({ header: { typ: 'JWT' } })],
      ['a private key in the header', () => proofWith({ header: { jwk: key.privateJwk } })],
      ['no key in the header', () => proofWith({ header: { jwk: undefined } })],
      ['the key of somebody else in the header', async () => proofWith({ header: { jwk: (await createProofKey()).publicJwk } })],
      ['another method', () => proofWith({ claims: { htm: 'GET' } })],
      ['another endpoint', () => proofWith({ claims: { htu: `${tenant.baseUrl}/v1/idp/oidc/par` } })],
      ['another host', () => proofWith({ claims: { htu: 'https://evil.example/v1/idp/oidc/token' } })],
      ['no jti', () => proofWith({ claims: { jti: undefined } })],
      ['a jti of 257 characters', () => proofWith({ claims: { jti: 'j'.repeat(257) } })],
      ['iat too old', () => proofWith({ claims: { iat: Math.floor(Date.now() / 1000) - 310 } })],
      ['iat in the future', () => proofWith({ claims: { iat: Math.floor(Date.now() / 1000) + 310 } })],
      ['iat missing', () => proofWith({ claims: { iat: 'now' } })],
    ];
    for (const [name, make] of wrong)
      it(`dpop.invalid_proof: ${name}`, async () => {
        const code = await issueCode(server, tenant, client, user);
        const response = await postAs(tenant, client, 'token', form(code), { dpop: await make() });
        assert.ok(response.headers.get('dpop-nonce'));
        assert.equal(await assertRefusal(response, 'dpop.invalid_proof'), '{"error":"invalid_dpop_proof"}');
        await tokensOf(await postAs(tenant, client, 'token', form(code), { dpop: await proofWith() })); // the code was not burnt
      });
    it('limits: a key member of 700 characters and a proof of 8192 are taken, one more is not', async () => {
      const send = async (dpop: string): Promise<Response> =>
        postAs(tenant, client, 'token', form(await issueCode(server, tenant, client, user)), { dpop });
      const withKid = (length: number): Promise<string> => proofWith({ header: { jwk: { ...key.publicJwk, kid: 'k'.repeat(length) } } });
      await tokensOf(await send(await withKid(700)));
      await assertRefusal(await send(await withKid(701)), 'dpop.invalid_proof');
      const ofLength = async (length: number): Promise<string> => {
        const claims = { nonce: await nonce(), jti: randomUUID() };
        const make = (inHeader: number, inClaims: number): Promise<string> =>
          key.prove(tokenUrl, { header: { pad: 'p'.repeat(inHeader) }, claims: { ...claims, pad: 'p'.repeat(inClaims) } });
        // base64url grows by 2, 1, 1 characters: not every length can be hit by one part alone
        for (let inHeader = 0; inHeader < 3; inHeader += 1) {
          const missing = length - (await make(inHeader, 0)).length;
          for (let inClaims = Math.floor((missing * 3) / 4) - 2; inClaims <= (missing * 3) / 4 + 2; inClaims += 1) {
            const proof = await make(inHeader, inClaims);
            if (proof.length === length) return proof;
          }
        }
        throw new Error(`no proof of ${length} characters`);
      };
      await tokensOf(await send(await ofLength(8192)));
      await assertRefusal(await send(await ofLength(8193)), 'dpop.invalid_proof');
    });
    it('dpop.invalid_proof: a proof is used once, also when 50 requests use it at the same time', async () => {
      const dpop = await proofWith({ claims: { jti: 'j'.repeat(256) } });
      const codes = await Promise.all(Array.from({ length: 50 }, () => issueCode(server, tenant, client, user)));
      const answers = await Promise.all(codes.map((code) => postAs(tenant, client, 'token', form(code), { dpop })));
      assert.equal(answers.filter((answer) => answer.status === 200).length, 1);
      for (const answer of answers) if (answer.status !== 200) await assertRefusal(answer, 'dpop.invalid_proof');
    });
    it('a nonce is sealed under the key of its purpose; one of before, under the key of what is stored, is taken too', async () => {
      const { clock, encryption } = server.gatehouse.services;
      assert.match(await nonce(), /^v2\./);
      const post = async (own: string): Promise<Response> =>
        postAs(tenant, client, 'token', form('x'), { dpop: await proofWith({ claims: { nonce: own, jti: randomUUID() } }) });
      const at = String(Math.floor(clock.nowMs() / 1000));
      await assertRefusal(await post(encryption.encrypt(at, `dpop-nonce:${tenant.id}`)), 'token.code_invalid');
      await assertRefusal(await post(encryption.encrypt(at, 'dpop-nonce:other')), 'dpop.use_nonce');
    });

    it('dpop.use_nonce: no nonce, one of nobody, one of another tenant, one too old', async () => {
      const other = await createOtherTenant(services, `dpop-${database}`);
      const foreign = await nonce(other);
      const old = await nonce();
      const post = async (own: string | undefined): Promise<Response> =>
        postAs(tenant, client, 'token', form('x'), { dpop: await proofWith({ claims: { nonce: own, jti: randomUUID() } }) });
      for (const bad of [undefined, 'nobody', foreign])
        assert.equal(await assertRefusal(await post(bad), 'dpop.use_nonce'), '{"error":"use_dpop_nonce"}');
      await server.clock.advance(301_000);
      await assertRefusal(await post(old), 'dpop.use_nonce');
      await server.clock.advance(-301_000);
    });

    it('refresh tokens of a public client ask for the same key, those of a confidential one do not', async () => {
      const another = await createProofKey();
      const mine = await signIn(spa);
      const refreshForm = { grant_type: 'refresh_token', refresh_token: mine.refresh_token };
      for (const headers of [{}, { dpop: await proofWith({}, another) }] as Record<string, string>[])
        await assertRefusal(await postAs(tenant, spa, 'token', refreshForm, headers), 'token.refresh_invalid');
      await tokensOf(await postAs(tenant, spa, 'token', refreshForm, { dpop: await proofWith() }));
      const theirs = await signIn(client);
      const renewed = await postAs(
        tenant,
        client,
        'token',
        { grant_type: 'refresh_token', refresh_token: theirs.refresh_token },
        { dpop: await proofWith({}, another) },
      );
      assert.deepEqual(decodeJwt((await tokensOf(renewed)).access_token).claims['cnf'], { jkt: another.thumbprint });
    });
    it('a code asked for with dpop_jkt is redeemed with that key only', async () => {
      const another = await createProofKey();
      const code = await issueCode(server, tenant, client, user, { dpopJkt: key.thumbprint });
      await assertRefusal(await postAs(tenant, client, 'token', form(code)), 'token.code_invalid');
      await assertRefusal(await postAs(tenant, client, 'token', form(code), { dpop: await proofWith({}, another) }), 'token.code_invalid');
      await tokensOf(await postAs(tenant, client, 'token', form(code), { dpop: await proofWith() }));
    });
    it('par: a proof binds the request to its key, and must be the key of dpop_jkt', async () => {
      const request = {
        response_type: 'code',
        redirect_uri: redirectUri,
        code_challenge: athOf('x'),
        code_challenge_method: 'S256',
        scope: 'openid',
      };
      const parProof = async (): Promise<string> => key.prove(`${tenant.baseUrl}/v1/idp/oidc/par`, { claims: { nonce: await nonce() } });
      assert.equal((await postAs(tenant, client, 'par', request, { dpop: await parProof() })).status, 201);
      const rows = await services.database.read(tenant.id, (queries) =>
        queries.selectFrom('pushed_requests').select('parameters').execute(),
      );
      assert.ok(rows.some((row) => row.parameters.includes(`dpop_jkt=${key.thumbprint}`)));
      const differs = { ...request, dpop_jkt: athOf('another') };
      await assertRefusal(await postAs(tenant, client, 'par', differs, { dpop: await parProof() }), 'par.invalid_request', {
        text: 'dpop_jkt is not the key of the proof.',
      });
    });

    it('UserInfo: every wrong use of a bound token is invalid_token', async () => {
      const { access_token: token } = await signIn();
      const another = await createProofKey();
      const used = await userInfoProof(token);
      assert.equal((await userInfo(token, used)).status, 200);
      const proofs: readonly (string | undefined)[] = [
        undefined,
        used,
        await userInfoProof(token, {}, another),
        await userInfoProof(token, { claims: { ath: athOf('another') } }),
        await userInfoProof(token, { claims: { ath: undefined } }),
        await userInfoProof(token, { claims: { htm: 'POST' } }),
        await userInfoProof(token, { claims: { nonce: 'nobody' } }),
      ];
      for (const proof of proofs) {
        const response = await userInfo(token, proof);
        assert.match(response.headers.get('www-authenticate') ?? '', /^DPoP error="(invalid_dpop_proof|use_dpop_nonce)", algs="ES256 /);
        await assertRefusal(response, 'userinfo.unauthorized', { fields: { reason: 'invalid_token' } });
      }
      const asBearer = await userInfo(token, undefined, 'Bearer');
      assert.equal(asBearer.headers.has('www-authenticate'), false);
      await assertRefusal(asBearer, 'userinfo.unauthorized', { fields: { reason: 'invalid_token' } });
      const bearer = await tokensOf(await postAs(tenant, client, 'token', form(await issueCode(server, tenant, client, user))));
      const promoted = await userInfo(bearer.access_token, await userInfoProof(bearer.access_token));
      await assertRefusal(promoted, 'userinfo.unauthorized', { fields: { reason: 'invalid_token' } });
    });
    it('a bound token opens neither the Management API nor SCIM as a bearer token', async () => {
      const machine = await createClient(services, tenant, { grantTypes: ['client_credentials'], scopes: ['clients:read', 'scim:read'] });
      const { access_token: token } = await tokensOf(
        await postAs(tenant, machine, 'token', { grant_type: 'client_credentials' }, { dpop: await proofWith() }),
      );
      for (const path of ['/v1/management/clients', '/scim/v2/Users'])
        assert.equal((await fetch(`${tenant.baseUrl}${path}`, { headers: { authorization: `Bearer ${token}` } })).status, 401, path);
    });
  });
}
