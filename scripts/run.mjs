// npm scripts in one place: runs each step with the pinned Node and stops at the first that fails. Checks need one another as little as they
// need the order, so they run beside one another and all are heard.
import { spawn, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const bin = (name) => join(root, 'node_modules', '.bin', name);
const node = [join(root, 'node_modules', 'node', 'bin', 'node'), '--disable-warning=ExperimentalWarning'];

// Several checkers of types each work out what they share: one needs half of the processor time, and is as soon done beside other checks.
const tsc = [bin('tsc'), '--checkers', '1'];

const steps = {
  check: () => [
    [...tsc, '--noEmit', '-p', '.'],
    [...tsc, '--noEmit', '-p', 'tsconfig.browser.json'],
    [bin('biome'), 'check', '--error-on-warnings', '.'],
    [...node, 'scripts/generate-schema.ts', '--check'],
    [...node, 'scripts/generate-contract-docs.ts', '--check'],
    [...node, 'scripts/generate-api-docs.ts', '--check'],
    [...node, 'scripts/generate-reference-docs.ts', '--check'],
    [...node, '--test', 'test/architecture.test.ts', 'test/docs/wording.test.ts'],
    [...node, 'scripts/test-budget.mjs'],
  ],
  // A run of named files shows some rows of the contract, a whole one every row.
  test: () => [
    [...node, 'scripts/test.mjs', ...process.argv.slice(3)],
    ...(process.argv.length > 3 ? [] : [[...node, 'scripts/contract-coverage.ts']]),
  ],
  'test:stress': () => [[...node, 'scripts/stress.mjs', ...process.argv.slice(3)]],
  generate: () => [
    [...node, 'scripts/generate-contract-docs.ts'],
    [...node, 'scripts/generate-api-docs.ts'],
    [...node, 'scripts/generate-device-docs.ts'],
    [...node, 'scripts/generate-reference-docs.ts'],
  ],
  migration: () => [
    [...node, 'scripts/make-migration.ts'],
    [...node, 'scripts/generate-schema.ts'],
  ],
  demo: () => [[...node, 'demo/run.ts', ...process.argv.slice(3)]],
  journeys: () => [[...node, 'journeys/run.ts']],
  bench: () => [[...node, 'bench/run.ts', ...process.argv.slice(3)]],
};

const [name] = process.argv.slice(2);
if (!Object.hasOwn(steps, name ?? '')) {
  console.error(`expected one of ${Object.keys(steps).join(', ')}, found ${name}`);
  process.exit(2);
}
process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules', '.cache', 'gatehouse');
if (name === 'check') await runBeside(steps.check());
else
  for (const [command, ...args] of steps[name]()) {
    const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
    if (error) throw error;
    if (status !== 0) process.exit(status ?? 1);
  }

/** Runs as many commands at a time as there are processors, and prints what each said once it ended. Exits with 1 when any failed. */
async function runBeside(commands) {
  const left = [...commands];
  let isWell = true;
  const next = async () => {
    for (let command = left.shift(); command !== undefined; command = left.shift()) {
      const { code, said } = await hear(command);
      process.stdout.write(said);
      if (code !== 0) console.error(`failed: ${command.join(' ')}`);
      isWell &&= code === 0;
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, next));
  if (!isWell) process.exit(1);
}

function hear([command, ...args]) {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, said }));
  });
}
