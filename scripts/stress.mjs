// `npm run test:stress -- FILE…`: twenty runs of each file beside two busy loops, with accesses to the database that wait at random; without
// files, of all that ever failed at random. Some files run beside one another, each once at a time; what measures runs alone at the end. A
// file that failed has no more turns.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { measuringTests } from './measuring-tests.mjs';

const turns = 20;
const loops = 2;
const filesAtOnce = 5;
/** What each access to the database waits at most, before and after it (test/support/shaken-database.ts). */
const shakeMs = 20;
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const given = process.argv.slice(2);
const listed = readFileSync(join(root, 'scripts/failed-at-random.txt'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));
const files = given.length > 0 ? given : listed;

const busy = Array.from({ length: loops }, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
process.once('exit', () => {
  for (const loop of busy) loop.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

const failed = [];
const secondsSince = (ms) => Math.round((performance.now() - ms) / 1000);

async function stress(file) {
  const startedAt = performance.now();
  for (let turn = 1; turn <= turns; turn += 1) {
    const { code, output } = await runOnce(file);
    if (code === 0) continue;
    failed.push(file);
    console.log(`${output}\n${file}: failed at turn ${turn} of ${turns}`);
    return;
  }
  console.log(`${file}: passed ${turns} times in ${secondsSince(startedAt)} s`);
}

function runOnce(file) {
  const args = ['--disable-warning=ExperimentalWarning', '--import=./scripts/test-process.mjs', '--test', '--test-reporter=dot', file];
  const env = { ...process.env, GATEHOUSE_TEST_SHAKE_MS: String(shakeMs) };
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const parts = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => parts.push(part));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output: Buffer.concat(parts).toString('utf8') }));
  });
}

async function stressInTurn(waiting) {
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) await stress(file);
}

const startedAt = performance.now();
const beside = files.filter((file) => !measuringTests.includes(file));
await Promise.all(Array.from({ length: filesAtOnce }, () => stressInTurn(beside)));
await stressInTurn(files.filter((file) => measuringTests.includes(file)));
console.log(`${files.length - failed.length} of ${files.length} files passed ${turns} times, in ${secondsSince(startedAt)} s`);
for (const file of failed) console.log(`failed: ${file}`);
process.exit(failed.length === 0 ? 0 : 1);
