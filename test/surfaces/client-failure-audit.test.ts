// An operator can explain every invalid_client by its request id, and reads no secret there.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { listAuditEventsOfRequest } from '../../src/storage/records/audit-events.ts';
import { assertionForm, basic, type Form, makeKeyPair, postForm, signAssertion } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { createClient, rootTenant, type TestClient } from '../support/fixtures.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const keys = makeKeyPair('ES256');
const wrongSecret = 'canary-secret-that-must-not-be-kept';

for (const database of databases) {
  describe(`audit of failed client authentication on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let client: TestClient;
    let keyClient: TestClient;
    before(async () => {
      server = await startTestServer(database);
      tenant = await rootTenant(server.gatehouse.services);
      client = await createClient(server.gatehouse.services, tenant);
      keyClient = await createClient(server.gatehouse.services, tenant, {
        tokenEndpointAuthMethod: 'private_key_jwt',
        secretHash: undefined,
        jwks: { keys: [keys.publicJwk] },
      });
    });
    after(() => server.close());

    const explained = async (form: Form, headers: Readonly<Record<string, string>> = {}): Promise<Record<string, unknown>> => {
      const { services } = server.gatehouse;
      const response = await postForm(`${server.url}/v1/idp/oidc/revoke`, form, headers);
      assert.equal(await response.text(), '{"error":"invalid_client"}');
      await services.refusals.flush();
      const id = response.headers.get('x-request-id')!;
      const events = await services.database.read(tenant.id, (queries) => listAuditEventsOfRequest(queries, tenant.id, id));
      assert.equal(events.length, 1);
      const { type, row_id: row, reason, received, expected, actor } = events[0]!;
      assert.ok(!JSON.stringify(events).includes(wrongSecret), 'the secret is not kept');
      return { type, row, reason, received, expected, actor };
    };
    const refusal = (reason: string, received: string | null, expected: string | null = null) => ({
      type: 'refusal',
      row: 'client.invalid_client',
      reason,
      received,
      expected,
      actor: null,
    });
    const assertion = (claims = {}) => signAssertion(keys, keyClient.clientId, server.url, server.clock.nowMs(), claims);

    it('names the check, what came and what was expected', async () => {
      const { clientId } = client;
      assert.deepEqual(await explained({ token: 'x' }), refusal('client_id_missing', null));
      assert.deepEqual(await explained({ token: 'x' }, basic('nobody', wrongSecret)), refusal('unknown_client', 'nobody'));
      assert.deepEqual(await explained({ token: 'x' }, basic(clientId, wrongSecret)), refusal('wrong_secret', clientId));
      assert.deepEqual(
        await explained({ token: 'x', client_id: clientId, client_secret: wrongSecret }),
        refusal('method_not_registered', 'client_secret_post', 'client_secret_basic'),
      );
      assert.deepEqual(
        await explained({ token: 'x', client_secret: wrongSecret }, basic(clientId, wrongSecret)),
        refusal('multiple_mechanisms', null),
      );
      assert.deepEqual(
        await explained({ token: 'x' }, { authorization: `Bearer ${wrongSecret}` }),
        refusal('malformed_authorization', null),
      );
      assert.deepEqual(
        await explained({ token: 'x', ...assertionForm(await assertion({ iss: 'other' })) }),
        refusal('assertion_iss', 'other', keyClient.clientId),
      );
      assert.deepEqual(
        await explained({ token: 'x', ...assertionForm(await assertion({ jti: undefined })) }),
        refusal('assertion_jti', 'undefined'),
      );
    });
  });
}
