// A small strict DER reader (ITU-T X.690 section 10): definite minimal lengths, minimal tags and integers, nothing left
// over. Called by the attestation verifiers and by certificate reading. Throws MalformedBytes.
import { MalformedBytes } from '../malformed.ts';

type DerClass = 'universal' | 'application' | 'context' | 'private';

export interface DerElement {
  readonly class: DerClass;
  readonly constructed: boolean;
  readonly tag: number;
  readonly content: Uint8Array;
  /** Tag, length and content. */
  readonly raw: Uint8Array;
}

export const derTag = {
  boolean: 1,
  integer: 2,
  bitString: 3,
  octetString: 4,
  null: 5,
  objectIdentifier: 6,
  enumerated: 10,
  sequence: 16,
  set: 17,
} as const;

export const derChildrenMax = 256;

/** The one element that fills the bytes exactly. */
export function readDer(bytes: Uint8Array): DerElement {
  const element = readElement(bytes, 0);
  if (element.raw.byteLength !== bytes.byteLength) throw new MalformedBytes('bytes after the DER element');
  return element;
}

/** The elements inside a constructed element, in order. */
export function readDerChildren(parent: DerElement): readonly DerElement[] {
  if (!parent.constructed) throw new MalformedBytes('expected a constructed DER element');
  const children: DerElement[] = [];
  for (let at = 0; at < parent.content.byteLength; ) {
    if (children.length === derChildrenMax) throw new MalformedBytes('too many DER elements');
    const child = readElement(parent.content, at);
    children.push(child);
    at += child.raw.byteLength;
  }
  return children;
}

/** The element itself when it is of that universal type, else MalformedBytes. */
export function expectDer(element: DerElement | undefined, tag: number): DerElement {
  const constructed = tag === derTag.sequence || tag === derTag.set;
  if (element === undefined || element.class !== 'universal' || element.tag !== tag || element.constructed !== constructed) {
    throw new MalformedBytes(`expected DER type ${tag}`);
  }
  return element;
}

/** The children of a SEQUENCE. */
export function readDerSequence(element: DerElement | undefined): readonly DerElement[] {
  return readDerChildren(expectDer(element, derTag.sequence));
}

/** The value of an INTEGER or ENUMERATED element, of at most 64 bytes of content. */
export function readDerInteger(element: DerElement | undefined, tag: number = derTag.integer): bigint {
  const { content } = expectDer(element, tag);
  const first = content[0];
  const second = content[1];
  if (first === undefined || content.byteLength > 64) throw new MalformedBytes('DER integer of a wrong size');
  if (second !== undefined && ((first === 0 && second < 0x80) || (first === 0xff && second >= 0x80))) {
    throw new MalformedBytes('DER integer not minimal');
  }
  const value = BigInt(`0x${Buffer.from(content).toString('hex')}`);
  return first >= 0x80 ? value - (1n << BigInt(8 * content.byteLength)) : value;
}

/** The value of a BOOLEAN element; DER knows 00 and FF only. */
export function readDerBoolean(element: DerElement | undefined): boolean {
  const { content } = expectDer(element, derTag.boolean);
  if (content.byteLength !== 1 || (content[0] !== 0 && content[0] !== 0xff)) throw new MalformedBytes('bad DER boolean');
  return content[0] === 0xff;
}

/** The bytes of an OCTET STRING element. */
export function readDerOctets(element: DerElement | undefined): Uint8Array {
  return expectDer(element, derTag.octetString).content;
}

/** The dotted text of an OBJECT IDENTIFIER element. */
export function readDerObjectIdentifier(element: DerElement | undefined): string {
  const { content } = expectDer(element, derTag.objectIdentifier);
  if (content.byteLength === 0 || content.byteLength > 64) throw new MalformedBytes('bad DER object identifier');
  const arcs: number[] = [];
  let value = 0;
  let fresh = true;
  for (const byte of content) {
    if (fresh && byte === 0x80) throw new MalformedBytes('DER object identifier not minimal');
    if (value > 2 ** 42) throw new MalformedBytes('DER object identifier arc too large');
    value = value * 128 + (byte & 0x7f);
    fresh = byte < 0x80;
    if (fresh) {
      arcs.push(value);
      value = 0;
    }
  }
  if (!fresh) throw new MalformedBytes('DER object identifier ends early');
  const first = arcs[0] ?? 0;
  const root = first < 40 ? 0 : first < 80 ? 1 : 2;
  return [root, first - 40 * root, ...arcs.slice(1)].join('.');
}

const classes = ['universal', 'application', 'context', 'private'] as const;

function readElement(bytes: Uint8Array, start: number): DerElement {
  const initial = byteAt(bytes, start);
  const { tag, next } = readTag(bytes, start, initial & 0x1f);
  const { length, contentAt } = readLength(bytes, next);
  const end = contentAt + length;
  if (end > bytes.byteLength) throw new MalformedBytes('DER ends early');
  return {
    class: classes[initial >> 6] ?? 'universal',
    constructed: (initial & 0x20) !== 0,
    tag,
    content: bytes.subarray(contentAt, end),
    raw: bytes.subarray(start, end),
  };
}

// X.690 section 8.1.2.4: tags above 30 in base 128, no leading zero, and only when the short form cannot hold them.
function readTag(bytes: Uint8Array, start: number, short: number): { readonly tag: number; readonly next: number } {
  if (short !== 0x1f) return { tag: short, next: start + 1 };
  let tag = 0;
  for (let at = start + 1; at < start + 5; at += 1) {
    const byte = byteAt(bytes, at);
    if (tag === 0 && byte === 0x80) throw new MalformedBytes('DER tag not minimal');
    tag = tag * 128 + (byte & 0x7f);
    if (byte < 0x80) {
      if (tag < 0x1f) throw new MalformedBytes('DER tag not minimal');
      return { tag, next: at + 1 };
    }
  }
  throw new MalformedBytes('DER tag too large');
}

function readLength(bytes: Uint8Array, at: number): { readonly length: number; readonly contentAt: number } {
  const first = byteAt(bytes, at);
  if (first < 0x80) return { length: first, contentAt: at + 1 };
  const size = first & 0x7f;
  if (size === 0 || size > 3) throw new MalformedBytes('DER length form not accepted');
  let length = 0;
  for (let index = 1; index <= size; index += 1) length = length * 256 + byteAt(bytes, at + index);
  if (length < 0x80 || length < 256 ** (size - 1)) throw new MalformedBytes('DER length not minimal');
  return { length, contentAt: at + 1 + size };
}

function byteAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) throw new MalformedBytes('DER ends early');
  return byte;
}
