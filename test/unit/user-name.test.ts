// Which user names may be given: the examples of RFC 8265 3.5, the context rules of RFC 5892 A, the Bidi rule of RFC 5893 2, and
// the folding that joins names. Code points are written as escapes where a reader could not tell them apart.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { foldKey } from '../../src/domain/fold.ts';
import { userNameFault } from '../../src/domain/people/user-name.ts';

const given = (names: readonly string[]): void => {
  for (const name of names) assert.equal(userNameFault(name), undefined, JSON.stringify(name));
};
const refused = (names: readonly string[], why: RegExp): void => {
  for (const name of names) assert.match(userNameFault(name) ?? 'no fault', why, JSON.stringify(name));
};

describe('RFC 8265 3.3 userName', () => {
  it('table 2: what may be given', () => {
    given(['juliet@example.com', 'fussball', 'fu\u00DFball', '\u03C0', '\u03A3', '\u03C3', '\u03C2', 'foo bar', "o'brien+x@example.com"]);
  });
  it('table 2: what may not', () => {
    refused(['henry\u2163', '\u265A', '\u221E', 'a\u0000b', 'a\tb', 'a\u007F', 'a\u00A0b', '\uFFFD', '\u{1F600}'], /character that names/);
    refused(['', ' ', ' a', 'a ', 'a  b', 'a\u3000'], /space/);
  });
  it('wide and narrow forms stand for their letters, NFC for what it composes', () => {
    given(['\uFF4A\uFF55\uFF4C\uFF49\uFF45\uFF54\uFF20example', 'e\u0301', '\u00E9', '\uFF76\uFF9E', 'a\u3000b']);
    refused(['\uFFE3', '\uFFA1\uFFC2', '\uFB01', '\u00BD'], /character that names/);
  });
  it('RFC 8264 9: exceptions, ignorables, old Hangul jamo, unassigned', () => {
    given(['\u06FD', '\u06FE', '\u0F0B', '\u3007', '\uD55C\uAD6D']);
    refused(['\u0640', '\u07FA', '\u302E', '\u302F', '\u3031', '\u3035', '\u303B', '\u1100', '\uA960', '\uD7B0'], /character that names/);
    refused(['a\u00ADb', 'a\u200Bb', 'a\u2060', '\uE000', '\u0378', 'a\u034Fb', '\u115F', '\uD800'], /character that names/);
  });
  it('RFC 5892 A: context rules; the joiners are refused everywhere', () => {
    given([
      'al\u00B7la',
      '\u0375\u03B1',
      '\u05D0\u05F3',
      '\u05D0\u05F4\u05D1',
      '\u30FB\u30A2',
      '\u4E00\u30FB',
      '\u0627\u0661',
      '\u0627\u06F1',
    ]);
    refused(['a\u00B7l', '\u00B7', 'l\u00B7', '\u0375a', '\u0375', '\u05F3', 'a\u05F4', '\u30FB', 'a\u30FBb'], /character that names/);
    refused(['\u0627\u0661\u06F1', '\u0915\u094D\u200D\u0937', '\u0646\u200C\u0627'], /character that names/);
  });
  it('RFC 5893 2: each condition, part by part', () => {
    given(['\u05D3\u05D5\u05D3', '\u0639\u0644\u064A', '\u05D0123', '\u05D0\u05B0', 'david \u05D3\u05D5\u05D3', '\u05D0-\u05D1']);
    refused(['1\u05D0', '\u05D0a', 'a\u05D0', '\u05D0@example.com', '\u05D0-', '-\u05D0'], /writing directions/);
    refused(['\u05D01\u0661', '\u0661'], /writing directions/);
  });
  it('foldKey joins what names must not tell apart', () => {
    assert.equal(foldKey('STRASSE'), foldKey('stra\u00DFe'));
    assert.equal(foldKey('STRA\u1E9EE'), foldKey('stra\u00DFe'));
    assert.equal(foldKey('\u1E9E\u0323'), foldKey('\u00DF\u0323'));
    assert.equal(foldKey('\u039F\u03A3'), foldKey('\u03BF\u03C2'));
    assert.equal(foldKey('\uFF21\u017F\u212A'), 'ask');
  });
});
