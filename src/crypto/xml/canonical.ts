// Exclusive XML Canonicalization 1.0 without comments, over our tree. Called by the signature check, which names the
// one element to leave out (the enveloped signature). Must not parse and must not change the tree.

import { compareCodePoints, escapeAttribute, escapeText } from './characters.ts';
import { namespaceInScope, type XmlElement } from './tree.ts';

type CanonicalOptions = {
  /** Left out with everything in it: the enveloped-signature transform. */
  readonly exclude?: XmlElement;
  /** Prefixes of an InclusiveNamespaces PrefixList, '' for #default: treated as inclusive canonicalisation does. */
  readonly inclusivePrefixes?: readonly string[];
};

/** The canonical form of an element and everything in it (xml-exc-c14n section 3). */
export function canonicalize(apex: XmlElement, options: CanonicalOptions = {}): string {
  const out: string[] = [];
  write(apex, new Map(), options, out);
  return out.join('');
}

// `rendered` is what the nearest output ancestors have declared: prefix to URI.
function write(element: XmlElement, rendered: ReadonlyMap<string, string>, options: CanonicalOptions, out: string[]): void {
  const name = qualify(element.prefix, element.localName);
  const declarations = declarationsOf(element, rendered, options.inclusivePrefixes ?? []);
  let scope = rendered;
  out.push('<', name);
  if (declarations.length > 0) {
    scope = new Map([...rendered, ...declarations]);
    for (const [prefix, uri] of declarations) {
      out.push(prefix === '' ? ' xmlns="' : ` xmlns:${prefix}="`, escapeAttribute(uri), '"');
    }
  }
  const attributes = element.attributes.toSorted(
    (left, right) => compareCodePoints(left.namespaceUri, right.namespaceUri) || compareCodePoints(left.localName, right.localName),
  );
  for (const attribute of attributes) {
    out.push(' ', qualify(attribute.prefix, attribute.localName), '="', escapeAttribute(attribute.value), '"');
  }
  out.push('>');
  for (const child of element.children) {
    if (typeof child === 'string') out.push(escapeText(child));
    else if (child !== options.exclude) write(child, scope, options, out);
  }
  out.push('</', name, '>');
}

function declarationsOf(
  element: XmlElement,
  rendered: ReadonlyMap<string, string>,
  inclusivePrefixes: readonly string[],
): readonly (readonly [string, string])[] {
  const visible = new Set([element.prefix, ...inclusivePrefixes]);
  for (const { prefix } of element.attributes) if (prefix !== '') visible.add(prefix);
  visible.delete('xml');
  const declarations: (readonly [string, string])[] = [];
  for (const prefix of visible) {
    const uri = namespaceInScope(element, prefix);
    if (uri === undefined) continue; // a PrefixList may name a prefix nobody declared
    // xmlns="" is written only where an output ancestor has set a default.
    if ((rendered.get(prefix) ?? (prefix === '' ? '' : undefined)) !== uri) declarations.push([prefix, uri]);
  }
  return declarations.sort(([left], [right]) => compareCodePoints(left, right));
}

function qualify(prefix: string, localName: string): string {
  return prefix === '' ? localName : `${prefix}:${localName}`;
}
