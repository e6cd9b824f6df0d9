// `npm run test:stress -- FILE`: twenty runs of a file beside two busy loops, or of each that ever failed at random. Stops at the first failure.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const turns = 20;
const loops = 2;
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

let failed;
for (const file of files)
  for (let turn = 1; turn <= turns && failed === undefined; turn += 1) {
    const args = ['--disable-warning=ExperimentalWarning', '--import=./scripts/test-process.mjs', '--test', '--test-reporter=dot', file];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 });
    console.log(`${file}: ${status === 0 ? 'passed' : 'failed'} at turn ${turn} of ${turns}`);
    if (status === 0) continue;
    console.error(stdout, stderr);
    failed = file;
  }
process.exit(failed === undefined ? 0 : 1);
