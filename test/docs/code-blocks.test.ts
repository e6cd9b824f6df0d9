// Every code block of the documents is run or read by what will read it. Shell blocks run: those that start a server on a free port
// in a throw-away folder, all others of a document in order, in one shell, against a running server and a tenant of their own.
// TypeScript is type-checked, JSON, YAML and other languages are parsed. A block in a language this file does not know fails.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, globSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse as parseYaml } from 'yaml';
import { runCommand } from '../support/commands.ts';
import { type Block, blocksOf, documents, fileBlockOf, readDocument, root } from '../support/documents.ts';
import { findJudge } from '../support/judge-binaries.ts';

const packageScripts: Readonly<Record<string, string>> = JSON.parse(readDocument('package.json')).scripts;
const operatorToken = 'change-me';
const ready = /gatehouse ready (http\S+)/;

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a command; ends it with SIGTERM as soon as `until` is printed. */
function run(command: readonly string[], cwd: string, environment: Readonly<Record<string, string>>, until?: RegExp): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const [file, ...args] = command as [string, ...string[]];
    const child = spawn(file, args, { cwd, env: { ...process.env, ...environment } });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
      if (until?.test(output) && !child.killed) child.kill('SIGTERM');
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

const blocks = documents.flatMap(blocksOf);
const inLanguage = (...languages: readonly string[]): readonly Block[] => blocks.filter(({ language }) => languages.includes(language));
const startsServer = ({ text }: Block): boolean => /^(?:[A-Z_]+=\S+ )*npm |gatehouse serve/m.test(text);

describe('documents', () => {
  let folder: string;
  let server: ReturnType<typeof spawn>;
  let url: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-docs-'));
    server = spawn(join(root, 'bin', 'gatehouse'), ['serve', '--listen', '127.0.0.1:0', '--data', join(folder, 'shared')], {
      env: { ...process.env, GATEHOUSE_DEV: '1', GATEHOUSE_OPERATOR_TOKEN: operatorToken },
    });
    url = await new Promise((resolve, reject) => {
      server.stdout!.on('data', (chunk: Buffer) => {
        const match = ready.exec(chunk.toString());
        if (match !== null) resolve(match[1]!);
      });
      server.on('exit', () => reject(new Error('the server ended')));
    });
  });
  after(async () => {
    server.removeAllListeners('exit');
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });

  it('every test the security model names exists', () => {
    const named = readDocument('docs/security-model.md').matchAll(/`(test\/[^`\s]+\.ts)`/g);
    const missing = [...named].map((match) => match[1]!).filter((file) => globSync(file, { cwd: root }).length === 0);
    assert.deepEqual(missing, []);
  });

  it('every block is in a language that is checked here or in the test of its document', () => {
    // That of haproxy is run by test/command-line/group-map.test.ts, those from html on by test/docs/guides.test.ts, the last three by test/docs/api-examples.test.ts.
    const known = [
      'sh',
      'console',
      'ts',
      'js',
      'json',
      'yaml',
      'nginx',
      'caddyfile',
      'haproxy',
      'kotlin',
      'swift',
      'ruby',
      'text',
      'html',
      'jsx',
      'python',
      'go',
      'java',
      'xml',
      'bash',
      'javascript',
    ];
    assert.deepEqual(
      blocks
        .filter(({ language }) => !known.includes(language))
        .map(({ document, language, text }) => [document, language, text.slice(0, 60)]),
      [],
    );
    assert.ok(blocks.length > 50);
  });

  for (const { document, text } of inLanguage('sh').filter(startsServer)) {
    const lines = text.replace(/\\\n\s*/g, ' ').split('\n');
    for (const line of lines.filter((one) => one.trim() !== '' && !one.startsWith('#'))) it(`${document}: ${line}`, () => runStart(line));
  }

  const sessions = Map.groupBy(
    inLanguage('sh').filter((block) => !startsServer(block)),
    ({ document }) => document,
  );
  for (const [document, own] of sessions) it(`${document}: its ${own.length} shell blocks in order`, () => runSession(document, own));

  /** A line that starts a server or an npm script. */
  async function runStart(line: string): Promise<void> {
    for (const command of line.split(' && ')) {
      const [, assignments, rest] = /^((?:[A-Z_]+=\S+ )*)(.*)$/.exec(command.trim())!;
      const environment = Object.fromEntries(
        [...assignments!.matchAll(/([A-Z_]+)=(\S+) /g)].map(([, name, value]) => [name!, value!] as const),
      );
      const npm = /^npm (?:run )?([\w:]+)$/.exec(rest!)?.[1];
      if (npm === 'ci' || npm === 'cit') continue; // whoever runs this test has done it
      if (npm !== undefined && npm !== 'start') {
        assert.ok(npm in packageScripts, `package.json has no script ${npm}`);
        continue;
      }
      const base = npm === 'start' ? packageScripts['start']! : rest!;
      assert.match(base, /^\.\/bin\/gatehouse serve/, `this test does not know how to run: ${command}`);
      const more = `--listen 127.0.0.1:0 --data ${mkdtempSync(join(folder, 'own-'))}`;
      const ended = await run(['sh', '-c', `exec ${base} ${more}`], root, environment, ready);
      assert.match(ended.output, ready);
      assert.equal(ended.code, 0, ended.output);
    }
  }

  /** All other shell blocks of a document in one shell. BASE_URL and ADMIN are a tenant's, as the quick start leaves them. */
  async function runSession(document: string, own: readonly Block[]): Promise<void> {
    const place = mkdtempSync(join(folder, 'session-'));
    mkdirSync(join(place, 'bin'));
    writeFileSync(join(place, 'bin', 'gatehouse'), `#!/bin/sh\nexec "${join(root, 'bin', 'gatehouse')}" "$@"\n`);
    chmodSync(join(place, 'bin', 'gatehouse'), 0o755);
    const slug = basename(document, '.md').toLowerCase();
    const response = await fetch(`${url}/v1/system/tenants`, {
      method: 'POST',
      headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ slug: `docs-${slug}`, name: document }),
    });
    const { base_url: baseUrl, admin_client: admin } = (await response.json()) as Readonly<Record<string, never>>; // the system API's tenant
    const environment = {
      GATEHOUSE_DATA: join(folder, 'shared'),
      BASE_URL: baseUrl ?? '',
      ADMIN: `${admin?.['client_id']}:${admin?.['client_secret']}`,
    };
    const script = own
      .map(({ text }) => text)
      .join('\n')
      .replaceAll('http://localhost:8080', url);
    const ended = await run(['bash', '-euo', 'pipefail', '-c', script], place, environment);
    assert.equal(ended.code, 0, ended.output);
    assert.doesNotMatch(ended.output, /"error"/);
  }

  it('every line of commands for other machines is a shell line, and those to Gatehouse name options it has', async () => {
    for (const { document, text } of inLanguage('console')) {
      const parsed = spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' });
      assert.equal(parsed.status, 0, `${document}: ${parsed.stderr}`);
      for (const [path] of text.matchAll(/\bdeploy\/[\w./-]+/g)) assert.ok(existsSync(join(root, path)), `${document}: ${path}`);
      for (const [, words] of text.replace(/\\\n\s*/g, ' ').matchAll(/(?:^|\s|\/)gatehouse ((?:[a-z]+ ){1,2})(?=--|<|$)/gm)) {
        const line = text.split('\n').find((one) => one.includes(`gatehouse ${words}`)) ?? '';
        const { code, stdout } = await runCommand(folder, [...words!.trim().split(' '), '--help'], {});
        assert.equal(code, 0, `${document}: gatehouse ${words}`);
        for (const [option] of line.replace(/#.*/, '').matchAll(/(?<=\s)--[a-z-]+/g))
          assert.ok(stdout.includes(option), `${document}: ${words}${option}`);
      }
    }
  });

  it('JSON and YAML blocks can be read', () => {
    assert.ok(inLanguage('json', 'yaml').length >= 2);
    for (const { document, language, text } of inLanguage('json', 'yaml'))
      assert.doesNotThrow(() => (language === 'json' ? JSON.parse(text) : parseYaml(text)), `${document}: ${text.slice(0, 80)}`);
  });

  it('JavaScript blocks are modules without syntax errors', () => {
    assert.ok(inLanguage('js').length > 0);
    for (const { document, text } of inLanguage('js')) {
      const checked = spawnSync(process.execPath, ['--check', '--input-type=module', '-'], { input: text, encoding: 'utf8' });
      assert.equal(checked.status, 0, `${document}: ${checked.stderr}`);
    }
  });

  it('TypeScript blocks pass the strict type check, each document as one program', () => {
    const program = mkdtempSync(join(folder, 'types-'));
    symlinkSync(join(root, 'node_modules'), join(program, 'node_modules'));
    // Those of the SDK are compiled against what is packed of it (test/packaging/sdk-package.test.ts).
    const typescript = inLanguage('ts').filter(({ text }) => !text.includes("'gatehouse-device-sdk"));
    assert.ok(typescript.length >= 8, String(typescript.length));
    typescript.forEach(({ document, text }, index) => {
      const name = /^\/\/ (\S+\.ts)\n/.exec(text)?.[1] ?? `block-${index}.ts`;
      const file = join(program, document.replace(/\W/g, '-'), name);
      mkdirSync(join(file, '..'), { recursive: true });
      writeFileSync(file, text);
    });
    const options = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        module: 'esnext',
        moduleResolution: 'bundler',
        rewriteRelativeImportExtensions: false,
        types: ['node', 'express'],
        paths: {
          gatehouse: [join(root, 'src', 'embedding', 'gatehouse.ts')],
          'gatehouse/testing': [join(root, 'src', 'embedding', 'test-gatehouse.ts')],
        },
      },
      include: ['**/*.ts'],
    };
    writeFileSync(join(program, 'tsconfig.json'), JSON.stringify(options));
    const { status, stdout } = spawnSync(join(root, 'node_modules', '.bin', 'tsc'), ['--checkers', '1', '-p', program], {
      encoding: 'utf8',
    });
    assert.equal(status, 0, stdout);
  });

  const grammars = findJudge('python3-grammars');
  if (grammars !== undefined)
    it('Kotlin, Swift and Ruby blocks are without syntax errors, and the parsers do find one', () => {
      const judge = join(root, 'test', 'interop', 'judges', 'grammars.py');
      const check = (language: string, text: string): number | null => spawnSync(grammars, [judge, language], { input: text }).status;
      for (const language of ['kotlin', 'swift', 'ruby']) {
        const own = inLanguage(language);
        assert.ok(own.length > 0, language);
        for (const { document, text } of own) {
          assert.equal(check(language, text), 0, `${document}: ${text}`);
          assert.equal(check(language, text.replace(/[)\]](?=[^)\]]*$)/, '')), 1, `${language}: a missing bracket is found`);
        }
      }
    });

  const helm = findJudge('helm');
  if (helm !== undefined)
    it('docs/how-to/install.md: the chart takes its values.yaml', () => {
      const values = join(folder, 'values.yaml');
      writeFileSync(values, fileBlockOf('docs/how-to/install.md', 'values.yaml'));
      const chart = join(folder, 'chart');
      cpSync(join(root, 'deploy', 'helm', 'gatehouse'), chart, { recursive: true });
      const ended = spawnSync(helm, ['template', 'id', chart, '--kube-version', '1.31.0', '--values', values], { encoding: 'utf8' });
      assert.equal(ended.status, 0, ended.stderr);
    });
});
