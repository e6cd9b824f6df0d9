// What Node compiled is found again where the folder of a program lies elsewhere: a copy compiles nothing.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { root } from '../support/documents.ts';

it('a copy of an installed folder compiles nothing that was compiled where it was installed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-compiled-'));
  try {
    const [first, second] = [join(folder, 'first'), join(folder, 'second')];
    mkdirSync(join(first, 'node_modules'), { recursive: true });
    for (const part of ['bin', 'src', 'sdk', 'package.json'])
      cpSync(join(root, part), join(first, part), { recursive: true, filter: (path) => !path.includes('node_modules') });
    for (const name of readdirSync(join(root, 'node_modules')))
      if (name !== '.cache') symlinkSync(join(root, 'node_modules', name), join(first, 'node_modules', name));
    const compiledBy = (place: string): readonly string[] => {
      const { NODE_COMPILE_CACHE: _, NODE_COMPILE_CACHE_PORTABLE: __, ...environment } = process.env;
      const { status, stdout, stderr } = spawnSync(join(place, 'bin', 'gatehouse'), ['help'], { encoding: 'utf8', env: environment });
      assert.equal(status, 0, stderr);
      assert.match(stdout, /Usage: gatehouse/);
      return globSync('node_modules/.cache/gatehouse/*/*', { cwd: place }).sort();
    };
    const compiled = compiledBy(first);
    assert.ok(compiled.length > 100, String(compiled.length));
    cpSync(first, second, { recursive: true, verbatimSymlinks: true });
    assert.deepEqual(compiledBy(second), compiled);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
