// Part of `npm run check`: a file of tests that took longer than its budget in the last run, where there was one, fails it.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readResults } from './test-results.mjs';

/** Seconds, four processes beside one another. */
const budgetSeconds = 60;
/** Their tests start no programs and wait for no disk; those of the other folders wait for browsers, nodes, upgrades and servers of others. */
const hasBudget = (file) => /^test\/(contract|surfaces|unit)\//.test(file);

const { files } = readResults(join(dirname(fileURLToPath(import.meta.url)), '..', '.test-results'));
const over = files.filter(([file, seconds]) => seconds > budgetSeconds && hasBudget(file));
for (const [file, seconds] of over) console.error(`${file}: expected at most ${budgetSeconds} s, found ${seconds.toFixed(1)}`);
process.exit(over.length === 0 ? 0 : 1);
