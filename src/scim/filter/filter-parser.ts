// The recursive-descent parser for filters and PATCH paths (contract section 4, RFC 7644 sections 3.4.2.2 and 3.5.2).
// Linear in its input; depth, comparisons and value paths are counted against the limits. It knows no attribute.
import { scimFilterCharsMax } from '../../contract/limits.ts';
import { readLiteral } from './filter-literal.ts';
import {
  type ComparisonOperator,
  comparisonOperators,
  type ElementTest,
  FilterProblem,
  type FilterSyntax,
  type PathSyntax,
} from './filter-syntax.ts';

interface FilterLimits {
  readonly lengthMax: number;
  readonly depthMax: number;
  readonly comparisonsMax: number;
  readonly valuePathsMax: number;
}

/** The limits of 07-scim: characters, nested parentheses and brackets, comparisons, value paths. */
export const filterLimits: FilterLimits = {
  lengthMax: scimFilterCharsMax,
  depthMax: 32,
  comparisonsMax: 64,
  valuePathsMax: 16,
};

/** Parses a whole filter; raises FilterProblem when it is malformed or over a limit. */
export function parseFilter(text: string, limits: FilterLimits = filterLimits): FilterSyntax {
  const cursor = openCursor(text, limits);
  const filter = parseOr(cursor, false);
  expectEnd(cursor);
  return filter;
}

/** Parses a PATCH path; raises FilterProblem when it is malformed or over a limit. */
export function parsePath(text: string, limits: FilterLimits = filterLimits): PathSyntax {
  const cursor = openCursor(text, limits);
  const path = readName(cursor);
  if (cursor.text[cursor.at] !== '[') {
    expectEnd(cursor);
    return { path, filter: undefined, subAttribute: undefined };
  }
  const filter = parseBrackets(cursor);
  const subAttribute = cursor.text[cursor.at] === '.' ? readSubAttribute(cursor) : undefined;
  expectEnd(cursor);
  return { path, filter, subAttribute };
}

interface Cursor {
  readonly text: string;
  readonly limits: FilterLimits;
  at: number;
  depth: number;
  comparisons: number;
  valuePaths: number;
}

function openCursor(text: string, limits: FilterLimits): Cursor {
  if (text.length > limits.lengthMax && countCharacters(text, limits.lengthMax) > limits.lengthMax) {
    throw malformed(`longer than ${limits.lengthMax} characters`);
  }
  const cursor = { text, limits, at: 0, depth: 0, comparisons: 0, valuePaths: 0 };
  skipSpaces(cursor);
  return cursor;
}

/** Code points in the text; gives up past twice the limit, where the answer can no longer matter. */
function countCharacters(text: string, max: number): number {
  if (text.length > 2 * max) return text.length;
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

function parseOr(cursor: Cursor, inBrackets: boolean): FilterSyntax {
  const operands = [parseAnd(cursor, inBrackets)];
  while (takeWord(cursor, 'or')) operands.push(parseAnd(cursor, inBrackets));
  return operands.length === 1 ? operands[0]! : { kind: 'or', operands };
}

function parseAnd(cursor: Cursor, inBrackets: boolean): FilterSyntax {
  const operands = [parseTerm(cursor, inBrackets)];
  while (takeWord(cursor, 'and')) operands.push(parseTerm(cursor, inBrackets));
  return operands.length === 1 ? operands[0]! : { kind: 'and', operands };
}

function parseTerm(cursor: Cursor, inBrackets: boolean): FilterSyntax {
  if (cursor.text[cursor.at] === '(') return parseGroup(cursor, inBrackets);
  const start = cursor.at;
  const name = readName(cursor);
  if (name.toLowerCase() === 'not') {
    const afterWord = cursor.at;
    skipSpaces(cursor);
    if (cursor.text[cursor.at] === '(') return { kind: 'not', operand: parseGroup(cursor, inBrackets) };
    cursor.at = afterWord;
  }
  if (cursor.text[cursor.at] === '[') {
    if (inBrackets) throw malformed(`a value path inside brackets at ${start + 1}`);
    return parseValuePath(cursor, name);
  }
  return parseTest(cursor, name);
}

function parseGroup(cursor: Cursor, inBrackets: boolean): FilterSyntax {
  enter(cursor);
  cursor.at += 1;
  skipSpaces(cursor);
  const filter = parseOr(cursor, inBrackets);
  expect(cursor, ')');
  cursor.depth -= 1;
  skipSpaces(cursor);
  return filter;
}

function parseValuePath(cursor: Cursor, path: string): FilterSyntax {
  const filter = parseBrackets(cursor);
  if (cursor.text[cursor.at] !== '.') {
    skipSpaces(cursor);
    return { kind: 'valuePath', path, filter, test: undefined };
  }
  const sub = readSubAttribute(cursor);
  return { kind: 'valuePath', path, filter, test: parseTest(cursor, sub) };
}

function parseBrackets(cursor: Cursor): FilterSyntax {
  enter(cursor);
  cursor.valuePaths += 1;
  if (cursor.valuePaths > cursor.limits.valuePathsMax) {
    throw malformed(`more than ${cursor.limits.valuePathsMax} value paths`);
  }
  cursor.at += 1;
  skipSpaces(cursor);
  const filter = parseOr(cursor, true);
  expect(cursor, ']');
  cursor.depth -= 1;
  return filter;
}

function readSubAttribute(cursor: Cursor): string {
  cursor.at += 1;
  return readName(cursor);
}

function parseTest(cursor: Cursor, path: string): ElementTest {
  cursor.comparisons += 1;
  if (cursor.comparisons > cursor.limits.comparisonsMax) {
    throw malformed(`more than ${cursor.limits.comparisonsMax} comparisons`);
  }
  expectSpace(cursor);
  const at = cursor.at;
  const word = readName(cursor).toLowerCase();
  if (word === 'pr') {
    endOfTerm(cursor);
    return { kind: 'present', path };
  }
  if (!isComparisonOperator(word)) throw malformed(`no operator at ${at + 1}`);
  expectSpace(cursor);
  const literal = readLiteral(cursor.text, cursor.at);
  cursor.at = literal.end;
  endOfTerm(cursor);
  return { kind: 'compare', path, operator: word, value: literal.value };
}

function isComparisonOperator(word: string): word is ComparisonOperator {
  return (comparisonOperators as readonly string[]).includes(word); // widened only to ask
}

const nameStart = /[A-Za-z$]/;
const nameBody = /[A-Za-z0-9_$:.-]*/y;

function readName(cursor: Cursor): string {
  const first = cursor.text[cursor.at];
  if (first === undefined || !nameStart.test(first)) throw malformed(`no attribute name at ${cursor.at + 1}`);
  nameBody.lastIndex = cursor.at;
  const name = nameBody.exec(cursor.text)?.[0] ?? '';
  cursor.at += name.length;
  return name;
}

/** Takes a combinator standing alone: followed by a space or an opening parenthesis. */
function takeWord(cursor: Cursor, word: 'and' | 'or'): boolean {
  const end = cursor.at + word.length;
  if (cursor.text.slice(cursor.at, end).toLowerCase() !== word) return false;
  const next = cursor.text[end];
  if (next !== ' ' && next !== '(') return false;
  cursor.at = end;
  skipSpaces(cursor);
  return true;
}

function endOfTerm(cursor: Cursor): void {
  const next = cursor.text[cursor.at];
  if (next !== undefined && next !== ' ' && next !== ')' && next !== ']') {
    throw malformed(`unexpected text at ${cursor.at + 1}`);
  }
  skipSpaces(cursor);
}

function enter(cursor: Cursor): void {
  cursor.depth += 1;
  if (cursor.depth > cursor.limits.depthMax) throw malformed(`nested deeper than ${cursor.limits.depthMax}`);
}

function expect(cursor: Cursor, character: string): void {
  if (cursor.text[cursor.at] !== character) throw malformed(`"${character}" expected at ${cursor.at + 1}`);
  cursor.at += 1;
}

function expectSpace(cursor: Cursor): void {
  if (cursor.text[cursor.at] !== ' ') throw malformed(`a space expected at ${cursor.at + 1}`);
  skipSpaces(cursor);
}

function expectEnd(cursor: Cursor): void {
  skipSpaces(cursor);
  if (cursor.at < cursor.text.length) throw malformed(`unexpected text at ${cursor.at + 1}`);
}

function skipSpaces(cursor: Cursor): void {
  while (cursor.text[cursor.at] === ' ') cursor.at += 1;
}

function malformed(message: string): FilterProblem {
  return new FilterProblem('filter', message);
}
