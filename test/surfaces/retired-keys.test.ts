// Retired OIDC keys go by themselves once no token they signed can be alive: published until then, gone after it.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { rotateSigningKey } from '../../src/administration/signing-keys.ts';
import { findTenantBySlug } from '../../src/storage/registry/tenants.ts';
import { databases } from '../support/databases.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const keptMs = 7_776_000_000; // refresh_token_absolute_seconds, the longest of the default lifetimes
const marginMs = 60_000;

for (const name of databases) {
  describe(`retired keys on ${name}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(name);
    });
    after(() => server.close());

    it('a retired key is published until its last token has expired, then the job deletes it and says so', async () => {
      const { services } = server.gatehouse;
      const published = async (): Promise<readonly string[]> =>
        ((await (await fetch(`${server.url}/v1/idp/oidc/jwks`)).json()) as { keys: readonly { kid: string }[] }).keys.map(({ kid }) => kid);
      const before = await published();
      const tenant = (await services.database.systemRead((queries) => findTenantBySlug(queries, 'main')))!.tenant_id;
      await rotateSigningKey(services, tenant, 'ES256', { actor: 'operator' });
      const rotated = await published();
      assert.equal(rotated.length, before.length + 1);
      await server.clock.advance(keptMs - marginMs);
      await services.jobs.runNow('retired-keys');
      assert.deepEqual((await published()).toSorted(), rotated.toSorted());
      await server.clock.advance(2 * marginMs);
      await services.jobs.runNow('retired-keys');
      const left = await published();
      assert.equal(left.length, rotated.length - 1);
      const gone = rotated.filter((kid) => !left.includes(kid));
      const events = await services.database.read(tenant, (queries) =>
        queries
          .selectFrom('audit_events')
          .select(['actor', 'target'])
          .where('tenant_id', '=', tenant)
          .where('type', '=', 'signing_key.deleted')
          .execute(),
      );
      assert.deepEqual(
        events.map((event) => ({ ...event })),
        [{ actor: 'system', target: `signing_key:${gone[0]}` }],
      );
      await services.jobs.runNow('retired-keys');
      assert.deepEqual(await published(), left);
    });
  });
}
