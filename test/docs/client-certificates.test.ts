// The nginx configuration of the how-to on clients with certificates, run in front of a server: verified certificates pass, and nobody
// brings one along in a header. Only addresses and files are changed. Where nginx is not installed, the headers alone are tested.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connect } from 'node:tls';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { type Identity, makeIdentity, sendHttps } from '../support/certificates.ts';
import { blocksOf } from '../support/documents.ts';
import { createClient, rootTenant, type TestClient } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.ts';
import { type Nginx, nginx, startNginx } from '../support/nginx.ts';
import { formBody } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const site = blocksOf('docs/how-to/client-certificates.md').find(({ language }) => language === 'nginx')?.text ?? '';

it('the how-to has a site for certificates, and one that takes their headers away', () => {
  assert.equal(site.match(/proxy_set_header X-SSL-Client-(?:Cert|Verify) /g)?.length, 4);
});

if (nginx !== undefined)
  describe('clients with certificates behind nginx', async () => {
    const authority = await makeIdentity({ subject: 'CN=Authority', isAuthority: true });
    const names = [{ type: 'dns', value: 'localhost' } as const];
    const own = await makeIdentity({ subject: 'C=SE, O=Example, CN=payments', issuer: authority });
    const stranger = await makeIdentity({ subject: 'C=SE, O=Example, CN=payments' });
    const selfSigned = await makeIdentity({ subject: 'CN=self' });
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-certificates-'));
    let proxy: Nginx;
    let server: TestServer;
    let tenant: Tenant;
    let byAuthority: TestClient;
    let bySelf: TestClient;
    let withCertificates: string;
    let withoutCertificates: string;

    before(async () => {
      const web = await makeIdentity({ subject: 'CN=localhost', names, issuer: authority });
      const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
      for (const name of ['mtls', 'id']) {
        write(`${name}.crt`, web.cert);
        write(`${name}.key`, web.key);
      }
      write('client-authorities.pem', `${authority.cert}\n${selfSigned.cert}\n`);
      const [mtlsPort, idPort, port] = [await freePort(), await freePort(), await freePort()];
      const flags = { listen: `127.0.0.1:${port}`, trusted_proxies: '127.0.0.1', mtls_header: 'nginx' };
      server = await startTestServer('sqlite', { flags });
      proxy = await startNginx(
        site
          .replace('listen 443 ssl;', `listen 127.0.0.1:${mtlsPort} ssl;`)
          .replace('listen 443 ssl;', `listen 127.0.0.1:${idPort} ssl;`)
          .replaceAll('/etc/gatehouse', folder)
          .replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`)
          .replace('Host id.example.com', `Host localhost:${port}`),
        mtlsPort,
      );
      withCertificates = `https://127.0.0.1:${mtlsPort}`;
      withoutCertificates = `https://127.0.0.1:${idPort}`;
      const { services } = server.gatehouse;
      tenant = await rootTenant(services);
      byAuthority = await createClient(services, tenant, {
        ...{ secretHash: undefined, tokenEndpointAuthMethod: 'tls_client_auth', tlsClientAuthSubjectDn: 'CN=payments,O=Example,C=SE' },
      });
      bySelf = await createClient(services, tenant, {
        ...{ secretHash: undefined, tokenEndpointAuthMethod: 'self_signed_tls_client_auth', jwks: { keys: [selfSigned.jwk] } },
      });
    });
    after(async () => {
      await proxy?.stop();
      await server?.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const introspect = (
      at: string,
      client: TestClient,
      identity?: Identity,
      headers: Readonly<Record<string, string>> = {},
    ): Promise<Response> =>
      sendHttps(`${at}/v1/idp/oidc/introspect`, { body: formBody({ token: 'x', client_id: client.clientId }), identity, headers });

    it('a certificate of the authority, and a self-signed one nginx knows, authenticate their clients', async () => {
      for (const [client, identity] of [
        [byAuthority, own],
        [bySelf, selfSigned],
      ] as const) {
        const answer = await introspect(withCertificates, client, identity);
        assert.deepEqual([answer.status, await answer.text()], [200, '{"active":false}'], proxy.said());
      }
    });
    it('no certificate, and one of another client, do not; one of nobody is refused by nginx', async () => {
      await assertRefusal(await introspect(withCertificates, byAuthority), 'client.invalid_client');
      await assertRefusal(await introspect(withCertificates, byAuthority, selfSigned), 'client.invalid_client');
      await assertRefusal(await introspect(withCertificates, bySelf, own), 'client.invalid_client');
      assert.equal((await introspect(withCertificates, byAuthority, stranger)).status, 400);
    });
    it('FAPI 2.0 5.2.2: neither site agrees to CBC or to a key exchange without forward secrecy', async () => {
      const agrees = (at: string, ciphers: string): Promise<boolean> =>
        new Promise((resolve) => {
          const port = Number(new URL(at).port);
          const socket = connect({ host: '127.0.0.1', port, ciphers, maxVersion: 'TLSv1.2', rejectUnauthorized: false }, () => {
            resolve(true);
            socket.destroy();
          });
          socket.on('error', () => resolve(false));
        });
      for (const at of [withCertificates, withoutCertificates]) {
        assert.ok(await agrees(at, 'ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256'));
        for (const ciphers of [
          'AES128-GCM-SHA256',
          'ECDHE-RSA-AES128-SHA256:ECDHE-ECDSA-AES128-SHA256',
          'ECDHE-RSA-AES256-SHA:ECDHE-ECDSA-AES256-SHA',
        ])
          assert.equal(await agrees(at, ciphers), false, ciphers);
      }
    });
    it('the headers brought along from outside are worth nothing at either site', async () => {
      const forged = { 'x-ssl-client-cert': encodeURIComponent(own.cert), 'x-ssl-client-verify': 'SUCCESS' };
      for (const at of [withCertificates, withoutCertificates])
        await assertRefusal(await introspect(at, byAuthority, undefined, forged), 'client.invalid_client');
    });
  });
