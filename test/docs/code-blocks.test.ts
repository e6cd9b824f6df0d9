// Every shell block of the documents runs: commands that start a server do so on a free port in a throw-away folder, commands
// that speak to one speak to that server. A line this file does not know how to run fails, so that no block is only prose.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

const root = join(import.meta.dirname, '..', '..');
const documents = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...globSync('docs/**/*.md', { cwd: root })];
const packageScripts: Readonly<Record<string, string>> = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts;

interface Block {
  readonly document: string;
  readonly text: string;
}

function blocksOf(document: string): readonly Block[] {
  const text = readFileSync(join(root, document), 'utf8');
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => ({ document, text: match[1]!.trim() }));
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a shell line; ends it with SIGTERM as soon as `until` is printed. */
function run(line: string, environment: Readonly<Record<string, string>>, until?: RegExp): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', `exec ${line}`], { cwd: root, env: { ...process.env, ...environment } });
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

const ready = /gatehouse ready (http\S+)/;

describe('documents', () => {
  let folder: string;
  let server: ReturnType<typeof spawn>;
  let url: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-docs-'));
    server = spawn(join(root, 'bin', 'gatehouse'), ['serve', '--listen', '127.0.0.1:0', '--data', join(folder, 'shared')], {
      env: { ...process.env, GATEHOUSE_DEV: '1', GATEHOUSE_OPERATOR_TOKEN: 'change-me' },
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
    const named = readFileSync(join(root, 'docs/security-model.md'), 'utf8').matchAll(/`(test\/[^`\s]+\.ts)`/g);
    const missing = [...named].map((match) => match[1]!).filter((file) => globSync(file, { cwd: root }).length === 0);
    assert.deepEqual(missing, []);
  });

  const blocks = documents.flatMap(blocksOf);
  it('there are blocks to run', () => assert.ok(blocks.length >= 6));
  for (const { document, text } of blocks) {
    const lines = text
      .replace(/\\\n\s*/g, ' ')
      .split('\n')
      .filter((line) => line.trim() !== '' && !line.startsWith('#'));
    for (const line of lines) it(`${document}: ${line}`, () => runLine(line));
  }

  async function runLine(line: string): Promise<void> {
    for (const part of line.split(' && ')) await runCommand(part.trim());
  }

  /** One simple command, by what it is. */
  async function runCommand(command: string): Promise<void> {
    const [, assignments, rest] = /^((?:[A-Z_]+=\S+ )*)(.*)$/.exec(command)!;
    const environment = Object.fromEntries(
      assignments!
        .trim()
        .split(' ')
        .filter((pair) => pair !== '')
        .map((pair) => pair.split('=') as [string, string]),
    );
    const npm = /^npm (?:run )?([\w:]+)$/.exec(rest!)?.[1];
    if (npm === 'ci' || npm === 'cit') return; // whoever runs this test has done it
    if (npm !== undefined && npm !== 'start') return assert.ok(npm in packageScripts, `package.json has no script ${npm}`);
    if (npm === 'start' || rest!.startsWith('./bin/gatehouse serve')) {
      const base = npm === 'start' ? packageScripts['start']! : rest!;
      const ended = await run(`${base} --listen 127.0.0.1:0 --data ${mkdtempSync(join(folder, 'own-'))}`, environment, ready);
      assert.match(ended.output, ready);
      assert.equal(ended.code, 0, ended.output);
      return;
    }
    if (rest!.startsWith('./bin/gatehouse') || rest!.startsWith('curl')) {
      const ended = await run(rest!.replaceAll('http://127.0.0.1:8080', url), { ...environment, GATEHOUSE_DATA: join(folder, 'shared') });
      assert.equal(ended.code, 0, ended.output);
      assert.doesNotMatch(ended.output, /"error"/);
      return;
    }
    assert.fail(`this test does not know how to run: ${command}`);
  }
});
