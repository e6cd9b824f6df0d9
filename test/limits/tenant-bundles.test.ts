// The limit of a tenant's bundle: a row of tenantBundleRowBytesMax goes in and comes out, one byte more does neither.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openBundle, sealBundle } from '../../src/administration/moving/bundle.ts';
import { tenantBundleRowBytesMax } from '../../src/contract/limits.ts';
import { importKeyOf, parseImportKey, pieceBytes, sealTo } from '../../src/crypto/bundle-seal.ts';

const own = importKeyOf(Buffer.alloc(32, 7));
const recipient = { key: parseImportKey(own.text)!, text: own.text };

async function* each<T>(...values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}

async function all<T>(values: AsyncIterable<T>): Promise<readonly T[]> {
  const list: T[] = [];
  for await (const value of values) list.push(value);
  return list;
}

describe('a row of a bundle', () => {
  it('of tenantBundleRowBytesMax bytes is sealed and opened, with the rows around it', async () => {
    const lines = ['first', 'x'.repeat(tenantBundleRowBytesMax), 'last'];
    const opened = await all(openBundle(each(...(await all(sealBundle(each(...lines), recipient)))), own));
    assert.ok(opened.every((line, index) => line === lines[index]) && opened.length === lines.length);
  });

  it('of one byte more is not sealed, and not read from a bundle that has it', async () => {
    const tooLong = 'x'.repeat(tenantBundleRowBytesMax + 1);
    const words = new RegExp(
      `expected rows of at most ${tenantBundleRowBytesMax} bytes, found one of ${tenantBundleRowBytesMax + 1} or more`,
    );
    await assert.rejects(all(sealBundle(each(tooLong), recipient)), words);
    const { header, seal } = sealTo(recipient.key, (oneTimeKey) => `gatehouse-tenant-1 ${own.text} ${oneTimeKey}\n`);
    const content = Buffer.from(`${tooLong}\n`);
    const pieces: Buffer[] = [Buffer.from(header)];
    for (let at = 0; at < content.length; at += pieceBytes)
      pieces.push(seal(content.subarray(at, at + pieceBytes), at + pieceBytes >= content.length));
    await assert.rejects(all(openBundle(each(...pieces), own)), words);
  });

  it('content that fills its pieces exactly is whole, and without its last piece is not', async () => {
    const sealed = await all(sealBundle(each('y'.repeat(pieceBytes - 1), 'z'.repeat(pieceBytes - 1)), recipient));
    assert.equal((await all(openBundle(each(...sealed), own))).length, 2);
    await assert.rejects(all(openBundle(each(...sealed.slice(0, -1)), own)), /an end too early/);
    const swapped = [sealed[0]!, sealed[2]!, sealed[1]!];
    await assert.rejects(all(openBundle(each(...swapped), own)), /a change, a gap/);
  });

  it('is no row of another key pair', async () => {
    const sealed = await all(sealBundle(each('row'), recipient));
    const other = importKeyOf(Buffer.alloc(32, 8));
    await assert.rejects(all(openBundle(each(...sealed), other)), /found one for gatehouse-import-/);
    await assert.rejects(all(openBundle(each(...sealed), { ...other, text: own.text })), /every byte as it was sealed/);
  });
});
