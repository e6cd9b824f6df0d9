// The literals of a filter: JSON strings, numbers, true, false, null (RFC 7644 section 3.4.2.2 compValue).
// Called by filter-parser.ts. Strings that no database can hold (NUL, lone surrogates) are refused here.
import { FilterProblem, type Literal } from './filter-syntax.ts';

/** Reads the literal that starts at a position; raises FilterProblem when there is none. */
export function readLiteral(text: string, at: number): { readonly value: Literal; readonly end: number } {
  if (text[at] === '"') return readString(text, at);
  bareLiteral.lastIndex = at;
  const word = bareLiteral.exec(text)?.[0];
  if (word === undefined) throw new FilterProblem('filter', `no value at ${at + 1}`);
  return { value: bareValue(word, at), end: at + word.length };
}

const bareLiteral = /[A-Za-z0-9+.-]+/y;
const jsonNumber = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

function bareValue(word: string, at: number): Literal {
  if (word === 'true') return true;
  if (word === 'false') return false;
  if (word === 'null') return null;
  if (jsonNumber.test(word)) return Number(word);
  throw new FilterProblem('filter', `a value without quotes at ${at + 1}`);
}

function readString(text: string, at: number): { readonly value: string; readonly end: number } {
  let end = at + 1;
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
  if (end >= text.length) throw new FilterProblem('filter', `a string without its end at ${at + 1}`);
  const value = parseJsonString(text.slice(at, end + 1), at);
  if (value.includes('\0') || !value.isWellFormed()) {
    throw new FilterProblem('filter', `a string with NUL or half a character at ${at + 1}`);
  }
  return { value, end: end + 1 };
}

function parseJsonString(json: string, at: number): string {
  try {
    return JSON.parse(json) as string; // the text starts and ends with a quote
  } catch {
    throw new FilterProblem('filter', `not a JSON string at ${at + 1}`);
  }
}
