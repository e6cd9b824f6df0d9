// Ids people type behind commands: whatever is drawn, none looks like an option.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { randomId } from '../../src/platform/random.ts';

it('identifiers are 22 base64url characters and never start with a dash', () => {
  for (let drawn = 0; drawn < 5000; drawn++) assert.match(randomId(), /^[A-Za-z0-9_][A-Za-z0-9_-]{21}$/);
});
