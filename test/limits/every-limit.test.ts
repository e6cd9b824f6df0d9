// Every limit of contract/limits.ts and of the files of limits beside it is used by the product and named by a test, so that none is only
// written down.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import * as directoryLimits from '../../src/contract/directory-limits.ts';
import * as limits from '../../src/contract/limits.ts';
import * as organizationLimits from '../../src/contract/organization-limits.ts';
import * as samlMetadataLimits from '../../src/contract/saml-metadata-limits.ts';

const textsOf = (pattern: string): readonly string[] =>
  globSync(pattern)
    .filter((file) => !/contract\/(?:[a-z-]+-)?limits\.ts$/.test(file) && !file.endsWith('every-limit.test.ts'))
    .map((file) => readFileSync(file, 'utf8'));

const namedIn = (texts: readonly string[], name: string): boolean => texts.some((text) => new RegExp(`\\b${name}\\b`).test(text));

describe('limits', () => {
  const names = [limits, directoryLimits, organizationLimits, samlMetadataLimits].flatMap((file) => Object.keys(file));
  const sources = textsOf('src/**/*.ts');
  const tests = textsOf('test/**/*.ts');

  it('there are limits, sources and tests to look at', () => {
    assert.ok(names.length > 60 && sources.length > 250 && tests.length > 100);
  });
  it('each limits something', () =>
    assert.deepEqual(
      names.filter((name) => !namedIn(sources, name)),
      [],
    ));
  it('each has a test that names it', () =>
    assert.deepEqual(
      names.filter((name) => !namedIn(tests, name)),
      [],
    ));
});
