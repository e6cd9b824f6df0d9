// Loaded into every process of tests (run.mjs): one whose tests are done and that has something open yet is ended half a minute later and
// says what that is. A test that fails before it closes its server would otherwise hold the run until its time is over.
import { subscribe } from 'node:diagnostics_channel';
import { isMainThread } from 'node:worker_threads';

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
  subscribe('tracing:node.test:end', (test) => {
    if (!open.delete(test) || open.size > 0) return;
    clearTimeout(timer);
    timer = setTimeout(end, graceMs);
    timer.unref();
  });
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

if (isMainThread && process.env['NODE_TEST_CONTEXT'] !== undefined) watch();
