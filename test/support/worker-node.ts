// `gatehouse serve --workers` as processes, beside a server in the test's own process that makes clients, people and codes on the same
// database: its supervisor, and its workers by pid.
import { setTimeout as wait } from 'node:timers/promises';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { freePort } from './free-port.ts';
import { type GatehouseProcess, serveEmbedded } from './gatehouse-process.ts';
import { childrenOf } from './private-postgres.ts';
import type { TestServer } from './server.ts';

export interface WorkerNode {
  readonly supervisor: GatehouseProcess;
  readonly origin: string;
  /** The tenant as this node serves it. */
  readonly at: (tenant: Tenant) => Tenant;
  readonly workerPids: () => readonly number[];
  /** The pid of the worker that was named the keeper last; undefined before. */
  readonly keeper: () => number | undefined;
  /** How many workers have begun to serve since the start. */
  readonly servingCount: () => number;
  /** When the log last said this of a process, in epoch milliseconds of the supervisor. */
  readonly toldAt: (message: string, pid: number) => number;
  readonly metricsUrl: () => string;
  /** Waits until a line of its log or what it told says so. */
  readonly until: (is: () => boolean) => Promise<void>;
  /** Ends every process of it. */
  readonly kill: () => Promise<void>;
}

/** Starts a node of several workers on the database of `one`, with its public URL; resolves when it printed its ready line. */
export async function startWorkerNode(
  one: TestServer,
  workers: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<WorkerNode> {
  const port = await freePort();
  const supervisor = serveEmbedded(one.database.dataFolder, {
    args: ['--workers', String(workers), '--listen', `127.0.0.1:${port}`],
    environment: {
      GATEHOUSE_DATABASE_URL: one.database.databaseUrl!,
      GATEHOUSE_PUBLIC_URL: one.url,
      GATEHOUSE_LOG_LEVEL: 'info',
      GATEHOUSE_DATABASE_TIMEOUT_MS: '60000', // what waits on a busy machine is no failure
      ...environment,
    },
  });
  await supervisor.ready;
  const origin = `http://127.0.0.1:${port}`;
  return {
    supervisor,
    origin,
    at: (tenant) => ({ ...tenant, baseUrl: tenant.baseUrl.replace(one.url, origin) }),
    workerPids: () => childrenOf(supervisor.pid),
    keeper: () => {
      const last = [...supervisor.stderr().matchAll(/"pid":(\d+),"message":"a worker keeps the jobs of this node"/g)].at(-1);
      return last === undefined ? undefined : Number(last[1]);
    },
    servingCount: () => supervisor.stderr().match(/"message":"a worker serves"/g)?.length ?? 0,
    toldAt: (message, pid) => {
      const lines = supervisor
        .stderr()
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line));
      return Date.parse(lines.findLast((line) => line.message === message && line.pid === pid).time);
    },
    metricsUrl: () => /"url":"([^"]+)","message":"metrics are read here"/.exec(supervisor.stderr())![1]!,
    until: async (is) => {
      while (!is()) await wait(20);
    },
    kill: async () => {
      supervisor.signal('SIGKILL'); // its workers end with it
      await supervisor.ended;
    },
  };
}
