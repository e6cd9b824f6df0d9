// Design 02 and 08 (E24): a backup under load, restored elsewhere, has every write acknowledged before it began; nothing that
// was issued works afterwards when that is asked for.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type pg from 'pg';
import { schemaLevel } from '../../src/storage/engine/migrations/schema-level.ts';
import { type Running, startBesideCommands } from '../support/command-line.ts';
import { runCommand } from '../support/commands.ts';
import { databases, isRequired, onServer } from '../support/databases.ts';
import { type GatehouseProcess, runGatehouse } from '../support/gatehouse-process.ts';
import { callJson, clientCredentialsToken, jsonOf } from '../support/management.ts';
import { operatorToken } from '../support/server.ts';

const writers = 4;
const writesBefore = 40;
const postgresUrl = process.env['GATEHOUSE_TEST_POSTGRES_URL'];

for (const name of databases) {
  describe(`backup and restore on ${name}`, () => {
    let source: Running;
    let folder: string;
    let restoredUrl: string | undefined;
    let admin: { readonly client_id: string; readonly client_secret: string };
    let token: string;
    const acknowledged: string[] = [];
    const place = (named: string): string => join(folder, named);
    const environment = (data: string): Readonly<Record<string, string>> => ({
      GATEHOUSE_DEV: '1',
      GATEHOUSE_LOG_LEVEL: 'silent',
      GATEHOUSE_DATA: data,
      ...(restoredUrl === undefined ? {} : { GATEHOUSE_DATABASE_URL: restoredUrl }),
    });
    const elsewhere = (data: string, ...args: readonly string[]): GatehouseProcess =>
      runGatehouse(folder, { args, environment: environment(data) });

    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'gatehouse-backup-'));
      source = await startBesideCommands(name);
      const made = await source.json<{ admin_client: typeof admin }>('tenant', 'create', 'acme');
      admin = made.admin_client;
      if (name === 'postgres') restoredUrl = await emptyDatabase();
    });
    after(async () => {
      await source.stop();
      if (restoredUrl !== undefined) await dropDatabase(restoredUrl);
      rmSync(folder, { recursive: true, force: true });
    });

    it('a backup under load has every write acknowledged before it began; a digest, mode 0600', async () => {
      const base = `${source.url}/t/acme`;
      await waitFor(async () => (await fetch(`${base}/v1/idp/oidc/jwks`)).status === 200);
      token = await clientCredentialsToken(base, admin.client_id, admin.client_secret);
      let stopped = false;
      const enough = Promise.withResolvers<void>();
      const writer = async (at: number): Promise<void> => {
        for (let count = 0; !stopped; count += 1) {
          const user = `w${at}-${count}`;
          await jsonOf(await callJson(`${base}/v1/management/users`, token, 'POST', { user_name: user }), 201);
          acknowledged.push(user);
          if (acknowledged.length >= writesBefore) enough.resolve();
        }
      };
      const running = Array.from({ length: writers }, (_, at) => writer(at));
      await Promise.race([enough.promise, ...running]);
      const before = [...acknowledged];
      const told = await source.json<{ parts: readonly { name: string; sha256: string }[] }>(
        'backup',
        place('one.tar'),
        '--include-master-key',
      );
      stopped = true;
      await Promise.all(running);
      assert.ok(acknowledged.length > before.length, 'writers went on while it ran');
      acknowledged.splice(0, acknowledged.length, ...before);
      assert.equal(statSync(place('one.tar')).mode & 0o777, 0o600);
      assert.deepEqual(
        told.parts.map((part) => part.name),
        [name === 'sqlite' ? 'gatehouse.db' : 'database.dump', 'master.key'],
      );
      assert.deepEqual(readdirSync(folder), ['one.tar']);
      await source.fails(1, /expected a file that does not exist yet/, 'backup', place('one.tar'));
    });

    it('restored elsewhere it serves, with every one of those writes', async () => {
      const ended = await elsewhere(place('data'), 'restore', place('one.tar'), '--revoke-all', '--json').ended;
      assert.equal(ended.code, 0, ended.stderr);
      assert.equal(statSync(join(place('data'), 'master.key')).mode & 0o777, 0o600);
      if (name === 'sqlite') {
        const database = new DatabaseSync(join(place('data'), 'gatehouse.db'));
        assert.deepEqual(
          database
            .prepare('PRAGMA integrity_check')
            .all()
            .map((row) => ({ ...row })),
          [{ integrity_check: 'ok' }],
        );
        assert.deepEqual(database.prepare('PRAGMA foreign_key_check').all(), []);
        database.close();
      }
      const server = elsewhere(place('data'), 'serve', '--listen', '127.0.0.1:0', '--operator-token', operatorToken);
      const base = `${await server.ready}/t/acme`;
      // The token was issued before the backup: with --revoke-all its key is gone.
      assert.equal((await callJson(`${base}/v1/management/users`, token, 'GET')).status, 401);
      const fresh = await clientCredentialsToken(base, admin.client_id, admin.client_secret);
      const found = new Set<string>();
      for (let cursor = ''; ; ) {
        const page = await jsonOf(await callJson(`${base}/v1/management/users?limit=200${cursor}`, fresh, 'GET'), 200);
        for (const user of page['items'] as readonly { readonly user_name: string }[]) found.add(user.user_name);
        if (page['next_cursor'] === undefined) break;
        cursor = `&cursor=${page['next_cursor']}`;
      }
      assert.deepEqual(
        acknowledged.filter((user) => !found.has(user)),
        [],
      );
      server.signal('SIGTERM');
      assert.equal((await server.ended).code, 0);
    });

    it('--revoke-all that cannot revoke leaves no database to serve by mistake', async () => {
      const data = place('unrevoked');
      const url = name === 'postgres' ? await emptyDatabase() : undefined;
      const other = {
        GATEHOUSE_MASTER_KEY: randomBytes(32).toString('base64'),
        ...(url === undefined ? {} : { GATEHOUSE_DATABASE_URL: url }),
      };
      const args = ['restore', place('one.tar'), '--revoke-all'];
      const ended = await runCommand(folder, args, { ...environment(data), ...other });
      assert.equal(ended.code, 1);
      assert.match(ended.stderr, /master_key: expected the key this database was written with/);
      if (url === undefined) assert.deepEqual(readdirSync(data), []);
      else {
        assert.match(ended.stderr, /nothing in it is revoked: do not serve it, empty it and restore again/);
        await dropDatabase(url);
      }
    });

    if (name === 'postgres')
      it('a database that cannot take it all keeps nothing of it', async () => {
        const url = await emptyDatabase();
        await onServer(url, (client) => client.query("CREATE TYPE users AS ENUM ('in the way')"));
        const ended = await runCommand(folder, ['restore', place('one.tar')], {
          ...environment(place('halved')),
          GATEHOUSE_DATABASE_URL: url,
        });
        assert.equal(ended.code, 1);
        assert.match(ended.stderr, /pg_restore: expected success, found exit code 1: .*type "users" already exists/s);
        await onServer(url, async (client) => {
          const { rows } = await client.query("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace");
          assert.deepEqual(rows, []);
        });
        await dropDatabase(url);
      });

    it('refuses a folder or database that is not empty, a damaged file, a newer schema, a backup of the other kind', async () => {
      const refused = async (message: RegExp, data: string, file: string, url = restoredUrl): Promise<void> => {
        const ended = await runCommand(folder, ['restore', file], {
          GATEHOUSE_DEV: '1',
          GATEHOUSE_DATA: data,
          ...(url === undefined ? {} : { GATEHOUSE_DATABASE_URL: url }),
        });
        assert.deepEqual([ended.code, ended.stdout], [1, ''], ended.stderr);
        assert.match(ended.stderr, message);
      };
      await refused(
        name === 'sqlite'
          ? /expected an empty folder, found .*gatehouse\.db.* in (\S+)\. Try: gatehouse restore \S+ --data \1-restored/
          : /expected an empty database, found \d+ tables/,
        place('data'),
        place('one.tar'),
      );
      const fresh = name === 'sqlite' ? undefined : await emptyDatabase();
      const copy = readFileSync(place('one.tar'));
      const change = (file: string, from: string, to: string): string => {
        const bytes = Buffer.from(copy);
        const at = bytes.indexOf(from);
        assert.ok(at >= 0);
        bytes.write(to, at);
        writeFileSync(place(file), bytes);
        return place(file);
      };
      const damaged = place('damaged.tar');
      writeFileSync(damaged, copy);
      const descriptor = openSync(damaged, 'r+');
      writeSync(descriptor, Buffer.from([copy[copy.length >> 1]! ^ 1]), 0, 1, copy.length >> 1);
      closeSync(descriptor);
      await refused(/expected \S+ with SHA-256 [0-9a-f]{64}, found [0-9a-f]{64}\. The file is damaged/, place('d1'), damaged, fresh);
      const newer = change('newer.tar', `"level": ${schemaLevel}`, '"level": 9');
      await refused(/expected a schema of level \d or \d, found level 9 of a later release\. Run the release/, place('d2'), newer, fresh);
      await refused(/expected an archive entry at byte 0/, place('d3'), change('no.tar', 'manifest.json', 'manifest.txt\0'), fresh);
      writeFileSync(place('cut.tar'), copy.subarray(0, copy.length >> 1));
      await refused(/expected every byte its entries have, found fewer\. The file is damaged/, place('d5'), place('cut.tar'), fresh);
      const other = name === 'sqlite' ? change('other.tar', '"sqlite"', '"postgres"'.slice(0, 8)) : undefined;
      if (other !== undefined) await refused(/expected a manifest of format/, place('d4'), other);
      for (const data of ['d1', 'd2', 'd3', 'd5'])
        assert.deepEqual(
          readdirSync(place(data)).filter((file) => file !== 'master.key'),
          [],
        );
      if (fresh !== undefined) await dropDatabase(fresh);
    });
  });
}

it('a backup made by release 0.1.0 restores, and the server on it answers', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-backup-'));
  const environment = { GATEHOUSE_DEV: '1', GATEHOUSE_LOG_LEVEL: 'silent', GATEHOUSE_DATA: join(folder, 'data') };
  try {
    const made = readFileSync(join(import.meta.dirname, '..', 'vectors', 'backup-0.1.0.tar.gz'));
    writeFileSync(join(folder, 'old.tar'), gunzipSync(made));
    const ended = await runGatehouse(folder, { args: ['restore', join(folder, 'old.tar'), '--json'], environment }).ended;
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal(JSON.parse(ended.stdout).version, '0.1.0');
    const server = runGatehouse(folder, { args: ['serve', '--listen', '127.0.0.1:0'], environment });
    const url = await server.ready;
    assert.equal((await fetch(`${url}/t/acme/v1/idp/oidc/jwks`)).status, 200);
    server.signal('SIGTERM');
    assert.equal((await server.ended).code, 0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

if (postgresUrl !== undefined || isRequired('postgres'))
  it('pg_dump is named when it is not there', async () => {
    const source = await startBesideCommands('postgres');
    const path = join(source.database.dataFolder, 'path');
    mkdirSync(path);
    for (const tool of ['dirname', 'readlink']) symlinkSync(`/usr/bin/${tool}`, join(path, tool));
    try {
      const ended = await runGatehouse(source.database.dataFolder, {
        args: ['backup', join(source.database.dataFolder, 'x.tar')],
        environment: {
          GATEHOUSE_DEV: '1',
          GATEHOUSE_DATA: source.database.dataFolder,
          GATEHOUSE_DATABASE_URL: source.database.databaseUrl!,
          PATH: path,
        },
      }).ended;
      assert.equal(ended.code, 1);
      assert.match(ended.stderr, /expected pg_dump of PostgreSQL's client programs on the PATH, found none/);
    } finally {
      await source.stop();
    }
  });

it('a backup that finds no room leaves no file that looks like one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-backup-room-'));
  const backup = (file: string): string => `${join(import.meta.dirname, '../../bin/gatehouse')} backup ${join(folder, file)} --json`;
  const run = (line: string) => spawnSync('bash', ['-c', line], { cwd: folder, encoding: 'utf8', env: { PATH: process.env['PATH'] } });
  try {
    const whole = run(backup('whole.tar'));
    assert.equal(whole.status, 0, whole.stderr);
    const { parts } = JSON.parse(whole.stdout) as { readonly parts: readonly { readonly bytes: number }[] };
    // Room for the copy of the database, and not for the archive around it.
    const full = run(`ulimit -f ${parts[0]!.bytes / 1024}; exec ${backup('full.tar')}`);
    assert.equal(full.status, 1, full.stdout);
    assert.match(full.stderr, /EFBIG/);
    assert.deepEqual(
      readdirSync(folder).filter((file) => file.includes('tar')),
      ['whole.tar'],
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

if (postgresUrl !== undefined || isRequired('postgres'))
  it('a URL of several hosts: backup and restore take the one that answers', async () => {
    const source = await startBesideCommands('postgres');
    const { dataFolder, databaseUrl } = source.database;
    const severalHosts = (url: string): string => url.replace(/(?<=@)[^/]+/, (host) => `127.0.0.1:1,${host}`);
    const target = await emptyDatabase();
    const file = join(dataFolder, 'hosts.tar');
    const run = (url: string, ...args: readonly string[]) =>
      runGatehouse(dataFolder, { args, environment: { GATEHOUSE_DEV: '1', GATEHOUSE_DATABASE_URL: severalHosts(url) } }).ended;
    try {
      const made = await run(databaseUrl!, 'backup', file, '--data', dataFolder);
      assert.equal(made.code, 0, made.stderr);
      const restored = await run(target, 'restore', file, '--data', dataFolder);
      assert.equal(restored.code, 0, restored.stderr);
    } finally {
      await source.stop();
      await dropDatabase(target);
    }
  });

async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50));
}

async function emptyDatabase(): Promise<string> {
  const database = `gatehouse_restored_${crypto.randomUUID().replaceAll('-', '')}`;
  await onServer(postgresUrl!, (client: pg.Client) => client.query(`CREATE DATABASE ${database} TEMPLATE template0`));
  const url = new URL(postgresUrl!);
  url.pathname = `/${database}`;
  return url.href;
}

async function dropDatabase(url: string): Promise<void> {
  await onServer(postgresUrl!, (client) => client.query(`DROP DATABASE ${new URL(url).pathname.slice(1)} WITH (FORCE)`));
}
