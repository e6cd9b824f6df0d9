// After the tests: every row of the error contract must have been shown by a test over HTTP. Rows of surfaces that do not
// exist yet are listed in test/contract/rows-not-yet.txt, which may only shrink: a listed row that is shown fails too.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { catalogue } from '../src/contract/catalogue.ts';

const shown = new Set(
  globSync('.test-results/rows-*.txt')
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    .filter((line) => line !== ''),
);
const listFile = 'test/contract/rows-not-yet.txt';
const notYet = new Set(
  existsSync(listFile)
    ? readFileSync(listFile, 'utf8')
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
    : [],
);

const problems = [
  ...Object.keys(catalogue)
    .filter((id) => !shown.has(id) && !notYet.has(id))
    .map((id) => `no test shows ${id}`),
  ...[...notYet].filter((id) => shown.has(id)).map((id) => `${id} is shown by a test: take it off ${listFile}`),
  ...[...notYet].filter((id) => !Object.hasOwn(catalogue, id)).map((id) => `${listFile} names ${id}, which is no row`),
];
for (const problem of problems) console.error(`contract: ${problem}`);
console.log(`contract: ${shown.size} of ${Object.keys(catalogue).length} rows shown over HTTP`);
process.exitCode = problems.length === 0 ? 0 : 1;
