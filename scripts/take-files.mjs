// A process of tests: takes files that others share with it, one after another, until none is left. Loading the server and warming it up is
// more than what most files cost by themselves.
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expectTests, forgetTests } from './test-process.mjs';
import { noteProcessorTime, processorSeconds } from './test-results.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const results = join(root, '.test-results');

/** Runs those of these files that nobody else took; all who share them name the same. */
export async function takeFiles(name, files) {
  const end = expectTests();
  // As Node does for the tests of one file: they may wait for what keeps no process alive.
  const alive = setInterval(() => undefined, 60_000);
  for (const [index, file] of files.entries()) {
    if (!take(`${encodeURIComponent(name)}-${index + 1}`)) continue;
    const before = processorSeconds();
    await import(pathToFileURL(join(root, file)).href);
    await test(file, () => undefined); // Node runs tests in the order in which they were defined: those of the file are done
    forgetTests();
    const after = processorSeconds();
    noteProcessorTime(results, { file, own: after.own - before.own, programs: after.programs - before.programs });
  }
  clearInterval(alive);
  end();
}

/** A folder can be made once. */
function take(what) {
  try {
    mkdirSync(join(results, 'taken', what));
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}
