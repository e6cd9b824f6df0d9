// The console and the account page register themselves as clients of a tenant when they are first opened.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { TenantId } from '../../src/domain/ids.ts';
import { databases } from '../support/databases.ts';
import { operatorToken, startTestServer } from '../support/server.ts';

for (const database of databases) {
  it(`forty people open a new tenant's pages at once: each is sent to the sign-in, each client is registered once (${database})`, async () => {
    const server = await startTestServer(database);
    try {
      const created = await fetch(`${server.url}/v1/system/tenants`, {
        method: 'POST',
        headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ slug: 'busy', name: 'Busy' }),
      });
      const { id, base_url: baseUrl } = (await created.json()) as { readonly id: TenantId; readonly base_url: string };
      const statuses = await Promise.all(
        Array.from(
          { length: 40 },
          async (_item, n) => (await fetch(`${baseUrl}/${n % 2 === 0 ? 'console' : 'account'}`, { redirect: 'manual' })).status,
        ),
      );
      assert.deepEqual([...new Set(statuses)], [303]);
      const registered = await server.gatehouse.services.database.read(id, (queries) =>
        queries
          .selectFrom('audit_events')
          .select('target')
          .where('tenant_id', '=', id)
          .where('type', '=', 'client.registered')
          .limit(10)
          .execute(),
      );
      assert.deepEqual(registered.map(({ target }) => target).sort(), ['client:gatehouse-account', 'client:gatehouse-console']);
    } finally {
      await server.close();
    }
  });
}
