// The way out: elements as typed values, written directly in exclusive canonical form, so what is digested is what is
// sent. Declares each namespace where it is first used, orders attributes by code point, escapes every value, writes no
// empty-element tag and no white space. Called by the SAML response and metadata builders. No template, no XML library.

import { isXmlText } from '../../domain/saml/xml-text.ts';
import { escapeAttribute, escapeText } from './characters.ts';

/** The prefixes we write and what they name; a name with any other prefix does not compile. */
const writtenNamespaces = {
  saml: 'urn:oasis:names:tc:SAML:2.0:assertion',
  samlp: 'urn:oasis:names:tc:SAML:2.0:protocol',
  md: 'urn:oasis:names:tc:SAML:2.0:metadata',
  alg: 'urn:oasis:names:tc:SAML:metadata:algsupport',
  ds: 'http://www.w3.org/2000/09/xmldsig#',
  xenc: 'http://www.w3.org/2001/04/xmlenc#',
  xenc11: 'http://www.w3.org/2009/xmlenc11#',
} as const;

type WrittenPrefix = keyof typeof writtenNamespaces;
type WrittenName = `${WrittenPrefix}:${string}`;

export type WrittenElement = {
  readonly name: WrittenName;
  readonly attributes: readonly (readonly [name: string, value: string])[];
  readonly children: readonly WrittenNode[];
};

/** Prefixes as a set of bits, one a prefix: elements are written too often for a Set each. */
type Prefixes = number;

/** Text already in canonical form, with the prefixes declared anywhere in it. Made by this file only. */
export type CanonicalXml = { readonly canonical: string; readonly declares: Prefixes };

export type WrittenNode = string | WrittenElement | CanonicalXml;

/** Bytes as base64 text, which needs no escape and no check. */
export function base64Text(bytes: Buffer): CanonicalXml {
  return { canonical: bytes.toString('base64'), declares: 0 };
}

type AttributeValues = Readonly<Record<string, string | undefined>>;

/** An element; an attribute whose value is undefined is left out. Attribute names carry no prefix. */
export function element(name: WrittenName, attributes: AttributeValues, ...children: readonly WrittenNode[]): WrittenElement {
  const given: [string, string][] = [];
  for (const key of Object.keys(attributes)) {
    const value = attributes[key];
    if (value !== undefined) given.push([key, value]);
  }
  // The names are ours and ASCII, where the order of UTF-16 units is the order of code points.
  if (given.length > 1) given.sort(([left], [right]) => (left < right ? -1 : 1));
  return { name, attributes: given, children };
}

/** The canonical form of an element that stands alone or below elements that use none of its prefixes. */
export function writeCanonical(root: WrittenElement): CanonicalXml {
  return { canonical: write(root, 0), declares: prefixesIn(root) };
}

/**
 * An element's canonical text cut before its second child, where SAML places the signature (SAML core 3.2.1): the
 * whole is `before + after`, the signed whole is `before + signature + after`.
 */
export function writeAroundSignature(root: WrittenElement): { readonly before: string; readonly after: string } {
  const scope = bitOf(prefixOf(root.name));
  const [first, ...rest] = root.children;
  let after = '';
  for (const child of rest) after += writeNode(child, scope);
  const start = writeStartTag(root, 0);
  return { before: start + (first === undefined ? '' : writeNode(first, scope)), after: `${after}</${root.name}>` };
}

/** Joins what {@link writeAroundSignature} cut with the signature that belongs between. */
export function joinSigned(
  root: WrittenElement,
  cut: { readonly before: string; readonly after: string },
  signature: CanonicalXml,
): CanonicalXml {
  refuseDeclaredTwice(signature, bitOf(prefixOf(root.name)));
  return { canonical: cut.before + signature.canonical + cut.after, declares: prefixesIn(root) | signature.declares };
}

function write(root: WrittenElement, scope: Prefixes): string {
  const inner = scope | bitOf(prefixOf(root.name));
  let out = writeStartTag(root, scope);
  for (const child of root.children) out += writeNode(child, inner);
  return `${out}</${root.name}>`;
}

function writeNode(node: WrittenNode, scope: Prefixes): string {
  if (typeof node === 'string') return escapeWith(node, escapeText);
  if ('name' in node) return write(node, scope);
  refuseDeclaredTwice(node, scope);
  return node.canonical;
}

function writeStartTag(root: WrittenElement, scope: Prefixes): string {
  const prefix = prefixOf(root.name);
  let out = (scope & bitOf(prefix)) !== 0 ? `<${root.name}` : `<${root.name} xmlns:${prefix}="${writtenNamespaces[prefix]}"`;
  for (const [name, value] of root.attributes) out += ` ${name}="${escapeWith(value, escapeAttribute)}"`;
  return `${out}>`;
}

function prefixOf(name: WrittenName): WrittenPrefix {
  // WrittenName fixes what stands before the colon.
  return name.slice(0, name.indexOf(':')) as WrittenPrefix;
}

// A declaration already in force would be left out by canonicalisation: the text would then not be canonical here.
function refuseDeclaredTwice(node: CanonicalXml, scope: Prefixes): void {
  if ((node.declares & scope) !== 0) throw new Error('canonical text declares a prefix where that prefix is in scope');
}

const bits = Object.fromEntries(Object.keys(writtenNamespaces).map((prefix, at) => [prefix, 1 << at])) as Readonly<
  Record<WrittenPrefix, Prefixes>
>; // the keys are those of writtenNamespaces

function bitOf(prefix: WrittenPrefix): Prefixes {
  return bits[prefix];
}

function prefixesIn(node: WrittenNode): Prefixes {
  if (typeof node === 'string') return 0;
  if (!('name' in node)) return node.declares;
  let found = bitOf(prefixOf(node.name));
  for (const child of node.children) found |= prefixesIn(child);
  return found;
}

// Most values: one pass tells that they are ASCII without a character that either escape would touch.
const plainAscii = /^[ !#-%'-;=?-~]*$/;

// Callers refuse values XML cannot carry when they are stored; reaching the error is a fault of ours, never silently repaired.
function escapeWith(value: string, replace: (value: string) => string): string {
  if (plainAscii.test(value)) return value;
  if (!isXmlText(value)) throw new Error('a value holds characters XML cannot carry');
  return replace(value);
}
