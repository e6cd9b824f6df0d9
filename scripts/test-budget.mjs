// Part of `npm run check`: a file of tests that needed more of the processors than its budget in the last run, where there was one, fails it.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readProcessorTimes } from './test-results.mjs';

/** Seconds of processor time, with the programs it started: the time by the clock doubles where others are busy too. */
const budgetSeconds = 30;
/** Their tests start no programs and wait for no disk; those of the other folders wait for browsers, nodes, upgrades and servers of others. */
const hasBudget = (file) => /^test\/(contract|surfaces|unit)\//.test(file);

const files = readProcessorTimes(join(dirname(fileURLToPath(import.meta.url)), '..', '.test-results'));
const over = files.filter(({ file, own, programs }) => file !== undefined && hasBudget(file) && own + programs > budgetSeconds);
for (const { file, own, programs } of over)
  console.error(`${file}: expected at most ${budgetSeconds} s of processor time, found ${(own + programs).toFixed(1)}`);
process.exit(over.length === 0 ? 0 : 1);
