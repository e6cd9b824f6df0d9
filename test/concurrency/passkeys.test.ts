// One response, many requests: a passkey's challenge opens one sign-in once, its counter moves once, and a user never gets more
// passkeys than the limit, however many registrations run at the same time.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { passkeysPerUserMax } from '../../src/contract/limits.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { listPasskeysOfUser } from '../../src/storage/sign-in/passkeys.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, createUser, type TestClient } from '../support/fixtures.ts';
import { beginLogin } from '../support/login.ts';
import { askForPasskey, givePasskey, insertTestPasskey } from '../support/passkeys.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const copies = 50;

for (const database of databases) {
  describe(`Passkeys in parallel on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let client: TestClient;
    before(async () => {
      server = await startTestServer(database);
      const rates = { login_starts_per_ip: roomyRate, pin_attempts_per_ip: roomyRate };
      tenant = await createOtherTenant(server.gatehouse.services, 'acme', { rate_limits: rates });
      client = await createClient(server.gatehouse.services, tenant);
    });
    after(() => server.close());

    for (const counter of [undefined, 7])
      it(`${copies} parallel posts of one response give one approval, ${counter === undefined ? 'without' : 'with'} a counter`, async () => {
        const user = await createUser(server.gatehouse.services, tenant);
        const passkey = await givePasskey(server, tenant, user, counter);
        const login = await beginLogin(server, tenant, client);
        const response = passkey.sign(await askForPasskey(login, user.email));
        const answers = await Promise.all(Array.from({ length: copies }, () => login.post('passkey', { response })));
        const statuses = answers.map((answer) => answer.status);
        assert.equal(statuses.filter((status) => status === 200).length, 1);
        // The others came after it, or lost the race for the challenge or the counter.
        for (const status of statuses) assert.ok([200, 401, 409].includes(status), String(status));
        const approvals = await server.gatehouse.services.database.read(tenant.id, (queries) =>
          queries
            .selectFrom('audit_events')
            .select('id')
            .where('type', '=', 'approval.approved')
            .where('actor', '=', `user:${user.id}`)
            .execute(),
        );
        assert.equal(approvals.length, 1);
        const [row] = await server.gatehouse.services.database.read(tenant.id, (queries) =>
          listPasskeysOfUser(queries, tenant.id, user.id),
        );
        assert.equal(row?.counter, counter === undefined ? 0 : 8);
      });

    it(`20 parallel registrations leave ${passkeysPerUserMax} passkeys`, async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => insertTestPasskey(server, tenant, user)));
      assert.equal(outcomes.filter((outcome) => outcome.ok).length, passkeysPerUserMax);
      for (const outcome of outcomes) assert.ok(outcome.ok || outcome.reason === 'too_many');
    });
  });
}
