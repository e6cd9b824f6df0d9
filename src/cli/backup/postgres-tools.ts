// pg_dump and pg_restore as `backup` and `restore` use them. The password goes by environment, never by argument.
import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { hostUrlsOf } from '../../platform/database-url.ts';
import { CommandFailure } from '../failure.ts';

/** Writes the database to a file in the custom format, one consistent snapshot. @throws CommandFailure */
export async function dumpPostgres(url: string, file: string): Promise<void> {
  await runTool('pg_dump', ['--format=custom', '--no-owner', '--no-privileges', `--file=${file}`], url);
}

/** Fills an empty database from such a file, whole or not at all. Its look-up functions and their policies are left to the migrator. @throws CommandFailure */
export async function restorePostgres(url: string, file: string): Promise<void> {
  const database = connection(url)['PGDATABASE'] ?? '';
  const entries = (await runTool('pg_restore', ['--list', file], url)).split('\n');
  const list = `${file}.list`;
  // The server may not have their role yet, and as functions of the owner they would read past row-level security for anybody.
  writeFileSync(
    list,
    entries
      .filter((entry) => !/ (?:POLICY public \w+ search_rows|FUNCTION public gatehouse_users?_\w*with_\w+\() ?/.test(entry))
      .join('\n'),
  );
  try {
    const args = ['--no-owner', '--no-privileges', '--single-transaction', `--use-list=${list}`, `--dbname=${database}`, file];
    await runTool('pg_restore', args, url);
  } finally {
    rmSync(list, { force: true });
  }
}

/** What the tool wrote. */
async function runTool(tool: string, args: readonly string[], url: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<{ readonly code: number | null; readonly words: string }>();
  const child = spawn(tool, args, { env: { ...process.env, ...connection(url) }, stdio: ['ignore', 'pipe', 'pipe'] });
  let words = '';
  let written = '';
  child.stdout.on('data', (chunk: Buffer) => {
    written += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    words += chunk.toString();
  });
  child.on('error', reject);
  child.on('close', (code) => resolve({ code, words }));
  const ended = await promise.catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new CommandFailure(
      `expected ${tool} of PostgreSQL's client programs on the PATH, found none. Install them (Debian: apt-get install postgresql-client), in the server's version or newer`,
    );
  });
  if (ended.code === 0) return written;
  const advice = /row-level security|row security/i.test(ended.words)
    ? '. Row-level security hides rows from this login: give one with BYPASSRLS or a superuser by --database-url'
    : '';
  throw new CommandFailure(`${tool}: expected success, found exit code ${ended.code}: ${ended.words.trim()}${advice}`);
}

/** Of several hosts libpq takes the one that may be written to, as the server does. */
function connection(text: string): Readonly<Record<string, string>> {
  const urls = hostUrlsOf(text).map((one) => new URL(one));
  const url = urls[0]!; // they differ by host and port
  const entries: readonly (readonly [string, string | null])[] = [
    ['PGHOST', url.hostname === '' ? url.searchParams.get('host') : urls.map(({ hostname }) => hostname.replace(/^\[|\]$/g, '')).join(',')],
    ['PGPORT', urls.some(({ port }) => port !== '') ? urls.map(({ port }) => port).join(',') : null],
    ['PGTARGETSESSIONATTRS', urls.length > 1 ? 'read-write' : null],
    ['PGUSER', decodeURIComponent(url.username)],
    ['PGPASSWORD', decodeURIComponent(url.password)],
    ['PGDATABASE', decodeURIComponent(url.pathname.slice(1))],
    ['PGSSLMODE', url.searchParams.get('sslmode')],
    ['PGSSLROOTCERT', url.searchParams.get('sslrootcert')],
  ];
  return Object.fromEntries(entries.filter((entry): entry is readonly [string, string] => entry[1] !== null && entry[1] !== ''));
}
