// E27: secrets that went in or came out are in no log line, audit record, metric or error answer.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import type { TenantId } from '../../src/domain/ids.ts';
import { databases } from '../support/databases.ts';
import { createTestClient, createTestTenant, createTestUser, type Managed } from '../support/management.ts';
import { operatorToken, startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`canary secrets on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    const canaries: string[] = [];
    /** A value that can be told from every other, in the shape of our own secrets. */
    const canary = (): string => {
      const value = `canary${randomBytes(19).toString('hex')}`.slice(0, 43);
      canaries.push(value);
      return value;
    };
    const answers: string[] = [];
    const send = async (path: string, init: RequestInit): Promise<void> => {
      const response = await fetch(`${tenant.baseUrl}${path}`, { redirect: 'manual', ...init });
      answers.push(await response.text(), JSON.stringify([...response.headers]));
    };
    const form = (path: string, fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}): Promise<void> =>
      send(path, { method: 'POST', body: new URLSearchParams(fields), headers });
    const basic = (id: string, secret: string): Readonly<Record<string, string>> => ({
      authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
    });

    before(async () => {
      server = await startTestServer(database, { flags: { log_level: 'debug', metrics_listen: '127.0.0.1:0' } });
      tenant = await createTestTenant(server, { settings: { login_methods: ['email_pin'] } });
    });
    after(() => server.close());

    it('sent to every kind of endpoint', async () => {
      const client = await createTestClient(tenant);
      await createTestUser(tenant, 'canary.user@example.com');
      const id = client.client_id;
      canaries.push(client.client_secret, tenant.adminClientSecret, tenant.token, tenant.token.split('.')[2]!, operatorToken);
      await form('/v1/idp/oidc/token', { grant_type: 'client_credentials', client_id: id, client_secret: canary() });
      await form('/v1/idp/oidc/token', { grant_type: 'client_credentials' }, basic(id, canary()));
      await form(
        '/v1/idp/oidc/token',
        { grant_type: 'authorization_code', code: canary(), code_verifier: canary(), redirect_uri: 'https://client.example/callback' },
        basic(id, client.client_secret),
      );
      await form('/v1/idp/oidc/token', { grant_type: 'refresh_token', refresh_token: canary() }, basic(id, client.client_secret));
      await form('/v1/idp/oidc/token', {
        grant_type: 'client_credentials',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: canary(),
      });
      await form(
        '/v1/idp/oidc/token',
        { grant_type: 'urn:openid:params:grant-type:ciba', auth_req_id: canary() },
        basic(id, client.client_secret),
      );
      for (const path of ['introspect', 'revoke']) await form(`/v1/idp/oidc/${path}`, { token: canary() }, basic(id, client.client_secret));
      await form(
        '/v1/idp/oidc/bc-authorize',
        { scope: 'openid', login_hint: 'canary.user@example.com', client_notification_token: canary() },
        basic(id, client.client_secret),
      );
      await form('/v1/idp/oidc/par', { response_type: 'code', client_id: id, client_secret: canary() });
      await send('/v1/idp/oidc/userinfo', { headers: { authorization: `Bearer ${canary()}` } });
      await send(`/v1/idp/oidc/logout?id_token_hint=${canary()}`, {});
      await send(`/v1/idp/oidc/authorize?request_uri=urn:ietf:params:oauth:request_uri:${canary()}&client_id=${id}`, {});
      await send('/v1/management/clients', { headers: { authorization: `Bearer ${canary()}` } });
      await send('/scim/v2/Users', { headers: { authorization: `Bearer ${canary()}` } });
      await send('/login/none', { headers: { cookie: `gatehouse_login=${canary()}` } });
      await form('/login/none/pin', { pin: canary(), csrf: canary() });
      await send('/v1/device/self', {
        headers: { 'x-protocol-version': '1', 'x-device-id': 'x', 'x-device-key-id': 'x', 'x-timestamp': '1', 'x-signature': canary() },
      });
      const json = { method: 'POST', headers: { 'content-type': 'application/json', 'x-protocol-version': '1' } };
      await send('/v1/device/enrollment/redeem', { ...json, body: JSON.stringify({ enrollment_token: canary() }) });
      await send('/v1/device/pin/verify', { ...json, body: JSON.stringify({ registration_token: canary(), pin: canary() }) });
      const broken = `{"client_secret":"${canary()}",`;
      await send('/v1/management/clients', {
        ...json,
        headers: { ...json.headers, authorization: `Bearer ${tenant.token}` },
        body: broken,
      });
      const system = await fetch(`${server.url}/v1/system/tenants`, { headers: { authorization: `Bearer ${canary()}` } });
      answers.push(await system.text());
      assert.ok(canaries.length > 25);
    });
    it('in no answer', () => {
      assert.ok(answers.length > 30);
      assertClean('answers', answers.join('\n'));
    });
    it('in no log line', () => assertClean('log', server.logLines.join('\n')));
    it('in no audit record', async () => {
      const { services } = server.gatehouse;
      await services.refusals.flush();
      const rows = await services.database.read(tenant.id as TenantId, (queries) =>
        queries.selectFrom('audit_events').selectAll().execute(),
      );
      assert.ok(rows.filter((row) => row.type === 'refusal').length > 10, `${rows.length} records`);
      assertClean('audit', JSON.stringify(rows));
      const { rows: found } = await services.database.systemRead((queries) =>
        sql<{ value: string }>`SELECT value FROM instance`.execute(queries),
      );
      assertClean('instance', JSON.stringify(found));
    });
    it('in no metric', async () => assertClean('metrics', await (await fetch(server.gatehouse.metricsUrl!)).text()));

    function assertClean(where: string, text: string): void {
      for (const secret of canaries) {
        assert.ok(
          !text.includes(secret),
          `${where} hold ${secret}: ${text.slice(Math.max(0, text.indexOf(secret) - 300), text.indexOf(secret) + 80)}`,
        );
        assert.ok(!text.includes(Buffer.from(secret).toString('base64').slice(0, 40)), `${where} hold ${secret} in base64`);
      }
    }
  });
}
