import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cborDepthMax, cborItemsMax, readCbor } from '../../src/crypto/cbor/reader.ts';
import {
  derChildrenMax,
  readDer,
  readDerBoolean,
  readDerChildren,
  readDerInteger,
  readDerObjectIdentifier,
} from '../../src/crypto/der/reader.ts';
import { MalformedBytes } from '../../src/crypto/malformed.ts';
import { type CborInput, cbor } from '../support/cbor-build.ts';
import { boolean, context, integer, oid, sequence } from '../support/der-build.ts';

const hex = (text: string) => Buffer.from(text, 'hex');

test('CBOR: what the builder writes is read back', () => {
  const map = new Map<number | string, CborInput>([
    ['text', 'é'],
    [-3, hex('00ff')],
    [70000, [1, -500, true, false]],
  ]);
  assert.deepEqual(
    readCbor(cbor(map)),
    new Map<unknown, unknown>([
      ['text', 'é'],
      [-3, hex('00ff')],
      [70000, [1, -500, true, false]],
    ]),
  );
});

const badCbor: readonly [string, string][] = [
  ['nothing', ''],
  ['a second item', '0101'],
  ['a longer integer than needed', '1817'],
  ['a longer length than needed', '580101'],
  ['an indefinite byte string', '5f4101ff'],
  ['an indefinite map', 'bf0101ff'],
  ['a repeated map key', 'a201010102'],
  ['a byte string as map key', 'a1410101'],
  ['a tag', 'c001'],
  ['a float', 'f93c00'],
  ['undefined', 'f7'],
  ['a string that ends early', '4401'],
  ['text that is not UTF-8', '61ff'],
  ['an eight byte length', '1b0000000100000000'],
  ['a reserved length', '1c'],
];
for (const [name, bytes] of badCbor) {
  test(`CBOR refuses ${name}`, () => assert.throws(() => readCbor(hex(bytes)), MalformedBytes));
}

test('CBOR: depth and item count at the limit and one above', () => {
  const nested = (depth: number): CborInput => (depth === 0 ? 0 : [nested(depth - 1)]);
  assert.doesNotThrow(() => readCbor(cbor(nested(cborDepthMax))));
  assert.throws(() => readCbor(cbor(nested(cborDepthMax + 1))), MalformedBytes);
  assert.doesNotThrow(() => readCbor(cbor(Array.from({ length: cborItemsMax }, () => 0))));
  assert.throws(() => readCbor(cbor(Array.from({ length: cborItemsMax + 1 }, () => 0))), MalformedBytes);
});

const badDer: readonly [string, string][] = [
  ['nothing', ''],
  ['a byte after the element', '05000 0'.replace(' ', '')],
  ['a long length that fits the short form', '04810100'],
  ['a length with a leading zero', '0482008000'],
  ['an indefinite length', '30800000'],
  ['a high tag that fits the short form', 'bf1e00'],
  ['a high tag with a leading zero', 'bf80850500'],
  ['content that ends early', '040201'],
];
for (const [name, bytes] of badDer) {
  test(`DER refuses ${name}`, () => assert.throws(() => readDer(hex(bytes)), MalformedBytes));
}

test('DER: integers, booleans and object identifiers are minimal', () => {
  assert.equal(readDerInteger(readDer(hex('020200ff'))), 255n);
  assert.equal(readDerInteger(readDer(hex('0201ff'))), -1n);
  for (const bad of ['0200', '02020001', '0202ff80']) {
    assert.throws(() => readDerInteger(readDer(hex(bad))), MalformedBytes, bad);
  }
  assert.equal(readDerBoolean(readDer(boolean(true))), true);
  assert.throws(() => readDerBoolean(readDer(hex('010101'))), MalformedBytes);
  for (const text of ['1.2.840.113635.100.8.2', '1.3.6.1.4.1.11129.2.1.17', '2.5.29.19', '0.9.2342']) {
    assert.equal(readDerObjectIdentifier(readDer(oid(text))), text);
  }
  for (const bad of ['0600', '06028001', '060181']) {
    assert.throws(() => readDerObjectIdentifier(readDer(hex(bad))), MalformedBytes, bad);
  }
});

test('DER: high tag numbers and the number of children at the limit and one above', () => {
  assert.equal(readDer(context(704, integer(1))).tag, 704);
  const many = (count: number) => readDer(sequence(...Array.from({ length: count }, () => integer(1))));
  assert.equal(readDerChildren(many(derChildrenMax)).length, derChildrenMax);
  assert.throws(() => readDerChildren(many(derChildrenMax + 1)), MalformedBytes);
});

test('CBOR and DER: any bytes give a value or MalformedBytes, nothing else', () => {
  const only = (read: () => unknown) => {
    try {
      read();
    } catch (error) {
      assert.ok(error instanceof MalformedBytes);
    }
  };
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      only(() => readCbor(bytes));
      only(() => readDerChildren(readDer(bytes)));
    }),
    { numRuns: 2000 },
  );
});
