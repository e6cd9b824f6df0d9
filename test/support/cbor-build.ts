// Builds CBOR for the tests' attestation objects. Test code only.

export type CborInput = number | string | Uint8Array | boolean | readonly CborInput[] | ReadonlyMap<number | string, CborInput>;

/** One CBOR item in its shortest form, map entries in the order given. */
export function cbor(value: CborInput): Buffer {
  if (typeof value === 'boolean') return Buffer.of(value ? 0xf5 : 0xf4);
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.byteLength), value]);
  if (value instanceof Map) {
    const entries = [...value.entries()].flatMap(([key, item]) => [cbor(key), cbor(item)]);
    return Buffer.concat([head(5, value.size), ...entries]);
  }
  const items = value as readonly CborInput[]; // the last kind left
  return Buffer.concat([head(4, items.length), ...items.map(cbor)]);
}

function head(major: number, argument: number): Buffer {
  const type = major << 5;
  if (argument < 24) return Buffer.of(type | argument);
  if (argument < 0x100) return Buffer.of(type | 24, argument);
  if (argument < 0x10000) return Buffer.of(type | 25, argument >> 8, argument & 0xff);
  const out = Buffer.alloc(5);
  out[0] = type | 26;
  out.writeUInt32BE(argument, 1);
  return out;
}
