// What became of each file of tests. As a reporter of Node's test runner it writes a line of JSON for each test and top suite; test.mjs
// and test-budget.mjs read them.
import { appendFileSync, existsSync, globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { inspect } from 'node:util';

const failureLettersMax = 2000;

// biome-ignore lint/style/noDefaultExport: Node takes a reporter by it
export default async function* results(events) {
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    if (data.file?.endsWith('/scripts/take-files.mjs')) continue; // says that a file is done
    const isSuite = data.details.type === 'suite';
    const failure = failureOf(data.details.error);
    if (isSuite && data.nesting > 0 && failure === undefined) continue;
    const file = data.file === undefined ? data.name : relative(process.cwd(), data.file);
    const seconds = data.nesting === 0 ? data.details.duration_ms / 1000 : 0;
    const isSkipped = data.skip !== undefined || data.todo !== undefined;
    const failed = type === 'test:fail';
    yield `${JSON.stringify({ file, seconds, isTest: !isSuite && !isSkipped, failed, failure: failure && `${data.name}\n${failure}` })}\n`;
  }
}

/** What a test failed by; none for one that passed, and for a suite of which only tests failed. */
const failureOf = (error) =>
  error === undefined || error.failureType === 'subtestsFailed' ? undefined : inspect(error.cause ?? error).slice(0, failureLettersMax);

/** The tests that passed and failed in the last run, by what they failed, and what each file took in seconds, the slowest first; none where nothing ran. */
export function readResults(folder) {
  const lines = globSync('*.jsonl', { cwd: folder }).flatMap((name) =>
    readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean),
  );
  const files = new Map();
  const failures = [];
  let [passed, failed] = [0, 0];
  for (const line of lines) {
    const { file, seconds, isTest, failed: isFailed, failure } = JSON.parse(line);
    if (failure !== undefined) failures.push(`${file}: ${failure}`);
    files.set(file, (files.get(file) ?? 0) + seconds);
    if (isTest && isFailed) failed += 1;
    if (isTest && !isFailed) passed += 1;
  }
  return { passed, failed, failures, files: [...files].sort((left, right) => right[1] - left[1]) };
}

/** Prints the ten slowest files and the sum by folder; hands the results on. */
export function printTimes(found) {
  const folders = new Map();
  for (const [file, seconds] of found.files) {
    const folder = file.split('/').slice(0, -1).join('/');
    const { count = 0, sum = 0 } = folders.get(folder) ?? {};
    folders.set(folder, { count: count + 1, sum: sum + seconds });
  }
  console.log('\nslowest files');
  for (const [file, seconds] of found.files.slice(0, 10)) console.log(`${seconds.toFixed(1).padStart(8)} s  ${file}`);
  console.log('by folder');
  for (const [folder, { count, sum }] of [...folders].sort((left, right) => right[1].sum - left[1].sum))
    console.log(`${sum.toFixed(0).padStart(8)} s  ${folder} (${count} files)`);
  return found;
}

/** In the folder of results: a line for each file of tests, and for each process that ran some. */
const processorTimesFile = 'processor-times.txt';

/** Notes what a file (or a process, without one) needed of the processors. */
export function noteProcessorTime(folder, { file, own, programs }) {
  appendFileSync(join(folder, processorTimesFile), `${JSON.stringify({ file, own, programs })}\n`);
}

/** Processor time of this process and of the programs it started and waited for, in seconds; none where the system has no /proc. */
export function processorSeconds() {
  if (!existsSync('/proc/self/stat')) return { own: 0, programs: 0 };
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const ticks = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number);
  const [user, system, programsUser, programsSystem] = ticks.map((count) => count / 100);
  return { own: user + system, programs: programsUser + programsSystem };
}

/** What was noted, a line a file in a process and a process; none where no tests ran. */
export function readProcessorTimes(folder) {
  const path = join(folder, processorTimesFile);
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean).map(JSON.parse) : [];
}

/** Prints the ten files that needed the processors most, and what all processes needed. */
export function printProcessorTimes(folder) {
  const lines = readProcessorTimes(folder);
  const files = lines.filter(({ file }) => file !== undefined);
  const processes = lines.filter(({ file }) => file === undefined);
  const sum = (name) => processes.reduce((all, line) => all + line[name], 0).toFixed(0);
  console.log(`processor time: ${sum('own')} s of tests, ${sum('programs')} s of programs they started; most of it`);
  const most = files.toSorted((left, right) => right.own + right.programs - left.own - left.programs).slice(0, 10);
  for (const { file, own, programs } of most) console.log(`${own.toFixed(1).padStart(8)} + ${programs.toFixed(1)} s  ${file}`);
}
