// A PostgreSQL of a test's own, with a durable configuration, that the test may kill -9 and start again. Other tests share
// the server of GATEHOUSE_TEST_POSTGRES_URL; nobody shares this one. Needs the binaries of Debian's or another installation.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, globSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { openPostgres } from '../../src/storage/engine/dialects/postgres.ts';
import { migrate } from '../../src/storage/engine/migrations/migrator.ts';
import { isRequired } from './databases.ts';
import { freePort } from './free-port.ts';

export interface PrivatePostgres {
  /** Of a migrated database. */
  readonly url: string;
  /** SIGKILL to every process of the server, the main one first. Resolves when all are gone. */
  readonly kill: () => Promise<void>;
  /** Starts it again; resolves when it takes connections. */
  readonly start: () => Promise<void>;
  readonly remove: () => Promise<void>;
}

/** The folder of PostgreSQL's programs. */
export const postgresBinaries = findBinaries();

/** False where PostgreSQL is reached but not installed: then no test can kill one. */
export const hasPrivatePostgres = postgresBinaries !== undefined;

if (isRequired('postgres') && !hasPrivatePostgres)
  throw new Error('GATEHOUSE_TEST_REQUIRE names postgres: expected initdb and postgres under /usr/lib/postgresql, found none');

/** Makes a cluster in a folder of its own, starts it and migrates a database. */
export async function startPrivatePostgres(): Promise<PrivatePostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-postgres-'));
  chmodSync(folder, 0o777);
  const data = join(folder, 'data');
  const made = asPostgres('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale']);
  const { status, stderr } = spawnSync(made.command, made.args, { cwd: '/', encoding: 'utf8' });
  if (status !== 0) throw new Error(`initdb: ${stderr}`);
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const start = async (): Promise<void> => {
    const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=on', 'synchronous_commit=on', 'shared_buffers=16MB'];
    const { command, args } = asPostgres('postgres', ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])]);
    for (;;) {
      const child = spawn(command, args, { cwd: '/', stdio: 'ignore' });
      const ended = new Promise<false>((resolve) => child.once('exit', () => resolve(false)));
      // It refuses to start while a process of the killed one is still there; then it is tried again.
      if (await Promise.race([ended, takesConnections(url)])) return;
    }
  };
  const kill = (): Promise<void> => killServer(data);
  await start();
  const owner = openPostgres({ url, poolMax: 1, timeoutMs: 20_000, asService: false });
  await migrate(owner);
  await owner.close();
  return {
    url,
    kill,
    start,
    remove: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function findBinaries(): string | undefined {
  const folders = globSync('/usr/lib/postgresql/*/bin').toSorted((left, right) => left.localeCompare(right, 'en', { numeric: true }));
  return folders.filter((folder) => existsSync(join(folder, 'initdb'))).at(-1);
}

/** SIGKILL to every process of the server on this data folder; resolves when all are gone. Does nothing when it does not run. */
export async function killServer(data: string): Promise<void> {
  const file = join(data, 'postmaster.pid');
  if (!existsSync(file)) return;
  const main = Number(readFileSync(file, 'utf8').split('\n')[0]);
  if (runsIn(main) === data) await killAll([main, ...childrenOf(main)]);
}

/** The folder a process works in: a file with the pid of a killed server may name another process by now. */
function runsIn(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

export async function killAll(pids: readonly number[]): Promise<void> {
  for (const pid of pids) signal(pid);
  while (pids.some((pid) => isRunning(pid))) await new Promise((done) => setTimeout(done, 5));
}

/** PostgreSQL and what runs it do not run as root. `command` is a path, or a program of PostgreSQL. */
export function asPostgres(program: string, args: readonly string[]): { readonly command: string; readonly args: readonly string[] } {
  const command = resolve(postgresBinaries ?? '', program);
  return process.getuid?.() === 0 ? { command: 'runuser', args: ['-u', 'postgres', '--', command, ...args] } : { command, args };
}

async function takesConnections(url: string): Promise<true> {
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    const isUp = await client.connect().then(
      () => true,
      () => false,
    );
    await client.end().catch(() => undefined);
    if (isUp) return true;
    await new Promise((done) => setTimeout(done, 20));
  }
}

export function childrenOf(parent: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent);
}

/** The parent and the state of a process, from /proc/<pid>/stat; undefined when it is gone. */
function statOf(pid: number): readonly string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ');
  } catch {
    return undefined;
  }
}

const parentOf = (pid: number): number | undefined => Number(statOf(pid)?.[1]);

/** A process that has ended but was not waited for yet counts as gone. */
const isRunning = (pid: number): boolean => !['Z', 'X', undefined].includes(statOf(pid)?.[0]);

function signal(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone by itself: the children of a killed server leave on their own.
  }
}
