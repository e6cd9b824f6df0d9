// A node that cannot know the configuration must not act on what it remembers of it (design 11, part 2): cut off from its
// database, stopped, or behind a fail-over that undid commits. What was revoked meanwhile is refused from the way back on.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { ClientId, TenantId } from '../../src/domain/ids.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createConfigCache } from '../../src/storage/engine/config/config-cache.ts';
import { openSqlite } from '../../src/storage/engine/dialects/sqlite.ts';
import { runCommand } from '../support/commands.ts';
import { createTestDatabase, databases, onServer, type TestDatabase } from '../support/databases.ts';
import { type GatehouseProcess, serveEmbedded } from '../support/gatehouse-process.ts';
import { callSystem, createTestClient, createTestTenant, type Managed } from '../support/management.ts';
import { hasPrivatePostgres, startPrivatePostgres } from '../support/private-postgres.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestClock, type TestServer } from '../support/server.ts';
import { startTcpProxy, targetOf, throughProxy } from '../support/tcp-proxy.ts';

/** Longer than PostgreSQL lets a transaction of a silent node stand. */
const cutOffMs = 35_000;
const stoppedMs = 40_000;
/**
 * How soon after the way back everything revoked is refused: within a second, which is this many answers. Answers are counted, because a
 * machine with other work to do is slower in both.
 */
const againMs = 20;
const answersMax = 1000 / againMs;

interface Credentials {
  readonly client_id: string;
  readonly client_secret: string;
}

/** What is revoked while a node cannot know, and what stays. */
interface Registered {
  readonly tenant: Managed;
  readonly disabledTenant: Managed;
  readonly kept: Credentials;
  readonly disabled: Credentials;
  readonly rotated: Credentials;
  readonly ofDisabledTenant: Credentials;
}

const machine = {
  token_endpoint_auth_method: 'client_secret_post',
  grant_types: ['client_credentials'],
  redirect_uris: [],
  scopes: ['users:read'],
};

async function register(server: TestServer): Promise<Registered> {
  const tenant = await createTestTenant(server);
  const disabledTenant = await createTestTenant(server);
  const make = (of: Managed): Promise<Credentials> => createTestClient(of, machine);
  return {
    tenant,
    disabledTenant,
    kept: await make(tenant),
    disabled: await make(tenant),
    rotated: await make(tenant),
    ofDisabledTenant: await make(disabledTenant),
  };
}

/** Disables a client and a tenant and replaces a secret; gives the new secret's credentials. */
async function revoke(server: TestServer, { tenant, disabledTenant, disabled, rotated }: Registered): Promise<Credentials> {
  await tenant.make('PATCH', `/clients/${disabled.client_id}`, { enabled: false });
  const fresh = await tenant.make<{ client_secret: string }>('POST', `/clients/${rotated.client_id}/secret`);
  const response = await callSystem(server, 'PATCH', `/tenants/${disabledTenant.id}`, { enabled: false });
  assert.equal(response.status, 200);
  return { client_id: rotated.client_id, client_secret: fresh.client_secret };
}

const ask = (origin: string, { slug }: Managed, { client_id, client_secret }: Credentials): Promise<Response> =>
  fetch(`${origin}/t/${slug}/v1/idp/oidc/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }),
  });

async function statusOf(response: Promise<Response>): Promise<number> {
  const { status, body } = await response;
  await body?.cancel();
  return status;
}

/** The answers to everything revoked, in this order: the disabled client, the old secret, the disabled tenant. */
const askRevoked = ({ tenant, disabledTenant, ...all }: Registered, origin: string): Promise<readonly number[]> =>
  Promise.all([
    statusOf(ask(origin, tenant, all.disabled)),
    statusOf(ask(origin, tenant, all.rotated)),
    statusOf(ask(origin, disabledTenant, all.ofDisabledTenant)),
  ]);

const granted = [200, 200, 200];
const refused = [401, 401, 404];

/** Asks from now on until all is answered so, which must be soon; until then a node may say that it does not know, and nothing but what is `early`. */
async function assertSoon(askAll: () => Promise<readonly number[]>, expected: readonly number[], early = [503]): Promise<void> {
  for (let answers = 1; ; answers += 1) {
    const statuses = await askAll();
    if (statuses.join() === expected.join()) return;
    const isEarly = statuses.every((status, at) => status === expected[at] || early.includes(status));
    assert.ok(isEarly && answers < answersMax, `${statuses.join()} in answer ${answers}, expected ${expected.join()}`);
    await wait(againMs);
  }
}

/** Never may anything revoked be answered with success. */
const assertRefusedSoon = (registered: Registered, origin: string): Promise<void> =>
  assertSoon(() => askRevoked(registered, origin), refused);
/** Of a node that has just started. */
const assertGranted = (registered: Registered, origin: string): Promise<void> => assertSoon(() => askRevoked(registered, origin), granted);

function originOf(server: TestServer): string {
  const address = server.gatehouse.app.server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
}

/** A wall clock of the node alone: the database keeps its own time. */
function ownClock(): TestClock {
  let offsetMs = 0;
  return {
    nowMs: () => Date.now() + offsetMs,
    advance: async (ms) => {
      offsetMs += ms;
    },
  };
}

// Together, because they mostly wait.
describe('a node that could not know', { concurrency: true }, () => {
  for (const name of databases.filter((candidate) => candidate === 'postgres')) {
    for (const way of ['silent', 'refusing'] as const) {
      describe(`a node cut off from its database, which is ${way}`, () => {
        let own: TestDatabase;
        let one: TestServer;
        before(async () => {
          own = await createTestDatabase(name);
          one = await startTestServer(name, { database: own });
        });
        after(async () => {
          await one.close();
          await own.drop();
        });

        it('oauth.unavailable, management.unavailable: 5 s from memory, then 503; back within 1 s with all revocations', async () => {
          const registered = await register(one);
          const proxy = await startTcpProxy(targetOf(own.databaseUrl!, 5432));
          const clock = ownClock();
          const two = await startTestServer(name, {
            database: { ...own, databaseUrl: throughProxy(own.databaseUrl!, proxy) },
            clock,
            flags: { public_url: one.url, database_timeout_ms: '1000' },
          });
          try {
            const origin = originOf(two);
            const { tenant, kept, disabled } = registered;
            const keys = (): Promise<number> => statusOf(fetch(`${origin}/t/${tenant.slug}/v1/idp/oidc/jwks`));
            const discovery = (): Promise<number> => statusOf(fetch(`${origin}/t/${tenant.slug}/.well-known/openid-configuration`));
            await assertGranted(registered, origin);
            const permitted = (): Promise<readonly number[]> => Promise.all([keys(), discovery(), statusOf(ask(origin, tenant, kept))]);
            await assertSoon(permitted, granted);
            if (way === 'silent') proxy.stall();
            else proxy.refuse();
            await clock.advance(1500);
            assert.equal(await statusOf(ask(origin, tenant, kept)), 200, 'answered from memory');
            const fresh = await revoke(one, registered);
            await wait(cutOffMs);
            for (const credentials of [kept, disabled]) {
              const response = await ask(origin, tenant, credentials);
              assert.equal(response.headers.get('retry-after'), '1');
              await assertRefusal(response, 'oauth.unavailable');
            }
            await assertRefusal(await fetch(`${origin}/health/ready`), 'management.unavailable');
            assert.equal(await statusOf(fetch(`${origin}/health/live`)), 200);
            assert.deepEqual(await Promise.all([keys(), discovery()]), [200, 200], 'keys and discovery permit nothing');
            await clock.advance(600_000);
            assert.deepEqual(await Promise.all([keys(), discovery()]), [503, 503], 'for ten minutes');

            if (way === 'silent') proxy.resume();
            else proxy.accept();
            await assertRefusedSoon(registered, origin);
            const ready = (): Promise<number> => statusOf(fetch(`${origin}/health/ready`));
            await assertSoon(
              () => Promise.all([statusOf(ask(origin, tenant, kept)), statusOf(ask(origin, tenant, fresh)), ready()]),
              granted,
            );
          } finally {
            proxy.resume();
            proxy.accept();
            await two.close();
            await proxy.close();
          }
        });
      });
    }

    describe('a node that was stopped', () => {
      it('what waited in its sockets and what comes after is refused', async () => {
        const one = await startTestServer(name);
        const environment = { GATEHOUSE_DATABASE_URL: one.database.databaseUrl! };
        const two = serveEmbedded(one.database.dataFolder, { environment });
        try {
          const registered = await register(one);
          const origin = await two.ready;
          await assertGranted(registered, origin);
          two.signal('SIGSTOP');
          await revoke(one, registered);
          await assertRefusedAfterStop(two, registered, origin);
        } finally {
          two.signal('SIGKILL');
          await two.ended;
          await one.close();
        }
      });
    });

    if (hasPrivatePostgres)
      describe('a database server that started again', () => {
        it('everything is read anew: commits that were answered from may be undone', async () => {
          const postgres = await startPrivatePostgres();
          const nothing = async (): Promise<void> => undefined;
          const own = await createTestDatabase('sqlite'); // for its folder
          const database = { ...own, databaseUrl: postgres.url, setOffsetMs: nothing };
          const server = await startTestServer(name, { database, flags: { database_timeout_ms: '2000' } });
          try {
            const tenant = await createTestTenant(server);
            const client = await createTestClient(tenant, machine);
            const answer = async (): Promise<readonly number[]> => [await statusOf(ask(server.url, tenant, client))];
            await assertSoon(answer, [200]);
            // As after a fail-over that lost the commit which enabled the client, the bump of its epoch with it.
            await onServer(postgres.url, (connection) =>
              connection.query('UPDATE clients SET enabled = 0 WHERE client_id = $1', [client.client_id]),
            );
            await postgres.kill();
            await postgres.start();
            await assertSoon(answer, [401], [503, 200]); // from memory, within a second
          } finally {
            await server.close();
            await postgres.remove();
            await own.drop();
          }
        });
      });
  }

  describe('a node on the embedded database that was stopped while commands changed it', () => {
    it('what waited in its sockets and what comes after is refused', async () => {
      const own = await createTestDatabase('sqlite');
      const prepared = await startTestServer('sqlite', { database: own });
      const registered = await register(prepared);
      await prepared.close();
      const server = serveEmbedded(own.dataFolder);
      try {
        const origin = await server.ready;
        await assertGranted(registered, origin);
        server.signal('SIGSTOP');
        const { tenant, disabledTenant, rotated } = registered;
        for (const args of [
          ['client', 'rotate-secret', rotated.client_id, '--tenant', tenant.slug],
          ['tenant', 'disable', disabledTenant.slug],
        ]) {
          const { code, stderr } = await runCommand(own.dataFolder, [...args, '--data', own.dataFolder], {});
          assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
        }
        await disableClient(own, registered);
        await assertRefusedAfterStop(server, registered, origin);
      } finally {
        server.signal('SIGKILL');
        await server.ended;
        await own.drop();
      }
    });
  });
});

/** As the management API does, in a process beside the stopped server. */
async function disableClient({ dataFolder }: TestDatabase, { tenant, disabled }: Registered): Promise<void> {
  const database = openSqlite({ file: join(dataFolder, 'gatehouse.db'), clock: systemClock });
  await createConfigCache(database, systemClock).write(tenant.id as TenantId, (queries) =>
    queries
      .updateTable('clients')
      .set({ enabled: 0 })
      .where('client_id', '=', disabled.client_id as ClientId)
      .execute(),
  );
  await database.close();
}

async function assertRefusedAfterStop(stopped: GatehouseProcess, registered: Registered, origin: string): Promise<void> {
  const waiting = askRevoked(registered, origin);
  await wait(stoppedMs);
  stopped.signal('SIGCONT');
  const statuses = await waiting;
  assert.ok(!statuses.includes(200), `asked while it was stopped: ${statuses.join()}`);
  await assertRefusedSoon(registered, origin);
  await assertSoon(async () => [await statusOf(ask(origin, registered.tenant, registered.kept))], [200]);
}
