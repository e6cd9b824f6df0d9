// Two PostgreSQLs under the real Patroni, with deploy/patroni/patroni.yaml, and an etcd of one member; another region follows with a
// standby cluster, as docs/how-to/regions.md sets it up. Where Debian's patroni and
// etcd-server are not installed tests that need them are not defined, unless GATEHOUSE_TEST_REQUIRE names patroni.
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { readDocument } from './documents.ts';
import { freePort } from './free-port.ts';
import { asPostgres, childrenOf, killAll, killServer, postgresBinaries } from './private-postgres.ts';

const patroni = '/usr/bin/patroni';
const etcd = '/usr/bin/etcd';
export const hasPatroni = existsSync(patroni) && existsSync(etcd) && postgresBinaries !== undefined;

if ((process.env['GATEHOUSE_TEST_REQUIRE'] ?? '').split(',').includes('patroni') && !hasPatroni)
  throw new Error(`GATEHOUSE_TEST_REQUIRE names patroni: expected ${patroni}, ${etcd} and PostgreSQL, found not all`);

const password = 'change-me';

interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
}

export interface PatroniCluster {
  /** Names both servers. */
  readonly url: string;
  /** Waits until one leads and the other is its synchronous standby; gives the leader's name. */
  readonly settled: () => Promise<string>;
  /** The name of the member that leads now, by what the members say; undefined while none does. */
  readonly leader: () => Promise<string | undefined>;
  /** Lets the standby take over in good order. */
  readonly switchOver: (from: string, to: string) => Promise<void>;
  /** SIGKILL to a member's Patroni and every process of its PostgreSQL, as when its machine goes. */
  readonly kill: (name: string) => Promise<void>;
  /** Follows another cluster from now on, and takes no writes. */
  readonly follow: (other: PatroniCluster) => Promise<void>;
  /** Takes writes, and follows nobody. */
  readonly promote: () => Promise<void>;
  /** Waits until one of its servers follows another cluster. */
  readonly following: () => Promise<void>;
  /** The URL of each server alone. */
  readonly urls: readonly string[];
  /** That of the server that leads, also one that follows another cluster. */
  readonly leadingUrl: () => Promise<string>;
  /** SIGKILL to all its servers, as when its region goes. */
  readonly killAll: () => Promise<void>;
  readonly remove: () => Promise<void>;
}

/** The `standby_cluster` of Patroni's configuration. */
interface Following {
  readonly host: string;
  readonly port: string;
  readonly primary_slot_name: string;
}

/** That of docs/how-to/regions.md. */
const slot = 'other_region';

/** Where a cluster is followed: at the server that leads. Debian's Patroni takes no list of hosts here. */
async function followingOf({ leadingUrl }: PatroniCluster): Promise<Following> {
  const { hostname, port } = new URL(await leadingUrl());
  return { host: hostname, port, primary_slot_name: slot };
}

interface Running {
  readonly name: string;
  readonly data: string;
  readonly child: ChildProcess;
  readonly api: string;
  readonly port: number;
}

/** @param other the cluster it follows from its start */
export async function startPatroni(other?: PatroniCluster): Promise<PatroniCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-patroni-'));
  chmodSync(folder, 0o777);
  const [client, peer] = [await freePort(), await freePort()];
  const store = spawnAsPostgres(etcd, [
    ...['--name', 'one', '--data-dir', join(folder, 'etcd'), '--log-level', 'error', '--unsafe-no-fsync'],
    ...['--listen-client-urls', `http://127.0.0.1:${client}`, '--advertise-client-urls', `http://127.0.0.1:${client}`],
    ...['--listen-peer-urls', `http://127.0.0.1:${peer}`, '--initial-advertise-peer-urls', `http://127.0.0.1:${peer}`],
    ...['--initial-cluster', `one=http://127.0.0.1:${peer}`],
  ]);
  const members: Running[] = [];
  for (const name of ['db1', 'db2'])
    members.push(await startMember(folder, name, client, other === undefined ? undefined : await followingOf(other)));
  const clusterOf = async (): Promise<readonly Member[]> => {
    for (const { api } of members) {
      const found = await fetch(`${api}/cluster`, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
      if (found?.ok === true) return ((await found.json()) as { members: readonly Member[] }).members;
    }
    return [];
  };
  const kill = async (name: string): Promise<void> => {
    const { child, data } = members.find((member) => member.name === name)!;
    await killAll([child.pid!, ...childrenOf(child.pid!)]);
    await killServer(data);
  };
  const configure = async (changes: object): Promise<void> => {
    const answer = await fetch(`${members[0]!.api}/config`, { method: 'PATCH', body: JSON.stringify(changes) });
    if (!answer.ok) throw new Error(`config: ${answer.status} ${await answer.text()}`);
  };
  const killEvery = async (): Promise<void> => {
    for (const { name } of members) await kill(name);
  };
  return {
    follow: async (followed) => configure({ standby_cluster: await followingOf(followed) }),
    promote: () => configure({ standby_cluster: null }),
    following: async () => {
      while (!(await clusterOf()).some(({ role, state }) => role === 'standby_leader' && (state === 'running' || state === 'streaming')))
        await wait(200);
    },
    urls: members.map(urlOf),
    leadingUrl: async () => {
      for (;;) {
        const leads = (await clusterOf()).find(({ role }) => role === 'leader' || role === 'standby_leader');
        if (leads !== undefined) return urlOf(members.find(({ name }) => name === leads.name)!);
        await wait(200);
      }
    },
    killAll: killEvery,
    url: `postgres://postgres:${password}@${members.map(({ port }) => `127.0.0.1:${port}`).join(',')}/postgres`,
    settled: async () => {
      for (;;) {
        const found = await clusterOf();
        const leads = found.find(({ role, state }) => role === 'leader' && state === 'running');
        if (leads !== undefined && found.some(({ role }) => role === 'sync_standby')) return leads.name;
        await wait(200);
      }
    },
    leader: async () => {
      for (const { api, name } of members) {
        const answer = await fetch(`${api}/primary`, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
        await answer?.body?.cancel();
        if (answer?.status === 200) return name;
      }
      return undefined;
    },
    switchOver: async (leader, candidate) => {
      const { api } = members.find(({ name }) => name === leader)!;
      const answer = await fetch(`${api}/switchover`, { method: 'POST', body: JSON.stringify({ leader, candidate }) });
      if (!answer.ok) throw new Error(`switchover: ${answer.status} ${await answer.text()}`);
    },
    kill,
    remove: async () => {
      await killEvery();
      await killAll([store.pid!, ...childrenOf(store.pid!)]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const urlOf = ({ port }: Running): string => `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;

function spawnAsPostgres(command: string, args: readonly string[]): ChildProcess {
  const as = asPostgres(command, args);
  return spawn(as.command, as.args, { cwd: '/', stdio: 'ignore', env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8' } });
}

/** The shipped file with this member's name, addresses and folders. */
async function startMember(folder: string, name: string, etcdPort: number, following: Following | undefined): Promise<Running> {
  const [port, apiPort] = [await freePort(), await freePort()];
  const data = join(folder, name);
  const file = join(folder, `${name}.yaml`);
  const configuration = readDocument('deploy/patroni/patroni.yaml')
    .replace('name: db1', `name: ${name}`)
    .replaceAll('10.0.0.21:8008', `127.0.0.1:${apiPort}`)
    .replaceAll('10.0.0.21:5432', `127.0.0.1:${port}`)
    .replace(/hosts: \[10\.0\.0\.31.*\]/, `hosts: ['127.0.0.1:${etcdPort}']`)
    .replaceAll('10.0.0.0/24', '127.0.0.1/32')
    .replace('/var/lib/postgresql/15/gatehouse', data)
    .replace('/usr/lib/postgresql/15/bin', `${postgresBinaries}\n  pgpass: ${data}.pgpass`)
    .replace(
      '    synchronous_mode: true',
      `    slots: { ${slot}: { type: physical } }\n${following === undefined ? '' : `    standby_cluster: ${JSON.stringify(following)}\n`}    synchronous_mode: true`,
    )
    // Two servers of a test want no common folder for sockets, and little memory.
    .replace(
      '        max_connections: 200',
      "        max_connections: 100\n        shared_buffers: 16MB\n        unix_socket_directories: ''",
    );
  writeFileSync(file, configuration, { mode: 0o644 });
  return { name, data, port, api: `http://127.0.0.1:${apiPort}`, child: spawnAsPostgres(patroni, [file]) };
}
