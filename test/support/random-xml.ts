// Random namespaced documents for property tests of canonicalisation, and arbitrary text XML can carry.

import fc from 'fast-check';
import { anyCharacter } from './any-character.ts';
import { escapeXml } from './saml-requests.ts';

/** Any Unicode text that XML 1.0 can carry, control characters and surrogates left out. */
export const xmlText = fc
  .string({ unit: anyCharacter, maxLength: 40 })
  .map((value) => value.replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, ''));

const prefixes = ['', 'a', 'b', 'c'] as const;
const uris = ['urn:one', 'urn:two', 'https://three.example/ns'] as const;

type Node = {
  readonly prefix: (typeof prefixes)[number];
  readonly name: string;
  readonly declares: readonly (readonly [string, string])[];
  readonly attributes: readonly (readonly [string, string, string])[];
  readonly children: readonly (Node | string)[];
};

const { node } = fc.letrec<{ node: Node }>((tie) => ({
  node: fc.record({
    prefix: fc.constantFrom(...prefixes),
    name: fc.constantFrom('x', 'y', 'z\u{10000}', 'z\u{FDF0}'),
    declares: fc.array(fc.tuple(fc.constantFrom('', 'a', 'b', 'c'), fc.constantFrom(...uris)), { maxLength: 3 }),
    attributes: fc.array(fc.tuple(fc.constantFrom(...prefixes), fc.constantFrom('p', 'q', 'r'), xmlText), {
      maxLength: 3,
    }),
    children: fc.array(fc.oneof({ depthSize: 'small', withCrossShrink: true }, xmlText, tie('node')), { maxLength: 3 }),
  }),
}));

/** A well-formed document that uses prefixes, redeclares them, and mixes text with elements. */
export const xmlDocument = node.map((root) =>
  write(
    root,
    new Map([
      ['a', 'urn:one'],
      ['b', 'urn:two'],
      ['c', 'urn:one'],
    ]),
    true,
  ),
);

function write(element: Node, inherited: ReadonlyMap<string, string>, isRoot: boolean): string {
  const declared = new Map(isRoot ? [...inherited, ...element.declares] : element.declares);
  const scope = new Map([...inherited, ...declared]);
  const name = element.prefix === '' ? element.name : `${element.prefix}:${element.name}`;
  let out = `<${name}`;
  for (const [prefix, uri] of declared) out += prefix === '' ? ` xmlns="${uri}"` : ` xmlns:${prefix}="${uri}"`;
  const seen = new Set<string>();
  for (const [prefix, local, value] of element.attributes) {
    const expanded = `${prefix === '' ? '' : scope.get(prefix)} ${local}`;
    if (seen.has(expanded)) continue;
    seen.add(expanded);
    out += ` ${prefix === '' ? local : `${prefix}:${local}`}="${escapeXml(value)}"`;
  }
  out += '>';
  for (const child of element.children) out += typeof child === 'string' ? escapeXml(child) : write(child, scope, false);
  return `${out}</${name}>`;
}
