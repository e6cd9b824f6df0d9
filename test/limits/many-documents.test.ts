// A thousand programs that nobody registered, each with a document of its own, within a minute (design 18, part 2): the tenant they ask
// fetches and keeps so many, whoever asks, and the tenant beside it answers its people and programs meanwhile as ever.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { documentFetchesAtOnceMax, documentFetchesPerBlockMax, documentFetchesPerTenantMax } from '../../src/domain/client/stranger.ts';
import type { TenantId } from '../../src/domain/ids.ts';
import type { OutboundRequest } from '../../src/platform/net/outbound.ts';
import { authorize, type DocumentServer, loopbackUri, openTenant, startDocumentServer } from '../support/agents.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, type Managed } from '../support/management.ts';
import { challenge, formBody, redirectUri } from '../support/oidc.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const urls = 1000;
const atOnce = 40;
const metadata = { client_name: 'Agent', redirect_uris: [loopbackUri], token_endpoint_auth_method: 'none' };
const elsewhere = (index: number): string => `198.${18 + Math.floor(index / 65_536)}.${Math.floor(index / 256) % 256}.${index % 256}`;

for (const database of databases)
  describe(`a thousand documents in a minute on ${database}`, () => {
    let server: TestServer;
    let documents: DocumentServer;
    let neighbour: Managed;
    let neighbours: { readonly site: string; readonly machine: { readonly client_id: string; readonly client_secret: string } };
    /** Fetches under way, and the most there were. */
    let underWay = 0;
    let most = 0;
    before(async () => {
      server = await startTestServer(database, { flags: { egress_allow: '127.0.0.0/8', trusted_proxies: '127.0.0.1/32' } });
      const { rateLimiter } = server.gatehouse.services;
      const { take } = rateLimiter;
      // As limits of several nodes are counted: elsewhere, and others come meanwhile.
      Object.assign(rateLimiter, { take: (...event: Parameters<typeof take>) => setTimeout(5).then(() => take(...event)) });
      documents = await startDocumentServer(server);
      const { outbound } = server.gatehouse.services;
      const { fetch: fetchOnce } = outbound;
      Object.assign(outbound, {
        fetch: async (request: OutboundRequest) => {
          underWay += 1;
          most = Math.max(most, underWay);
          return fetchOnce(request).finally(() => {
            underWay -= 1;
          });
        },
      });
      neighbour = await createTestTenant(server, { settings: { rate_limits: { login_starts_per_ip: roomyRate } } });
      const site = await neighbour.make<{ client_id: string }>('POST', '/clients', {
        name: 'Site',
        redirect_uris: [redirectUri],
        scopes: ['openid'],
      });
      const machine = await neighbour.make<{ client_id: string; client_secret: string }>('POST', '/clients', {
        name: 'Machine',
        grant_types: ['client_credentials'],
        scopes: ['users:read'],
      });
      neighbours = { site: site.client_id, machine };
    });
    after(async () => {
      await documents.close();
      await server.close();
    });

    const rowsOf = async (table: 'client_documents' | 'clients', { id }: Managed): Promise<number> => {
      const { rows } = await server.gatehouse.services.database.read(id as TenantId, (queries) =>
        sql<{ count: number }>`SELECT count(*) AS count FROM ${sql.table(table)} WHERE tenant_id = ${id}`.execute(queries),
      );
      return Number(rows[0]!.count);
    };
    const epochs = async (): Promise<unknown> =>
      (
        await server.gatehouse.services.database.systemRead((queries) =>
          sql`SELECT tenant_id, version FROM config_epochs ORDER BY tenant_id`.execute(queries),
        )
      ).rows;
    /** Statuses of the neighbour's authorize and token requests. */
    const ordinary = async (): Promise<readonly number[]> => {
      const { site, machine } = neighbours;
      const query = formBody({
        response_type: 'code',
        client_id: site,
        redirect_uri: redirectUri,
        scope: 'openid',
        code_challenge: challenge,
        code_challenge_method: 'S256',
      });
      const answers = await Promise.all([
        fetch(`${neighbour.baseUrl}/v1/idp/oidc/authorize?${query}`, { redirect: 'manual' }),
        fetch(`${neighbour.baseUrl}/v1/idp/oidc/token`, {
          method: 'POST',
          headers: { authorization: `Basic ${btoa(`${machine.client_id}:${machine.client_secret}`)}` },
          body: formBody({ grant_type: 'client_credentials' }),
        }),
      ]);
      return Promise.all(
        answers.map(async (answer) => {
          await answer.body?.cancel();
          return answer.status;
        }),
      );
    };
    /** Asks for all of them, so many beside each other, with the neighbour between; gives how often each status was answered. */
    const flood = async (at: Managed, name: string, addressOf: (index: number) => string): Promise<ReadonlyMap<number, number>> => {
      const statuses = new Map<number, number>();
      for (let from = 0; from < urls; from += atOnce) {
        const some = Array.from({ length: Math.min(atOnce, urls - from) }, async (_, offset) => {
          const index = from + offset;
          const client_id = documents.publish(`/${name}-${index}`, metadata);
          const answer = await authorize(at, { client_id }, { 'x-forwarded-for': addressOf(index) });
          await answer.body?.cancel();
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        });
        const [beside] = await Promise.all([ordinary(), ...some]);
        assert.deepEqual(beside, [303, 200]);
      }
      return statuses;
    };
    const of = (statuses: ReadonlyMap<number, number>, status: number): number => statuses.get(status) ?? 0;
    const fetched = (name: string): number => documents.asked.filter((path) => path.startsWith(`/${name}-`)).length;

    // One block that asks for more at once than are fetched at once has counted those too.
    for (const [whence, name, addressOf, least, perMinute] of [
      ['many address blocks', 'many', elsewhere, documentFetchesPerTenantMax, documentFetchesPerTenantMax],
      ['one address block', 'one', () => elsewhere(urls), documentFetchesAtOnceMax, documentFetchesPerBlockMax],
    ] as const)
      it(`${urls} of ${whence}: no more than ${perMinute} are fetched and kept, ${documentFetchesAtOnceMax} at once, the others wait`, async () => {
        const at = await openTenant(server, { rate_limits: { login_starts_per_ip: roomyRate } });
        const [before, clients, startedMs] = [await epochs(), await rowsOf('clients', at), performance.now()];
        most = 0;
        const statuses = await flood(at, name, addressOf);
        // A slow machine takes more than the minute, and has the budget of each.
        const perMinutes = perMinute * (1 + Math.floor((performance.now() - startedMs) / 60_000));
        assert.equal(of(statuses, 303) + of(statuses, 429), urls, JSON.stringify([...statuses]));
        assert.ok(of(statuses, 303) >= least && of(statuses, 303) <= perMinutes, JSON.stringify([...statuses]));
        assert.equal(fetched(name), of(statuses, 303));
        assert.ok(most <= documentFetchesAtOnceMax, `${most} at once`);
        assert.equal(await rowsOf('client_documents', at), of(statuses, 303));
        assert.equal(await rowsOf('clients', at), clients);
        assert.deepEqual(await epochs(), before);
      });
  });
