// E5: kill -9 while refresh tokens rotate: no family ever has two live tokens, and every token that was acknowledged as the
// newest works, unless its successor was committed in the moment of the kill; then its second use ends the family.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TenantId } from '../../src/domain/ids.ts';
import { createTestDatabase, databases, type TestDatabase } from '../support/databases.ts';
import { createClient, createUser, rootTenant, type TestClient } from '../support/fixtures.ts';
import { type GatehouseProcess, serveEmbedded } from '../support/gatehouse-process.ts';
import { basic, exchange, formBody, issueCode, tokensOf } from '../support/oidc.ts';
import { startTestServer } from '../support/server.ts';

const familiesCount = 16;
/** The process under test is killed after this many rotations, each time. */
const rotationsPerLife = [40, 3, 120, 17];

for (const name of databases) {
  describe(`refresh rotation under kill -9 on ${name}`, () => {
    let database: TestDatabase;
    let tenant: TenantId;
    let client: TestClient;
    const first: string[] = [];
    let running: GatehouseProcess | undefined;
    before(async () => {
      database = await createTestDatabase(name);
      const server = await startTestServer(name, { database });
      const { services } = server.gatehouse;
      const root = await rootTenant(services);
      tenant = root.id;
      client = await createClient(services, root);
      for (let family = 0; family < familiesCount; family += 1) {
        const code = await issueCode(server, root, client, await createUser(services, root));
        first.push((await tokensOf(await exchange(root, client, code))).refresh_token!);
      }
      await server.close();
    });
    after(async () => {
      running?.signal('SIGKILL');
      await running?.ended;
      await database.drop();
    });

    const serve = async (): Promise<string> => {
      const environment = database.databaseUrl === undefined ? {} : { GATEHOUSE_DATABASE_URL: database.databaseUrl };
      running = serveEmbedded(database.dataFolder, { environment });
      return running.ready;
    };
    /** The successor; undefined when it was refused; throws when nobody answered. */
    const rotate = async (url: string, token: string): Promise<string | undefined> => {
      const response = await fetch(`${url}/v1/idp/oidc/token`, {
        method: 'POST',
        body: formBody({ grant_type: 'refresh_token', refresh_token: token }),
        headers: { authorization: basic(client) },
      });
      const body = (await response.json()) as { refresh_token?: string; error?: string };
      if (response.status === 200) return body.refresh_token;
      assert.deepEqual([response.status, body], [400, { error: 'invalid_grant' }]);
      return undefined;
    };
    const countLive = async (): Promise<ReadonlyMap<string, number>> => {
      const reader = await startTestServer(name, { database });
      const rows = await reader.gatehouse.services.database.read(tenant, (queries) =>
        queries
          .selectFrom('refresh_tokens as t')
          .innerJoin('grants as g', (join) => join.onRef('g.tenant_id', '=', 't.tenant_id').onRef('g.id', '=', 't.grant_id'))
          .select(['g.id', 't.token_hash'])
          .where('t.tenant_id', '=', tenant)
          .where('t.used_at', 'is', null)
          .where('g.revoked_at', 'is', null)
          .limit(100_000) // all of them
          .execute(),
      );
      await reader.close();
      return new Map([...Map.groupBy(rows, (row) => row.id)].map(([id, own]) => [id, own.length]));
    };

    it('no two live tokens in a family, every acknowledged newest token works', async () => {
      let families = first.map((token) => ({ token, inFlight: false }));
      for (const rotations of rotationsPerLife) {
        let acknowledged = 0;
        const enough = Promise.withResolvers<void>();
        const url = await serve();
        const clients = families.map(async (family) => {
          for (;;) {
            family.inFlight = true;
            const successor = await rotate(url, family.token).catch(() => 'killed' as const);
            if (successor === 'killed') return;
            assert.ok(successor, 'an acknowledged newest token was refused');
            family.token = successor;
            family.inFlight = false;
            acknowledged += 1;
            if (acknowledged === rotations) enough.resolve();
          }
        });
        await Promise.race([enough.promise, Promise.all(clients)]); // a failing client must not be waited for
        running?.signal('SIGKILL');
        await Promise.all([...clients, running?.ended]);
        for (const [grant, live] of await countLive()) assert.equal(live, 1, `${live} live tokens in ${grant}`);
        // What was in flight at the kill is settled by using it again: its rotation happened, or it did not.
        const settling = await serve();
        const settled = await Promise.all(families.map(async (family) => ({ family, successor: await rotate(settling, family.token) })));
        for (const { family, successor } of settled)
          assert.ok(successor !== undefined || family.inFlight, 'a token nobody was using was lost');
        families = settled.flatMap(({ successor }) => (successor === undefined ? [] : [{ token: successor, inFlight: false }]));
        running?.signal('SIGTERM');
        await running?.ended;
      }
      for (const [grant, live] of await countLive()) assert.equal(live, 1, `${live} live tokens in ${grant}`);
    });
  });
}
