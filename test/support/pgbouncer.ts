// A PgBouncer of a test's own, in transaction mode before the test's PostgreSQL. Where Debian's pgbouncer is not installed tests
// that need it are not defined, unless GATEHOUSE_TEST_REQUIRE names it.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from './free-port.ts';

const binary = '/usr/sbin/pgbouncer';
export const hasPgBouncer = existsSync(binary);

if ((process.env['GATEHOUSE_TEST_REQUIRE'] ?? '').split(',').includes('pgbouncer') && !hasPgBouncer)
  throw new Error(`GATEHOUSE_TEST_REQUIRE names pgbouncer: expected ${binary}, found none`);

export interface PgBouncer {
  /** The URL given to startPgBouncer, through it. */
  readonly url: string;
  /** Whether it keeps named statements of clients (1.21 and newer). */
  readonly keepsStatements: boolean;
  readonly stop: () => Promise<void>;
}

/** @param serverConnections how many connections to PostgreSQL all clients share */
export async function startPgBouncer(url: string, serverConnections: number): Promise<PgBouncer> {
  const { hostname, port, username, pathname } = new URL(url);
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-pgbouncer-'));
  chmodSync(folder, 0o777);
  const own = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  const version = /PgBouncer (\d+)\.(\d+)/.exec(spawnSync(binary, ['--version'], { encoding: 'utf8' }).stdout);
  const keepsStatements = Number(version?.[1]) > 1 || Number(version?.[2]) >= 21;
  writeFileSync(
    file,
    `[databases]
* = host=${hostname} port=${port} user=${username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${serverConnections}
max_client_conn = 200
${keepsStatements ? 'max_prepared_statements = 500\n' : ''}`,
    { mode: 0o644 },
  );
  // It does not run as root.
  const [command, args] = process.getuid?.() === 0 ? ['runuser', ['-u', 'postgres', '--', binary, file]] : [binary, [file]];
  const child: ChildProcess = spawn(command as string, args as string[], { stdio: 'ignore', cwd: '/' });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const through = `postgres://${username}@127.0.0.1:${own}${pathname}`;
  await answers(through);
  return {
    url: through,
    keepsStatements,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function answers(url: string): Promise<void> {
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    const isUp = await client.connect().then(
      () => true,
      () => false,
    );
    await client.end().catch(() => undefined);
    if (isUp) return;
    await new Promise((done) => setTimeout(done, 20));
  }
}
