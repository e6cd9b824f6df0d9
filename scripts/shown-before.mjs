// CI runs the quick tests twice: first as a newcomer has them, on the embedded database and without any component, then with every component.
// The second run shows what the first could not: nothing of one commit is shown twice. GATEHOUSE_TEST_SHOWN names the first one's results.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readResults } from './test-results.mjs';

/** The first line of a process whose tests show one database (test/support/databases.ts). */
export const onDatabase = (name) => `process.env['GATEHOUSE_TEST_DATABASES'] = '${name}';\n`;

const databasesFile = 'test/support/databases.ts';

/**
 * Of these files, what a run on the embedded database without components has not shown: tests that also run on PostgreSQL are left to
 * show there, files that look for a component are left whole, and of the others nothing is.
 */
export function leftToShow(files, root) {
  const left = { onPostgres: [], whole: [] };
  for (const file of files) {
    const texts = [...textsOf(file, root)].filter(([name]) => name !== databasesFile).map(([, text]) => text);
    if (texts.some((text) => /GATEHOUSE_TEST_REQUIRE|\bisRequired\(/.test(text))) left.whole.push(file);
    else if (texts.some((text) => /^import \{[^}]*(?<!type )\bdatabases\b[^}]*\} from '[^']*databases\.ts'/m.test(text)))
      left.onPostgres.push(file);
  }
  return left;
}

/** The texts of a file of tests and of all it imports of test/. */
function textsOf(file, root, texts = new Map()) {
  if (texts.has(file) || !file.startsWith('test/') || !existsSync(join(root, file))) return texts;
  const text = readFileSync(join(root, file), 'utf8');
  texts.set(file, text);
  for (const [, name] of text.matchAll(/(?:from|import\() ?'(\.[^']+\.ts)'/g)) textsOf(join(dirname(file), name), root, texts);
  return texts;
}

/** How many tests passed in the first run. @throws when it did not pass */
export function countShown(folder) {
  const { passed, failed } = readResults(folder);
  if (passed > 0 && failed === 0) return passed;
  throw new Error(`expected results of tests that passed in ${folder}, found ${passed} passed and ${failed} failed`);
}
