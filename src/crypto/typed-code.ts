// Codes of 50 bits that people type from paper or a mail.
import { takeRandom } from '../platform/random.ts';

/** Crockford's base 32: no letter that looks like a digit. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const codeChars = 10; // of five bits each

export function newTypedCode(): string {
  const chars = [...takeRandom(codeChars)].map((byte) => alphabet[byte % alphabet.length]!).join('');
  return `${chars.slice(0, codeChars / 2)}-${chars.slice(codeChars / 2)}`;
}

/** What was meant, as people type it: in either case, with or without the dash, an O for the zero, an I or L for the one. */
export const meantCode = (typed: string): string =>
  typed.normalize('NFKC').toUpperCase().replace(/[\s-]/gu, '').replaceAll('O', '0').replace(/[IL]/g, '1');
