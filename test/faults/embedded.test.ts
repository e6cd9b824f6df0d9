// The embedded database under kill -9, a second process, an interrupted first start and SIGTERM: the real program.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync, statSync, watch, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createDataFolder, type GatehouseProcess, runGatehouse, serveEmbedded } from '../support/gatehouse-process.ts';
import { operatorToken } from '../support/server.ts';

type Json = Readonly<Record<string, unknown>>;

describe('the embedded database', () => {
  let folder: ReturnType<typeof createDataFolder>;
  const started: GatehouseProcess[] = [];
  const serve = (options: Parameters<typeof serveEmbedded>[1] = {}): GatehouseProcess => {
    const gatehouse = serveEmbedded(folder.path, options);
    started.push(gatehouse);
    return gatehouse;
  };
  beforeEach(() => {
    folder = createDataFolder();
  });
  afterEach(async () => {
    for (const gatehouse of started.splice(0)) {
      gatehouse.signal('SIGKILL');
      await gatehouse.ended;
    }
    folder.remove();
  });

  it('R10: a second process fails and names the pid; the first serves on; after kill -9 the folder is free', async () => {
    const first = serve();
    const url = await first.ready;
    const second = await serve().ended;
    assert.equal(second.code, 1);
    assert.equal(second.stdout, '');
    assert.match(
      second.stderr,
      new RegExp(
        `^gatehouse: the data folder .* is in use by process ${first.pid}\\. Stop that process, or start this one with another --data folder\n$`,
      ),
    );
    assert.equal((await fetch(`${url}/health/ready`)).status, 200);
    first.signal('SIGKILL');
    await first.ended;
    await serve().ready;
  });

  it('E26: kill -9 during writes loses nothing acknowledged', async () => {
    let url = await serve().ready;
    const ids = await Promise.all(
      ['one', 'two', 'three'].map(async (slug) => String((await call(url, 'POST', '/tenants', { slug, name: '0' }))['id'])),
    );
    const acknowledged = new Map(ids.map((id) => [id, 0]));
    // Killed at once, after a few writes, and in between; a busy machine takes longer for them, not fewer.
    for (const writes of [1, 6, 20, 3, 10]) {
      const { promise: enough, resolve: isEnough } = Promise.withResolvers<void>();
      let written = 0;
      const writers = ids.map(async (id) => {
        for (;;) {
          const next = acknowledged.get(id)! + 1;
          const { name } = await call(url, 'PATCH', `/tenants/${id}`, { name: String(next) }).catch(() => ({ name: undefined }));
          if (name === undefined) return;
          acknowledged.set(id, next);
          written += 1;
          if (written >= writes) isEnough();
        }
      });
      await enough;
      const victim = started.at(-1)!;
      victim.signal('SIGKILL');
      await Promise.all([...writers, victim.ended]);
      url = await serve().ready;
      for (const id of ids) {
        const stored = Number((await call(url, 'GET', `/tenants/${id}`))['name']);
        const known = acknowledged.get(id)!;
        assert.ok(stored === known || stored === known + 1, `stored ${stored}, acknowledged ${known}`);
        acknowledged.set(id, stored);
      }
    }
    assert.ok([...acknowledged.values()].reduce((sum, count) => sum + count) >= 40, [...acknowledged.values()].join());
    assert.deepEqual(inspect(folder.path, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
  });

  it('E26: killed during the first start, the next start is complete and its operator token known', async () => {
    const attempts = [1, 2, 3, 5, 8, 13, 21, 34, 55];
    for (const count of attempts) {
      const written = nthChange(folder.path, count);
      const victim = serve({ environment: { GATEHOUSE_OPERATOR_TOKEN: '' } });
      await Promise.race([written.happened, victim.ready.catch(() => undefined)]);
      written.ignore();
      victim.signal('SIGKILL');
      await victim.ended;
    }
    const survivor = serve({ environment: { GATEHOUSE_OPERATOR_TOKEN: '' } });
    const url = await survivor.ready;
    const printed = started
      .map((gatehouse) => /^Operator token \(once\) +(\S+)$/m.exec(gatehouse.stderr())?.[1])
      .filter((token) => token !== undefined);
    assert.ok(printed.length >= 1, `no operator token in ${attempts.length} attempts and the start after them`);
    const { items } = await call(url, 'GET', '/tenants', undefined, printed.at(-1));
    assert.deepEqual(
      (items as readonly Json[]).map((tenant) => tenant['slug']).filter((slug) => slug !== 'sample'), // a start cut off may leave it out
      ['main'],
    );
    const { keys } = (await (await fetch(`${url}/v1/idp/oidc/jwks`)).json()) as { readonly keys: readonly Json[] };
    assert.equal(keys.length, 4);
    const kept = inspect(folder.path, 'SELECT count(*) AS keys FROM signing_keys GROUP BY tenant_id') as readonly {
      readonly keys: number;
    }[];
    assert.ok(kept.every((row) => row.keys === 4));
    assert.deepEqual(
      readdirSync(folder.path)
        .filter((name) => name.startsWith('master.key'))
        .sort()[0],
      'master.key',
    );
    assert.equal(statSync(join(folder.path, 'master.key')).mode & 0o777, 0o600);
  });

  it('SIGTERM: an open request is finished, new ones are not taken, exit 0', async () => {
    const gatehouse = serve();
    const url = new URL(await gatehouse.ready);
    const body = JSON.stringify({ slug: 'last', name: 'Last' });
    const socket = connect(Number(url.port), url.hostname);
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString();
    });
    const idle = connect(Number(url.port), url.hostname);
    const idleClosed = new Promise((done) => idle.on('close', done));
    idle.on('error', () => undefined);
    const head = `POST /v1/system/tenants HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${operatorToken}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    await new Promise<void>((done) => socket.write(head, () => done()));
    await fetch(`${url.href}health/live`); // the head was read before this answer
    gatehouse.signal('SIGTERM');
    await idleClosed;
    await assert.rejects(fetch(`${url.href}health/live`));
    socket.write(body);
    const { code, signal } = await gatehouse.ended;
    assert.deepEqual({ code, signal }, { code: 0, signal: null });
    assert.match(answer, /^HTTP\/1\.1 201 Created\r\n/);
    const again = await serve().ready;
    assert.equal((await fetch(`${again}/t/last/v1/idp/oidc/jwks`)).status, 200);
  });

  it('the master key: another one and a lost file are refused, and no new file is made', async () => {
    const first = serve();
    await first.ready;
    first.signal('SIGTERM');
    await first.ended;
    const file = join(folder.path, 'master.key');
    const other = await serve({ environment: { GATEHOUSE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') } }).ended;
    assert.equal(other.code, 1);
    assert.match(other.stderr, /^gatehouse: master_key: expected the key this database was written with, found another\./);
    rmSync(file);
    const lost = await serve().ended;
    assert.equal(lost.code, 1);
    assert.match(
      lost.stderr,
      /^gatehouse: master_key: expected the key this database was written with in .*master\.key, found no file\. Restore it/,
    );
    assert.equal(existsSync(file), false);
    writeFileSync(file, 'short\n');
    assert.match((await serve().ended).stderr, /expected 32 bytes in base64, found \d+\. Make one with: openssl rand -base64 32/);
  });

  const refusals: readonly {
    readonly title: string;
    readonly environment?: Record<string, string>;
    readonly args?: readonly string[];
    readonly says: RegExp;
  }[] = [
    { title: 'an unknown variable', environment: { GATEHOUSE_LISTNE: '1' }, says: /unknown setting GATEHOUSE_LISTNE\. Expected one of: / },
    {
      title: 'http off loopback',
      args: ['--public-url', 'http://id.example.com'],
      environment: { GATEHOUSE_DEV: '0' },
      says: /expected https, or http on a loopback address, found http:\/\/id\.example\.com\. Use https:/,
    },
    {
      title: 'a list that is none',
      args: ['--egress-allow', '10.0.0.0/8,ten'],
      says: /egress_allow: expected an address or CIDR such as 10\.0\.0\.0\/8, found ten/,
    },
    { title: 'an unknown flag', args: ['--nonsense', '1'], says: /unknown option '--nonsense'/ },
    { title: 'a port that is none', args: ['--listen', '127.0.0.1:99999'], says: /listen: expected host:port/ },
  ];
  for (const { title, environment = {}, args = [], says } of refusals)
    it(`configuration: ${title} is refused with exit 2`, async () => {
      const { code, stderr, stdout } = await serve({ environment, args }).ended;
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, says);
      assert.deepEqual(readdirSync(folder.path), []);
    });
  it('configuration: an unknown key of gatehouse.yaml', async () => {
    writeFileSync(join(folder.path, 'gatehouse.yaml'), 'lissen: 127.0.0.1:1\n');
    const { code, stderr } = await runGatehouse(folder.path, { args: ['serve'] }).ended;
    assert.equal(code, 2);
    assert.match(stderr, /unknown setting lissen\. Expected one of: public_url, /);
  });
});

async function call(url: string, method: string, path: string, body?: unknown, token = operatorToken): Promise<Json> {
  const response = await fetch(`${url}/v1/system${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  assert.ok(response.ok, `${method} ${path}: ${response.status}`);
  return (await response.json()) as Json;
}

/** The count-th time that something is made, written or removed in a folder. */
function nthChange(folder: string, count: number): { readonly happened: Promise<void>; readonly ignore: () => void } {
  const { promise: happened, resolve } = Promise.withResolvers<void>();
  let seen = 0;
  const watcher = watch(folder, () => {
    seen += 1;
    if (seen === count) resolve();
  });
  return { happened, ignore: () => watcher.close() };
}

/** Rows of a query on the database file, read beside a running server. */
function inspect(folder: string, query: string): readonly unknown[] {
  const database = new DatabaseSync(join(folder, 'gatehouse.db'), { readOnly: true });
  database.function('gatehouse_now_ms', () => Date.now());
  const rows = database
    .prepare(query)
    .all()
    .map((row) => ({ ...row }));
  database.close();
  return rows;
}
