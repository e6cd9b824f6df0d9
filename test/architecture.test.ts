// The house rules that a reader relies on: imports go down only, no cycles, no barrels, small files and functions.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, it } from 'node:test';

const fileLinesMax = 400;
const functionLinesMax = 70;

/** What each folder of src/ may import besides itself, Node and libraries. Root files compose everything. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  platform: ['contract/limits.ts'],
  crypto: ['domain', 'platform', 'contract/limits.ts'],
  domain: ['contract/limits.ts'],
  storage: ['domain', 'platform', 'contract/limits.ts'],
  tokens: ['domain', 'storage', 'crypto', 'platform', 'contract/limits.ts'],
  approvals: ['domain', 'storage', 'crypto', 'platform', 'tokens', 'contract/limits.ts'],
  http: ['contract', 'config.ts', 'platform', 'crypto', 'domain', 'storage', 'tokens', 'approvals'],
  oidc: ['contract', 'platform', 'crypto', 'domain', 'storage', 'tokens', 'approvals', 'http'],
  saml: ['contract', 'platform', 'crypto', 'domain', 'storage', 'tokens', 'approvals', 'http'],
  scim: ['contract', 'platform', 'crypto', 'domain', 'storage', 'tokens', 'approvals', 'http'],
  device: ['contract', 'platform', 'crypto', 'domain', 'storage', 'tokens', 'approvals', 'http', 'config.ts'],
  administration: ['domain', 'storage', 'crypto', 'platform', 'tokens', 'contract/limits.ts'],
  management: ['administration', 'contract', 'platform', 'crypto', 'domain', 'storage', 'tokens', 'approvals', 'http', 'config.ts'],
  web: ['administration', 'contract', 'platform', 'crypto', 'domain', 'storage', 'tokens', 'approvals', 'http'],
  cli: [
    'administration',
    'config.ts',
    'compose.ts',
    'bootstrap.ts',
    'contract',
    'platform',
    'crypto',
    'domain',
    'storage',
    'tokens',
    'approvals',
    'http',
  ],
};

const sources = globSync('src/**/*.ts').map((file) => normalize(file));
const everything = [...sources, ...globSync('{sdk,bench,test,scripts}/**/*.ts', { exclude: (name) => name === 'node_modules' })];
const read = (file: string): string => readFileSync(file, 'utf8');

function importsOf(file: string): readonly string[] {
  const specifiers = [...read(file).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map((match) => match[1]!);
  return specifiers.map((specifier) => normalize(join(dirname(file), specifier)));
}

const folderOf = (file: string): string | undefined => /^src\/([^/]+)\/.+/.exec(file)?.[1];

describe('architecture', () => {
  it('there is something to check', () => assert.ok(sources.length > 40));

  it('imports go down only', () => {
    const wrong: string[] = [];
    for (const file of sources) {
      const folder = folderOf(file);
      if (folder === undefined) continue;
      for (const target of importsOf(file)) {
        const inside = target.replace(/^src\//, '');
        const targetFolder = folderOf(target);
        if (targetFolder === folder) continue;
        const rules = allowed[folder] ?? [];
        const sdkForSimulator = target.startsWith('sdk/') && folder === 'cli';
        if (!rules.includes(inside) && !(targetFolder !== undefined && rules.includes(targetFolder)) && !sdkForSimulator)
          wrong.push(`${file} -> ${target}`);
      }
    }
    assert.deepEqual(wrong, []);
  });

  it('the device SDK imports nothing of src/', () => {
    const wrong = globSync('sdk/**/*.ts', { exclude: (name) => name === 'node_modules' }).flatMap((file) =>
      importsOf(file)
        .filter((target) => target.startsWith('src/'))
        .map((target) => `${file} -> ${target}`),
    );
    assert.deepEqual(wrong, []);
  });

  it('no import cycles at run time', () => {
    const runtime = new Map(sources.map((file) => [file, runtimeImportsOf(file)]));
    const done = new Set<string>();
    const visit = (file: string, path: readonly string[]): void => {
      assert.ok(!path.includes(file), `cycle: ${[...path, file].join(' -> ')}`);
      if (done.has(file)) return;
      for (const target of runtime.get(file) ?? []) visit(target, [...path, file]);
      done.add(file);
    };
    for (const file of sources) visit(file, []);
  });

  it('what few sign-ins need loads at its first use', () => {
    assert.deepEqual(
      sources.filter((file) => /^(?:import(?! type)|export)\s[^;]*?from\s+'@simplewebauthn\/server'/m.test(read(file))),
      [],
    );
  });

  it('no barrels, no junk drawers', () => {
    const names = /(^|\/)(index|utils?|helpers?|common|misc|shared)(\.ts|\/)/;
    assert.deepEqual(
      everything.filter((file) => names.test(file) && file !== 'src/contract/shared.ts'),
      [],
    );
  });

  it(`files have at most ${fileLinesMax} lines`, () => {
    assert.deepEqual(
      everything.filter((file) => read(file).split('\n').length - 1 > fileLinesMax),
      [],
    );
  });

  it(`functions have at most ${functionLinesMax} lines`, () => {
    assert.deepEqual(sources.flatMap(longFunctionsOf), []);
  });

  it('every file of src says what it is', () => {
    assert.deepEqual(
      sources.filter((file) => !read(file).startsWith('// ')),
      [],
    );
  });
});

function runtimeImportsOf(file: string): readonly string[] {
  const text = read(file).replace(/import type [^;]+;/g, '');
  return [...text.matchAll(/^(?:import|export)\s[^;]*?from\s+'(\.[^']+)'/gm)].map((match) => normalize(join(dirname(file), match[1]!)));
}

/** Top-level functions by their formatted shape: from a declaration at column 0 to the closing brace at column 0. */
function longFunctionsOf(file: string): readonly string[] {
  const lines = read(file).split('\n');
  const found: string[] = [];
  let start = -1;
  lines.forEach((line, index) => {
    if (/^(export )?(async )?function|^(export )?const \w+ = (async )?\(/.test(line)) start = index;
    if (/^\}/.test(line) && start >= 0) {
      if (index - start + 1 > functionLinesMax) found.push(`${file}:${start + 1} (${index - start + 1} lines)`);
      start = -1;
    }
  });
  return found;
}
