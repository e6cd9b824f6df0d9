// A node on two PostgreSQLs under the real Patroni, as deploy/patroni/patroni.yaml sets them up: the leader changes in good order and by
// SIGKILL while people are written and refresh tokens rotate. Every refusal has its envelope, and nothing that was acknowledged is lost.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { openPostgres } from '../../src/storage/engine/dialects/postgres.ts';
import { migrate } from '../../src/storage/engine/migrations/migrator.ts';
import { createTestDatabase, type TestDatabase } from '../support/databases.ts';
import { createClient, createUser, rootTenant } from '../support/fixtures.ts';
import { createTestTenant, type Managed } from '../support/management.ts';
import { exchange, issueCode, refresh, type Tokens, tokensOf } from '../support/oidc.ts';
import { hasPatroni, type PatroniCluster, startPatroni } from '../support/patroni.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const writers = 4;
const families = 4;
/** By itself after the new leader takes writes: a fifth of a second on a free machine, and nobody restarts anything. */
const readyWithinMs = 20_000;
const acknowledgedAfter = 50;

interface Load {
  /** Ids of people whose creation was acknowledged. */
  readonly people: readonly string[];
  readonly refused: () => number;
  /** Resolves when so many more were acknowledged; rejects when a client found what must not be. */
  readonly more: (count: number) => Promise<void>;
  readonly stop: () => Promise<void>;
}

if (hasPatroni)
  describe('Patroni', () => {
    let cluster: PatroniCluster;
    let own: TestDatabase;
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      cluster = await startPatroni();
      await cluster.settled();
      const owner = openPostgres({ url: cluster.url, poolMax: 1, timeoutMs: 20_000, asService: false });
      await migrate(owner);
      await owner.close();
      own = await createTestDatabase('sqlite'); // for its folder
      const database = { ...own, databaseUrl: cluster.url, setOffsetMs: async () => undefined };
      server = await startTestServer('postgres', { database, flags: { database_timeout_ms: '4000' } });
      tenant = await createTestTenant(server);
    });
    after(async () => {
      await server?.close();
      await cluster?.remove();
      await own?.drop();
    });

    let made = 0;
    async function startLoad(): Promise<Load> {
      const { services } = server.gatehouse;
      const root = await rootTenant(services);
      const client = await createClient(services, root);
      const people: string[] = [];
      let acknowledged = 0;
      let refused = 0;
      let going = true;
      const write = async (): Promise<void> => {
        while (going) {
          made += 1;
          const email = `p${made}@people.example`;
          const response = await tenant.call('POST', '/users', { user_name: email, emails: [{ value: email }] });
          if (response.status === 201) people.push(((await response.json()) as { id: string }).id);
          else await assertRefusal(response, 'management.unavailable');
          if (response.status === 201) acknowledged += 1;
          else refused += 1;
        }
      };
      /** A token whose use was not answered may have been used; one that was acknowledged and never used is never refused. */
      const rotate = async (first: string): Promise<void> => {
        let token = first;
        let isUncertain = false;
        while (going) {
          const response = await refresh(root, client, token);
          if (response.status === 200) token = ((await response.json()) as Tokens).refresh_token!;
          else if (response.status === 503) await assertRefusal(response, 'oauth.unavailable');
          else {
            assert.ok(isUncertain, `an acknowledged newest token was refused: ${response.status} ${await response.text()}`);
            return;
          }
          isUncertain = response.status === 503;
          if (isUncertain) refused += 1;
          else acknowledged += 1;
        }
      };
      const firsts: string[] = [];
      for (let count = 0; count < families; count += 1) {
        const code = await issueCode(server, root, client, await createUser(services, root));
        firsts.push((await tokensOf(await exchange(root, client, code))).refresh_token!);
      }
      const clients = Promise.all([...Array.from({ length: writers }, write), ...firsts.map(rotate)]);
      const failing = clients.then(() => undefined);
      failing.catch(() => undefined); // whoever waits for more sees it
      return {
        people,
        refused: () => refused,
        more: async (count) => {
          const goal = acknowledged + count;
          while (acknowledged < goal) await Promise.race([wait(20), failing.then(() => wait(20))]);
        },
        stop: async () => {
          going = false;
          await clients;
        },
      };
    }

    /** Waits for the other member to lead and for the node to say that it is ready. */
    async function readyUnder(leader: string): Promise<void> {
      while ((await cluster.leader()) !== leader) await wait(20);
      const promotedAt = performance.now();
      for (;;) {
        const { status, body } = await fetch(`${server.url}/health/ready`);
        await body?.cancel();
        if (status === 200) return;
        assert.ok(performance.now() - promotedAt < readyWithinMs, 'not ready under the new leader');
        await wait(20);
      }
    }

    async function assertKept({ people }: Load): Promise<void> {
      const lost: string[] = [];
      for (const id of people) {
        const response = await tenant.call('GET', `/users/${id}`);
        await response.body?.cancel();
        if (response.status !== 200) lost.push(id);
      }
      assert.deepEqual(lost, [], `of ${people.length} acknowledged`);
    }

    for (const way of ['in good order', 'by SIGKILL'] as const)
      it(`management.unavailable, oauth.unavailable: the leader changes ${way}, and nothing acknowledged is lost`, {
        timeout: 180_000,
      }, async () => {
        const leader = await cluster.settled();
        const standby = leader === 'db1' ? 'db2' : 'db1';
        const load = await startLoad();
        try {
          await load.more(acknowledgedAfter);
          if (way === 'by SIGKILL') await cluster.kill(leader);
          else await cluster.switchOver(leader, standby);
          await readyUnder(standby);
          await load.more(acknowledgedAfter);
        } finally {
          await load.stop();
        }
        await assertKept(load);
        assert.ok(load.people.length > 0);
        if (way === 'by SIGKILL') assert.ok(load.refused() > 0, 'somebody was told while nobody led');
      });
  });
