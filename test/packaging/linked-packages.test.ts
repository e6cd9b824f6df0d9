// The launcher where a package manager installed links: a package's own dependencies lie beside the folder that its link leads to.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';

const root = join(import.meta.dirname, '..', '..');
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>;
};

describe('a tree whose packages are links', () => {
  let tree: string;
  before(() => {
    tree = mkdtempSync(join(tmpdir(), 'gatehouse-linked-'));
    for (const part of ['bin', 'src', 'sdk', 'package.json']) cpSync(join(root, part), join(tree, part), { recursive: true });
    for (const name of [...Object.keys(dependencies), 'node']) {
      mkdirSync(dirname(join(tree, 'node_modules', name)), { recursive: true });
      symlinkSync(join(root, 'node_modules', name), join(tree, 'node_modules', name), 'dir');
    }
  });
  after(() => rmSync(tree, { recursive: true, force: true }));

  it('finds what its packages need', () => {
    const args = ['serve', '--listen', '127.0.0.1:0', '--data', join(tree, 'data'), '--database-url', 'postgres://nobody@127.0.0.1:1/none'];
    const { status, stderr } = spawnSync(join(tree, 'bin', 'gatehouse'), args, { encoding: 'utf8', env: { PATH: process.env['PATH'] } });
    assert.doesNotMatch(stderr, /Cannot find/);
    assert.match(stderr, /127\.0\.0\.1:1/); // it came as far as the database
    assert.equal(status, 2);
  });
});
