// Rate limits of CIBA starts (contract 7.19), each at n and n+1: per client, per user and hour, and waiting at once.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { cibaGrantType, decide } from '../support/ciba.ts';
import { basic, postForm } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, createUser, type TestClient, type TestUser } from '../support/fixtures.ts';
import { assertRefusal } from '../support/refusal.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const off = { ciba_starts_per_client: roomyRate, approvals_per_user: roomyRate, approvals_pending_per_user: roomyRate };

for (const database of databases) {
  describe(`CIBA limits on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());

    let tenants = 0;
    const prepare = async (limits: object): Promise<{ readonly tenant: Tenant; readonly client: TestClient; readonly user: TestUser }> => {
      const { services } = server.gatehouse;
      tenants += 1;
      const settings = { login_methods: ['email_pin'], rate_limits: { ...off, ...limits } };
      const tenant = await createOtherTenant(services, `limits-${tenants}`, settings);
      const client = await createClient(services, tenant, { grantTypes: [cibaGrantType], backchannelTokenDeliveryMode: 'poll' });
      return { tenant, client, user: await createUser(services, tenant) };
    };
    const start = ({ baseUrl }: Tenant, client: TestClient, email: string): Promise<Response> =>
      postForm(`${baseUrl}/v1/idp/oidc/bc-authorize`, { scope: 'openid', login_hint: email }, basic(client.clientId, client.secret));
    const assertLimited = async (response: Response): Promise<void> => {
      const waitSeconds = Number(response.headers.get('retry-after'));
      assert.ok(waitSeconds >= 1 && waitSeconds <= 300, `retry-after ${waitSeconds}`);
      await assertRefusal(response, 'oauth.rate_limited', { text: 'Too many requests.', fields: { retry_after_seconds: waitSeconds } });
    };

    it('7.19 ciba_starts_per_client: starts that fail count, another client is free', async () => {
      const { tenant, client, user } = await prepare({ ciba_starts_per_client: { limit: 3, period_seconds: 60 } });
      for (const email of [user.email, 'nobody@people.example', user.email])
        assert.notEqual((await start(tenant, client, email)).status, 429);
      await assertLimited(await start(tenant, client, user.email));
      const other = await createClient(server.gatehouse.services, tenant, {
        grantTypes: [cibaGrantType],
        backchannelTokenDeliveryMode: 'poll',
      });
      assert.equal((await start(tenant, other, user.email)).status, 200);
    });
    it('7.19 approvals_per_user: one person is not asked without end, twice as often by a client as from an address', async () => {
      const { tenant, client, user } = await prepare({ approvals_per_user: { limit: 3, period_seconds: 60 } });
      for (let asked = 0; asked < 6; asked += 1) assert.equal((await start(tenant, client, user.email)).status, 200);
      await assertLimited(await start(tenant, client, user.email));
      const other = await createUser(server.gatehouse.services, tenant);
      assert.equal((await start(tenant, client, other.email)).status, 200);
      const settings = { grantTypes: [cibaGrantType], backchannelTokenDeliveryMode: 'poll' } as const;
      const others = await createClient(server.gatehouse.services, tenant, settings); // what one client asked keeps no other from it
      assert.equal((await start(tenant, others, user.email)).status, 200);
    });
    it('7.19 approvals_pending_per_user: a decision makes room', async () => {
      const { tenant, client, user } = await prepare({ approvals_pending_per_user: { limit: 3, period_seconds: 300 } });
      for (let asked = 0; asked < 3; asked += 1) assert.equal((await start(tenant, client, user.email)).status, 200);
      await assertLimited(await start(tenant, client, user.email));
      await decide(server, tenant, user, 'deny');
      assert.equal((await start(tenant, client, user.email)).status, 200);
      await assertLimited(await start(tenant, client, user.email));
    });
  });
}
