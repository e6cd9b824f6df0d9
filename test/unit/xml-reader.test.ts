import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { readLongXml, readXml, type XmlLimits } from '../../src/crypto/xml/reader.ts';
import { allElements, attributeOf, textOf } from '../../src/crypto/xml/tree.ts';
import { xmlText } from '../support/random-xml.ts';
import { escapeXml } from '../support/saml-requests.ts';

const limits: XmlLimits = {
  bytesMax: 65_536,
  depthMax: 20,
  elementsMax: 500,
  attributesPerElementMax: 32,
  namespaceDeclarationsMax: 64,
};

function reasonOf(xml: string | Uint8Array): string {
  const reading = readXml(typeof xml === 'string' ? Buffer.from(xml) : xml, { limits, comments: 'refused' });
  return reading.ok ? 'accepted' : reading.reason;
}

function rootOf(xml: string) {
  const reading = readXml(Buffer.from(xml), { limits, comments: 'refused' });
  assert.ok(reading.ok);
  return reading.root;
}

suite('XML reader: what a message may not contain', () => {
  const bom = Buffer.from([0xef, 0xbb, 0xbf]);
  const refusals: readonly (readonly [string, string | Uint8Array, string])[] = [
    ['a DOCTYPE', '<!DOCTYPE r><r/>', 'doctype'],
    ['an external entity', '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>', 'doctype'],
    ['an entity bomb', '<!DOCTYPE r [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><r>&b;</r>', 'doctype'],
    ['an undefined entity', '<r>&x;</r>', 'not_well_formed'],
    ['an entity named as a property', '<r>&constructor;&__proto__;</r>', 'not_well_formed'],
    ['a comment', '<r>a<!-- -->b</r>', 'comment'],
    ['a comment before the root', '<!-- --><r/>', 'comment'],
    ['a processing instruction', '<r><?php x?></r>', 'processing_instruction'],
    ['a stylesheet', '<?xml-stylesheet href="x"?><r/>', 'processing_instruction'],
    ['CDATA', '<r><![CDATA[x]]></r>', 'cdata'],
    ['a byte-order mark', Buffer.concat([bom, Buffer.from('<r/>')]), 'encoding'],
    ['UTF-16', Buffer.from('\uFEFF<r/>', 'utf16le'), 'encoding'],
    ['bytes that are not UTF-8', Buffer.from([0x3c, 0x72, 0x3e, 0xc3, 0x28, 0x3c, 0x2f, 0x72, 0x3e]), 'encoding'],
    ['a declared other encoding', '<?xml version="1.0" encoding="ISO-8859-1"?><r/>', 'encoding'],
    ['XML 1.1', '<?xml version="1.1"?><r/>', 'not_well_formed'],
    ['a relative namespace', '<r xmlns="ns"/>', 'relative_namespace'],
    ['a relative prefixed namespace', '<r xmlns:a="./ns"/>', 'relative_namespace'],
    ['a namespace with white space', '<r xmlns:a=" urn:a"/>', 'relative_namespace'],
    ['an undeclared prefix', '<r xmlns:a=""/>', 'not_well_formed'],
    ['xml:id', '<r xml:id="a"/>', 'xml_id'],
    ['a foreign Signature', '<r><Signature/></r>', 'foreign_signature'],
    ['a prefixed foreign Signature', '<r xmlns:x="urn:x"><x:Signature/></r>', 'foreign_signature'],
    ['two ids on one element', '<r xmlns:x="urn:x" ID="a" x:ID="b"/>', 'ambiguous_id'],
    ['ID beside Id', '<r ID="a" Id="b"/>', 'ambiguous_id'],
    ['a prefixed id', '<r xmlns:x="urn:x" x:ID="b"/>', 'ambiguous_id'],
    ['one id twice', '<r ID="a"><s id="a"/></r>', 'duplicate_id'],
    ['nothing', '', 'not_well_formed'],
    ['white space', '  ', 'not_well_formed'],
    ['two roots', '<r/><r/>', 'not_well_formed'],
    ['text after the root', '<r/>x', 'not_well_formed'],
    ['an unclosed element', '<r><s></r>', 'not_well_formed'],
    ['an unclosed root', '<r>', 'not_well_formed'],
    ['an attribute twice', '<r a="1" a="2"/>', 'not_well_formed'],
    ['an attribute twice by namespace', '<r xmlns:a="urn:a" xmlns:b="urn:a" a:x="1" b:x="2"/>', 'not_well_formed'],
    ['an unbound prefix', '<a:r/>', 'not_well_formed'],
    ['a local name that is no name', '<r xmlns:a="urn:a"><a:1/></r>', 'not_well_formed'],
    ['a control character', '<r>\u0001</r>', 'not_well_formed'],
    ['a reference to a control character', '<r>&#1;</r>', 'not_well_formed'],
    ['an unquoted attribute', '<r a=1/>', 'not_well_formed'],
    ['a raw less-than in an attribute', '<r a="<"/>', 'not_well_formed'],
    ['a raw ampersand', '<r>a & b</r>', 'not_well_formed'],
    ['the CDATA end in text', '<r>]]></r>', 'not_well_formed'],
  ];
  for (const [what, xml, reason] of refusals) test(what, () => assert.equal(reasonOf(xml), reason));
});

suite('XML reader: limits at n and n+1', () => {
  const nested = (depth: number) => '<r>'.repeat(depth) + '</r>'.repeat(depth);
  const attributes = (count: number) => `<r ${Array.from({ length: count }, (_, at) => `a${at}="1"`).join(' ')}/>`;
  const declarations = (count: number) => `<r ${Array.from({ length: count }, (_, at) => `xmlns:n${at}="urn:${at}"`).join(' ')}/>`;
  const sized = (size: number) => `<r>${'x'.repeat(size - 7)}</r>`;
  const cases: readonly (readonly [string, (count: number) => string, number, string])[] = [
    ['bytes', sized, 65_536, 'too_large'],
    ['depth', nested, 20, 'too_deep'],
    ['elements', (count) => `<r>${'<s/>'.repeat(count - 1)}</r>`, 500, 'too_many_elements'],
    ['attributes of one element', attributes, 32, 'too_many_attributes'],
    ['namespace declarations', declarations, 64, 'too_many_namespaces'],
  ];
  for (const [what, make, max, reason] of cases) {
    test(what, () => {
      assert.equal(reasonOf(make(max)), 'accepted');
      assert.equal(reasonOf(make(max + 1)), reason);
    });
  }
  test('32 attributes and a namespace declaration on one element', () => {
    assert.equal(reasonOf(attributes(32).replace('<r', '<r xmlns="urn:r"')), 'accepted');
  });
});

suite('XML reader: the tree', () => {
  test('a UTF-8 declaration is fine', () => {
    assert.equal(reasonOf('<?xml version="1.0" encoding="utf-8" standalone="yes"?>\n<r/>\n'), 'accepted');
  });
  test('names, namespaces, attributes and text arrive as written', () => {
    const root = rootOf('<a:r xmlns:a="urn:a" xmlns="urn:d" a:x="1" y="&lt;&#x10000;"><s>t&amp;u</s> </a:r>');
    assert.deepEqual(
      allElements(root).map(({ prefix, localName, namespaceUri }) => [prefix, localName, namespaceUri]),
      [
        ['a', 'r', 'urn:a'],
        ['', 's', 'urn:d'],
      ],
    );
    assert.equal(attributeOf(root, 'y'), '<\u{10000}');
    assert.equal(attributeOf(root, 'x'), undefined);
    const [first, second] = root.children;
    assert.ok(typeof first === 'object' && first.parent === root);
    assert.equal(textOf(first), 't&u');
    assert.equal(second, ' ');
    assert.equal(textOf(root), undefined);
  });
  test('line ends are normalised and attribute white space becomes spaces', () => {
    const root = rootOf('<r a="1\r\n2\t3&#10;4">x\r\ny\rz</r>');
    assert.equal(attributeOf(root, 'a'), '1 2 3\n4');
    assert.equal(textOf(root), 'x\ny\nz');
  });
  test('metadata may hold comments, which join the text around them', () => {
    const reading = readXml(Buffer.from('<!-- a --><r>x<!-- b -->y</r>'), { limits, comments: 'dropped' });
    assert.ok(reading.ok);
    assert.equal(textOf(reading.root), 'xy');
  });
  test('any Unicode in text and attributes comes back equal', () => {
    fc.assert(
      fc.property(xmlText, xmlText, (text, value) => {
        const root = rootOf(`<r a="${escapeXml(value)}">${escapeXml(text)}</r>`);
        assert.equal(textOf(root), text);
        assert.equal(attributeOf(root, 'a'), value);
      }),
      { numRuns: 300 },
    );
  });
  test('arbitrary bytes are refused or read, never thrown on', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => typeof reasonOf(bytes) === 'string'));
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('<', '>', '/', 'a', '"', '=', ' ', '&', ';', '!', '-', '[', ']', '?', 'xmlns', ':')),
        (parts) => typeof reasonOf(parts.join('')) === 'string',
      ),
      { numRuns: 1000 },
    );
  });
});

suite('XML reader: long documents in pieces', () => {
  const wide: XmlLimits = { ...limits, elementsMax: 10_000, namespaceDeclarationsMax: 10_000 };
  const inPieces = async (xml: string) => {
    let pieces = 0;
    const reading = await readLongXml(Buffer.from(xml), { limits: wide, comments: 'dropped' }, async () => {
      pieces += 1;
    });
    return { reading, pieces };
  };
  /** Everything that a piece may end in: names, values, entities, line ends, pairs of surrogates, comments. */
  const some = '<p:a xmlns:p="urn:x" b="&amp;&#x1F600;\r\n">x\r\ny\r\r\u{1F600}]]&gt;<!-- c --><p:d/></p:a>\r\n';
  test('read the same whatever a piece ends in', async () => {
    for (let shift = 0; shift < some.length; shift += 1) {
      const xml = `<r>${' '.repeat(shift)}${some.repeat(120)}</r>`;
      const { reading, pieces } = await inPieces(xml);
      assert.ok(pieces > 2 && reading.ok);
      assert.deepEqual(reading, readXml(Buffer.from(xml), { limits: wide, comments: 'dropped' }));
    }
  });
  for (const [what, end] of [
    ['not well-formed', '</s>'],
    ['a DOCTYPE', '<!DOCTYPE r>'],
    ['an instruction', '<?x y?>'],
    ['CDATA', '<![CDATA[x]]>'],
    ['a character that is none', '&#0;'],
    ['an end that is missing', ''],
    ['text behind the root', '</r>x'],
  ] as const)
    test(`refused the same whatever a piece ends in: ${what}`, async () => {
      for (let shift = 0; shift < 40; shift += 1) {
        const xml = `<r>${' '.repeat(4096 - 20 + shift)}${end}`;
        const { reading } = await inPieces(xml);
        assert.ok(!reading.ok);
        assert.deepEqual(reading, readXml(Buffer.from(xml), { limits: wide, comments: 'dropped' }));
      }
    });
});
