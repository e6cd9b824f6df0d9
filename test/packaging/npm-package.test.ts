// The published package: packed as npm packs it, unpacked beside its production dependencies and nothing else, run by npx. Node
// strips no types under node_modules, so this fails when the package holds TypeScript or needs a development dependency.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';

const root = join(import.meta.dirname, '..', '..');
const sources = [
  'bin',
  'docs',
  'scripts',
  'sdk',
  'src',
  'tsconfig.json',
  'tsconfig.build.json',
  'tsconfig.browser.json',
  'package.json',
  'package-lock.json',
];
const prose = ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE', 'sdk-kotlin/README.md'];

interface LockEntry {
  readonly version: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
}
const lock: { readonly packages: Readonly<Record<string, LockEntry>> } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
/** Folders below node_modules that a production install has. */
const production = Object.entries(lock.packages).filter(([path, entry]) => path !== '' && entry.dev !== true);

describe('the npm package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-package-'));
  const source = join(folder, 'source');
  const home = join(folder, 'home');
  const installed = join(home, 'node_modules', 'gatehouse');
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Node 24 first, as the package wants it; no network. */
  const environment = {
    ...process.env,
    NODE_TEST_CONTEXT: undefined, // what runs here is no part of this run
    PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
    HOME: home,
    npm_config_offline: 'true',
  };
  const run = (command: string, args: readonly string[], cwd: string): string => {
    const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', env: environment });
    assert.equal(status, 0, `${command} ${args.join(' ')}\n${stdout}\n${stderr}`);
    return stdout;
  };

  before(() => {
    mkdirSync(source);
    mkdirSync(home);
    for (const name of [...sources, ...prose]) cpSync(join(root, name), join(source, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(source, 'node_modules'));
    run('npm', ['pack', '--silent', '--pack-destination', folder], source);
    const [tarball] = globSync('gatehouse-*.tgz', { cwd: folder });
    assert.ok(tarball !== undefined, 'npm pack made no tarball');
    mkdirSync(installed, { recursive: true });
    run('tar', ['-xzf', join(folder, tarball), '--strip-components=1', '-C', installed], folder);
    for (const [path] of production) {
      if (/node_modules.*node_modules/.test(path) || !existsSync(join(root, path))) continue; // nested ones come with their parent
      mkdirSync(dirname(join(home, path)), { recursive: true });
      symlinkSync(join(root, path), join(home, path));
    }
    mkdirSync(join(home, 'node_modules', '.bin'));
    symlinkSync('../gatehouse/bin/gatehouse', join(home, 'node_modules', '.bin', 'gatehouse'));
  });

  it('holds JavaScript, documents and nothing of development', () => {
    const files = globSync('**/*', { cwd: installed, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(installed.length + 1));
    assert.deepEqual(
      files.filter((file) => /(?<!\.d)\.ts$|^(?:src|test|bench|demo|scripts|\.ci)\//.test(file)),
      [],
    );
    for (const wanted of [
      'bin/gatehouse',
      'dist/src/main.js',
      'dist/src/pages/style-sheet.css',
      'dist/sbom.cdx.json',
      'docs/contract.md',
      'LICENSE',
      'README.md',
    ])
      assert.ok(files.includes(wanted), `expected ${wanted}`);
  });

  it('names in its bill of materials every production dependency, with version and licence, and no other', () => {
    const bill: {
      readonly bomFormat: string;
      readonly metadata: { readonly component: { readonly name: string } };
      readonly components: readonly {
        readonly name: string;
        readonly version: string;
        readonly purl: string;
        readonly licenses: unknown;
      }[];
    } = JSON.parse(readFileSync(join(installed, 'dist', 'sbom.cdx.json'), 'utf8'));
    assert.equal(bill.bomFormat, 'CycloneDX');
    assert.equal(bill.metadata.component.name, 'gatehouse');
    const expected = production.map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`);
    assert.ok(expected.length > 50);
    assert.deepEqual(bill.components.map(({ name, version }) => `${name}@${version}`).sort(), [...new Set(expected)].sort());
    for (const { name, purl, licenses } of bill.components) {
      assert.ok(purl.startsWith('pkg:npm/'), name);
      assert.ok(Array.isArray(licenses) && licenses.length > 0, `${name} has no licence`);
    }
  });

  it('npx gatehouse serves, answers discovery and its documents, and stops', async () => {
    const server = spawn('npx', ['gatehouse', 'serve', '--listen', '127.0.0.1:0', '--data', join(home, 'data')], {
      cwd: home,
      env: environment,
      detached: true, // a group of its own: npx passes no signal on
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const ended = new Promise<void>((resolve) => server.once('close', () => resolve()));
    try {
      const url = await new Promise<string>((resolve, reject) => {
        const look = (chunk: Buffer): void => {
          output += chunk.toString();
          const match = /^gatehouse ready (http\S+)$/m.exec(output);
          if (match !== null) resolve(match[1]!);
        };
        server.stdout.on('data', look);
        server.stderr.on('data', look);
        server.once('close', (code) => reject(new Error(`ended with ${code}: ${output}`)));
      });
      const discovery = await fetch(`${url}/.well-known/openid-configuration`);
      assert.equal(discovery.status, 200);
      assert.equal(((await discovery.json()) as { readonly issuer: string }).issuer, url); // a discovery document
      const page = await fetch(`${url}/docs/contract`);
      assert.equal(page.status, 200);
      assert.match(await page.text(), /<h1[^>]*>The error contract/);
      const phone = await (await fetch(`${url}/phone`)).text();
      const modules = [...phone.matchAll(/rel="modulepreload" href="([^"]+)"/g)].map((match) => match[1]!);
      assert.ok(modules.length > 15);
      for (const address of modules) assert.equal((await fetch(address)).status, 200, address);
      const rows = run(join(home, 'node_modules', '.bin', 'gatehouse'), ['contract', '--json'], home);
      assert.ok(Object.keys(JSON.parse(rows)).length > 100);
    } finally {
      if (server.exitCode === null) process.kill(-server.pid!, 'SIGTERM');
      await ended;
    }
  });

  it('the test identity provider of the how-to runs as it is written', () => {
    const [text] = fencesOf('docs/how-to/test-identity-provider.md', 'js');
    writeFileSync(join(home, 'sign-in.test.mjs'), text!);
    const output = run(process.execPath, ['--test', '--test-reporter=spec', 'sign-in.test.mjs'], home);
    assert.match(output, /✔ Ada signs in/);
  });

  it('what it exports has types, and nothing else can be imported', () => {
    const [text] = fencesOf('docs/how-to/test-identity-provider.md', 'ts');
    const uses = `${text}\nimport { startTestGatehouse } from 'gatehouse/testing';\nconst idp = await startTestGatehouse({ users: [{ user_name: 'ada' }] });\nconst url: string = (await idp.signIn('ada', idp.url)).callbackUrl;\n`;
    writeFileSync(join(home, 'uses.mts'), `${uses}console.log(url);\n`);
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--skipLibCheck', '--types', ''];
    run(join(root, 'node_modules', '.bin', 'tsc'), [...options, 'uses.mts'], home);
    writeFileSync(join(home, 'wrong.mts'), "import { createGatehouse } from 'gatehouse';\nawait createGatehouse({ colour: 'red' });\n");
    const wrong = spawnSync(join(root, 'node_modules', '.bin', 'tsc'), [...options, 'wrong.mts'], {
      cwd: home,
      encoding: 'utf8',
      env: environment,
    });
    assert.match(wrong.stdout, /wrong\.mts\(2,.*'colour' does not exist/);
    const inner = spawnSync(process.execPath, ['--input-type=module', '-e', "await import('gatehouse/dist/src/compose.js')"], {
      cwd: home,
      encoding: 'utf8',
    });
    assert.match(inner.stderr, /ERR_PACKAGE_PATH_NOT_EXPORTED/);
  });
});

/** The code blocks of a document in a language. */
const fencesOf = (document: string, language: string): readonly string[] =>
  [...readFileSync(join(root, document), 'utf8').matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    (match) => match[1]!,
  );
