// Design 10, section 7: an attribute of people is added in its table and by `npm run migration`, in no other file. Shown on a copy
// of the tree; and CONTRIBUTING's recipes name files that are there.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { root } from '../support/documents.ts';
import { copyTree, type TreeCopy } from '../support/tree-copy.ts';

const table = 'src/domain/people/user-attributes.ts';
const line =
  "  attribute('pronouns', 'Pronouns', 'folded', { scim: 'pronouns', claim: claimed('pronouns'), saml: true, description: 'How to speak of the person.' }),\n";

describe('an attribute of people', () => {
  let copy: TreeCopy;
  before(() => {
    copy = copyTree();
  });
  after(() => copy.remove());

  it('is a line of the table and a migration that is written for it; every surface has it', () => {
    copy.edit(table, (text) => text.replace(/(?<=\n)(?=\] as const;)/, line));
    assert.match(copy.node('scripts/make-migration.ts'), /-pronouns\.ts/);
    assert.deepEqual(copy.changed(), [
      'src/domain/people/user-attributes.ts',
      'src/storage/engine/migrations/registry.ts',
      'src/storage/engine/migrations/release-2/NN00/NNNN-pronouns.ts',
    ]);
    copy.node('test/support/check-added-attribute.ts');
  });

  it('CONTRIBUTING says so in five lines each, of files that are there', () => {
    const recipes = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').split(/^## /m);
    for (const title of ['Adding an attribute of people', 'Adding a claim or a SAML attribute']) {
      const lines = recipes
        .find((recipe) => recipe.startsWith(title))!
        .trim()
        .split('\n')
        .slice(1);
      assert.equal(lines.length, 5, title);
      const named = lines.flatMap((text) => [...text.matchAll(/`((?:src|test|docs)\/[\w./-]+)`/g)].map((match) => match[1]!));
      assert.ok(named.includes(table));
      for (const file of named) assert.ok(existsSync(join(root, file)), file);
    }
  });
});
