// Contract 7.6: revocation. An empty 200 whatever the token was; what was revoked is dead at once and on every node.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { listAuditEventsOfRequest } from '../../src/storage/records/audit-events.ts';
import { basic, type Form, postForm } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { type IssuedTokens, issueClientToken, issueTokens } from '../support/issued-tokens.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`7.6 revocation on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let client: TestClient;
    let stranger: TestClient;
    let publicClient: TestClient;
    let user: TestUser;

    before(async () => {
      server = await startTestServer(database);
      const { services } = server.gatehouse;
      tenant = await rootTenant(services);
      client = await createClient(services, tenant);
      stranger = await createClient(services, tenant);
      publicClient = await createClient(services, tenant, { type: 'public' });
      user = await createUser(services, tenant);
    });
    after(() => server.close());

    const url = (endpoint: string): string => `${server.url}/v1/idp/oidc/${endpoint}`;
    const post = (form: Form | string, caller = client): Promise<Response> =>
      postForm(url('revoke'), form, basic(caller.clientId, caller.secret));
    const revoked = async (form: Form, caller = client): Promise<Response> => {
      const response = await post(form, caller);
      assert.equal(response.status, 200);
      assert.equal(await response.text(), '');
      assert.equal(response.headers.get('content-length'), '0');
      assert.equal(response.headers.get('content-type'), null);
      assert.equal(response.headers.get('cache-control'), 'no-store');
      return response;
    };
    const isActive = async (token: string): Promise<boolean> => {
      const response = await postForm(url('introspect'), { token }, basic(client.clientId, client.secret));
      return ((await response.json()) as { active: boolean }).active;
    };
    const issue = (owner = client): Promise<IssuedTokens> => issueTokens(server.gatehouse.services, tenant, owner, user.id);
    const auditOf = async (response: Response): Promise<readonly string[]> => {
      const { services } = server.gatehouse;
      const id = response.headers.get('x-request-id')!;
      const events = await services.database.read(tenant.id, (queries) => listAuditEventsOfRequest(queries, tenant.id, id));
      return events.map((event) => `${event.type} ${event.actor} ${event.target}`);
    };

    it('an access token: dead alone, its family lives, one audit record', async () => {
      const tokens = await issue();
      const response = await revoked({ token: tokens.accessToken });
      assert.equal(await isActive(tokens.accessToken), false);
      assert.equal(await isActive(tokens.refreshToken), true);
      assert.deepEqual(await auditOf(response), [`token.revoked client:${client.clientId} access_token:${tokens.jti}`]);
    });
    it('a client_credentials token', async () => {
      const token = await issueClientToken(server.gatehouse.services, tenant, client);
      assert.equal(await isActive(token), true);
      await revoked({ token });
      assert.equal(await isActive(token), false);
    });
    it('a refresh token: the family and the access tokens of its grant', async () => {
      const tokens = await issue();
      const bystander = await issue();
      const response = await revoked({ token: tokens.refreshToken });
      assert.equal(await isActive(tokens.refreshToken), false);
      assert.equal(await isActive(tokens.accessToken), false);
      assert.equal(await isActive(bystander.accessToken), true);
      assert.deepEqual(await auditOf(response), [`token.revoked client:${client.clientId} grant:${tokens.grantId}`]);
    });
    it('token_type_hint is a hint, right or wrong', async () => {
      const tokens = await issue();
      await revoked({ token: tokens.accessToken, token_type_hint: 'refresh_token' });
      await revoked({ token: tokens.refreshToken, token_type_hint: 'nonsense' });
      assert.equal(await isActive(tokens.accessToken), false);
      assert.equal(await isActive(tokens.refreshToken), false);
    });
    it('a public client revokes its own', async () => {
      const tokens = await issueTokens(server.gatehouse.services, tenant, publicClient, user.id);
      const response = await postForm(url('revoke'), { token: tokens.refreshToken, client_id: publicClient.clientId });
      assert.equal(response.status, 200);
      assert.deepEqual(await auditOf(response), [`token.revoked client:${publicClient.clientId} grant:${tokens.grantId}`]);
    });
    it('already revoked, unknown or invalid: the same empty 200, nothing more happens', async () => {
      const tokens = await issue();
      await revoked({ token: tokens.accessToken });
      for (const token of [tokens.accessToken, 'nothing', 'a.b.c', `${tokens.refreshToken}x`])
        assert.deepEqual(await auditOf(await revoked({ token })), []);
      await revoked({ token: tokens.refreshToken });
      assert.deepEqual(await auditOf(await revoked({ token: tokens.refreshToken })), []);
    });
    it("another client's tokens: 200 and they live on", async () => {
      const tokens = await issue();
      await revoked({ token: tokens.accessToken }, stranger);
      await revoked({ token: tokens.refreshToken }, stranger);
      assert.equal(await isActive(tokens.accessToken), true);
      assert.equal(await isActive(tokens.refreshToken), true);
    });
    it('50 parallel revocations: all 200, one audit record', async () => {
      const tokens = await issue();
      const responses = await Promise.all(Array.from({ length: 50 }, () => revoked({ token: tokens.refreshToken })));
      const audits = (await Promise.all(responses.map(auditOf))).flat();
      assert.equal(audits.length, 1);
    });
    it('7.6 client.invalid_client: a client of another tenant, whose tokens live on', async () => {
      const { services } = server.gatehouse;
      const foreign = await createClient(services, await createOtherTenant(services, 'other'));
      const tokens = await issue();
      const raw = await assertRefusal(await post({ token: tokens.accessToken }, foreign), 'client.invalid_client');
      assert.equal(raw, '{"error":"invalid_client"}');
      assert.equal(await isActive(tokens.accessToken), true);
    });
    it('7.6 client.invalid_client: no client', async () => {
      await assertRefusal(await postForm(url('revoke'), { token: 'x' }), 'client.invalid_client');
    });
    it('7.6 revoke.invalid_request: token missing or empty, repeated, malformed', async () => {
      await assertRefusal(await post({}), 'revoke.invalid_request', { text: 'token is required.' });
      await assertRefusal(await post({ token: '' }), 'revoke.invalid_request', { text: 'token is required.' });
      await assertRefusal(await post('token=a&token=b'), 'revoke.invalid_request', { text: 'A parameter is repeated.' });
      await assertRefusal(await post('token=%'), 'revoke.invalid_request', { text: 'A parameter is not correctly encoded.' });
    });
  });
}
