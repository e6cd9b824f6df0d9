// A small strict CBOR reader (RFC 8949 section 4.2.1 where it matters): definite lengths, shortest integers, no tags, no
// floats, no duplicate keys, no trailing bytes. Called by the attestation verifiers. Throws MalformedBytes.
import { MalformedBytes } from '../malformed.ts';

type CborKey = number | string;
export type CborValue = number | string | boolean | null | Uint8Array | readonly CborValue[] | CborMap;
type CborMap = ReadonlyMap<CborKey, CborValue>;

export const cborDepthMax = 8;
export const cborItemsMax = 64;

/** The one item that fills the bytes exactly. */
export function readCbor(bytes: Uint8Array): CborValue {
  const item = readCborItem(bytes, 0);
  if (item.end !== bytes.byteLength) throw new MalformedBytes('bytes after the CBOR item');
  return item.value;
}

/** The item that starts at `offset`, and where it ends. */
export function readCborItem(bytes: Uint8Array, offset: number): { readonly value: CborValue; readonly end: number } {
  const cursor: Cursor = { bytes, at: offset };
  const value = readItem(cursor, 0);
  return { value, end: cursor.at };
}

/** The map itself, or MalformedBytes for any other item. */
export function expectCborMap(value: CborValue | undefined): CborMap {
  if (value instanceof Map) return value as CborMap; // readMap makes every Map here
  throw new MalformedBytes('expected a CBOR map');
}

/** The byte string itself, or MalformedBytes for any other item. */
export function expectCborBytes(value: CborValue | undefined): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new MalformedBytes('expected a CBOR byte string');
}

/** The array itself, or MalformedBytes for any other item. */
export function expectCborArray(value: CborValue | undefined): readonly CborValue[] {
  if (Array.isArray(value)) return value;
  throw new MalformedBytes('expected a CBOR array');
}

interface Cursor {
  readonly bytes: Uint8Array;
  at: number;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function readItem(cursor: Cursor, depth: number): CborValue {
  if (depth > cborDepthMax) throw new MalformedBytes('CBOR nested too deep');
  const initial = takeByte(cursor);
  const major = initial >> 5;
  if (major === 7) return readSimple(initial & 0x1f);
  const argument = readArgument(cursor, initial & 0x1f);
  switch (major) {
    case 0:
      return argument;
    case 1:
      return -1 - argument;
    case 2:
      return takeBytes(cursor, argument);
    case 3:
      return readText(cursor, argument);
    case 4:
      return readArray(cursor, argument, depth);
    case 5:
      return readMap(cursor, argument, depth);
    default:
      throw new MalformedBytes('CBOR tags are not accepted');
  }
}

function readSimple(information: number): CborValue {
  if (information === 20) return false;
  if (information === 21) return true;
  if (information === 22) return null;
  throw new MalformedBytes('CBOR simple value not accepted');
}

// RFC 8949 section 4.2.1: the shortest form is the only one. Lengths of 8 bytes are refused, none of ours needs them.
function readArgument(cursor: Cursor, information: number): number {
  if (information < 24) return information;
  const size = information === 24 ? 1 : information === 25 ? 2 : information === 26 ? 4 : 0;
  if (size === 0) throw new MalformedBytes('CBOR length form not accepted');
  let value = 0;
  for (let index = 0; index < size; index += 1) value = value * 256 + takeByte(cursor);
  const smallest = size === 1 ? 24 : size === 2 ? 0x100 : 0x10000;
  if (value < smallest) throw new MalformedBytes('CBOR integer not in its shortest form');
  return value;
}

function readText(cursor: Cursor, length: number): string {
  try {
    return utf8.decode(takeBytes(cursor, length));
  } catch (cause) {
    throw new MalformedBytes('CBOR text is not UTF-8', { cause });
  }
}

function readArray(cursor: Cursor, length: number, depth: number): readonly CborValue[] {
  if (length > cborItemsMax) throw new MalformedBytes('CBOR array too long');
  const items: CborValue[] = [];
  for (let index = 0; index < length; index += 1) items.push(readItem(cursor, depth + 1));
  return items;
}

function readMap(cursor: Cursor, length: number, depth: number): CborMap {
  if (length > cborItemsMax) throw new MalformedBytes('CBOR map too long');
  const map = new Map<CborKey, CborValue>();
  for (let index = 0; index < length; index += 1) {
    const key = readItem(cursor, depth + 1);
    if (typeof key !== 'number' && typeof key !== 'string') throw new MalformedBytes('CBOR map key not accepted');
    if (map.has(key)) throw new MalformedBytes('CBOR map key repeated');
    map.set(key, readItem(cursor, depth + 1));
  }
  return map;
}

function takeByte(cursor: Cursor): number {
  const byte = cursor.bytes[cursor.at];
  if (byte === undefined) throw new MalformedBytes('CBOR ends early');
  cursor.at += 1;
  return byte;
}

function takeBytes(cursor: Cursor, length: number): Uint8Array {
  const end = cursor.at + length;
  if (end > cursor.bytes.byteLength) throw new MalformedBytes('CBOR ends early');
  const slice = cursor.bytes.subarray(cursor.at, end);
  cursor.at = end;
  return slice;
}
