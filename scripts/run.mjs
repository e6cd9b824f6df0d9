// npm scripts in one place: runs each step with the pinned Node and stops at the first that fails.
import { spawnSync } from 'node:child_process';
import { globSync, rmSync } from 'node:fs';

import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const bin = (name) => join(root, 'node_modules', '.bin', name);
const node = [join(root, 'node_modules', 'node', 'bin', 'node'), '--disable-warning=ExperimentalWarning'];

const steps = {
  check: () => [
    [bin('tsc'), '--noEmit', '-p', '.'],
    [bin('biome'), 'check', '--error-on-warnings', '.'],
    [...node, 'scripts/generate-contract-docs.ts', '--check'],
    [...node, 'scripts/generate-api-docs.ts', '--check'],
    [...node, '--test', 'test/architecture.test.ts'],
  ],
  test: () => {
    rmSync(join(root, '.test-results'), { recursive: true, force: true });
    const files = process.argv.slice(3);
    return [
      [...node, '--test', '--test-concurrency=2', ...(files.length > 0 ? files : globSync('test/**/*.test.ts', { cwd: root }).sort())],
      ...(files.length > 0 ? [] : [[...node, 'scripts/contract-coverage.ts']]),
    ];
  },
  demo: () => [[...node, 'demo/run.ts', ...process.argv.slice(3)]],
  bench: () => [[...node, 'bench/run.ts', ...process.argv.slice(3)]],
};

const [name] = process.argv.slice(2);
if (!Object.hasOwn(steps, name ?? '')) {
  console.error(`expected one of ${Object.keys(steps).join(', ')}, found ${name}`);
  process.exit(2);
}
process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules', '.cache', 'gatehouse');
for (const [command, ...args] of steps[name]()) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
