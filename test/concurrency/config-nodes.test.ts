// Configuration is cached, and a change made on one node acts on it at once and on the other within a second.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { databases } from '../support/databases.ts';
import { callJson, createTestClient, createTestTenant, type Managed } from '../support/management.ts';
import { operatorToken, startTestServer, type TestServer } from '../support/server.ts';

const withinMs = 1000;

for (const database of databases.filter((name) => name === 'postgres')) {
  describe('two nodes on one database', () => {
    let one: TestServer;
    let two: TestServer;
    let twoOrigin: string;
    let tenant: Managed;
    before(async () => {
      one = await startTestServer(database);
      two = await startTestServer(database, { database: one.database, clock: one.clock, flags: { public_url: one.url } });
      const address = two.gatehouse.app.server.address();
      twoOrigin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
      tenant = await createTestTenant(one);
    });
    after(async () => {
      await two.close();
      await one.close();
    });
    const onTwo = (path: string): string => `${twoOrigin}/t/${tenant.slug}${path}`;
    const token = async (client: { readonly client_id: string; readonly client_secret: string }): Promise<number> => {
      const { client_id, client_secret } = client;
      const response = await fetch(onTwo('/v1/idp/oidc/token'), {
        method: 'POST',
        body: new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }),
      });
      await response.body?.cancel();
      return response.status;
    };
    /** Asks until the answer is as expected; fails when that takes a second. */
    const soon = async (expected: number, ask: () => Promise<number>): Promise<void> => {
      const startedAt = performance.now();
      let status = await ask();
      while (status !== expected && performance.now() - startedAt < withinMs) {
        await wait(20);
        status = await ask();
      }
      assert.equal(status, expected, `after ${Math.round(performance.now() - startedAt)} ms`);
    };

    it('a client disabled, enabled again and given another secret', async () => {
      const client = await createTestClient(tenant, {
        token_endpoint_auth_method: 'client_secret_post',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        scopes: ['users:read'],
      });
      await soon(200, () => token(client));
      await tenant.make('PATCH', `/clients/${client.client_id}`, { enabled: false });
      await soon(401, () => token(client));
      await tenant.make('PATCH', `/clients/${client.client_id}`, { enabled: true });
      await soon(200, () => token(client));
      const { client_secret } = await tenant.make<{ client_secret: string }>('POST', `/clients/${client.client_id}/secret`);
      await soon(401, () => token(client));
      await soon(200, () => token({ client_id: client.client_id, client_secret }));
    });
    it('a key rotated: the other node publishes and signs with it', async () => {
      const keys = async (): Promise<string> => (await fetch(onTwo('/v1/idp/oidc/jwks'))).text();
      const before = await keys();
      await tenant.make('POST', '/signing-keys', { use: 'oidc', alg: 'ES256' });
      await soon(1, async () => ((await keys()) === before ? 0 : 1));
    });
    it('a tenant unknown to the other node, created, disabled', async () => {
      const jwks = async (): Promise<number> => {
        const response = await fetch(`${twoOrigin}/t/fresh/v1/idp/oidc/jwks`);
        await response.body?.cancel();
        return response.status;
      };
      assert.equal(await jwks(), 404);
      const created = await callJson(`${one.url}/v1/system/tenants`, operatorToken, 'POST', { slug: 'fresh', name: 'Fresh' });
      const { id } = (await created.json()) as { readonly id: string };
      await soon(200, jwks);
      await callJson(`${one.url}/v1/system/tenants/${id}`, operatorToken, 'PATCH', { enabled: false });
      await soon(404, jwks);
    });
  });
}
