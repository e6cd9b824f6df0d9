// Three nodes as processes, one of two workers, behind a real nginx, with the configuration of docs/how-to/three-nodes.md; only addresses, TLS and the upstream
// ports are changed. A server in the test's own process makes clients and codes on the same database.
import { setTimeout as wait } from 'node:timers/promises';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { blocksOf } from './documents.ts';
import { freePort } from './free-port.ts';
import { type GatehouseProcess, serveEmbedded } from './gatehouse-process.ts';
import { startNginx } from './nginx.ts';
import type { TestServer } from './server.ts';

export interface Nodes {
  readonly ports: readonly number[];
  /** Ends a node's process by this signal; resolves when it is gone. */
  readonly end: (index: number, signal: NodeJS.Signals) => Promise<number | null>;
  /** Starts it again at its port; resolves when it is ready. */
  readonly start: (index: number) => Promise<void>;
  /** Kills every one. */
  readonly stop: () => Promise<void>;
}

export interface ThreeNodes extends Nodes {
  /** Of nginx. */
  readonly origin: string;
  /** The tenant as asked for through nginx. */
  readonly through: (tenant: Tenant) => Tenant;
  readonly count: number;
  readonly nginxSaid: () => string;
}

/** One node has two. */
const workersOf = [1, 1, 2];
/** How long the document lets nginx take to try a node again. */
const triedAgainMs = 2000;

/** Three nodes and nothing in front of them. */
export async function startNodes(one: TestServer, more: Readonly<Record<string, string>> = {}): Promise<Nodes> {
  const ports = [await freePort(), await freePort(), await freePort()];
  const nodes: GatehouseProcess[] = [];
  const environment = {
    GATEHOUSE_DATABASE_URL: one.database.databaseUrl!,
    GATEHOUSE_PUBLIC_URL: one.url,
    GATEHOUSE_TRUSTED_PROXIES: '127.0.0.1',
    GATEHOUSE_DATABASE_TIMEOUT_MS: '60000', // what waits on a busy machine is no failure
    ...more,
  };
  const start = async (index: number): Promise<void> => {
    const args = ['--listen', `127.0.0.1:${ports[index]}`, '--workers', String(workersOf[index])];
    nodes[index] = serveEmbedded(one.database.dataFolder, { args, environment });
    await nodes[index].ready;
  };
  const end = async (index: number, signal: NodeJS.Signals): Promise<number | null> => {
    nodes[index]!.signal(signal);
    return (await nodes[index]!.ended).code;
  };
  await Promise.all(ports.map((_, index) => start(index)));
  return { ports, start, end, stop: async () => void (await Promise.all(nodes.map((_, index) => end(index, 'SIGKILL')))) };
}

export async function startThreeNodes(one: TestServer): Promise<ThreeNodes> {
  const nodes = await startNodes(one);
  const port = await freePort();
  const site = blocksOf('docs/how-to/three-nodes.md')
    .find(({ language }) => language === 'nginx')!
    .text.replace(/10\.0\.0\.1([123]):8080/g, (_all, digit) => `127.0.0.1:${nodes.ports[Number(digit) - 1]}`)
    .replace('listen 443 ssl http2;', `listen 127.0.0.1:${port};`)
    .replace('server_name id.example.com;', 'server_name _;')
    .replace(/^ *ssl_certificate.*\n/gm, '');
  const proxy = await startNginx(site, port);
  const origin = `http://127.0.0.1:${port}`;
  return {
    ...nodes,
    origin,
    through: (tenant) => ({ ...tenant, baseUrl: tenant.baseUrl.replace(one.url, origin) }),
    count: nodes.ports.length,
    start: async (index) => {
      await nodes.start(index);
      await wait(triedAgainMs);
    },
    nginxSaid: proxy.said,
    stop: async () => {
      await proxy.stop();
      await nodes.stop();
    },
  };
}
