// A fault of ours while requests are served: the keys of a tenant cannot be opened any more. Every envelope says so without
// a word of what happened; the log has the whole story, and other tenants do not notice.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { signingKeyPurpose } from '../../src/crypto/sealed-columns.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Services } from '../../src/http/services.ts';
import { listSigningKeys } from '../../src/storage/registry/signing-keys.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, createUser, rootTenant, type TestClient } from '../support/fixtures.ts';
import { exchange, issueCode, postAs, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`keys that cannot be opened on ${database}`, () => {
    let server: TestServer;
    let services: Services;
    let tenant: Tenant;
    let client: TestClient;
    before(async () => {
      server = await startTestServer(database);
      services = server.gatehouse.services;
      tenant = await createOtherTenant(services, 'broken');
      client = await createClient(services, tenant, {
        grantTypes: ['client_credentials', 'authorization_code'],
        scopes: ['openid', 'users:read'],
      });
    });
    after(() => server.close());

    it('oauth.server_error and management.server_error: nothing leaks, nothing else breaks, and mending the key mends the tenant', async () => {
      const user = await createUser(services, tenant);
      const code = await issueCode(server, tenant, client, user, { scope: 'openid' });
      const tokens = await tokensOf(await exchange(tenant, client, code));
      const unused = await issueCode(server, tenant, client, user, { scope: 'openid' });
      const rows = await services.database.read(tenant.id, (queries) =>
        queries.selectFrom('signing_keys').select(['kid', 'private_key_encrypted']).where('tenant_id', '=', tenant.id).execute(),
      );
      const setKeys = (sealed: (row: (typeof rows)[number]) => string): Promise<void> =>
        services.cache.write(tenant.id, async (queries) => {
          for (const row of rows)
            await queries
              .updateTable('signing_keys')
              .set({ private_key_encrypted: sealed(row) })
              .where('tenant_id', '=', tenant.id)
              .where('kid', '=', row.kid)
              .execute();
        });
      await setKeys(() => 'v1.AAAA.AAAA');
      const machineToken = (): Promise<Response> => postAs(tenant, client, 'token', { grant_type: 'client_credentials' });
      const userInfo = (): Promise<Response> =>
        fetch(`${tenant.baseUrl}/v1/idp/oidc/userinfo`, { headers: { authorization: `Bearer ${tokens.access_token}` } });
      const answers = [
        await assertRefusal(await machineToken(), 'oauth.server_error'),
        await assertRefusal(await exchange(tenant, client, unused), 'oauth.server_error'),
        await assertRefusal(await userInfo(), 'management.server_error'),
      ];
      for (const answer of answers) assert.doesNotMatch(answer, /key|decrypt|kid|at .*\.ts/i);
      const told = server.logLines.filter((line) => line.includes('request failed'));
      assert.ok(told.length >= 3 && told.every((line) => rows.some((row) => line.includes(`signing key ${row.kid}`))));
      const root = await rootTenant(services);
      assert.equal((await fetch(`${root.baseUrl}/v1/idp/oidc/jwks`)).status, 200);
      await setKeys((row) => row.private_key_encrypted);
      assert.equal((await userInfo()).status, 200);
      await tokensOf(await machineToken());
      await tokensOf(await exchange(tenant, client, unused)); // a signer's failure came before the redeem
    });

    it('oauth.server_error: a key that is sealed well and is not what its kid names signs nothing, and is named', async () => {
      const other = await createOtherTenant(services, 'astray');
      const machine = await createClient(services, other, { grantTypes: ['client_credentials'], scopes: ['users:read'] });
      const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'der', type: 'pkcs8' });
      const rows = await services.database.read(other.id, (queries) => listSigningKeys(queries, other.id));
      const { kid } = rows.find(({ use, alg, state }) => use === 'oidc' && alg === 'ES256' && state === 'current')!;
      const sealed = services.encryption.encrypt(stranger, signingKeyPurpose(other.id, kid));
      await services.cache.write(other.id, async (queries) => {
        const { numUpdatedRows } = await queries
          .updateTable('signing_keys')
          .set({ private_key_encrypted: sealed })
          .where('tenant_id', '=', other.id)
          .where('kid', '=', kid)
          .executeTakeFirst();
        assert.equal(Number(numUpdatedRows), 1);
      });
      for (let turn = 0; turn < 2; turn += 1)
        await assertRefusal(await postAs(other, machine, 'token', { grant_type: 'client_credentials' }), 'oauth.server_error');
      assert.ok(server.logLines.some((line) => line.includes(`signing key ${kid} of tenant ${other.id} cannot be opened`)));
    });
  });
}
