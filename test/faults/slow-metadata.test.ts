// Metadata addresses of one tenant that do not answer (design 21, 2 and 3): another tenant's is read meanwhile. On both databases.
import assert from 'node:assert/strict';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { reachesLoopback } from '../support/ciba.ts';
import { databases } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createTestTenant, type Managed } from '../support/management.ts';
import { registeredAcs } from '../support/metadata-host.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/** As many as the job reads at once. */
const hangingAddresses = 20;

for (const database of databases)
  describe(`slow metadata on ${database}`, () => {
    let server: TestServer;
    let host: Server;
    let origin: string;
    /** In the order in which they are visited. */
    let tenants: readonly Managed[];
    const hanging: ServerResponse[] = [];
    const asked: string[] = [];
    before(async () => {
      server = await startTestServer(database, { flags: reachesLoopback });
      tenants = [await createTestTenant(server), await createTestTenant(server)].toSorted((one, other) => (one.slug < other.slug ? -1 : 1));
      host = createServer((request, response) => {
        const tenant = request.url!.split('/')[1]!;
        asked.push(tenant);
        if (tenant === tenants[0]!.slug) hanging.push(response.once('close', () => asked.push('given up')));
        else response.writeHead(404).end();
      });
      await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
      origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`; // listening on TCP
    });
    after(async () => {
      await server.close();
      host.closeAllConnections();
      host.close();
    });

    it('of each tenant one is read before the second of any', async () => {
      const [slow, quick] = tenants;
      const register = (tenant: Managed, at: number): Promise<unknown> =>
        tenant.make('POST', '/service-providers', {
          entity_id: `https://sp${at}.example`,
          acs: [{ url: registeredAcs }],
          metadata_url: `${origin}/${tenant.slug}/${at}`,
        });
      for (let at = 0; at < hangingAddresses; at += 1) await register(slow!, at);
      for (let at = 0; at < 2; at += 1) await register(quick!, at);
      const job = server.gatehouse.services.jobs.runNow('saml-metadata');
      await eventually(() => asked.filter((tenant) => tenant === quick!.slug).length === 2);
      assert.ok(!asked.includes('given up'));
      for (const response of hanging) response.writeHead(404).end();
      await eventually(() => {
        for (const response of hanging) if (!response.writableEnded) response.writeHead(404).end();
        return asked.filter((tenant) => tenant === slow!.slug).length === hangingAddresses;
      });
      await job;
    });
  });
