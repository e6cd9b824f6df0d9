// The SDK's core runs in browsers and React Native: Web APIs only. Only the entry ./node may know Node.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { it } from 'node:test';

const core = globSync('sdk/*.ts').filter((file) => file !== 'sdk/node.ts');

it('there is a core to check', () => assert.ok(core.length > 8));

for (const file of core)
  it(`${file} uses Web APIs only`, () => {
    const text = readFileSync(file, 'utf8');
    assert.doesNotMatch(text, /\bnode:|\bBuffer\b|\bprocess\.|\brequire\(/);
    for (const [, target] of text.matchAll(/from '([^']+)'/g)) assert.match(target!, /^\.\/(?!node\.ts)[a-z-]+\.ts$/);
  });
