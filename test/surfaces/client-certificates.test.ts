// Clients with certificates (RFC 8705): both methods at every endpoint, tokens bound to a certificate, certificates handed on by
// proxies, and all that must not pass.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { clientCertificateBytesMax } from '../../src/contract/limits.ts';
import type { Client } from '../../src/domain/client/client.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { type Identity, makeIdentity, sendHttps, writeTlsFiles } from '../support/certificates.ts';
import { cibaGrantType } from '../support/ciba.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { basic, decodeJwt, type Form, formBody, issueCode, redirectUri, type Tokens, tokensOf, verifier } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const authority = await makeIdentity({ subject: 'CN=Test Authority', isAuthority: true });
const stranger = await makeIdentity({ subject: 'CN=Other Authority', isAuthority: true });
const local = [{ type: 'dns', value: 'localhost' } as const, { type: 'ip', value: '127.0.0.1' } as const];
const site = await makeIdentity({ subject: 'CN=localhost', names: local, issuer: authority });
const subject = 'C=SE, O=Example, CN=payments';
const names = [
  { type: 'dns', value: 'payments.example' } as const,
  { type: 'url', value: 'https://payments.example/client' } as const,
  { type: 'ip', value: '192.0.2.7' } as const,
  { type: 'email', value: 'payments@example.com' } as const,
];
const own = await makeIdentity({ subject, names, issuer: authority });
const renewed = await makeIdentity({ subject, names, issuer: authority });
const other = await makeIdentity({ subject: 'C=SE, O=Example, CN=other', issuer: authority });
const selfSigned = await makeIdentity({ subject });

for (const database of databases) {
  describe(`Client certificates on ${database}`, () => {
    const files = writeTlsFiles(site, authority);
    let server: TestServer;
    let tenant: Tenant;
    let user: TestUser;
    let at: string;
    before(async () => {
      const flags = {
        mtls_listen: '127.0.0.1:0',
        mtls_tls: files.setting,
        mtls_url: 'https://mtls.id.example',
        egress_allow: '127.0.0.0/8',
      };
      server = await startTestServer(database, { flags });
      tenant = await rootTenant(server.gatehouse.services);
      user = await createUser(server.gatehouse.services, tenant);
      at = `https://127.0.0.1:${server.gatehouse.mtlsPort}`;
    });
    after(async () => {
      await server.close();
      files.remove();
    });
    const make = (changes: Partial<Client>): Promise<TestClient> =>
      createClient(server.gatehouse.services, tenant, { secretHash: undefined, ...changes });
    const bySubject = { tokenEndpointAuthMethod: 'tls_client_auth', tlsClientAuthSubjectDn: 'CN=payments,O=Example,C=SE' } as const;
    const send = (
      endpoint: string,
      form: Form,
      identity: Identity | undefined,
      headers: Readonly<Record<string, string>> = {},
    ): Promise<Response> => sendHttps(`${at}/v1/idp/oidc/${endpoint}`, { body: formBody(form), identity, headers });
    const introspect = (client: TestClient, identity: Identity | undefined, form: Form = {}): Promise<Response> =>
      send('introspect', { token: 'x', client_id: client.clientId, ...form }, identity);
    const passes = async (response: Response): Promise<void> => {
      assert.equal(await response.text(), '{"active":false}');
      assert.equal(response.status, 200);
    };
    const refused = (response: Response): Promise<string> => assertRefusal(response, 'client.invalid_client');

    it('tls_client_auth: by its subject as RFC 4514 writes it, or by one alternative name', async () => {
      const registered: readonly Partial<Client>[] = [
        { tlsClientAuthSubjectDn: 'CN=payments,O=Example,C=SE' },
        { tlsClientAuthSubjectDn: 'cn=payments, o=Example, c=SE' },
        { tlsClientAuthSanDns: 'Payments.Example' },
        { tlsClientAuthSanUri: 'https://payments.example/client' },
        { tlsClientAuthSanIp: '192.0.2.7' },
        { tlsClientAuthSanEmail: 'payments@example.com' },
      ];
      for (const changes of registered) {
        const client = await make({ tokenEndpointAuthMethod: 'tls_client_auth', ...changes });
        await passes(await introspect(client, own));
        await passes(await introspect(client, renewed));
        await refused(await introspect(client, other));
      }
      for (const name of ['C=SE,O=Example,CN=payments', 'CN=payments', 'CN=payments,O=Example', 'CN=Payments,O=Example,C=SE', 'nonsense='])
        await refused(await introspect(await make({ ...bySubject, tlsClientAuthSubjectDn: name }), own));
    });
    it('tls_client_auth: types of a subject by any of their names, several in one part, and escaped commas', async () => {
      const rich = await makeIdentity({ subject: 'C=SE, 0.9.2342.19200300.100.1.1=u1+CN=a\\, b, E=x@example.com', issuer: authority });
      for (const name of ['emailAddress=x@example.com,CN=a\\, b+UID=u1,C=SE', 'E=x@example.com,uid=u1+cn=a\\, b,c=SE'])
        await passes(await introspect(await make({ ...bySubject, tlsClientAuthSubjectDn: name }), rich));
      await refused(await introspect(await make({ ...bySubject, tlsClientAuthSubjectDn: 'E=x@example.com,CN=a\\, b,UID=u1,C=SE' }), rich));
    });
    it('tls_client_auth: every other certificate, and none, is one answer', async () => {
      const client = await make(bySubject);
      const expired = await makeIdentity({ subject, issuer: authority, notAfter: new Date(Date.now() - 3_600_000) });
      const plain = `${tenant.baseUrl}/v1/idp/oidc/introspect`;
      const form = formBody({ token: 'x', client_id: client.clientId });
      const disabled = await make({ ...bySubject, enabled: false });
      const bodies = new Set([
        await refused(await introspect(client, other)),
        await refused(await introspect(client, selfSigned)),
        await refused(await introspect(client, await makeIdentity({ subject, issuer: stranger }))),
        await refused(await introspect(client, expired)),
        await refused(await introspect(client, undefined)),
        await refused(await introspect(client, own, { client_secret: 'x' })),
        await refused(await introspect(client, own, { client_id: 'unknown' })),
        await refused(await introspect(disabled, own)),
        await refused(await introspect(await make({ tokenEndpointAuthMethod: 'client_secret_post' }), own)),
        await refused(await fetch(plain, { method: 'POST', body: form })),
        await refused(await fetch(plain, { method: 'POST', body: form, headers: { 'client-cert': `:${own.der.toString('base64')}:` } })),
      ]);
      assert.deepEqual([...bodies], ['{"error":"invalid_client"}']);
      const asBasic = await send('introspect', { token: 'x' }, own, { authorization: basic({ ...client, secret: 'x' }) });
      assert.equal(asBasic.status, 401);
    });
    it('self_signed_tls_client_auth: the certificate of a registered key and no other, from jwks and jwks_uri', async () => {
      const method = 'self_signed_tls_client_auth' as const;
      const jwks = { keys: [other.jwk, selfSigned.jwk] };
      const host = createServer((_request, response) => response.end(JSON.stringify(jwks)));
      await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
      const jwksUri = `http://127.0.0.1:${(host.address() as AddressInfo).port}/jwks`;
      for (const keys of [{ jwks }, { jwksUri }]) {
        const client = await make({ tokenEndpointAuthMethod: method, ...keys });
        await passes(await introspect(client, selfSigned));
        await refused(await introspect(client, await makeIdentity({ subject })));
        await refused(await introspect(client, own));
        await refused(await introspect(client, undefined));
      }
      host.close();
    });
    it('a TLS session that is resumed keeps its certificate', async () => {
      const client = await make(bySubject);
      const body = formBody({ token: 'x', client_id: client.clientId }).toString();
      const agent = new Agent({ keepAlive: false });
      for (const isResumed of [false, true])
        await new Promise<void>((resolve, reject) => {
          const { key, cert } = own;
          const headers = { 'content-type': 'application/x-www-form-urlencoded' };
          const url = `${at}/v1/idp/oidc/introspect`;
          const sent = request(url, { method: 'POST', agent, key, cert, rejectUnauthorized: false, headers }, (answer) => {
            const { statusCode, socket } = answer;
            answer
              .resume()
              .on('end', () => resolve(assert.deepEqual([statusCode, (socket as TLSSocket).isSessionReused()], [200, isResumed])));
          });
          sent.on('error', reject);
          sent.end(body);
        });
    });
    it('at every endpoint that authenticates clients', async () => {
      const client = await make({ ...bySubject, grantTypes: ['authorization_code', cibaGrantType], backchannelTokenDeliveryMode: 'poll' });
      const { clientId: client_id } = client;
      const forms: Readonly<Record<string, Form>> = {
        token: { client_id, grant_type: 'authorization_code', code: 'x' },
        par: { client_id, response_type: 'token', redirect_uri: redirectUri },
        introspect: { client_id, token: 'x' },
        revoke: { client_id, token: 'x' },
        'bc-authorize': { client_id, scope: 'profile' },
      };
      for (const [endpoint, form] of Object.entries(forms)) {
        const known = await send(endpoint, form, own);
        assert.notEqual(known.status, 401, `${endpoint}: ${await known.text()}`);
        await refused(await send(endpoint, form, other));
        await refused(await send(endpoint, form, undefined));
      }
    });

    const exchange = async (client: TestClient, identity: Identity | undefined, headers = {}): Promise<Response> => {
      const code = await issueCode(server, tenant, client, user);
      const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier };
      return send('token', 'authorization' in headers ? form : { ...form, client_id: client.clientId }, identity, headers);
    };
    const userInfo = (tokens: Tokens, identity: Identity | undefined): Promise<Response> =>
      sendHttps(`${at}/v1/idp/oidc/userinfo`, { method: 'GET', identity, headers: { authorization: `Bearer ${tokens.access_token}` } });
    const unauthorized = (response: Response): Promise<string> =>
      assertRefusal(response, 'userinfo.unauthorized', { fields: { reason: 'invalid_token' } });

    it('bound tokens say so, and open UserInfo with their certificate only', async () => {
      const client = await make({ ...bySubject, tlsClientCertificateBoundAccessTokens: true });
      const tokens = await tokensOf(await exchange(client, own));
      assert.equal(tokens.token_type, 'Bearer');
      assert.deepEqual(decodeJwt(tokens.access_token).claims['cnf'], { 'x5t#S256': own.thumbprint });
      const seen = (await (await introspect(client, renewed, { token: tokens.access_token })).json()) as Record<string, unknown>;
      assert.deepEqual([seen['active'], seen['token_type'], seen['cnf']], [true, 'Bearer', { 'x5t#S256': own.thumbprint }]);
      assert.equal((await userInfo(tokens, own)).status, 200);
      await unauthorized(await userInfo(tokens, renewed));
      await unauthorized(await userInfo(tokens, undefined));
      const authorization = { authorization: `Bearer ${tokens.access_token}` };
      await unauthorized(await fetch(`${tenant.baseUrl}/v1/idp/oidc/userinfo`, { headers: authorization }));
      await unauthorized(await sendHttps(`${at}/v1/idp/oidc/userinfo`, { body: formBody({ access_token: tokens.access_token }) }));
      // A confidential client renews its certificate, and its refresh token goes on.
      const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token, client_id: client.clientId };
      const again = await tokensOf(await send('token', form, renewed));
      assert.deepEqual(decodeJwt(again.access_token).claims['cnf'], { 'x5t#S256': renewed.thumbprint });
    });
    it('a client registered for bound tokens gets none without a certificate, whatever its credential', async () => {
      const withSecret = await createClient(server.gatehouse.services, tenant, { tlsClientCertificateBoundAccessTokens: true });
      const headers = { authorization: basic(withSecret) };
      const answer = await exchange(withSecret, undefined, headers);
      assert.deepEqual([answer.status, await answer.text()], [401, '{"error":"invalid_client"}']);
      const bound = await tokensOf(await exchange(withSecret, selfSigned, headers));
      assert.deepEqual(decodeJwt(bound.access_token).claims['cnf'], { 'x5t#S256': selfSigned.thumbprint });
      const free = await make(bySubject);
      assert.equal(decodeJwt((await tokensOf(await exchange(free, own))).access_token).claims['cnf'], undefined);
    });
    it('the refresh token of a public client is good with its certificate only: another is invalid_grant and costs it nothing', async () => {
      const app = await make({ type: 'public', tokenEndpointAuthMethod: 'none', tlsClientCertificateBoundAccessTokens: true });
      const tokens = await tokensOf(await exchange(app, own));
      const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token, client_id: app.clientId };
      await assertRefusal(await send('token', form, other), 'token.refresh_invalid');
      await refused(await send('token', form, undefined));
      const first = await tokensOf(await send('token', form, own));
      assert.equal((await tokensOf(await send('token', form, own))).refresh_token, first.refresh_token); // a retry within a minute
    });
    it('discovery names methods and aliases, below /t/ too; without certificates it says nothing of them', async () => {
      const metadata = async (baseUrl: string): Promise<Record<string, unknown>> =>
        (await (await fetch(`${baseUrl}/.well-known/openid-configuration`)).json()) as Record<string, unknown>;
      const { mtls_endpoint_aliases: aliases, ...shown } = await metadata(tenant.baseUrl);
      assert.equal(shown['tls_client_certificate_bound_access_tokens'], true);
      for (const method of ['tls_client_auth', 'self_signed_tls_client_auth'])
        assert.ok((shown['token_endpoint_auth_methods_supported'] as string[]).includes(method));
      assert.deepEqual(aliases, {
        token_endpoint: 'https://mtls.id.example/v1/idp/oidc/token',
        userinfo_endpoint: 'https://mtls.id.example/v1/idp/oidc/userinfo',
        introspection_endpoint: 'https://mtls.id.example/v1/idp/oidc/introspect',
        revocation_endpoint: 'https://mtls.id.example/v1/idp/oidc/revoke',
        pushed_authorization_request_endpoint: 'https://mtls.id.example/v1/idp/oidc/par',
        backchannel_authentication_endpoint: 'https://mtls.id.example/v1/idp/oidc/bc-authorize',
      });
      const below = await createOtherTenant(server.gatehouse.services, `mtls-${database}`);
      const ofTenant = (await metadata(below.baseUrl))['mtls_endpoint_aliases'] as Record<string, string>;
      assert.equal(ofTenant['token_endpoint'], `https://mtls.id.example/t/mtls-${database}/v1/idp/oidc/token`);
      const issuer = await sendHttps(`${at}/t/mtls-${database}/.well-known/openid-configuration`, {
        method: 'GET',
        headers: { host: 'mtls.id.example' },
      });
      assert.equal(((await issuer.json()) as { issuer: string }).issuer, below.baseUrl);
    });
  });

  describe(`Client certificates from proxies on ${database}`, () => {
    const servers: TestServer[] = [];
    after(async () => {
      for (const server of servers) await server.close();
    });
    const behind = async (
      header: 'rfc9440' | 'nginx',
      trusted: string,
    ): Promise<(headers: Readonly<Record<string, string>> | [string, string][]) => Promise<Response>> => {
      const server = await startTestServer(database, { flags: { mtls_header: header, trusted_proxies: trusted } });
      servers.push(server);
      const tenant = await rootTenant(server.gatehouse.services);
      const client = await createClient(server.gatehouse.services, tenant, {
        ...{ secretHash: undefined, tokenEndpointAuthMethod: 'tls_client_auth', tlsClientAuthSubjectDn: 'CN=payments,O=Example,C=SE' },
      });
      return (headers) =>
        fetch(`${tenant.baseUrl}/v1/idp/oidc/introspect`, {
          method: 'POST',
          body: formBody({ token: 'x', client_id: client.clientId }),
          headers,
        });
    };
    const structured = (der: Buffer): string => `:${der.toString('base64')}:`;
    const escaped = encodeURIComponent(own.cert);
    const refused = (response: Response): Promise<string> => assertRefusal(response, 'client.invalid_client');

    it('rfc9440: Client-Cert of a trusted proxy; twice, malformed, or the header of nginx is none', async () => {
      const send = await behind('rfc9440', '127.0.0.1');
      assert.equal((await send({ 'client-cert': structured(own.der) })).status, 200);
      await refused(await send({ 'client-cert': structured(other.der) }));
      await refused(await send([...Array(2)].map((): [string, string] => ['client-cert', structured(own.der)])));
      for (const value of [own.der.toString('base64'), ':!:', '::', structured(own.der.subarray(1)), `${structured(own.der)};a=1`])
        await refused(await send({ 'client-cert': value }));
      await refused(await send({ 'x-ssl-client-cert': escaped, 'x-ssl-client-verify': 'SUCCESS' }));
      await refused(await send({}));
    });
    it('nginx: X-SSL-Client-Cert of a trusted proxy that says SUCCESS, and nothing else it says', async () => {
      const send = await behind('nginx', '127.0.0.1');
      assert.equal((await send({ 'x-ssl-client-cert': escaped, 'x-ssl-client-verify': 'SUCCESS' })).status, 200);
      for (const verify of ['FAILED:self-signed certificate', 'NONE', 'success', 'SUCCESS, SUCCESS'])
        await refused(await send({ 'x-ssl-client-cert': escaped, 'x-ssl-client-verify': verify }));
      await refused(await send({ 'x-ssl-client-cert': escaped }));
      await refused(await send({ 'x-ssl-client-cert': '%zz', 'x-ssl-client-verify': 'SUCCESS' }));
      await refused(await send({ 'client-cert': structured(own.der) }));
    });
    it('the same headers from a peer that is no trusted proxy are ignored', async () => {
      const rfc9440 = await behind('rfc9440', '10.0.0.5/32');
      await refused(await rfc9440({ 'client-cert': structured(own.der) }));
      await refused(await rfc9440({ 'client-cert': structured(own.der), 'x-forwarded-for': '10.0.0.5' }));
      const nginx = await behind('nginx', '10.0.0.5/32');
      await refused(await nginx({ 'x-ssl-client-cert': escaped, 'x-ssl-client-verify': 'SUCCESS' }));
    });
    it('a certificate of the largest size is read, one byte more is not', async () => {
      const send = await behind('rfc9440', '127.0.0.1');
      const sized = async (bytes: number): Promise<Buffer> => {
        let padding = bytes - own.der.length;
        for (let turn = 0; turn < 60; turn += 1) {
          const { der } = await makeIdentity({ subject, names, issuer: authority, padding });
          if (der.length === bytes) return der; // a signature varies by a byte or two
          if (Math.abs(der.length - bytes) > 3) padding += bytes - der.length;
        }
        throw new Error(`no certificate of ${bytes} bytes came about`);
      };
      assert.equal((await send({ 'client-cert': structured(await sized(clientCertificateBytesMax)) })).status, 200);
      await refused(await send({ 'client-cert': structured(await sized(clientCertificateBytesMax + 1)) }));
    });
  });
}
