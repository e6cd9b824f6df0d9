// Which user names may be given: RFC 8265 3.3 (PRECIS UsernameCaseMapped) with the string classes of RFC 8264. A name is judged
// in its mapped form and stored as sent; what two names have in common is foldKey's business. Names given before stay valid.
import bidiFactory, { type Bidi, type BidiCharTypeName } from 'bidi-js';

/** Wide and narrow forms whose mapping is a single character; of the others the compatibility rule below disposes. */
const wideAndNarrow = /[\u3000\uFF01-\uFF60\uFF61-\uFF9F\uFFE0-\uFFE2\uFFE4-\uFFE6\uFFE8-\uFFEE]/gu;
/** RFC 8264 8: ASCII7, LetterDigits and the exceptions of category PVALID. */
const allowed = /^[\u0021-\u007E\p{Ll}\p{Lu}\p{Lo}\p{Lm}\p{Mn}\p{Mc}\p{Nd}\u06FD\u06FE\u0F0B\u3007]$/u;
/** PrecisIgnorableProperties, OldHangulJamo and the exceptions that are DISALLOWED. */
const disallowed =
  /^[\p{Default_Ignorable_Code_Point}\u1100-\u11FF\uA960-\uA97C\uD7B0-\uD7FB\u0640\u07FA\u302E\u302F\u3031-\u3035\u303B]$/u;

/** What a user name does wrong, as the rest of a sentence about it, or undefined. */
export function userNameFault(name: string): string | undefined {
  const mapped = name.replace(wideAndNarrow, (character) => character.normalize('NFKC')).normalize('NFC');
  const parts = mapped.split(' ');
  if (parts.includes('')) return 'has a space at an end or two in a row';
  for (const part of parts) {
    const characters = [...part];
    const wrong = characters.find((character, at) => !isAllowed(character, at, characters));
    if (wrong !== undefined) return `has a character that names may not have (${codePointOf(wrong)})`;
    if (!followsBidiRule(characters)) return 'mixes writing directions in a way names may not';
  }
  return undefined;
}

const codePointOf = (character: string): string => `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;

function isAllowed(character: string, at: number, part: readonly string[]): boolean {
  const rule = contextRules[character];
  if (rule !== undefined) return rule(part, at);
  return allowed.test(character) && !disallowed.test(character) && character.normalize('NFKC') === character;
}

type ContextRule = (part: readonly string[], at: number) => boolean;

const arabicIndic = /[\u0660-\u0669]/;
const extendedArabicIndic = /[\u06F0-\u06F9]/;
const afterHebrew: ContextRule = (part, at) => /\p{Script=Hebrew}/u.test(part[at - 1] ?? '');
const digitRules = (first: number, others: RegExp): readonly (readonly [string, ContextRule])[] =>
  Array.from({ length: 10 }, (_, digit) => [String.fromCodePoint(first + digit), (part) => !others.test(part.join(''))] as const);

/** RFC 5892 A.3 to A.9, by character. A.1 and A.2, the joiners, are refused (docs/divergences.md). */
const contextRules: Readonly<Record<string, ContextRule>> = Object.fromEntries<ContextRule>([
  ['\u00B7', (part, at) => part[at - 1] === 'l' && part[at + 1] === 'l'],
  ['\u0375', (part, at) => /\p{Script=Greek}/u.test(part[at + 1] ?? '')],
  ['\u05F3', afterHebrew],
  ['\u05F4', afterHebrew],
  ['\u30FB', (part) => /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u.test(part.join(''))],
  ...digitRules(0x660, extendedArabicIndic),
  ...digitRules(0x6f0, arabicIndic),
]);

// Its types describe its ES module; Node loads the CommonJS one, whose export is the function itself.
const makeBidi = bidiFactory as unknown as () => Bidi;
let bidi: Bidi | undefined;

const rightToLeft: ReadonlySet<BidiCharTypeName> = new Set(['R', 'AL', 'AN']);
const inEither: readonly BidiCharTypeName[] = ['EN', 'ES', 'CS', 'ET', 'ON', 'BN', 'NSM'];
const inRightToLeft: ReadonlySet<BidiCharTypeName> = new Set(['R', 'AL', 'AN', ...inEither]);
const inLeftToRight: ReadonlySet<BidiCharTypeName> = new Set(['L', ...inEither]);

/** RFC 5893 2, for a part that has a right-to-left character; every other part follows it. */
function followsBidiRule(part: readonly string[]): boolean {
  if (part.every((character) => character <= '\u058F')) return true; // nothing below Hebrew is written from right to left
  bidi ??= makeBidi();
  const types = part.map((character) => bidi!.getBidiCharTypeName(character));
  if (!types.some((type) => rightToLeft.has(type))) return true;
  const last = types.findLast((type) => type !== 'NSM');
  if (types[0] === 'L') return types.every((type) => inLeftToRight.has(type)) && (last === 'L' || last === 'EN');
  const ends = last !== undefined && (rightToLeft.has(last) || last === 'EN');
  const digits = types.includes('EN') && types.includes('AN');
  return (types[0] === 'R' || types[0] === 'AL') && types.every((type) => inRightToLeft.has(type)) && ends && !digits;
}
