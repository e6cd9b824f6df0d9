// A copy of the tree for tests that change sources as CONTRIBUTING tells people to: what its programs say, and which files differ.
import assert from 'node:assert/strict';
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from './documents.ts';

export interface TreeCopy {
  /** Changes a file of the copy. */
  readonly edit: (file: string, change: (text: string) => string) => void;
  readonly run: (program: string, ...args: readonly string[]) => SpawnSyncReturns<string>;
  /** Runs a script of the copy that must succeed; gives what it printed. */
  readonly node: (...args: readonly string[]) => string;
  /** The files of src that differ from the tree's, numbers of migrations as NN00/NNNN. */
  readonly changed: () => readonly string[];
  readonly remove: () => void;
}

export function copyTree(): TreeCopy {
  const copy = mkdtempSync(join(tmpdir(), 'gatehouse-tree-'));
  for (const part of ['src', 'scripts', 'sdk', 'docs', 'test/support', 'test/vectors/rsa-primes.txt', 'package.json', 'tsconfig.json'])
    cpSync(join(root, part), join(copy, part), { recursive: true, filter: (path) => !path.includes('node_modules') });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const run: TreeCopy['run'] = (program, ...args) => spawnSync(program, args, { cwd: copy, encoding: 'utf8' });
  const sourcesOf = (folder: string): ReadonlyMap<string, string> =>
    new Map(globSync('src/**/*.ts', { cwd: folder }).map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
  return {
    edit: (file, change) => {
      mkdirSync(dirname(join(copy, file)), { recursive: true });
      const text = readFileSync(join(copy, file), { encoding: 'utf8', flag: 'a+' });
      const changed = change(text);
      assert.notEqual(changed, text, file);
      writeFileSync(join(copy, file), changed);
    },
    run,
    node: (...args) => {
      const { status, stdout, stderr } = run(process.execPath, ...args);
      assert.equal(status, 0, stderr);
      return stdout;
    },
    changed: () => {
      const original = sourcesOf(root);
      const differing = [...sourcesOf(copy)].filter(([file, text]) => original.get(file) !== text).map(([file]) => file);
      return differing.map((file) => file.replace(/\d{4}\/\d{4}/, 'NN00/NNNN')).toSorted();
    },
    remove: () => rmSync(copy, { recursive: true, force: true }),
  };
}
