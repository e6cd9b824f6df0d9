// Forged JWTs at every consumer of our tokens: UserInfo, introspection, logout and the Management API. None is believed.
import assert from 'node:assert/strict';
import { createHmac, createPublicKey, generateKeyPairSync, type JsonWebKey, type KeyObject, sign } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Services } from '../../src/http/services.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { decodeJwt, exchange, issueCode, postAs, type Tokens, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

type Json = Readonly<Record<string, unknown>>;
const encode = (value: Json): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A compact JWS over these parts, signed as `how` says. */
function forge(header: Json, claims: Json, how: (input: string) => Buffer): string {
  const input = `${encode(header)}.${encode(claims)}`;
  return `${input}.${how(input).toString('base64url')}`;
}

const byEc =
  (key: KeyObject) =>
  (input: string): Buffer =>
    sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
const byRsa =
  (key: KeyObject) =>
  (input: string): Buffer =>
    sign('sha256', Buffer.from(input), key);
const byHmac =
  (secret: string | Buffer) =>
  (input: string): Buffer =>
    createHmac('sha256', secret).update(input).digest();

for (const database of databases) {
  describe(`forged tokens on ${database}`, () => {
    let server: TestServer;
    let services: Services;
    let tenant: Tenant;
    let other: Tenant;
    let client: TestClient;
    let user: TestUser;
    let tokens: Tokens;
    let admin: string;
    let jwks: readonly (JsonWebKey & { kid: string; alg: string })[];
    const attacker = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const attackerRsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    before(async () => {
      server = await startTestServer(database);
      services = server.gatehouse.services;
      tenant = await rootTenant(services);
      other = await createOtherTenant(services, 'forger');
      client = await createClient(services, tenant);
      user = await createUser(services, tenant);
      tokens = await tokensOf(await exchange(tenant, client, await issueCode(server, tenant, client, user)));
      const machine = await createClient(services, tenant, { grantTypes: ['client_credentials'], scopes: ['clients:read'] });
      admin = (await tokensOf(await postAs(tenant, machine, 'token', { grant_type: 'client_credentials' }))).access_token;
      ({ keys: jwks } = (await (await fetch(`${tenant.baseUrl}/v1/idp/oidc/jwks`)).json()) as { keys: typeof jwks });
    });
    after(() => server.close());

    /** Forgeries of a genuine token: its header and claims, changed and signed by somebody else. */
    const forgeriesOf = async (genuine: string): Promise<readonly (readonly [string, string])[]> => {
      const { header, claims } = decodeJwt(genuine);
      const published = jwks.find((key) => key.kid === header['kid'])!;
      const publicPem = createPublicKey({ key: published, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
      const attackerJwk = attacker.publicKey.export({ format: 'jwk' });
      const [rawHeader, rawClaims, rawSignature] = genuine.split('.') as [string, string, string];
      const foreignKeys = await services.keyRings.of(other.id);
      const foreign = foreignKeys.signing(header['alg'] === 'RS256' ? 'RS256' : 'ES256')!;
      const byForeign = foreign.alg === 'RS256' ? byRsa(foreign.privateKey) : byEc(foreign.privateKey);
      const ownKeys = await services.keyRings.of(tenant.id);
      const own = ownKeys.signing(header['alg'] === 'RS256' ? 'RS256' : 'ES256')!;
      const byOwn = own.alg === 'RS256' ? byRsa(own.privateKey) : byEc(own.privateKey);
      const nobody = (): Buffer => Buffer.alloc(0);
      const forged = (change: Json, how = byEc(attacker.privateKey)): string => forge({ ...header, ...change }, claims, how);
      return [
        ['alg none without a signature', `${encode({ ...header, alg: 'none' })}.${rawClaims}.`],
        ['alg None with the genuine signature', `${encode({ ...header, alg: 'None' })}.${rawClaims}.${rawSignature}`],
        ['alg none with an empty signature', forged({ alg: 'none' }, nobody)],
        ['HS256 with the public key as PEM', forged({ alg: 'HS256' }, byHmac(String(publicPem)))],
        ['HS256 with the public key as JWK', forged({ alg: 'HS256' }, byHmac(JSON.stringify(published)))],
        ['HS256 with an empty secret', forged({ alg: 'HS256' }, byHmac(''))],
        ['the key of another tenant under our kid', forged({ alg: foreign.alg }, byForeign)],
        ['the key of another tenant under its kid', forged({ alg: foreign.alg, kid: foreign.kid }, byForeign)],
        ['a key of the attacker', forged({ alg: 'ES256' })],
        ['an RSA key of the attacker', forged({ alg: 'RS256' }, byRsa(attackerRsa.privateKey))],
        ['an embedded jwk', forged({ alg: 'ES256', jwk: attackerJwk })],
        ['an embedded jwk without kid', forged({ alg: 'ES256', jwk: attackerJwk, kid: undefined })],
        ['a jku of the attacker', forged({ alg: 'ES256', jku: 'https://evil.example/jwks', kid: 'evil' })],
        ['an x5u of the attacker', forged({ alg: 'ES256', x5u: 'https://evil.example/cert.pem', kid: 'evil' })],
        ['an x5c of the attacker', forged({ alg: 'ES256', x5c: ['AAAA'] })],
        ['a kid with a path', forged({ kid: '../../../../dev/null' }, byHmac(''))],
        ['a kid with SQL', forged({ kid: "' UNION SELECT 'AAAA' --" }, byHmac('AAAA'))],
        ['a kid that is an object', forged({ kid: { $ne: null } })],
        ['a kid from the prototype', forged({ kid: '__proto__' })],
        ['a critical header, signed by us', forge({ ...header, crit: ['exp'] }, claims, byOwn)],
        ['an unknown typ, signed by us', forge({ ...header, typ: 'logout+jwt' }, claims, byOwn)],
        ['no typ, signed by us', forge({ ...header, typ: undefined }, claims, byOwn)],
        ['another issuer, signed by us', forge(header, { ...claims, iss: other.baseUrl }, byOwn)],
        ['no issuer, signed by us', forge(header, { ...claims, iss: undefined }, byOwn)],
        ['another algorithm of the same key', forge({ ...header, alg: own.alg === 'RS256' ? 'PS256' : 'ES384' }, claims, byOwn)],
        ['claims changed under the genuine signature', `${rawHeader}.${encode({ ...claims, sub: 'another' })}.${rawSignature}`],
        ['the signature cut', `${rawHeader}.${rawClaims}.${rawSignature.slice(0, -8)}`],
        ['the signature empty', `${rawHeader}.${rawClaims}.`],
        ['padding in a part', `${rawHeader}=.${rawClaims}.${rawSignature}`],
        ['the same bytes in another encoding', `${rawHeader}.${rawClaims}.${rawSignature.replace(/.$/, otherEncoding)}`],
        ['five parts', `${genuine}.AAAA.AAAA`],
        ['longer than any token', `${genuine}${'A'.repeat(20_000)}`],
      ];
    };
    /** A last character that decodes to the same bytes: the unused low bits differ. */
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const otherEncoding = (last: string): string => alphabet[alphabet.indexOf(last) ^ 1]!;

    it('UserInfo believes none', async () => {
      const ask = (token: string): Promise<Response> =>
        fetch(`${tenant.baseUrl}/v1/idp/oidc/userinfo`, { headers: { authorization: `Bearer ${token}` } });
      assert.equal((await ask(tokens.access_token)).status, 200);
      for (const [name, token] of await forgeriesOf(tokens.access_token)) {
        const response = await ask(token);
        assert.equal(response.status, 401, name);
        const { reason } = JSON.parse(await assertRefusal(response, 'userinfo.unauthorized', { fields: { reason: /./ } })) as {
          reason: string;
        };
        assert.ok(['invalid_token', 'wrong_token_use'].includes(reason), `${name}: ${reason}`);
      }
    });
    it('introspection believes none', async () => {
      const ask = async (token: string): Promise<unknown> => (await postAs(tenant, client, 'introspect', { token })).json();
      assert.equal(((await ask(tokens.access_token)) as { active: boolean }).active, true);
      for (const [name, token] of await forgeriesOf(tokens.access_token)) {
        if (token.length > 8 * 1024) continue; // refused as a parameter already
        assert.deepEqual(await ask(token), { active: false }, name);
      }
    });
    it('logout believes none', async () => {
      for (const [name, hint] of await forgeriesOf(tokens.id_token!)) {
        const response = await fetch(`${tenant.baseUrl}/v1/idp/oidc/logout`, {
          method: 'POST',
          body: new URLSearchParams({ id_token_hint: hint }),
        });
        assert.equal(response.status, 400, name);
        await assertRefusal(response, 'logout.invalid_request');
      }
    });
    it('the Management API believes none', async () => {
      const ask = (token: string): Promise<Response> =>
        fetch(`${tenant.baseUrl}/v1/management/clients`, { headers: { authorization: `Bearer ${token}` } });
      assert.equal((await ask(admin)).status, 200);
      const bodies = new Set<string>();
      for (const [name, token] of await forgeriesOf(admin)) {
        const response = await ask(token);
        assert.equal(response.status, 401, name);
        bodies.add(await assertRefusal(response, 'management.unauthorized'));
      }
      for (const genuine of [tokens.access_token, tokens.id_token!])
        bodies.add(await assertRefusal(await ask(genuine), 'management.unauthorized'));
      assert.equal(bodies.size, 1);
    });
    it('SCIM believes none', async () => {
      const scim = await createClient(services, tenant, { grantTypes: ['client_credentials'], scopes: ['scim:read'] });
      const { access_token: genuine } = await tokensOf(await postAs(tenant, scim, 'token', { grant_type: 'client_credentials' }));
      const ask = (token: string): Promise<Response> =>
        fetch(`${tenant.baseUrl}/scim/v2/Users`, { headers: { authorization: `Bearer ${token}` } });
      assert.equal((await ask(genuine)).status, 200);
      for (const [name, token] of await forgeriesOf(genuine)) assert.equal((await ask(token)).status, 401, name);
    });
  });
}
