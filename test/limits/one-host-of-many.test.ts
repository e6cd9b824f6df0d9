// Servers that tenants name at one host (a provider many use, a key set beside another): what one tenant has under way there is in nobody
// else's way (design 21, 2).
import assert from 'node:assert/strict';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { connectionsAtOnceMax } from '../../src/contract/limits.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { reachesLoopback } from '../support/ciba.ts';
import { assertionForm, makeKeyPair, postForm, signAssertion } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createClient, createOtherTenant, rootTenant } from '../support/fixtures.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases)
  describe(`one host of many tenants on ${database}`, () => {
    const pair = makeKeyPair('ES256');
    let server: TestServer;
    let host: Server;
    const held = new Set<ServerResponse>();
    let heldWhenAsked: number | undefined;
    before(async () => {
      server = await startTestServer(database, { flags: reachesLoopback });
      host = createServer((request, response) => {
        if (request.url?.startsWith('/held') === true) {
          held.add(response);
          response.once('close', () => held.delete(response));
          return;
        }
        heldWhenAsked = held.size;
        response.end(JSON.stringify({ keys: [pair.publicJwk] }));
      });
      await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
    });
    after(async () => {
      await server.close();
      host.closeAllConnections();
      await new Promise((resolve) => host.close(resolve));
    });

    /** Makes a client whose keys are at `path` of the host; gives what asks, and the status it hears. */
    async function clientWithKeysAt(tenant: Tenant, path: string): Promise<() => Promise<number>> {
      const { port } = host.address() as AddressInfo; // listening on TCP
      const client = await createClient(server.gatehouse.services, tenant, {
        tokenEndpointAuthMethod: 'private_key_jwt',
        secretHash: undefined,
        jwks: undefined,
        jwksUri: `http://127.0.0.1:${port}${path}`,
      });
      const assertion = await signAssertion(pair, client.clientId, tenant.baseUrl, server.clock.nowMs());
      return async () => {
        const response = await postForm(`${tenant.baseUrl}/v1/idp/oidc/revoke`, { token: 'x', ...assertionForm(assertion) });
        await response.arrayBuffer();
        return response.status;
      };
    }

    it('a tenant whose calls there all hang holds up no other, and one more of its own waits', async () => {
      const { services } = server.gatehouse;
      const hanging = await createOtherTenant(services, `hanging-${database}`);
      // All are made before the first asks: its call would be given up while the last are still made.
      const paths = Array.from({ length: connectionsAtOnceMax + 1 }, (_, index) => `/held-${index}`);
      const clients = await Promise.all(paths.map((path) => clientWithKeysAt(hanging, path)));
      const other = await clientWithKeysAt(await rootTenant(services), '/keys');
      const asking = clients.map((ask) => ask());
      await eventually(() => held.size === connectionsAtOnceMax);
      assert.equal(await other(), 200);
      assert.equal(heldWhenAsked, connectionsAtOnceMax);
      for (const response of held) response.end('{"keys":[]}');
      await eventually(() => held.size === 1, 'the one that waited');
      for (const response of held) response.end('{"keys":[]}');
      assert.deepEqual(new Set(await Promise.all(asking)), new Set([401]));
    });
  });
