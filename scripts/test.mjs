// `npm test`: which files run, in which processes and order. Beside one another: groups of files that share a process, and the
// judges (programs of others, which mostly wait), one at a time from the first moment on. What measures runs after them, one at a time.
import { spawn } from 'node:child_process';
import { createWriteStream, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { finished } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { countShown, leftToShow, onDatabase } from './shown-before.mjs';
import { printProcessorTimes, printTimes, readResults } from './test-results.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const results = join(root, '.test-results');

/** What Node alone shows, in two minutes on two cores; the other folders start programs, want components or take longer. */
const quickTests = ['test/*.test.ts', 'test/{unit,contract,surfaces}/**/*.test.ts'];
/** Those of the other folders whose files may share a process: what they measure and start is their own. */
const groupedTests = ['test/{command-line,concurrency,docs,fuzz,limits,storage}/**/*.test.ts'];
/** What starts servers and clients of others. */
const judgeTests = ['test/interop/**/*.test.ts'];
/** What holds a server up and measures how late it is: it mostly waits, so each has its own process beside the others, but no test that works. */
const lateTests = { onDatabases: 'test/faults/overload.test.ts', once: 'test/faults/shedding.test.ts' };
/** What measures the memory of a server or the growth of work: other tests beside it would be in the figure. */
const measuringTests = ['test/faults/floods.test.ts', 'test/fuzz/xml-linear.test.ts'];
/** With components required (GATEHOUSE_TEST_REQUIRE) every test runs, on both databases. */
const isQuick = (process.env['GATEHOUSE_TEST_REQUIRE'] ?? '') === '';
/** Files of a group share a process: loading the server and warming it up is up to half of what a file alone costs. */
const groupFilesMax = 18;
/** Of files that start programs or a browser; more would leave the longest processes to the end. */
const slowFilesMax = 4;
/** Results of the quick tests of this commit without components, which are not shown twice; undefined: everything is to be shown here. */
const shownBefore = process.env['GATEHOUSE_TEST_SHOWN'];
/** Two for each core of CI: some wait, for programs or for a time to pass. */
const processes = 4;
const hangMs = 2_400_000; // no test and no group takes as long: one that hangs ends the run

const filesOf = (patterns) => globSync(patterns, { cwd: root }).sort();

/** The files of each process, by the step they belong to. */
function plan() {
  const measuring = filesOf(measuringTests);
  const late = filesOf(Object.values(lateTests));
  const without = (left, ...taken) => left.filter((file) => !taken.some((files) => files.includes(file)));
  const quick = filesOf(quickTests);
  if (isQuick) return { beside: groupsOf(quick), judges: [], late: [], measuring: [] };
  const { onPostgres, whole } = shownBefore === undefined ? { onPostgres: [], whole: quick } : leftToShow(quick, root);
  const grouped = [...whole, ...without(filesOf(groupedTests), measuring)].sort();
  const judges = filesOf(judgeTests);
  const others = without(filesOf('test/**/*.test.ts'), quick, grouped, judges, measuring, late);
  // Long ones first: what begins last should be short.
  return {
    beside: [...groupsOf(others, slowFilesMax), ...groupsOf(grouped), ...groupsOf(onPostgres, groupFilesMax, onDatabase('postgres'))],
    judges: groupsOf(judges, slowFilesMax),
    late: [
      processOf([lateTests.onDatabases], onDatabase('sqlite')),
      processOf([lateTests.onDatabases], onDatabase('postgres')),
      processOf([lateTests.once]),
    ],
    measuring: measuring.map((file) => processOf([file])),
  };
}

/** What Node's runner gets as one file: these, one after another. */
const processOf = (files, first = '') => first + files.map((file) => `await import('../../${file}');\n`).join('');

/** Deals the files out, so that each group gets some of each folder. */
function groupsOf(files, filesMax = groupFilesMax, first = undefined) {
  const count = Math.ceil(files.length / filesMax);
  return Array.from({ length: count }, (_, group) =>
    processOf(
      files.filter((_file, index) => index % count === group),
      first,
    ),
  );
}

/** Runs processes by Node's test runner, in this order; the exit code, 0 when all passed. */
function run(name, sources, concurrency, output) {
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
      '--import=./scripts/test-process.mjs',
      '--test',
      `--test-concurrency=${concurrency}`,
      `--test-timeout=${hangMs}`,
      ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
      ...['--test-reporter=./scripts/test-results.mjs', `--test-reporter-destination=${join(results, `${name}.jsonl`)}`],
      ...entries,
    ],
    { cwd: root, stdio: output === undefined ? 'inherit' : ['ignore', 'pipe', 'pipe'] },
  );
  if (output !== undefined) for (const stream of [child.stdout, child.stderr]) stream.pipe(output, { end: false });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

/** The same beside others: what it says is heard at its end. */
async function runUnheard(name, sources, concurrency) {
  const said = join(results, `${name}.txt`);
  const output = createWriteStream(said);
  const code = await run(name, sources, concurrency, output);
  output.end();
  await finished(output);
  process.stdout.write(readFileSync(said));
  return code;
}

/** Runs as many processes at a time as may be, of the judges one; each is heard at its end. The exit codes. */
async function runWithJudges(beside, judges) {
  const codes = [];
  const left = { beside: [...beside.entries()], judges: [...judges.entries()] };
  let isJudging = false;
  const take = () => {
    const lane = isJudging || left.judges.length === 0 ? 'beside' : 'judges';
    const [index, source] = left[lane].shift() ?? [];
    if (source !== undefined && lane === 'judges') isJudging = true;
    return source === undefined ? undefined : { lane, index, source };
  };
  const workOff = async () => {
    for (let work = take(); work !== undefined; work = take()) {
      const { lane, index, source } = work;
      codes.push(await runUnheard(`${lane}-${String(index + 1).padStart(3, '0')}`, [source], 1));
      if (lane === 'judges') isJudging = false;
    }
  };
  await Promise.all(Array.from({ length: processes }, workOff));
  return codes;
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
mkdirSync(results, { recursive: true });
const given = process.argv.slice(2);
const { beside, judges, late, measuring } =
  given.length > 0 ? { beside: filesOf(given).map((file) => processOf([file])), judges: [], late: [], measuring: [] } : plan();
if (shownBefore !== undefined) countShown(shownBefore);
if (beside.length === 0) throw new Error(`expected files of tests, found none: ${given.join(' ')}`);
const codes = judges.length > 0 ? await runWithJudges(beside, judges) : [await run('beside', beside, processes)];
const besideDone = `${secondsSince(startedAt)} s for what runs beside one another, processors ${busyPercent(atStart)} % busy`;
// What waits leaves the processors to what measures.
const last = [
  ['late', late, late.length],
  ['measuring', measuring, 1],
].filter(([, sources]) => sources.length > 0);
codes.push(...(await Promise.all(last.map((group) => runUnheard(...group)))));
console.log(`\n${besideDone}, ${secondsSince(startedAt)} s in all`);
const { passed, failed, failures } = printTimes(readResults(results));
printProcessorTimes(results);
// Last, so that the end of a long run says what to mend.
for (const failure of failures) console.log(`\nfailed: ${failure}`);
console.log(
  `\n${passed} passed, ${failed} failed${shownBefore === undefined ? '' : `; before, without components, ${countShown(shownBefore)} passed`}`,
);
process.exit(codes.every((code) => code === 0) ? 0 : 1);
