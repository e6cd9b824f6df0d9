// Loaded into every process of tests. One whose tests are done and that has something open yet is ended half a minute later and says what
// that is: a test that fails before it closes its server would otherwise hold the run until its time is over. At its end a process writes down
// how much processor time it and the programs it started needed.
//
// Node's runner follows every promise by an async hook, so that it knows whose test threw what nobody caught: a fifth of the processor time of
// tests. Here it follows what suites do while they are defined, and an error that nobody caught ends the process and fails the files it runs.
import asyncHooks from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { inspect } from 'node:util';
import { isMainThread } from 'node:worker_threads';
import { noteProcessorTime, processorSeconds } from './test-results.mjs';

const graceMs = 30_000;
const open = new Set();
let timer;

/** Node publishes the beginning and the end of each test and suite; those within others do not count here. */
function watch() {
  subscribe('tracing:node.test:start', (test) => {
    if (test.nesting > 0) return;
    open.add(test);
    clearTimeout(timer);
  });
  subscribe('tracing:node.test:end', close);
}

function close(test) {
  if (!open.delete(test) || open.size > 0) return;
  clearTimeout(timer);
  timer = setTimeout(end, graceMs);
  timer.unref();
}

/** Until what comes back is called, this process has tests to come: it is not done between two files. */
export function expectTests() {
  const toCome = {};
  open.add(toCome);
  clearTimeout(timer);
  return () => close(toCome);
}

function end() {
  const what = process._getActiveHandles().filter((handle) => handle !== process.stdout && handle !== process.stderr);
  console.error(`${graceMs / 1000} s after its last test this process had open: ${[...what.map(nameOf), ...timers()].join(', ')}`);
  process.exit(1);
}

const timers = () => process.getActiveResourcesInfo().filter((name) => /^(Timeout|Immediate|Worker)/.test(name));

function nameOf(handle) {
  const kind = handle.constructor?.name ?? 'something';
  if (handle.spawnfile !== undefined) return `${kind} ${handle.pid} ${handle.spawnargs.join(' ')}`;
  const at = typeof handle.address === 'function' ? handle.address() : undefined;
  return [kind, at?.port ?? at, handle.remotePort === undefined ? undefined : `to ${handle.remotePort}`]
    .filter((part) => part !== undefined && part !== null && typeof part !== 'object')
    .join(' ');
}

/** Of the processes that test.mjs makes; a file that is run by itself has no folder of results. */
function writeProcessorTime() {
  const [, entry] = process.argv;
  const folder = join(dirname(entry), '..');
  if (basename(folder) !== '.test-results') return;
  noteProcessorTime(folder, processorSeconds());
}

/**
 * The runner asks for its hook when it is loaded, after this; everybody else gets what they ask for. It needs to know in which suite a test is
 * defined, so while one is being defined everything is followed.
 */
function followSuitesAlone() {
  const { createHook } = asyncHooks;
  asyncHooks.createHook = (callbacks) => {
    const [, , caller = ''] = new Error().stack.split('\n');
    return createHook(caller.includes('node:internal/test_runner/') ? { init: initOf(callbacks.init) } : callbacks);
  };
  syncBuiltinESMExports();
}

/** Tests, suites and hooks of files that are not done. */
const made = [];

/**
 * What is done keeps nothing alive. Node's runner holds every test with its function until the process ends, and by that the servers of each
 * suite: a process grew by 7 MB with each file, and V8 went through all of it whenever it looked for garbage.
 */
export function forgetTests() {
  for (const test of made.splice(0)) {
    const isOfProcess = (test.parentTest ?? test).parent === null; // hooks of no suite run when the process ends
    if (isOfProcess) continue;
    test.fn = () => undefined;
    for (const hooks of Object.values(test.hooks)) if (Array.isArray(hooks)) hooks.length = 0;
  }
}

function initOf(init) {
  const defining = new Set();
  return (id, type, triggerId, resource) => {
    if (type === 'Test') {
      made.push(resource);
      if (resource.constructor.name === 'Suite') defining.add(resource);
      init(id, type, triggerId, resource);
      return;
    }
    for (const suite of defining) if (suite.buildPhaseFinished) defining.delete(suite);
    if (defining.size > 0) init(id, type, triggerId, resource);
  };
}

function endAtOnce(error) {
  console.error(`nobody caught ${inspect(error)}`);
  process.exit(1);
}

if (isMainThread && process.env['NODE_TEST_CONTEXT'] !== undefined) {
  followSuitesAlone();
  for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, endAtOnce);
  watch();
  process.once('exit', writeProcessorTime);
}
