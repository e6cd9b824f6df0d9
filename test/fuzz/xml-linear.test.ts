// Reading and canonicalising XML grow linearly, far above every limit.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { samlXmlLimits } from '../../src/contract/limits.ts';
import { canonicalize } from '../../src/crypto/xml/canonical.ts';
import { readXml } from '../../src/crypto/xml/reader.ts';
import { assertLinear } from '../support/linear-time.ts';

const wide = { ...samlXmlLimits, bytesMax: 1 << 24, elementsMax: 1e6, attributesPerElementMax: 1e6, namespaceDeclarationsMax: 1e6 };

suite('reading and canonicalising are linear', () => {
  const reads = (make: (n: number) => string) => (n: number) => {
    const bytes = Buffer.from(make(n));
    return () => {
      const reading = readXml(bytes, { limits: wide, comments: 'refused' });
      assert.ok(reading.ok);
      canonicalize(reading.root);
    };
  };
  test('siblings', () =>
    assertLinear(
      reads((n) => `<r>${'<a b="c">d</a>'.repeat(n)}</r>`),
      4000,
    ));
  test('attributes', () =>
    assertLinear(
      reads((n) => `<r ${Array.from({ length: n }, (_, at) => `a${at}="1"`).join(' ')}/>`),
      4000,
    ));
  test('namespace declarations', () =>
    assertLinear(
      reads((n) => `<r ${Array.from({ length: n }, (_, at) => `xmlns:n${at}="u:${at}"`).join(' ')}/>`),
      4000,
    ));
  test('text with references', () =>
    assertLinear(
      reads((n) => `<r>${'&amp;x'.repeat(n)}</r>`),
      8000,
    ));
});
