import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { DOMParser } from '@xmldom/xmldom';
import fc from 'fast-check';
import { ExclusiveCanonicalization } from 'xml-crypto';
import { canonicalize, canonicalPieces } from '../../src/crypto/xml/canonical.ts';
import { readXml } from '../../src/crypto/xml/reader.ts';
import { childElements, type XmlElement } from '../../src/crypto/xml/tree.ts';
import { findJudge } from '../support/judge-binaries.ts';
import { xmlDocument } from '../support/random-xml.ts';

const limits = {
  bytesMax: 1 << 20,
  depthMax: 100,
  elementsMax: 5000,
  attributesPerElementMax: 100,
  namespaceDeclarationsMax: 5000,
};

function read(xml: string): XmlElement {
  const reading = readXml(Buffer.from(xml), { limits, comments: 'refused' });
  assert.ok(reading.ok, xml);
  return reading.root;
}

const fixtures: readonly (readonly [string, string])[] = [
  ['empty element', '<r/>'],
  ['attributes out of order', '<r c="3" a="1" b="2"/>'],
  ['attributes ordered by namespace first', '<r xmlns:z="urn:a" xmlns:a="urn:z" a:x="1" z:x="2" x="3"/>'],
  ['unused declarations left out', '<r xmlns:u="urn:u" xmlns="urn:d"><s/></r>'],
  ['declared where used', '<r xmlns:u="urn:u"><u:s/><u:s><u:t/></u:s></r>'],
  ['prefix rebound', '<a:r xmlns:a="urn:1"><a:s xmlns:a="urn:2"><a:t xmlns:a="urn:1"/></a:s></a:r>'],
  ['default undeclared', '<r xmlns="urn:d"><s xmlns=""><t/></s></r>'],
  ['default undeclared at the apex', '<r xmlns=""/>'],
  ['prefix used by an attribute alone', '<r xmlns:a="urn:a"><s a:x="1"/></r>'],
  ['xml:lang needs no declaration', '<r xml:lang="en" a="1"/>'],
  ['escapes', '<r a="&lt;&amp;&quot;&gt;&#9;&#10;&#13;">&lt;&amp;&gt;&quot;&#13;&#9;</r>'],
  ['white space kept', '<r>\n  <s/>\t</r>'],
  ['names beyond the basic plane', '<r xmlns:a="urn:a" \u{10000}="2" \u{FDF0}="1"/>'],
];

type JudgedNode = Parameters<ExclusiveCanonicalization['process']>[0];

function judgeByXmlCrypto(xml: string, inclusiveNamespacesPrefixList: string[] = []): string {
  const document = new DOMParser({ onError: () => {} }).parseFromString(xml, 'text/xml');
  // xml-crypto's types are those of the DOM library; xmldom's documents are what it takes at run time.
  const element = document.documentElement as unknown as JudgedNode;
  return String(new ExclusiveCanonicalization().process(element, { inclusiveNamespacesPrefixList }));
}

suite('exclusive canonicalisation', () => {
  test('xml-exc-c14n section 2.2: the same in every context', () => {
    const expected = '<n1:elem2 xmlns:n1="http://example.net" xml:lang="en"><n3:stuff xmlns:n3="ftp://example.org"></n3:stuff></n1:elem2>';
    const inner = '<n1:elem2 xmlns:n1="http://example.net" xml:lang="en"><n3:stuff xmlns:n3="ftp://example.org"/></n1:elem2>';
    for (const outer of [
      '<n0:local xmlns:n0="foo:bar" xmlns:n3="ftp://example.org">@</n0:local>',
      '<n2:pdu xmlns:n1="http://example.com" xmlns:n2="http://foo.example" xml:lang="fr">@</n2:pdu>',
    ]) {
      const [element] = childElements(read(outer.replace('@', inner)));
      assert.ok(element);
      assert.equal(canonicalize(element), expected);
    }
  });
  test('the excluded element is gone and the text around it stays', () => {
    const root = read('<r>a<s>b</s>c</r>');
    const [exclude] = childElements(root);
    assert.ok(exclude);
    assert.equal(canonicalize(root, { exclude }), '<r>ac</r>');
  });
  // xml-crypto orders names by UTF-16 unit and repeats xmlns="" below an element that wrote it; xmllint judges those.
  const unfit = new Set(['names beyond the basic plane', 'default undeclared']);
  for (const [what, xml] of fixtures.filter(([name]) => !unfit.has(name))) {
    test(`as xml-crypto: ${what}`, () => assert.equal(canonicalize(read(xml)), judgeByXmlCrypto(xml)));
  }
  test('as xml-crypto with a PrefixList', () => {
    const xml = '<a:r xmlns:a="urn:a" xmlns:b="urn:b" xmlns:c="urn:c"><a:s b:x="1"/></a:r>';
    assert.equal(canonicalize(read(xml), { inclusivePrefixes: ['b', 'none'] }), judgeByXmlCrypto(xml, ['b', 'none']));
    assert.notEqual(canonicalize(read(xml), { inclusivePrefixes: ['b'] }), canonicalize(read(xml)));
  });
  test('a long document in pieces of 1,000 elements, an element left out on an edge: as xml-crypto of the document without it', () => {
    const item = (at: number): string => `<b:i xmlns:b="urn:${at % 3}" n="${at}">text<b:j xmlns=""/></b:i>`;
    const items = Array.from({ length: 1249 }, (_, at) => item(at)); // each of two elements, in one
    const edge = 499;
    const root = read(`<r xmlns="urn:d">${items.join('\n')}</r>`);
    const exclude = childElements(root)[edge]!;
    const pieces = [...canonicalPieces(root, { exclude })];
    assert.equal(pieces.length, 3); // 2,497 elements
    items[edge] = '';
    assert.equal(pieces.join(''), judgeByXmlCrypto(`<r xmlns="urn:d">${items.join('\n')}</r>`));
  });
  test('canonical text reads back to the same canonical text', () => {
    fc.assert(
      fc.property(xmlDocument, (xml) => {
        const once = canonicalize(read(xml));
        assert.equal(canonicalize(read(once)), once);
      }),
    );
  });
});

const xmllint = findJudge('xmllint');
if (xmllint !== undefined) {
  /** One process for all of them; it writes what it made of each after the other. */
  const judge = (documents: readonly string[]): string => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-xmllint-'));
    try {
      const files = documents.map((_, index) => `${index}.xml`);
      for (const [index, file] of files.entries()) writeFileSync(join(folder, file), documents[index]!);
      return execFileSync(xmllint, ['--exc-c14n', ...files], { cwd: folder, encoding: 'utf8' });
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
  suite('exclusive canonicalisation judged by xmllint', () => {
    for (const [what, xml] of fixtures) test(what, () => assert.equal(canonicalize(read(xml)), judge([xml])));
    test('random documents', () => {
      fc.assert(
        fc.property(fc.array(xmlDocument, { minLength: 25, maxLength: 25 }), (documents) =>
          assert.equal(documents.map((xml) => canonicalize(read(xml))).join(''), judge(documents)),
        ),
        { numRuns: 6 },
      );
    });
  });
}
