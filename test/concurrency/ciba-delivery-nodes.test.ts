// Two nodes of one PostgreSQL share the outbox of CIBA notifications: each push is sent by one of them, once.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cibaGrantType, decide, reachesLoopback, runDeliveries, startReceiver } from '../support/ciba.ts';
import { basic, postForm } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser, rootTenant, type TestUser } from '../support/fixtures.ts';
import { startTestServer } from '../support/server.ts';

const requests = 40;
const flags = { ...reachesLoopback, public_url: 'https://id.example' };

if (databases.includes('postgres')) {
  describe('CIBA pushes on two nodes of one PostgreSQL', () => {
    it(`${requests} requests decided together: ${requests} pushes, none twice`, async () => {
      const first = await startTestServer('postgres', { flags });
      const second = await startTestServer('postgres', { flags, database: first.database, clock: first.clock });
      const receiver = await startReceiver();
      try {
        const { services } = first.gatehouse;
        const tenant = await rootTenant(services);
        const client = await createClient(services, tenant, {
          grantTypes: [cibaGrantType],
          backchannelTokenDeliveryMode: 'push',
          backchannelClientNotificationEndpoint: receiver.url,
        });
        const address = first.gatehouse.app.server.address();
        assert.ok(address !== null && typeof address !== 'string');
        const url = `http://127.0.0.1:${address.port}/v1/idp/oidc/bc-authorize`;
        const asked: { readonly id: string; readonly user: TestUser }[] = [];
        for (let index = 0; index < requests; index += 1) {
          const user = await createUser(services, tenant);
          const form = { scope: 'openid', login_hint: user.email, client_notification_token: 'token' };
          const body = (await (await postForm(url, form, basic(client.clientId, client.secret))).json()) as { auth_req_id: string };
          asked.push({ id: body.auth_req_id, user });
        }
        await Promise.all(asked.map(({ user }) => decide(first, tenant, user, 'approve')));
        await Promise.all([runDeliveries(first), runDeliveries(second)]);
        const told = receiver.received.map(({ body }) => (JSON.parse(body) as { auth_req_id: string; access_token: string }).auth_req_id);
        assert.deepEqual(told.sort(), asked.map(({ id }) => id).sort());
      } finally {
        await second.close();
        await first.close();
        await receiver.close();
      }
    });
  });
}
