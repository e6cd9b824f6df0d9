// A name server that never answers costs the tenant that uses its names, and nobody else.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { until } from '../support/deliveries.ts';
import { startDns, type TestDns } from '../support/dns-server.ts';
import { type HookReceiver, startHookReceiver } from '../support/hook-receiver.ts';
import { createTestClient, createTestTenant, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { loopbackAllowed } from '../support/webhooks.ts';

const machine = {
  token_endpoint_auth_method: 'client_secret_post',
  grant_types: ['client_credentials'],
  redirect_uris: [],
  scopes: ['users:read'],
};

for (const database of databases)
  describe(`slow names, ${database}`, () => {
    let dns: TestDns;
    let receiver: HookReceiver;
    let server: TestServer;
    before(async () => {
      dns = await startDns();
      receiver = await startHookReceiver();
      server = await startTestServer(database, { flags: { ...loopbackAllowed, dns_servers: dns.address } });
    });
    after(async () => {
      await server?.close();
      await receiver?.close();
      await dns?.close();
    });
    /** A tenant whose tokens wait for a hook at this name; gives what asks for one. */
    const askingAt = async (host: string, onFailure: 'refuse' | 'continue'): Promise<() => Promise<number>> => {
      const tenant: Managed = await createTestTenant(server);
      const url = receiver.url.replace('http://127.0.0.1', `https://${host}`);
      const client = await createTestClient(tenant, machine);
      await tenant.make('POST', '/hooks', { point: 'token', url, on_failure: onFailure, deadline_ms: 3000 });
      const { client_id, client_secret } = client;
      return async () => {
        const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret });
        return (await fetch(`${tenant.baseUrl}/v1/idp/oidc/token`, { method: 'POST', body })).status;
      };
    };

    it('ten tokens that wait for one do not delay the tokens of another tenant', async () => {
      dns.silent.add('slow.example');
      dns.addresses.set('hook.example', ['127.0.0.1']);
      const [slow, quick] = [await askingAt('slow.example', 'refuse'), await askingAt('hook.example', 'continue')];
      let answered = 0;
      const waiting = Array.from({ length: 10 }, async () => {
        const status = await slow();
        answered += 1;
        return status;
      });
      await until(() => dns.asked.includes('slow.example'));
      assert.equal(await quick(), 200);
      assert.equal(receiver.connections(), 1, 'its hook was called, though it speaks no TLS');
      assert.equal(answered, 0, 'those of the slow name still wait');
      for (const status of await Promise.all(waiting)) assert.equal(status, 503);
    });
  });
