// Builds DER for the tests' certificate authority. Test code only; src has a strict reader and never needs this.

/** One DER element of a universal or other tag byte. */
export function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(tag), derLength(content.length), content]);
}

export const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts);
export const setOf = (...parts: readonly Uint8Array[]) => der(0x31, ...[...parts].sort((a, b) => Buffer.compare(a, b)));
export const octets = (bytes: Uint8Array | string) => der(0x04, Buffer.from(bytes as Uint8Array));
export const bitString = (bytes: Uint8Array) => der(0x03, Buffer.of(0), bytes);
export const enumerated = (value: number) => der(0x0a, Buffer.of(value));
export const boolean = (value: boolean) => der(0x01, Buffer.of(value ? 0xff : 0));
export const nothing = () => der(0x05);
export const utf8 = (text: string) => der(0x0c, Buffer.from(text, 'utf8'));

/** A non-negative INTEGER. */
export function integer(value: bigint | number): Buffer {
  let hex = BigInt(value).toString(16);
  if (hex.length % 2 === 1) hex = `0${hex}`;
  const bytes = Buffer.from(hex, 'hex');
  return der(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes);
}

/** An OBJECT IDENTIFIER from its dotted text. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((arc) => {
    const groups = [arc & 0x7f];
    for (let high = Math.floor(arc / 128); high > 0; high = Math.floor(high / 128)) groups.unshift((high & 0x7f) | 0x80);
    return groups;
  });
  return der(0x06, Buffer.from(bytes));
}

/** A constructed context tag of any number, such as Android's [704]. */
export function context(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  if (tag < 31) return der(0xa0 | tag, ...parts);
  const content = Buffer.concat(parts);
  const groups = [tag & 0x7f];
  for (let high = tag >> 7; high > 0; high >>= 7) groups.unshift((high & 0x7f) | 0x80);
  return Buffer.concat([Buffer.from([0xbf, ...groups]), derLength(content.length), content]);
}

/** A UTCTime or GeneralizedTime, as RFC 5280 wants it. */
export function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]/g, '').slice(0, 14);
  if (date.getUTCFullYear() >= 2050) return der(0x18, Buffer.from(`${digits}Z`));
  return der(0x17, Buffer.from(`${digits.slice(2)}Z`));
}

function derLength(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 1 ? `0${hex}` : hex, 'hex');
  return Buffer.concat([Buffer.of(0x80 | bytes.length), bytes]);
}
