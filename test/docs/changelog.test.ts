// Design 23, part 7: the CHANGELOG is by version, newest first, in short lines.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { changelogLineMax, wrapChangelog } from '../../scripts/wrap-changelog.ts';
import { readDocument } from '../support/documents.ts';

const changelog = readDocument('CHANGELOG.md');

it(`no line has more than ${changelogLineMax} characters: run node scripts/wrap-changelog.ts`, () => {
  assert.equal(wrapChangelog(changelog), changelog);
});

it('each version is a heading with a number, newest first', () => {
  const versions = [...changelog.matchAll(/^## (.*)$/gm)].map(([, version]) => version!);
  assert.ok(versions.length >= 2);
  for (const version of versions) assert.match(version, /^\d+\.\d+\.\d+$/);
  const byNumber = versions.toSorted((one, other) => other.localeCompare(one, 'en', { numeric: true }));
  assert.deepEqual(versions, byNumber);
});

it('a paragraph is broken between words, and neither in code nor in a link', () => {
  const link = `[a link](${'x'.repeat(90)})`;
  assert.equal(
    wrapChangelog(`- **A** ${'word '.repeat(30)}${link}`)
      .split('\n')
      .at(-1),
    `  ${link}`,
  );
  assert.equal(wrapChangelog('## 1.0.0\n- one\n  two\n- three\n'), '## 1.0.0\n- one two\n- three\n');
});
