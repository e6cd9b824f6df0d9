// One assertion authenticates once, however many requests and processes bring it at the same moment (E3).
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertionForm, makeKeyPair, postForm, signAssertion } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { createClient, rootTenant } from '../support/fixtures.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const uses = 500;
const keys = makeKeyPair('ES256');
const settings = JSON.stringify({ rate_limits: { client_auth_failures_per_ip: roomyRate } });

async function prepare(server: TestServer): Promise<string> {
  const { services } = server.gatehouse;
  const tenant = await rootTenant(services);
  await services.cache.write(tenant.id, (queries) => queries.updateTable('tenants').set({ settings }).execute());
  const client = await createClient(services, tenant, {
    tokenEndpointAuthMethod: 'private_key_jwt',
    secretHash: undefined,
    jwks: { keys: [keys.publicJwk] },
  });
  return client.clientId;
}

const send = async (url: string, assertion: string): Promise<number> => {
  const response = await postForm(`${url}/v1/idp/oidc/revoke`, { token: 'nothing', ...assertionForm(assertion) });
  await response.arrayBuffer();
  return response.status;
};

const count = (statuses: readonly number[], status: number): number => statuses.filter((one) => one === status).length;

for (const database of databases) {
  describe(`client assertions in parallel on ${database}`, () => {
    it(`${uses} parallel uses of one assertion: exactly one success`, async () => {
      const server = await startTestServer(database);
      try {
        const clientId = await prepare(server);
        const assertion = await signAssertion(keys, clientId, server.url, server.clock.nowMs());
        const statuses = await Promise.all(Array.from({ length: uses }, () => send(server.url, assertion)));
        assert.deepEqual([count(statuses, 200), count(statuses, 401)], [1, uses - 1]);
        const others = await Promise.all(
          Array.from({ length: 50 }, async () => send(server.url, await signAssertion(keys, clientId, server.url, server.clock.nowMs()))),
        );
        assert.equal(count(others, 200), 50, 'assertions of their own all succeed');
      } finally {
        await server.close();
      }
    });
  });
}

if (databases.includes('postgres')) {
  describe('client assertions on two nodes of one PostgreSQL', () => {
    it(`${uses} parallel uses of one assertion on both: exactly one success`, async () => {
      const first = await startTestServer('postgres', { flags: { public_url: 'https://id.example' } });
      const second = await startTestServer('postgres', {
        database: first.database,
        clock: first.clock,
        flags: { public_url: 'https://id.example' },
      });
      try {
        const clientId = await prepare(first);
        const assertion = await signAssertion(keys, clientId, 'https://id.example', first.clock.nowMs());
        const urls = [listening(first), listening(second)];
        await second.gatehouse.services.jobs.runNow('configuration-pulse');
        const statuses = await Promise.all(Array.from({ length: uses }, (_, index) => send(urls[index % 2]!, assertion)));
        assert.deepEqual([count(statuses, 200), count(statuses, 401)], [1, uses - 1]);
      } finally {
        await second.close();
        await first.close();
      }
    });
  });
}

function listening(server: TestServer): string {
  const address = server.gatehouse.app.server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on TCP');
  return `http://127.0.0.1:${address.port}`;
}
