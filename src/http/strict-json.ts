// JSON from outside: UTF-8, bounded depth, no duplicate keys and no `__proto__`, in one pass before JSON.parse.
// A request that two parsers could read differently is refused, not guessed at.
import { jsonDepthMax } from '../contract/limits.ts';

type StrictJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: 'not_utf8' | 'too_deep' | 'duplicate_key' | 'forbidden_key' | 'nul' | 'syntax' };

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Parses JSON; a string with a NUL is refused unless the caller judges its values itself. */
export function parseStrictJson(bytes: Uint8Array, withNul = false): StrictJson {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { ok: false, reason: 'not_utf8' };
  }
  const fault = scan(text, withNul);
  if (fault !== undefined) return { ok: false, reason: fault };
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false, reason: 'syntax' };
  }
}

/** Walks the tokens once, tracking depth and the keys of open objects; leaves real syntax checking to JSON.parse. */
function scan(text: string, withNul: boolean): 'too_deep' | 'duplicate_key' | 'forbidden_key' | 'nul' | 'syntax' | undefined {
  const open: (Set<string> | undefined)[] = [];
  let index = 0;
  while (index < text.length) {
    const char = text[index]!;
    if (char === '"') {
      const end = endOfString(text, index, withNul);
      if (end === -1) return 'syntax';
      if (end === nulFound) return 'nul';
      const keys = open.at(-1);
      if (keys !== undefined && isKey(text, end)) {
        const key = unescapeKey(text.slice(index, end));
        if (key === '__proto__') return 'forbidden_key';
        if (keys.has(key)) return 'duplicate_key';
        keys.add(key);
      }
      index = end;
      continue;
    }
    if (char === '{' || char === '[') {
      if (open.push(char === '{' ? new Set() : undefined) > jsonDepthMax) return 'too_deep';
    } else if (char === '}' || char === ']') open.pop();
    index += 1;
  }
  return undefined;
}

/** What endOfString gives for a string with an escaped NUL: no value of ours holds one, and PostgreSQL cannot store it. */
const nulFound = -2;

/** Index after the closing quote, or -1. */
function endOfString(text: string, start: number, withNul: boolean): number {
  for (let index = start + 1; index < text.length; index += 1) {
    if (text[index] === '\\') {
      if (!withNul && text.startsWith('u0000', index + 1)) return nulFound;
      index += 1;
    } else if (text[index] === '"') return index + 1;
  }
  return -1;
}

function isKey(text: string, after: number): boolean {
  let index = after;
  while (index < text.length && (text[index] === ' ' || text[index] === '\n' || text[index] === '\r' || text[index] === '\t')) index += 1;
  return text[index] === ':';
}

function unescapeKey(quoted: string): string {
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}
