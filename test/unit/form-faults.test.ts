// A refusal is shown at the line it speaks of: the one it quotes whole, not one whose text is part of another or of the sentence.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type FormField, faultIn } from '../../src/first-party/form-field.ts';

const field: FormField = { path: 'emails', label: 'Emails', kind: 'lines' };
const said = (lines: readonly string[], text: string): string | undefined =>
  faultIn([field], 'emails', text, new URLSearchParams({ emails: lines.join('\n') }))?.text;

describe('the line of a fault', () => {
  for (const [lines, text, line] of [
    [['ada@x.example', 'ada@x.example.co'], 'found ada@x.example.co', 2],
    [['ada@x.example', 'xada@x.example'], 'found xada@x.example.', 2],
    [['https://a.example/', 'https://a.example/cb'], 'expected https, found https://a.example/cb', 2],
    [['an', 'address'], 'expected an address, found address', 2],
    [['openid', 'profile'], 'expected scopes of the tenant, found "profile".', 2],
    [['read', 'write'], 'expected reading and writing', 0],
  ] as const)
    it(`${text}, of ${lines.join(' and ')}: ${line || 'none'}`, () =>
      assert.equal(said(lines, text), line === 0 ? text : `Line ${line}: ${text}`));
});
