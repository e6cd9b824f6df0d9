// R3, E15: on PostgreSQL the database's clock decides what is expired; a node whose own clock is an hour off changes nothing.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, createUser } from '../support/fixtures.ts';
import { exchange, issueCode, refresh, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestClock } from '../support/server.ts';

const hourMs = 3_600_000;

for (const database of databases.filter((name) => name === 'postgres')) {
  describe('a node with a wrong clock', () => {
    for (const [title, offsetMs] of [
      ['an hour fast', hourMs],
      ['an hour slow', -hourMs],
    ] as const) {
      it(`${title}: codes and refresh tokens live and end by the database's time`, async () => {
        const clock: TestClock = { nowMs: () => Date.now() + offsetMs, advance: async () => undefined };
        const server = await startTestServer(database, { clock });
        try {
          const { services } = server.gatehouse;
          const tenant = await createOtherTenant(services, 'skewed', {
            authorization_code_lifetime_seconds: 60,
            refresh_token_idle_seconds: 3000,
          });
          const client = await createClient(services, tenant);
          const user = await createUser(services, tenant);
          const tokens = await tokensOf(await exchange(tenant, client, await issueCode(server, tenant, client, user)));
          const rotated = await tokensOf(await refresh(tenant, client, tokens.refresh_token));
          const late = await issueCode(server, tenant, client, user);
          await server.database.setOffsetMs(61_000);
          await assertRefusal(await exchange(tenant, client, late), 'token.code_invalid');
          await server.database.setOffsetMs(3_001_000);
          await assertRefusal(await refresh(tenant, client, rotated.refresh_token), 'token.refresh_invalid');
          assert.notEqual(rotated.refresh_token, tokens.refresh_token);
        } finally {
          await server.close();
        }
      });
    }
  });
}
