// Ids: those people type behind commands never look like an option; those that sort do so by order of creation.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { randomId, uuidV7 } from '../../src/platform/random.ts';
import { randomClientId } from '../../src/tokens/tenant-creation.ts';

it('identifiers, those of clients too, are 22 base64url characters and never start with a dash', () => {
  for (const make of [randomId, randomClientId])
    for (let drawn = 0; drawn < 5000; drawn++) assert.match(make(), /^[A-Za-z0-9_][A-Za-z0-9_-]{21}$/);
});

it('a UUID version 7 sorts behind those made before it, within a millisecond too', () => {
  const made = Array.from({ length: 50_000 }, (_, index) => uuidV7(1_700_000_000_000 + Math.floor(index / 10_000)));
  for (const id of made) assert.match(id, /^018bcfe5-68[0-9a-f]{2}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual(made, [...made].sort());
  assert.equal(new Set(made.map((id) => id.slice(14))).size, made.length);
});
