// Writes DER (X.690) values, just enough for the certificates we make ourselves. Called by crypto/certificate.ts.
// Must not read DER: reader.ts does.

const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  null: 0x05,
  sequence: 0x30,
  set: 0x31,
} as const;

export function writeSequence(...items: readonly Uint8Array[]): Buffer {
  return writeValue(tags.sequence, Buffer.concat(items));
}

export function writeSet(...items: readonly Uint8Array[]): Buffer {
  return writeValue(tags.set, Buffer.concat(items));
}

export function writeNull(): Buffer {
  return writeValue(tags.null, Buffer.alloc(0));
}

export function writeBoolean(value: boolean): Buffer {
  return writeValue(tags.boolean, Buffer.from([value ? 0xff : 0]));
}

/** A non-negative INTEGER from big-endian bytes, in its shortest form. */
export function writeUnsignedInteger(bytes: Uint8Array): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start += 1;
  const trimmed = bytes.length === 0 ? Buffer.from([0]) : Buffer.from(bytes.subarray(start));
  const needsSignByte = ((trimmed[0] ?? 0) & 0x80) !== 0;
  return writeValue(tags.integer, needsSignByte ? Buffer.concat([Buffer.from([0]), trimmed]) : trimmed);
}

/** A BIT STRING; `unusedBits` is the count of bits to ignore at its end. */
export function writeBitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return writeValue(tags.bitString, Buffer.concat([Buffer.from([unusedBits]), bytes]));
}

export function writeOctetString(bytes: Uint8Array): Buffer {
  return writeValue(tags.octetString, bytes);
}

export function writeUtf8String(value: string): Buffer {
  return writeValue(tags.utf8String, Buffer.from(value));
}

/** An OBJECT IDENTIFIER from its dotted form. */
export function writeObjectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return writeValue(tags.objectIdentifier, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** A certificate's Time: UTCTime until 2049, GeneralizedTime from 2050 (RFC 5280 4.1.2.5); whole seconds. */
export function writeTime(time: Date): Buffer {
  const digits = `${time.toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`;
  return time.getUTCFullYear() < 2050
    ? writeValue(tags.utcTime, Buffer.from(digits.slice(2)))
    : writeValue(tags.generalizedTime, Buffer.from(digits));
}

/** A context-specific, constructed, explicit tag around a value. */
export function writeExplicit(tagNumber: number, value: Uint8Array): Buffer {
  return writeValue(0xa0 | tagNumber, value);
}

function writeValue(tag: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([tag]), writeLength(content.length), content]);
}

function writeLength(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}

function base128(value: number): readonly number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift(0x80 | (rest % 128));
  return bytes;
}
