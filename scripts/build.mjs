// Before a package is packed or an image built: dist/ with plain JavaScript, because Node strips no types under node_modules,
// and dist/sbom.cdx.json with what the program consists of. `--sbom` makes only the latter. Development needs neither.
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');

/** Several checkers of types each work out what they share. */
const oneChecker = ['--checkers', '1'];

const declared = /^dist\/src\/(?:config|embedding\/(?:test-)?gatehouse)\.d\.ts$/;

if (!process.argv.includes('--sbom')) {
  rmSync(dist, { recursive: true, force: true });
  run(join(root, 'node_modules', '.bin', 'tsc'), [...oneChecker, '-p', 'tsconfig.build.json']);
  run(join(root, 'node_modules', '.bin', 'tsc'), [
    ...oneChecker,
    '-p',
    'tsconfig.browser.json',
    '--noEmit',
    'false',
    '--rootDir',
    '.',
    '--outDir',
    'dist',
  ]);
  // What the package exports has types; nothing else is for others.
  for (const file of globSync('dist/**/*.d.ts', { cwd: root })) if (!declared.test(file)) rmSync(join(root, file));
  for (const file of globSync('src/**/*.{css,sql}', { cwd: root })) cpSync(join(root, file), join(dist, file));
}
mkdirSync(dist, { recursive: true });
writeFileSync(join(dist, 'sbom.cdx.json'), `${JSON.stringify(billOfMaterials(), null, 2)}\n`);

/** CycloneDX of what a production install has, from the lock file, so that what happens to be installed has no say. */
function billOfMaterials() {
  const bill = JSON.parse(run('npm', ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only']));
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const { name, version } = packages[''];
  // npm's own `--omit dev` also leaves out what a development dependency needs too, jose for one.
  const kept = new Set([`${name}@${version}`]);
  for (const [path, entry] of Object.entries(packages))
    if (path !== '' && entry.dev !== true) kept.add(`${path.replace(/^.*node_modules\//, '')}@${entry.version}`);
  bill.metadata.component.name = name; // npm calls the program after the folder it happens to lie in
  bill.components = bill.components.filter((component) => kept.has(`${component.name}@${component.version}`));
  const refs = new Set([bill.metadata.component['bom-ref'], ...bill.components.map((component) => component['bom-ref'])]);
  bill.dependencies = bill.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }));
  return bill;
}

function run(command, args) {
  const { status, stdout, error } = spawnSync(command, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  if (error) throw error;
  if (status !== 0) {
    process.stderr.write(stdout);
    process.exit(status ?? 1);
  }
  return stdout;
}
