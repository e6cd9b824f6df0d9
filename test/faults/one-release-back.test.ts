// The release before this one runs on this release's schema: beside its migration, beside nodes of this release, and again after
// it was replaced. Its real code, from the history of this repository, as a process. And the other limit: two releases on.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { ConfigError } from '../../src/config.ts';
import { replaceInstanceValue } from '../../src/storage/engine/instance.ts';
import { schemaLevel, schemaLevelKey } from '../../src/storage/engine/migrations/schema-level.ts';
import { createTestDatabase, databases, type TestDatabase, type TestPlace } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createClient, createUser, rootTenant } from '../support/fixtures.ts';
import { type GatehouseProcess, runGatehouse, serveEmbedded } from '../support/gatehouse-process.ts';
import { callJson } from '../support/management.ts';
import { basic, formBody, issueCode, redirectUri, verifier } from '../support/oidc.ts';
import { launcherOf } from '../support/past-release.ts';
import { assertRefusal } from '../support/refusal.ts';
import { operatorToken, startTestServer, type TestServer } from '../support/server.ts';

const launcher = launcherOf('0.1.0');

/** A node of release 0.1.0. */
function serveBefore({ dataFolder, databaseUrl }: TestPlace): GatehouseProcess {
  const environment = databaseUrl === undefined ? {} : { GATEHOUSE_DATABASE_URL: databaseUrl };
  return serveEmbedded(dataFolder, { launcher: launcher!, environment });
}

async function migrateBefore({ dataFolder, databaseUrl }: TestPlace): Promise<void> {
  const environment = { GATEHOUSE_DATABASE_URL: databaseUrl! };
  const { code, stderr } = await runGatehouse(dataFolder, { launcher: launcher!, args: ['migrate'], environment }).ended;
  assert.equal(code, 0, stderr);
}

async function end(node: GatehouseProcess): Promise<void> {
  node.signal('SIGTERM');
  assert.equal((await node.ended).code, 0, node.stderr());
}

interface Machine {
  readonly client_id: string;
  readonly client_secret: string;
}

/** A tenant, by its admin client. */
async function createTenant(origin: string): Promise<Machine> {
  const response = await callJson(`${origin}/v1/system/tenants`, operatorToken, 'POST', { slug: 'acme', name: 'Acme' });
  assert.equal(response.status, 201);
  return ((await response.json()) as { readonly admin_client: Machine }).admin_client;
}

const askToken = (origin: string, { client_id, client_secret }: Machine): Promise<Response> =>
  fetch(`${origin}/t/acme/v1/idp/oidc/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }),
  });

async function managementToken(origin: string, machine: Machine): Promise<string> {
  const response = await askToken(origin, machine);
  assert.equal(response.status, 200);
  return ((await response.json()) as { readonly access_token: string }).access_token;
}

const machineBody = {
  name: 'M',
  token_endpoint_auth_method: 'client_secret_post',
  grant_types: ['client_credentials'],
  redirect_uris: [],
  scopes: ['users:read'],
};

/** A change by the Management API. */
async function change(origin: string, path: string, token: string, method: string, body: object): Promise<Response> {
  const response = await callJson(`${origin}/t/acme/v1/management${path}`, token, method, body);
  assert.ok(response.ok, `${response.status} ${path}`);
  return response;
}

/** Asks until the answer is as expected. */
const soon = (expected: number, ask: () => Promise<Response>): Promise<boolean> =>
  eventually(async () => {
    const { status, body } = await ask();
    await body?.cancel();
    return status === expected;
  }, `${expected}`);

if (launcher !== undefined)
  for (const name of databases) {
    describe(`release 0.1.0 on this release's schema, ${name}`, () => {
      let own: TestDatabase;
      let machine: Machine;
      const failed: string[] = [];
      let asked = 0;
      before(async () => {
        own = await createTestDatabase(name, async (place) => {
          if (name === 'postgres') await migrateBefore(place);
          const node = serveBefore(place);
          machine = await createTenant(await node.ready);
          if (name === 'sqlite') return end(node);
          running = node;
          traffic = keepAsking(await node.ready);
        });
      });
      let running: GatehouseProcess | undefined;
      let traffic: Promise<void> | undefined;
      let going = true;
      /** Writes and reads by the Management API of the old node. */
      const keepAsking = async (origin: string): Promise<void> => {
        const token = await managementToken(origin, machine);
        for (; going; asked += 1) {
          const made = { user_name: `u${asked}`, emails: [{ value: `u${asked}@people.example` }] };
          const path = `${origin}/t/acme/v1/management/users`;
          const response = await (asked % 2 === 0 ? callJson(path, token, 'POST', made) : callJson(path, token, 'GET'));
          const text = await response.text();
          // The migration ends each of its connections once, perhaps just when it is asked something: a 503, to be tried again.
          if (!response.ok && response.status !== 503) failed.push(`${response.status} ${text}`);
        }
      };
      after(async () => {
        going = false;
        await traffic;
        running?.signal('SIGKILL');
        await running?.ended;
        await own.drop();
      });

      if (name === 'postgres') {
        it('migrated beside the traffic of its node: no request fails, and the node goes on', async () => {
          const startedAt = asked;
          while (asked < startedAt + 20) await wait(20);
          going = false;
          await traffic;
          assert.deepEqual(failed, []);
          assert.equal((await askToken(await running!.ready, machine)).status, 200);
        });
        it('beside a node of this release: each sees what the other changes within a second, and a code is redeemed once', async () => {
          const server = await startTestServer(name, { database: own });
          try {
            const old = await running!.ready;
            for (const [here, there] of [
              [old, server.url],
              [server.url, old],
            ] as const) {
              const token = await managementToken(here, machine);
              const made = await change(here, '/clients', token, 'POST', machineBody);
              const client = (await made.json()) as Machine;
              await soon(200, () => askToken(there, client));
              await change(here, `/clients/${client.client_id}`, token, 'PATCH', { enabled: false });
              await soon(401, () => askToken(there, client));
            }
            assert.equal(await redeemEverywhere(server, [old, server.url]), 1);
          } finally {
            await server.close();
          }
        });
      }
      it('after a node of this release: it starts again, and what this one wrote works', async () => {
        if (running !== undefined) await end(running);
        running = undefined;
        const server = await startTestServer(name, { database: own });
        const token = await managementToken(server.url, machine);
        const made = await callJson(`${server.url}/t/acme/v1/management/clients`, token, 'POST', machineBody);
        const client = (await made.json()) as Machine;
        await server.close();
        running = serveBefore(own);
        const origin = await running.ready;
        assert.equal((await askToken(origin, client)).status, 200);
        assert.equal((await askToken(origin, machine)).status, 200);
        await end(running);
        running = undefined;
        const again = await startTestServer(name, { database: own });
        assert.equal((await askToken(again.url, client)).status, 200);
        await again.close();
      });
    });
  }

/** Redeems one code many times at once on all nodes; gives how many succeeded. */
async function redeemEverywhere(server: TestServer, origins: readonly string[]): Promise<number> {
  const { services } = server.gatehouse;
  const tenant = await rootTenant(services);
  const client = await createClient(services, tenant);
  const code = await issueCode(server, tenant, client, await createUser(services, tenant));
  const statuses = await Promise.all(
    Array.from({ length: 60 }, async (_, turn) => {
      const response = await fetch(`${origins[turn % origins.length]}/v1/idp/oidc/token`, {
        method: 'POST',
        body: formBody({ grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }),
        headers: { authorization: basic(client) },
      });
      await response.body?.cancel();
      return response.status;
    }),
  );
  return statuses.filter((status) => status === 200).length;
}

for (const name of databases) {
  describe(`a schema of later releases, ${name}`, () => {
    let own: TestDatabase;
    before(async () => {
      own = await createTestDatabase(name);
    });
    after(() => own.drop());
    const setLevel = (server: TestServer, level: number): Promise<void> =>
      server.gatehouse.services.database.system((queries) => replaceInstanceValue(queries, schemaLevelKey, String(level)));

    it('management.unavailable: one release on it serves and starts; two on it is not ready, and a start says why', async () => {
      const server = await startTestServer(name, { database: own });
      const ready = (): Promise<Response> => fetch(`${server.url}/health/ready`);
      await setLevel(server, schemaLevel + 1);
      assert.equal((await ready()).status, 200);
      await server.close();
      const again = await startTestServer(name, { database: own });
      try {
        assert.equal((await fetch(`${again.url}/health/ready`)).status, 200);
        await setLevel(again, schemaLevel + 2);
        await again.clock.advance(6000);
        await assertRefusal(await fetch(`${again.url}/health/ready`), 'management.unavailable');
        await assertRefusal(await fetch(`${again.url}/v1/idp/oidc/token`, { method: 'POST' }), 'oauth.unavailable');
      } finally {
        await again.close();
      }
      await assert.rejects(
        startTestServer(name, { database: own }),
        (error: Error) =>
          error instanceof ConfigError &&
          /expected a schema of level \d or \d, found level \d of a later release\. Run the release that migrated it, or the one before$/.test(
            error.message,
          ),
      );
    });
  });
}
