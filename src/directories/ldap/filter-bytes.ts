// Writes a filter, as somebody types it (RFC 4515), as a request carries it (RFC 4511 4.5.1.7). The one of ldapts takes an escaped byte for a
// character, and knows neither options nor numbers of attributes. Who made the directory typed it: `ldapFilterFault` found nothing wrong.
import type { BerWriter } from 'ldapts';

const sets: Readonly<Record<string, number>> = { '&': 0xa0, '|': 0xa1, '!': 0xa2 };
const assertions: Readonly<Record<string, number>> = { '=': 0xa3, '>=': 0xa5, '<=': 0xa6, '~=': 0xa8 };
const presentTag = 0x87;
const substringsTag = 0xa4;
const extensibleTag = 0xa9;
const item = /^([^=~<>:]*)((?::[^=:]+)*)(:=|~=|>=|<=|=)/;

/** @throws Error for what is no filter */
export function writeFilter(
  writer: Pick<BerWriter, 'startSequence' | 'endSequence' | 'writeBuffer' | 'writeBoolean'>,
  filter: string,
): void {
  let depth = 0;
  for (let at = 0; at < filter.length; ) {
    const set = sets[filter[at + 1] ?? ''];
    if (filter[at] === ')') {
      writer.endSequence();
      depth -= 1;
      at += 1;
    } else if (set !== undefined) {
      writer.startSequence(set);
      depth += 1;
      at += 2;
    } else {
      const end = filter.indexOf(')', at);
      if (filter[at] !== '(' || end < 0) throw new Error('not a filter');
      writeItem(writer, filter.slice(at + 1, end));
      at = end + 1;
    }
  }
  if (depth !== 0) throw new Error('not a filter');
}

function writeItem(writer: Parameters<typeof writeFilter>[0], text: string): void {
  const [head, type = '', rules = '', operator = ''] = item.exec(text) ?? [];
  if (head === undefined) throw new Error('not a filter');
  const value = text.slice(head.length);
  // Rules and `dn` are told of extensible ones alone.
  if (rules !== '' && operator !== ':=') throw new Error('not a filter');
  if (operator === ':=') writeExtensible(writer, type, rules.split(':').slice(1), bytesOf(value));
  else if (operator === '=' && value === '*') writer.writeBuffer(Buffer.from(type), presentTag);
  else if (operator === '=' && value.includes('*')) writeSubstrings(writer, type, value.split('*'));
  else {
    writer.startSequence(assertions[operator]!); // of the pattern
    writer.writeBuffer(Buffer.from(type), 0x04);
    writer.writeBuffer(bytesOf(value), 0x04);
    writer.endSequence();
  }
}

function writeSubstrings(writer: Parameters<typeof writeFilter>[0], type: string, parts: readonly string[]): void {
  writer.startSequence(substringsTag);
  writer.writeBuffer(Buffer.from(type), 0x04);
  writer.startSequence();
  for (const [at, part] of parts.entries()) {
    const tag = at === 0 ? 0x80 : at === parts.length - 1 ? 0x82 : 0x81;
    if (part !== '') writer.writeBuffer(bytesOf(part), tag);
  }
  writer.endSequence();
  writer.endSequence();
}

function writeExtensible(writer: Parameters<typeof writeFilter>[0], type: string, rules: readonly string[], value: Buffer): void {
  const isOfNames = rules[0] === 'dn';
  const rule = isOfNames ? rules[1] : rules[0];
  writer.startSequence(extensibleTag);
  if (rule !== undefined && rule !== '') writer.writeBuffer(Buffer.from(rule), 0x81);
  if (type !== '') writer.writeBuffer(Buffer.from(type), 0x82);
  writer.writeBuffer(value, 0x83);
  if (isOfNames) writer.writeBoolean(true, 0x84);
  writer.endSequence();
}

/** A backslash stands before a byte in two hexadecimal digits. */
function bytesOf(value: string): Buffer {
  const [first = '', ...escaped] = value.split('\\');
  return Buffer.concat([
    Buffer.from(first),
    ...escaped.flatMap((part) => [Buffer.from(part.slice(0, 2), 'hex'), Buffer.from(part.slice(2))]),
  ]);
}
