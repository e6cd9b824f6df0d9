// Names of entries as they are compared: two spellings of one name give one key (RFC 4514, and what RFC 2253 lets older servers write). Read once
// from left to right; any text gives a key. Pure.
import { hash } from 'node:crypto';
import { distinguishedNameCharsMax } from '../../contract/directory-limits.ts';
import { foldKey } from '../../domain/fold.ts';

const hexPair = /^[0-9A-Fa-f]{2}$/;
const reader = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Of the longest name that is taken, all of it in pairs of units. */
const charsRead = 2 * distinguishedNameCharsMax;
/** What would separate, or could be read as hexadecimal. */
const separating = /[\\,+=#]/g;
const endsValue: Readonly<Record<string, 'attribute' | 'name'>> = { '+': 'attribute', ',': 'name', ';': 'name' };

/**
 * Case, spaces around separators and repeated ones within values, how a character is escaped, and the order of attributes of one part do not
 * matter (as caseIgnoreMatch has it, RFC 4517 4.2.11, whatever the attribute). A value in hexadecimal is like itself alone, and so is a name
 * that is longer than any that is taken: of 32 MiB, a part for each character would be gigabytes.
 */
export function dnKeyOf(dn: string): string {
  if (dn.length > charsRead) return `\\x${hash('sha256', dn)}`;
  const names: string[] = [];
  let attributes: string[] = [];
  for (let at = 0; at <= dn.length; ) {
    const type = readType(dn, at);
    const value = readValue(dn, type.end);
    attributes.push(`${type.text}${value.text}`);
    at = value.end + 1;
    if (value.end >= dn.length || endsValue[dn[value.end]!] === 'name') {
      names.push(attributes.toSorted().join('+'));
      attributes = [];
    }
  }
  return names.join(',');
}

interface Read {
  readonly text: string;
  /** Of what was not read. */
  readonly end: number;
}

/** As far as the equals sign and with it; nothing, where none comes before the next separator. */
function readType(dn: string, from: number): Read {
  for (let at = from; at < dn.length; at += 1) {
    const character = dn[at]!;
    if (character === '=') return { text: `${escaped(foldKey(dn.slice(from, at).trim()))}=`, end: at + 1 };
    if (character === '\\' || character === '"' || endsValue[character] !== undefined) break;
  }
  return { text: '', end: from };
}

function readValue(dn: string, from: number): Read {
  const bytes: Buffer[] = [];
  let at = from;
  while (dn[at] === ' ') at += 1;
  const isHexadecimal = dn[at] === '#';
  let isQuoted = false;
  let plainFrom = at;
  const takePlain = (): void => {
    if (at > plainFrom) bytes.push(Buffer.from(dn.slice(plainFrom, at)));
  };
  for (; at < dn.length; at += 1) {
    const character = dn[at]!;
    if (character === '"' || character === '\\') {
      takePlain();
      const pair = dn.slice(at + 1, at + 3);
      if (character === '"') isQuoted = !isQuoted;
      else if (hexPair.test(pair)) {
        bytes.push(Buffer.from(pair, 'hex'));
        at += 2;
      } else {
        // The whole character, though it is two units.
        const next = String.fromCodePoint(...(at + 1 < dn.length ? [dn.codePointAt(at + 1)!] : []));
        bytes.push(Buffer.from(next));
        at += next.length;
      }
      plainFrom = at + 1;
    } else if (!isQuoted && endsValue[character] !== undefined) break;
  }
  takePlain();
  const end = Math.min(at, dn.length);
  return { text: isHexadecimal ? `#${foldKey(dn.slice(from, end).trim().slice(1))}` : keyOfValue(Buffer.concat(bytes)), end };
}

function keyOfValue(bytes: Buffer): string {
  try {
    return escaped(foldKey(reader.decode(bytes)).replaceAll(/ +/g, ' ').replaceAll(/^ | $/g, ''));
  } catch {
    return `\\x${bytes.toString('hex')}`; // no text; nothing else begins so
  }
}

const escaped = (text: string): string => text.replaceAll(separating, (character) => `\\${character}`);
