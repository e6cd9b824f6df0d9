// The data folder is its owner's alone, also where folder and database were there before and anybody could read them.
import assert from 'node:assert/strict';
import { chmodSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createDataFolder, type Ended, runGatehouse, serveEmbedded } from '../support/gatehouse-process.ts';

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
const modesOf = (folder: string): Record<string, string> =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, modeOf(join(folder, name))]));

/** With the umask that most systems give. */
async function run(folder: string, ...args: readonly string[]): Promise<Ended> {
  return await runGatehouse(folder, { args: [...args, '--data', folder], shell: 'umask 022' }).ended;
}

async function assertServesPrivately(test: TestContext, folder: string, from = folder): Promise<void> {
  const serving = serveEmbedded(from, { args: ['--data', folder], shell: 'umask 022' });
  test.after(() => serving.signal('SIGKILL'));
  await serving.ready;
  const modes = modesOf(folder);
  assert.equal(modeOf(folder), '700');
  for (const name of ['gatehouse.db', 'gatehouse.db-wal', 'gatehouse.db-shm', 'master.key', 'serve.lock', 'serve.pid'])
    assert.equal(modes[name], '600', `${name} of ${JSON.stringify(modes)}`);
  assert.deepEqual(new Set(Object.values(modes)), new Set(['600']));
  serving.signal('SIGTERM');
  assert.equal((await serving.ended).code, 0);
}

describe('the data folder', () => {
  it('is private on a first start, in a folder that anybody may read', async (test) => {
    const folder = createDataFolder();
    test.after(folder.remove);
    chmodSync(folder.path, 0o755);
    await assertServesPrivately(test, folder.path);
  });

  it('is made with the folders above it', async (test) => {
    const folder = createDataFolder();
    test.after(folder.remove);
    const below = join(folder.path, 'a', 'b');
    await assertServesPrivately(test, below, folder.path);
    assert.equal(modeOf(join(folder.path, 'a')), '700');
  });

  for (const place of ['/proc/gatehouse/data', '/dev/null/data'])
    it(`that cannot be made ends the command, which says where: ${place}`, async (test) => {
      const folder = createDataFolder();
      test.after(folder.remove);
      const ended = await runGatehouse(folder.path, { args: ['serve', '--listen', '127.0.0.1:0', '--data', place] }).ended;
      assert.equal(ended.code, 1);
      assert.match(ended.stderr, /^gatehouse: E[A-Z]+: .*, mkdir '[^']+'\n$/);
    });

  it('becomes private where a folder 0755 and a database 0644 were there before; what links name is left alone', async (test) => {
    const folder = createDataFolder();
    const other = createDataFolder();
    test.after(folder.remove);
    test.after(other.remove);
    const elsewhere = join(other.path, 'elsewhere');
    writeFileSync(elsewhere, '', { mode: 0o644 });
    assert.equal((await run(folder.path, 'migrate')).code, 0);
    assert.equal(modeOf(join(folder.path, 'gatehouse.db')), '600');
    chmodSync(folder.path, 0o755);
    writeFileSync(join(folder.path, 'old-copy.db'), '');
    for (const name of readdirSync(folder.path)) chmodSync(join(folder.path, name), 0o644);
    symlinkSync(elsewhere, join(folder.path, 'link'));
    const serving = serveEmbedded(folder.path, { shell: 'umask 022' });
    test.after(() => serving.signal('SIGKILL'));
    await serving.ready;
    const { link, ...modes } = modesOf(folder.path);
    assert.deepEqual([modeOf(folder.path), link], ['700', '644']);
    assert.deepEqual(new Set(Object.values(modes)), new Set(['600']), JSON.stringify(modes));
    serving.signal('SIGTERM');
    assert.equal((await serving.ended).code, 0);
  });

  it('doctor says what is wider', async (test) => {
    const folder = createDataFolder();
    test.after(folder.remove);
    await assertServesPrivately(test, folder.path);
    assert.match((await run(folder.path, 'doctor')).stdout, /^ok {4}files +.* is private$/m);
    chmodSync(folder.path, 0o750);
    chmodSync(join(folder.path, 'gatehouse.db'), 0o644);
    const sick = await run(folder.path, 'doctor');
    assert.equal(sick.code, 1);
    assert.match(sick.stdout, /^FAIL {2}files +expected files 0600 in a folder 0700, found \S+ 0750 .*, gatehouse\.db 0644 /m);
    assert.match((await run(folder.path, 'doctor')).stdout, /^ok {4}files/m);
  });
});
