// Two groups of tenants as an operator has them: two `gatehouse serve`, each with a database and a master key of its own, behind one
// router, with one public URL and one operator token.
import assert from 'node:assert/strict';
import { createTestDatabase, type DatabaseName } from './databases.ts';
import { freePort } from './free-port.ts';
import { type Ended, type GatehouseProcess, runGatehouse } from './gatehouse-process.ts';
import { callSystem, type Json, jsonOf } from './management.ts';
import { type Router, startRouter } from './router.ts';
import { operatorToken } from './server.ts';
import { startWatchedGroup, type WatchedGroup } from './watched-group.ts';

export interface RunningGroup {
  /** Its own address, behind the router. */
  readonly url: string;
  readonly port: number;
  /** Starts a command beside it, as a process. */
  readonly start: (...args: readonly string[]) => GatehouseProcess;
  /** Runs one to its end. */
  readonly run: (...args: readonly string[]) => Promise<Ended>;
  /** The status of the tenant's keys there. */
  readonly statusOf: (slug: string) => Promise<number>;
  readonly stop: () => Promise<void>;
}

export interface TwoGroups {
  readonly router: Router;
  readonly source: RunningGroup;
  readonly target: RunningGroup;
  /** The target, with the test between. */
  readonly watched: WatchedGroup;
  readonly close: () => Promise<void>;
}

async function startGroup(name: DatabaseName, publicUrl: string): Promise<RunningGroup> {
  const database = await createTestDatabase(name);
  const port = await freePort();
  const environment = {
    GATEHOUSE_DEV: '1',
    GATEHOUSE_LOG_LEVEL: 'error',
    GATEHOUSE_RATE_LIMITS: 'off',
    GATEHOUSE_DATA: database.dataFolder,
    GATEHOUSE_PUBLIC_URL: publicUrl,
    GATEHOUSE_TRUSTED_PROXIES: '127.0.0.1',
    GATEHOUSE_OPERATOR_TOKEN: operatorToken,
    ...(database.databaseUrl === undefined ? {} : { GATEHOUSE_DATABASE_URL: database.databaseUrl }),
  };
  const start = (...args: readonly string[]): GatehouseProcess => runGatehouse(database.dataFolder, { args, environment });
  const server = start('serve', '--listen', `127.0.0.1:${port}`);
  await server.ready;
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    port,
    start,
    run: (...args) => start(...args).ended,
    statusOf: async (slug) => {
      const { status, body } = await fetch(`${url}/t/${slug}/v1/idp/oidc/jwks`);
      await body?.cancel();
      return status;
    },
    stop: async () => {
      server.signal('SIGTERM');
      const { code, stderr } = await server.ended;
      await database.drop();
      assert.equal(code, 0, stderr);
    },
  };
}

export async function openTwoGroups(from: DatabaseName, to: DatabaseName): Promise<TwoGroups> {
  const router = await startRouter();
  const source = await startGroup(from, router.url);
  const target = await startGroup(to, router.url);
  const watched = await startWatchedGroup(target.url);
  router.sendTo(source.port);
  // A first start in development makes a tenant to try; groups have no two tenants of one name.
  for (const group of [source, target]) {
    const sample = (await listedAt(group)).get('sample');
    if (sample !== undefined) assert.equal((await callSystem(group, 'DELETE', `/tenants/${sample['id']}`)).status, 204);
  }
  return {
    router,
    source,
    target,
    watched,
    close: async () => {
      await watched.close();
      await router.close();
      await Promise.all([source.stop(), target.stop()]);
    },
  };
}

/** Tenants as the group's system API lists them, by slug. */
export async function listedAt({ url }: RunningGroup): Promise<ReadonlyMap<string, Json>> {
  const { items } = await jsonOf<{ readonly items: readonly Json[] }>(await callSystem({ url }, 'GET', '/tenants?limit=100'), 200);
  return new Map(items.map((item) => [String(item['slug']), item]));
}
