// The code of a past release, taken from the history of this repository, to run beside today's. Where there is no history (a
// package, a shallow clone) tests that need it are not defined, unless GATEHOUSE_TEST_REQUIRE names `history`.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
/** The commit of each release, by its whole name: tags may be missing from a clone. Two called themselves 0.1.0; the later one has roles. */
const commits = { '0.1.0': '92736bc', '0.1.0 with roles': '480696d' } as const;
export type PastRelease = keyof typeof commits;

const isRequired = (process.env['GATEHOUSE_TEST_REQUIRE'] ?? '').split(',').includes('history');

/** The launcher of a past release, its dependencies those of today; undefined without its history. */
export function launcherOf(release: PastRelease): string | undefined {
  const folder = join(root, '.test-results', 'releases', release);
  if (!existsSync(folder) && !extract(commits[release], folder)) {
    if (isRequired)
      throw new Error(`GATEHOUSE_TEST_REQUIRE names history: expected commit ${commits[release]} of release ${release}, found none`);
    return undefined;
  }
  return join(folder, 'bin', 'gatehouse');
}

function extract(commit: string, folder: string): boolean {
  const making = `${folder}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  const { status } = spawnSync('/bin/sh', ['-c', 'git archive "$0" bin src sdk package.json | tar -x -C "$1"', commit, making], {
    cwd: root,
  });
  if (status !== 0 || !existsSync(join(making, 'bin'))) {
    rmSync(making, { recursive: true, force: true });
    return false;
  }
  symlinkSync(join(root, 'node_modules'), join(making, 'node_modules'));
  try {
    renameSync(making, folder);
  } catch {
    rmSync(making, { recursive: true, force: true }); // another test file was first
  }
  return true;
}
