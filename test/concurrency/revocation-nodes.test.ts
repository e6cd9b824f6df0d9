// A revocation acknowledged by one process is never `active` on another (E10): two servers on one PostgreSQL.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { basic, postForm } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser, rootTenant } from '../support/fixtures.ts';
import { issueTokens } from '../support/issued-tokens.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const rounds = 40;
const flags = { public_url: 'https://id.example' };

if (databases.includes('postgres')) {
  describe('revocation on two nodes of one PostgreSQL', () => {
    it(`${rounds} rounds: revoked on one, inactive on the other from the acknowledgement on`, async () => {
      const first = await startTestServer('postgres', { flags });
      const second = await startTestServer('postgres', { flags, database: first.database, clock: first.clock });
      try {
        const { services } = first.gatehouse;
        const tenant = await rootTenant(services);
        const client = await createClient(services, tenant);
        const user = await createUser(services, tenant);
        await second.gatehouse.services.jobs.runNow('configuration-pulse');
        const post = (node: TestServer, endpoint: string, token: string): Promise<Response> =>
          postForm(`${listening(node)}/v1/idp/oidc/${endpoint}`, { token }, basic(client.clientId, client.secret));
        const introspected = async (node: TestServer, token: string): Promise<boolean> =>
          ((await (await post(node, 'introspect', token)).json()) as { active: boolean }).active;
        for (let round = 0; round < rounds; round += 1) {
          const [here, there] = round % 2 === 0 ? [first, second] : [second, first];
          const tokens = await issueTokens(services, tenant, client, user.id);
          const byRefresh = round % 4 < 2;
          assert.equal(await introspected(there, tokens.accessToken), true);
          assert.equal((await post(here, 'revoke', byRefresh ? tokens.refreshToken : tokens.accessToken)).status, 200);
          assert.equal(await introspected(there, tokens.accessToken), false);
          assert.equal(await introspected(there, tokens.refreshToken), !byRefresh);
        }
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
