// npm scripts in one place: runs each step with the pinned Node and stops at the first that fails.
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const results = join(root, '.test-results');
const bin = (name) => join(root, 'node_modules', '.bin', name);
const node = [join(root, 'node_modules', 'node', 'bin', 'node'), '--disable-warning=ExperimentalWarning'];

/** What Node alone shows, in two minutes on two cores; the other folders start programs, want components or take longer. */
const quickTests = ['test/*.test.ts', 'test/{unit,contract,surfaces}/**/*.test.ts'];
/** Those of the other folders whose files may share a process: what they measure and start is their own. */
const groupedTests = ['test/{command-line,concurrency,docs,fuzz,limits,storage}/**/*.test.ts'];
/** With components required (GATEHOUSE_TEST_REQUIRE) every test runs, on both databases. */
const isQuick = (process.env['GATEHOUSE_TEST_REQUIRE'] ?? '') === '';
/** Files of a group share a process: loading the server and warming it up is up to half of what a file alone costs. */
const groupFilesMax = isQuick ? 18 : 9;
/** One more than CI's cores where tests wait for programs they start. */
const processes = isQuick ? 2 : 3;
const hangMs = 2_400_000; // no test and no group takes as long: one that hangs ends the run
/** The files in which something failed, and how many of them may be tried again. */
const failed = join(results, 'failed.txt');
const triedAgainMax = 3;
/** What these prove are races: one that was lost once is a fault. */
const triedOnce = ['test/concurrency/', 'test/faults/'];
const reporters = [
  ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
  ...['--test-reporter=./scripts/failed-files.mjs', `--test-reporter-destination=${failed}`],
];

const steps = {
  check: () => [
    [bin('tsc'), '--noEmit', '-p', '.'],
    [bin('tsc'), '--noEmit', '-p', 'tsconfig.browser.json'],
    [bin('biome'), 'check', '--error-on-warnings', '.'],
    [...node, 'scripts/generate-contract-docs.ts', '--check'],
    [...node, 'scripts/generate-api-docs.ts', '--check'],
    [...node, 'scripts/generate-reference-docs.ts', '--check'],
    [...node, '--test', 'test/architecture.test.ts', 'test/docs/wording.test.ts'],
  ],
  test: () => {
    rmSync(results, { recursive: true, force: true });
    mkdirSync(results);
    const files = process.argv.slice(3);
    const all = () => {
      const grouped = globSync(isQuick ? quickTests : [...quickTests, ...groupedTests], { cwd: root }).sort();
      const others = isQuick ? [] : globSync('test/**/*.test.ts', { cwd: root }).filter((file) => !grouped.includes(file));
      return [...groupsOf(grouped), ...others.sort()];
    };
    return [
      [
        ...node,
        '--test',
        `--test-concurrency=${processes}`,
        `--test-timeout=${hangMs}`,
        ...reporters,
        ...(files.length > 0 ? files : all()),
      ],
      ...(files.length > 0 ? [] : [[...node, 'scripts/contract-coverage.ts']]),
    ];
  },
  // What failed beside others, alone. docs/decisions/0041-a-second-try-in-ci.md has the reasons.
  'test:again': () => {
    const files = existsSync(failed) ? readFileSync(failed, 'utf8').split('\n').filter(Boolean) : [];
    console.error(`failed: ${files.join(', ') || 'before a test did'}`);
    const isFault = files.some((file) => triedOnce.some((folder) => file.startsWith(folder)));
    if (files.length === 0 || files.length > triedAgainMax || isFault) process.exit(1);
    console.error('tried again, alone; one that passes now is still to be mended');
    return [
      [...node, '--test', '--test-concurrency=1', ...files],
      [...node, 'scripts/contract-coverage.ts'],
    ];
  },
  generate: () => [
    [...node, 'scripts/generate-contract-docs.ts'],
    [...node, 'scripts/generate-api-docs.ts'],
    [...node, 'scripts/generate-device-docs.ts'],
    [...node, 'scripts/generate-reference-docs.ts'],
  ],
  migration: () => [[...node, 'scripts/make-migration.ts']],
  demo: () => [[...node, 'demo/run.ts', ...process.argv.slice(3)]],
  journeys: () => [[...node, 'journeys/run.ts']],
  bench: () => [[...node, 'bench/run.ts', ...process.argv.slice(3)]],
};

/** Writes one file per group that imports the tests dealt to it, and gives their paths. */
function groupsOf(files) {
  const folder = join(results, 'groups');
  mkdirSync(folder, { recursive: true });
  const count = Math.ceil(files.length / groupFilesMax);
  return Array.from({ length: count }, (_, group) => {
    const file = join(folder, `${group + 1}.test.mjs`);
    writeFileSync(
      file,
      files
        .filter((_file, index) => index % count === group)
        .map((dealt) => `await import('../../${dealt}');\n`)
        .join(''),
    );
    return file;
  });
}

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
