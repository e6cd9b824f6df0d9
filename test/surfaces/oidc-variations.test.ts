// What the OpenID Foundation's suite varies and a client of our own making does not (issue 31, 1 to 5): audiences of assertions, hosts
// of proofs, the case of media types, objects without a signature, and what the mTLS port agrees to.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { connect } from 'node:tls';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { makeIdentity, sendHttps, writeTlsFiles } from '../support/certificates.ts';
import { cibaGrantType } from '../support/ciba.ts';
import { assertionForm, makeKeyPair, signAssertion } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { createProofKey } from '../support/dpop.ts';
import { createUser } from '../support/fixtures.ts';
import { createTestTenant, type Json, type Managed } from '../support/management.ts';
import { challenge, type Form, formBody, redirectUri } from '../support/oidc.ts';
import { assertRedirectRefusal, assertRefusal } from '../support/refusal.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const site = await makeIdentity({ subject: 'CN=localhost', names: [{ type: 'ip', value: '127.0.0.1' }] });
const keys = makeKeyPair('ES256');
const mtlsUrl = 'https://mtls.id.example';

for (const database of databases) {
  describe(`What the OpenID suite varies on ${database}`, () => {
    const files = writeTlsFiles(site, site);
    let server: TestServer;
    let tenant: Tenant;
    let managed: Managed;
    before(async () => {
      const flags = { mtls_listen: '127.0.0.1:0', mtls_tls: files.setting, mtls_url: mtlsUrl };
      server = await startTestServer(database, { flags });
      managed = await createTestTenant(server, {
        slug: 'bank',
        settings: {
          rate_limits: { approvals_pending_per_user: roomyRate, approvals_per_user: roomyRate, ciba_starts_per_client: roomyRate },
        },
      });
      tenant = (await server.gatehouse.services.tenants.bySlug('bank')) as Tenant;
      await createUser(server.gatehouse.services, tenant, 'ada@bank.example');
    });
    after(async () => {
      await server.close();
      files.remove();
    });
    const url = (endpoint: string, base = tenant.baseUrl): string => `${base}/v1/idp/oidc/${endpoint}`;
    const alias = (endpoint: string): string => url(endpoint, `${mtlsUrl}/t/bank`);
    const register = async (fields: Json): Promise<string> =>
      (
        await managed.make<{ client_id: string }>('POST', '/clients', {
          ...{ name: 'Bank', token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [keys.publicJwk] }, scopes: ['openid'] },
          ...fields,
        })
      ).client_id;
    const ciba = { profile: 'fapi2', grant_types: [cibaGrantType], backchannel_token_delivery_mode: 'poll' };
    const code = { redirect_uris: [redirectUri], grant_types: ['authorization_code', 'refresh_token'] };
    const assertion = (id: string, audience: string | readonly string[], header: Json = {}): Promise<string> =>
      signAssertion(keys, id, audience, server.clock.nowMs(), {}, header);
    const post = (endpoint: string, form: Form, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(url(endpoint), { method: 'POST', body: formBody(form), headers });
    const pushed = {
      response_type: 'code',
      redirect_uri: redirectUri,
      scope: 'openid',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    };
    const ask = { scope: 'openid', login_hint: 'ada@bank.example' };

    it('CIBA Core 7.1: issuer, token endpoint and backchannel endpoint are audiences, for a client of fapi2 too', async () => {
      for (const fields of [ciba, { ...ciba, profile: null }]) {
        const id = await register(fields);
        const good = [tenant.baseUrl, url('token'), url('bc-authorize'), [url('bc-authorize')], alias('token'), alias('bc-authorize')];
        for (const audience of good) {
          const response = await post('bc-authorize', { ...ask, ...assertionForm(await assertion(id, audience)) });
          assert.equal(response.status, 200, `${JSON.stringify(audience)}: ${await response.text()}`);
          const poll = { grant_type: cibaGrantType, auth_req_id: 'x'.repeat(43), ...assertionForm(await assertion(id, audience)) };
          await server.clock.advance(1000);
          const proof = await (await createProofKey()).prove(url('token'), { claims: { iat: Math.floor(server.clock.nowMs() / 1000) } });
          const polled = await post('token', poll, { dpop: proof });
          assert.notEqual(polled.status, 401, `${JSON.stringify(audience)}: ${await polled.text()}`);
        }
        const bad = [
          url('authorize'),
          'https://other.example',
          [tenant.baseUrl, 'https://other.example'],
          `${tenant.baseUrl}/`,
          url('par'),
        ];
        for (const audience of bad)
          await assertRefusal(
            await post('bc-authorize', { ...ask, ...assertionForm(await assertion(id, audience)) }),
            'client.invalid_client',
          );
      }
    });

    it('FAPI 2.0 5.3.2.1: of the same client elsewhere the issuer alone', async () => {
      const id = await register({ ...ciba, ...code, grant_types: [cibaGrantType, 'authorization_code'] });
      for (const audience of [url('par'), url('token'), url('bc-authorize'), alias('par'), alias('token'), [tenant.baseUrl]])
        await assertRefusal(await post('par', { ...pushed, ...assertionForm(await assertion(id, audience)) }), 'client.invalid_client');
      assert.equal((await post('par', { ...pushed, ...assertionForm(await assertion(id, tenant.baseUrl)) })).status, 201);
      const exchange = { grant_type: 'authorization_code', code: 'x', ...assertionForm(await assertion(id, url('token'))) };
      await assertRefusal(await post('token', exchange), 'client.invalid_client');
    });

    it('the mTLS addresses of the endpoints are audiences of other clients', async () => {
      const id = await register(code);
      for (const audience of [alias('par'), alias('token'), url('par'), url('token'), tenant.baseUrl])
        assert.equal((await post('par', { ...pushed, ...assertionForm(await assertion(id, audience)) })).status, 201, audience);
      for (const audience of [mtlsUrl, alias('introspect'), url('par', mtlsUrl)])
        await assertRefusal(await post('par', { ...pushed, ...assertionForm(await assertion(id, audience)) }), 'client.invalid_client');
    });

    it('RFC 9449 4.3: a proof names the address of the request, by the host for certificates too', async () => {
      const id = await register(code);
      const key = await createProofKey();
      const at = `https://127.0.0.1:${server.gatehouse.mtlsPort}/t/bank`;
      const iat = (): number => Math.floor(server.clock.nowMs() / 1000);
      const prove = async (htu: string, header: Json = {}): Promise<Response> => {
        const send = async (nonce: string | null): Promise<Response> =>
          sendHttps(`${at}/v1/idp/oidc/par`, {
            body: formBody({ ...pushed, ...assertionForm(await assertion(id, tenant.baseUrl)) }),
            identity: site,
            headers: { dpop: await key.prove(htu, { claims: { iat: iat(), nonce: nonce ?? undefined }, header }) },
          });
        const first = await send(null);
        const nonce = first.headers.get('dpop-nonce');
        return nonce === null || first.status === 201 ? first : send(nonce);
      };
      for (const htu of [url('par'), alias('par'), `${alias('par')}?x=1`, alias('par').replace('mtls.id', 'MTLS.ID')])
        assert.equal((await prove(htu)).status, 201, htu);
      for (const htu of [alias('token'), url('par', mtlsUrl), url('par', 'https://other.example')])
        await assertRefusal(await prove(htu), 'dpop.invalid_proof');
      for (const typ of ['DPoP+JWT', 'application/dpop+jwt']) assert.equal((await prove(alias('par'), { typ })).status, 201, typ);
      for (const typ of ['JWT', 'application/jwt', 'text/dpop+jwt', '', undefined])
        await assertRefusal(await prove(alias('par'), { typ }), 'dpop.invalid_proof');
    });

    it('RFC 7515 4.1.9: the type of an assertion and of a request object has no case', async () => {
      const id = await register({ ...code, authorize_error_delivery: 'redirect' });
      for (const typ of ['JWT', 'jWt', 'application/jwt', 'Client-Authentication+JWT', 'application/client-authentication+jwt', undefined])
        assert.equal((await post('par', { ...pushed, ...assertionForm(await assertion(id, tenant.baseUrl, { typ })) })).status, 201, typ);
      for (const typ of ['dpop+jwt', 'at+jwt', 'text/jwt', 7])
        await assertRefusal(
          await post('par', { ...pushed, ...assertionForm(await assertion(id, tenant.baseUrl, { typ })) }),
          'client.invalid_client',
        );
      const object = async (typ: unknown): Promise<Response> => {
        const claims = { ...pushed, sub: undefined, jti: randomUUID() };
        const request = await signAssertion(keys, id, tenant.baseUrl, server.clock.nowMs(), claims, { typ });
        return post('par', { request, client_id: id, ...assertionForm(await assertion(id, tenant.baseUrl)) });
      };
      for (const typ of ['OAuth-Authz-Req+JWT', 'application/oauth-authz-req+jwt', 'JWT', undefined])
        assert.equal((await object(typ)).status, 201, String(typ));
      await assertRefusal(await object('client-authentication+jwt'), 'par.invalid_request_object');
    });

    it('RFC 9101 6.2: an object without a signature of a client with keys is no request, and is not passed over', async () => {
      const id = await register(code);
      const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
      const claims = { ...pushed, iss: id, aud: tenant.baseUrl, client_id: id };
      const unsigned = ['none', 'None', 'ES256'].map((alg) => `${part({ alg })}.${part(claims)}.`);
      for (const request of [...unsigned, `${part({ alg: 'none' })}.${part(claims)}`, 'e30.e30.']) {
        const form = { ...pushed, client_id: id, request };
        const answer = await fetch(`${url('authorize')}?${formBody({ ...form, state: 's' })}`, { redirect: 'manual' });
        await assertRedirectRefusal(answer, 'authorize.invalid_request_object', { redirectUri, iss: tenant.baseUrl, state: 's' });
        await assertRefusal(
          await post('par', { ...form, ...assertionForm(await assertion(id, tenant.baseUrl)) }),
          'par.invalid_request_object',
        );
      }
      const signed = await signAssertion(keys, id, tenant.baseUrl, server.clock.nowMs(), { ...pushed, sub: undefined });
      const both = {
        request: signed,
        request_uri: 'urn:ietf:params:oauth:request_uri:x',
        ...assertionForm(await assertion(id, tenant.baseUrl)),
      };
      await assertRefusal(await post('par', both), 'par.invalid_request', { text: 'request_uri cannot be pushed.' });
    });

    it('FAPI 2.0 5.2.2: our own port agrees to forward secrecy with authenticated encryption alone', async () => {
      const port = server.gatehouse.mtlsPort ?? 0;
      const agreed = (ciphers: string): Promise<string | undefined> =>
        new Promise((resolve) => {
          const socket = connect({ host: '127.0.0.1', port, ciphers, maxVersion: 'TLSv1.2', rejectUnauthorized: false }, () => {
            resolve(socket.getCipher().standardName);
            socket.destroy();
          });
          socket.on('error', () => resolve(undefined));
        });
      for (const cipher of [
        'ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256',
        'ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES256-GCM-SHA384',
      ])
        assert.match(String(await agreed(cipher)), /GCM/);
      for (const cipher of [
        'AES128-GCM-SHA256',
        'AES256-SHA',
        'AES128-SHA256',
        'ECDHE-RSA-AES128-SHA256:ECDHE-ECDSA-AES128-SHA256',
        'ECDHE-RSA-AES256-SHA:ECDHE-ECDSA-AES256-SHA',
        'AES256-CCM',
      ])
        assert.equal(await agreed(`${cipher}:@SECLEVEL=0`), undefined, cipher);
      const modern = await new Promise((resolve) => {
        const socket = connect({ host: '127.0.0.1', port, minVersion: 'TLSv1.3', rejectUnauthorized: false }, () => {
          resolve(socket.getProtocol());
          socket.destroy();
        });
      });
      assert.equal(modern, 'TLSv1.3');
    });
  });
}
