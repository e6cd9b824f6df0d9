// Design 13, section 5: what documents, help and pages say in plain English. A phrase on the left was misunderstood; the right one is
// written instead.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';

const root = join(import.meta.dirname, '..', '..');

const instead: Readonly<Record<string, string>> = {
  'runs as nobody in particular': 'runs as an unprivileged user',
  'An API of yours': 'Your API',
  '# Measured': '# Performance',
  '[Measured]': '[Performance]',
  'An item is whole': 'An item replaces the whole record',
  'Gaps we filled': 'Where standards are silent',
  'Who may in': 'Who can sign in',
  'passkeys rest': 'passkeys stop working',
  'let the simulator be your phone': 'use the simulator',
  'no way back': 'to go back, restore the backup',
  'letter by letter': 'exactly',
};

it('no document, help text or page has a phrase of the list', () => {
  const files = globSync(
    ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'docs/**/*.md', 'sdk/*.md', 'sdk-kotlin/*.md', 'src/**/*.ts', 'deploy/**/*'],
    {
      cwd: root,
    },
  ).filter((file) => /\.(md|ts|ya?ml|json)$/.test(file));
  assert.ok(files.length > 500);
  const found = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return Object.entries(instead).flatMap(([phrase, better]) =>
      text.includes(phrase) ? [`${file}: expected '${better}', found '${phrase}'`] : [],
    );
  });
  assert.deepEqual(found, []);
});
