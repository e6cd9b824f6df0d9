// Identity assertions that clients show which are known by their certificate (RFC 8705 2; design 18, part 5).
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Identity, makeIdentity } from '../support/certificates.ts';
import { type CrossApp, openCrossApp } from '../support/cross-app.ts';
import { databases } from '../support/databases.ts';
import { decodeJwt, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';

const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const refused = 'jwt_bearer.assertion_invalid';

for (const database of databases)
  describe(`identity assertions and client certificates on ${database}`, () => {
    let world: CrossApp;
    before(async () => {
      world = await openCrossApp(database, { mtls_header: 'rfc9440', trusted_proxies: '127.0.0.1' });
    });
    after(() => world.close());

    it('a client that is known by its certificate shows it by that, and nobody else’s', async () => {
      const [own, other] = [await makeIdentity({ subject: 'CN=agent' }), await makeIdentity({ subject: 'CN=other' })];
      const certified = await world.createAgent({
        ...{ secretHash: undefined, tokenEndpointAuthMethod: 'tls_client_auth', tlsClientAuthSubjectDn: 'CN=agent' },
        tlsClientCertificateBoundAccessTokens: true,
      });
      const show = async (identity: Identity | undefined, by: string = certified.clientId, of = certified.clientId): Promise<Response> =>
        fetch(`${world.tenant.baseUrl}/v1/idp/oidc/token`, {
          method: 'POST',
          body: new URLSearchParams({ grant_type: grantType, assertion: await world.sign({ client_id: of }), client_id: by }),
          headers: identity === undefined ? {} : { 'client-cert': `:${identity.der.toString('base64')}:` },
        });
      const { claims } = decodeJwt((await tokensOf(await show(own))).access_token);
      assert.deepEqual([claims['client_id'], claims['cnf']], [certified.clientId, { 'x5t#S256': own.thumbprint }]);
      await assertRefusal(await show(other), 'client.invalid_client');
      await assertRefusal(await show(own, world.agent.clientId), 'client.invalid_client');
      await assertRefusal(await show(own, 'unknown'), 'client.invalid_client');
      await assertRefusal(await show(own, certified.clientId, world.agent.clientId), refused);
      await assertRefusal(await show(undefined), refused);
    });
  });
