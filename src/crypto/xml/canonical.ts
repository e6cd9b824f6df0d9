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

/** How many elements a piece begins at most. */
const elementsPerPiece = 1000;

/** The canonical form of an element and everything in it (xml-exc-c14n section 3). */
export const canonicalize = (apex: XmlElement, options: CanonicalOptions = {}): string => [...canonicalPieces(apex, options)].join('');

/** The same in pieces, in order: for a long document, whose digest lets others go on meanwhile. */
export function* canonicalPieces(apex: XmlElement, options: CanonicalOptions = {}): Generator<string, void> {
  const out: string[] = [];
  const open = [begin(apex, new Map(), options, out)];
  let begun = 1;
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    const child = last.element.children[last.next];
    last.next += 1;
    if (child === undefined) {
      out.push('</', last.name, '>');
      open.pop();
    } else if (typeof child === 'string') out.push(escapeText(child));
    else if (child !== options.exclude) {
      if (begun % elementsPerPiece === 0) yield out.splice(0).join('');
      open.push(begin(child, last.rendered, options, out));
      begun += 1;
    }
  }
  yield out.join('');
}

interface OpenElement {
  readonly element: XmlElement;
  readonly name: string;
  /** What it and its output ancestors have declared: prefix to URI. */
  readonly rendered: ReadonlyMap<string, string>;
  /** The child that comes next. */
  next: number;
}

/** Writes a start tag. @param rendered what the nearest output ancestors have declared */
function begin(element: XmlElement, rendered: ReadonlyMap<string, string>, options: CanonicalOptions, out: string[]): OpenElement {
  const name = qualify(element.prefix, element.localName);
  const declarations = declarationsOf(element, rendered, options.inclusivePrefixes ?? []);
  out.push('<', name);
  for (const [prefix, uri] of declarations) {
    out.push(prefix === '' ? ' xmlns="' : ` xmlns:${prefix}="`, escapeAttribute(uri), '"');
  }
  const attributes = element.attributes.toSorted(
    (left, right) => compareCodePoints(left.namespaceUri, right.namespaceUri) || compareCodePoints(left.localName, right.localName),
  );
  for (const attribute of attributes) {
    out.push(' ', qualify(attribute.prefix, attribute.localName), '="', escapeAttribute(attribute.value), '"');
  }
  out.push('>');
  const scope = declarations.length === 0 ? rendered : new Map([...rendered, ...declarations]);
  return { element, name, rendered: scope, next: 0 };
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
