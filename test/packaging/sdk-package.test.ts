// The device SDK as npm packs it: every entry its package.json names is in it with its types, and can be imported from an empty project.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { root } from '../support/documents.ts';

interface Package {
  readonly name: string;
  readonly exports: Readonly<Record<string, { readonly types: string; readonly default: string }>>;
}

describe('the package of the device SDK', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-sdk-package-'));
  const project = join(folder, 'project');
  let installed: string;
  let described: Package;
  before(() => {
    const source = join(folder, 'source');
    for (const name of ['sdk', 'tsconfig.json']) cpSync(join(root, name), join(source, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(source, 'node_modules'));
    const PATH = `${join(root, 'node_modules', '.bin')}:${process.env['PATH']}`;
    execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: join(source, 'sdk'), env: { ...process.env, PATH } });
    described = JSON.parse(readFileSync(join(source, 'sdk', 'package.json'), 'utf8')) as Package; // ours
    installed = join(project, 'node_modules', described.name);
    mkdirSync(installed, { recursive: true });
    const { version } = described as Package & { readonly version: string };
    execFileSync('tar', ['-xzf', join(folder, `${described.name}-${version}.tgz`), '-C', installed, '--strip-components=1']);
    writeFileSync(join(project, 'package.json'), '{"type":"module"}');
    // What a TypeScript project on Node has, and nothing else.
    for (const name of ['@types/node', 'undici-types']) {
      mkdirSync(dirname(join(project, 'node_modules', name)), { recursive: true });
      symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name));
    }
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('has every entry it names, with types', () => {
    assert.ok(Object.keys(described.exports).length >= 4);
    for (const entry of Object.values(described.exports))
      for (const file of [entry.types, entry.default]) assert.ok(existsSync(join(installed, file)), file);
  });

  it('each block of its README, and each program of the guide, compiles against what was packed', () => {
    const documents = [join(installed, 'README.md'), join(root, 'docs', 'how-to', 'sign-in-by-phone.md')];
    const blocks = documents.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, text]) => text!),
    );
    assert.ok(blocks.length >= 3, String(blocks.length));
    const files = blocks.map((text, index) => {
      const name = /^\/\/ ([\w-]+\.ts)$/m.exec(text)?.[1] ?? `block-${index}.ts`;
      writeFileSync(join(project, name), text);
      return name;
    });
    const flags = [
      '--noEmit',
      '--strict',
      '--exactOptionalPropertyTypes',
      '--module',
      'nodenext',
      '--target',
      'es2024',
      '--lib',
      'es2024,dom,dom.iterable',
      '--types',
      'node',
    ];
    const tsc = join(root, 'node_modules', '.bin', 'tsc');
    execFileSync(tsc, [...flags, ...files], { cwd: project, stdio: 'pipe', encoding: 'utf8' });
  });

  it('each entry can be imported', () => {
    for (const entry of Object.keys(described.exports)) {
      const name = `${described.name}${entry.slice(1)}`;
      execFileSync(
        process.execPath,
        ['--input-type=module', '-e', `const m = await import(${JSON.stringify(name)}); if (Object.keys(m).length === 0) process.exit(1)`],
        {
          cwd: project,
          stdio: 'pipe',
        },
      );
    }
  });
});
