// `gatehouse migrate` on a new data folder: what it prints, where progress goes, and that it repeats safely.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { migrations } from '../../src/storage/engine/migrations/registry.ts';

const gatehouse = join(import.meta.dirname, '..', '..', 'bin', 'gatehouse');

it('migrate: the numbers on standard output, progress on standard error when asked for, never with --json', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-test-'));
  try {
    const run = (...args: readonly string[]) => spawnSync(gatehouse, ['migrate', '--data', folder, ...args], { encoding: 'utf8' });
    const all = migrations.map(({ number }) => number);
    assert.equal(run('--dry-run').stdout, `pending: ${all.join(', ')}\n`);
    const first = run('--progress');
    assert.deepEqual([first.status, first.stdout], [0, `applied: ${all.join(', ')}\n`]);
    assert.match(first.stderr, /migrations \[={24}\] 100%\n$/);
    const again = run('--progress', '--json');
    assert.deepEqual([again.status, again.stdout, again.stderr], [0, '{"applied":[]}\n', '']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
