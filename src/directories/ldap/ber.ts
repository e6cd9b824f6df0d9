// Reads the encoding of LDAP (RFC 4511 5.1: BER with definite lengths; they need not be the shortest). Strict: what does not end exactly where
// what holds it ends is refused, so that a length that lies can neither be followed nor waited for. Pure.

/** What a server sent cannot be read. */
export class MalformedAnswer extends Error {}

/** What a server sent is more than is read. */
export class OversizedAnswer extends Error {}

export interface BerReader {
  readonly isAtEnd: () => boolean;
  /** The tag that comes next; undefined at the end. */
  readonly peek: () => number | undefined;
  /** The contents of what comes next, which must have this tag. @throws MalformedAnswer */
  readonly octets: (tag: number) => Buffer;
  /** The same, to be read on. @throws MalformedAnswer */
  readonly within: (tag: number) => BerReader;
  /** A whole number of at most 4 bytes. @throws MalformedAnswer */
  readonly integer: (tag: number) => number;
  /** What comes next, whatever it is. @throws MalformedAnswer */
  readonly skip: () => void;
}

export const berTag = { boolean: 0x01, integer: 0x02, octets: 0x04, enumeration: 0x0a, sequence: 0x30, set: 0x31 } as const;

interface BerHead {
  readonly tag: number;
  /** Bytes of tag and length. */
  readonly headBytes: number;
  /** Bytes of what follows them. */
  readonly bytes: number;
}

/** Of tag and length that begin at a byte; undefined: there is more of them to come. @throws MalformedAnswer */
export function readBerHead(bytes: Uint8Array, at: number, end: number): BerHead | undefined {
  if (end - at < 2) return undefined;
  const tag = bytes[at]!;
  // Tags of more than one byte are none of LDAP's.
  if ((tag & 0x1f) === 0x1f) throw new MalformedAnswer('a tag of more than one byte');
  const first = bytes[at + 1]!;
  if (first < 0x80) return { tag, headBytes: 2, bytes: first };
  const lengthBytes = first & 0x7f;
  if (lengthBytes === 0 || lengthBytes > 4) throw new MalformedAnswer('a length that is not definite, or of more than 4 bytes');
  if (end - at < 2 + lengthBytes) return undefined;
  let length = 0;
  for (let place = 0; place < lengthBytes; place += 1) length = length * 256 + bytes[at + 2 + place]!;
  return { tag, headBytes: 2 + lengthBytes, bytes: length };
}

export function berReader(bytes: Buffer): BerReader {
  let at = 0;
  const next = (tag: number | undefined): Buffer => {
    const head = readBerHead(bytes, at, bytes.length);
    if (head === undefined || (tag !== undefined && head.tag !== tag)) throw new MalformedAnswer(`no element of tag ${tag} at byte ${at}`);
    const begins = at + head.headBytes;
    if (head.bytes > bytes.length - begins) throw new MalformedAnswer('a length beyond the end');
    at = begins + head.bytes;
    return bytes.subarray(begins, at);
  };
  return {
    isAtEnd: () => at === bytes.length,
    peek: () => bytes[at],
    octets: next,
    within: (tag) => berReader(next(tag)),
    integer: (tag) => {
      const digits = next(tag);
      if (digits.length < 1 || digits.length > 4) throw new MalformedAnswer('a number of no byte or of more than 4');
      return digits.readIntBE(0, digits.length);
    },
    skip: () => void next(undefined),
  };
}
