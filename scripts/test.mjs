// `npm test`: which files run, in which processes and order. A few processes share the files: each takes the next one when it is done with
// its last (take-files.mjs). Beside them, one process of judges (programs of others, which mostly wait). What measures runs after them.
import { spawn } from 'node:child_process';
import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { measuringTests } from './measuring-tests.mjs';
import { countShown, leftToShow, onDatabase } from './shown-before.mjs';
import { printProcessorTimes, printTimes, readResults } from './test-results.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const results = join(root, '.test-results');

/** What Node alone shows, in two minutes on two cores; the other folders start programs, want components or take longer. */
const quickTests = ['test/*.test.ts', 'test/{unit,contract,surfaces}/**/*.test.ts'];
/** What starts servers and clients of others. */
const judgeTests = ['test/interop/**/*.test.ts'];
/** What holds a server up and measures how late it is: it mostly waits, and leaves the processors to what measures. */
const lateTests = { onDatabases: 'test/faults/overload.test.ts', once: 'test/faults/shedding.test.ts' };
/** With components required (GATEHOUSE_TEST_REQUIRE) every test runs, on both databases. */
const isQuick = (process.env['GATEHOUSE_TEST_REQUIRE'] ?? '') === '';
/** Results of the quick tests of this commit without components, which are not shown twice; undefined: everything is to be shown here. */
const shownBefore = process.env['GATEHOUSE_TEST_SHOWN'];
/** Two for each core of CI: some wait, for programs or for a time to pass. */
const processes = 4;
const hangMs = 4_800_000; // no test and no process takes as long: one that hangs ends the run

const filesOf = (patterns) => globSync(patterns, { cwd: root }).sort();

/** What runs beside one another, and what after it: entries of processes. */
function plan() {
  const measuring = filesOf(measuringTests);
  const late = filesOf(Object.values(lateTests));
  const quick = filesOf(quickTests);
  if (isQuick) return { beside: sharing('quick', quick), last: [] };
  const { onPostgres, whole } = shownBefore === undefined ? { onPostgres: [], whole: quick } : leftToShow(quick, root);
  const judges = filesOf(judgeTests);
  const apart = new Set([...quick, ...judges, ...measuring, ...late]);
  const others = filesOf('test/**/*.test.ts').filter((file) => !apart.has(file));
  return {
    // Long ones first: what begins last should be short.
    beside: [
      ...sharing('judges', judges, 1),
      ...sharing('others', [...others, ...whole]),
      ...sharing('postgres', onPostgres, processes, onDatabase('postgres')),
    ],
    last: [
      ...sharing('late-sqlite', [lateTests.onDatabases], 1, onDatabase('sqlite')),
      ...sharing('late-postgres', [lateTests.onDatabases], 1, onDatabase('postgres')),
      ...sharing('late', [lateTests.once], 1),
      ...sharing('measuring', measuring, 1),
    ],
  };
}

/** As many entries that share these files, under a name of their own. */
function sharing(name, files, count = processes, first = '') {
  const source = `${first}import { takeFiles } from '../../scripts/take-files.mjs';\nawait takeFiles('${name}', ${JSON.stringify(files, null, 2)});\n`;
  return Array.from({ length: Math.min(count, files.length) }, () => source);
}

/** Runs entries by Node's test runner, in this order and so many at a time; the exit code, 0 when all passed. */
function run(name, sources, concurrency) {
  const folder = join(results, name);
  mkdirSync(folder, { recursive: true });
  const entries = sources.map((source, index) => {
    // Node's runner sorts by name.
    const entry = join(folder, `${String(index + 1).padStart(3, '0')}.test.mjs`);
    writeFileSync(entry, source);
    return entry;
  });
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      // A server for each file leaves much behind that is young: fewer collections take a twentieth of the processor time.
      '--max-semi-space-size=64',
      '--import=./scripts/test-process.mjs',
      '--test',
      `--test-concurrency=${concurrency}`,
      `--test-timeout=${hangMs}`,
      ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
      ...['--test-reporter=./scripts/test-results.mjs', `--test-reporter-destination=${join(results, `${name}.jsonl`)}`],
      ...entries,
    ],
    { cwd: root, stdio: 'inherit' },
  );
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

/** Since the machine started, all processors together, in milliseconds. */
const processorTimes = () =>
  cpus().reduce(
    ({ busy, all }, { times: { user, nice, sys, idle, irq } }) => ({
      busy: busy + user + nice + sys + irq,
      all: all + user + nice + sys + idle + irq,
    }),
    { busy: 0, all: 0 },
  );

/** How busy the processors were since then, whoever kept them so: far from 100, the run is long for its waiting, not for its work. */
function busyPercent(since) {
  const now = processorTimes();
  return Math.round((100 * (now.busy - since.busy)) / (now.all - since.all));
}

const secondsSince = (ms) => Math.round((performance.now() - ms) / 1000);

const startedAt = performance.now();
const atStart = processorTimes();
rmSync(results, { recursive: true, force: true });
mkdirSync(join(results, 'taken'), { recursive: true });
const given = process.argv.slice(2);
const { beside, last } = given.length > 0 ? { beside: filesOf(given).flatMap((file) => sharing(file, [file])), last: [] } : plan();
if (shownBefore !== undefined) countShown(shownBefore);
if (beside.length === 0) throw new Error(`expected files of tests, found none: ${given.join(' ')}`);
const codes = [await run('beside', beside, processes)];
const besideDone = `${secondsSince(startedAt)} s for what runs beside one another, processors ${busyPercent(atStart)} % busy`;
if (last.length > 0) codes.push(await run('last', last, last.length));
console.log(`\n${besideDone}, ${secondsSince(startedAt)} s in all`);
const { passed, failed, failures } = printTimes(readResults(results));
printProcessorTimes(results);
// Last, so that the end of a long run says what to mend.
for (const failure of failures) console.log(`\nfailed: ${failure}`);
console.log(
  `\n${passed} passed, ${failed} failed${shownBefore === undefined ? '' : `; before, without components, ${countShown(shownBefore)} passed`}`,
);
process.exit(codes.every((code) => code === 0) ? 0 : 1);
