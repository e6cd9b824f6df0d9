// Webhooks of some tenants that hang do not hold up the events of another.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { webhooksPerTenantMax } from '../../src/contract/limits.ts';
import { tenantShareMax } from '../../src/deliveries/kinds.ts';
import { databases } from '../support/databases.ts';
import { until } from '../support/deliveries.ts';
import { createTestTenant, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { loopbackAllowed, makeHook, startWebhookReceiver, type WebhookReceiver } from '../support/webhooks.ts';

const tenants = 4;
const rounds = 10;

for (const database of databases)
  describe(`webhooks that hang, ${database}`, () => {
    let receiver: WebhookReceiver;
    let server: TestServer;
    before(async () => {
      receiver = await startWebhookReceiver();
      server = await startTestServer(database, { flags: loopbackAllowed });
    });
    after(async () => {
      await receiver?.close();
      await server?.close();
    });
    const happens = async (tenant: Managed): Promise<void> => {
      await tenant.make('POST', '/groups', { display_name: 'Staff' });
      const { jobs } = server.gatehouse.services;
      await jobs.runNow('webhook-feed');
      jobs.wake();
    };

    /** Lets all hooks of new tenants hang, and gives how many were given up before what happened at another arrived. */
    const hang = async (round: number): Promise<number> => {
      let given = 0;
      let givenUp = 0;
      const hanging: Managed[] = [];
      for (let made = 0; made < tenants; made += 1) {
        const tenant = await createTestTenant(server);
        for (let at = 0; at < webhooksPerTenantMax; at += 1) {
          const path = `/hangs/${round}/${made}/${at}`;
          await makeHook(tenant, receiver.url(path));
          receiver.answer(path, (response) => {
            given += 1;
            response.on('close', () => {
              givenUp += 1;
            });
          });
        }
        hanging.push(tenant);
      }
      const other = await createTestTenant(server);
      await makeHook(other, receiver.url(`/answers/${round}`));
      for (const tenant of hanging) await happens(tenant);
      await until(() => given >= tenants * tenantShareMax);
      await happens(other);
      await until(() => receiver.at(`/answers/${round}`).length === 1);
      return givenUp;
    };

    it(`${webhooksPerTenantMax} of each of ${tenants} tenants: what happens at a fifth goes at once`, async () => {
      // On a machine so slow that an attempt was over before all had begun, it is tried with others.
      for (let round = 1; (await hang(round)) > 0; round += 1) assert.ok(round < rounds, 'all the others still hang');
    });
  });
