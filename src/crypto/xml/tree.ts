// The small tree a document is read into, and the questions asked of it. Made by reader.ts only; the canonicaliser,
// the signature check and the SAML parsers read it. Nothing changes a tree once it is made.

export type XmlAttribute = {
  readonly prefix: string;
  readonly localName: string;
  readonly namespaceUri: string;
  readonly value: string;
};

export type XmlElement = {
  readonly prefix: string;
  readonly localName: string;
  readonly namespaceUri: string;
  readonly attributes: readonly XmlAttribute[];
  /** Declarations made on this very element: prefix ('' is the default namespace) to URI ('' undeclares the default). */
  readonly namespaces: ReadonlyMap<string, string>;
  readonly children: readonly XmlNode[];
  readonly parent: XmlElement | undefined;
};

export type XmlNode = XmlElement | string;

/** The element children, in order. */
export function childElements(parent: XmlElement): readonly XmlElement[] {
  return parent.children.filter((child) => typeof child !== 'string');
}

/** The element children of one name, in order. */
export function childrenNamed(parent: XmlElement, namespaceUri: string, localName: string): readonly XmlElement[] {
  return childElements(parent).filter((child) => isNamed(child, namespaceUri, localName));
}

/** True when the element has this expanded name. */
export function isNamed(element: XmlElement, namespaceUri: string, localName: string): boolean {
  return element.localName === localName && element.namespaceUri === namespaceUri;
}

/** The value of an attribute without a prefix, or undefined. */
export function attributeOf(element: XmlElement, localName: string): string | undefined {
  return element.attributes.find((attribute) => attribute.prefix === '' && attribute.localName === localName)?.value;
}

/** The whole text of an element that holds text alone, or undefined when it holds an element. */
export function textOf(element: XmlElement): string | undefined {
  return element.children.every((child) => typeof child === 'string') ? element.children.join('') : undefined;
}

/** True when no text other than white space stands between the element children. */
export function holdsElementsOnly(element: XmlElement): boolean {
  return element.children.every((child) => typeof child !== 'string' || /^[ \t\r\n]*$/.test(child));
}

/** Every element of the tree, the root first, in document order. */
export function allElements(root: XmlElement): readonly XmlElement[] {
  const found: XmlElement[] = [root];
  for (const child of childElements(root)) found.push(...allElements(child));
  return found;
}

/** The namespace a prefix names at this element; '' for an undeclared default, undefined for an undeclared prefix. */
export function namespaceInScope(element: XmlElement, prefix: string): string | undefined {
  if (prefix === 'xml') return 'http://www.w3.org/XML/1998/namespace';
  for (let at: XmlElement | undefined = element; at !== undefined; at = at.parent) {
    const uri = at.namespaces.get(prefix);
    if (uri !== undefined) return uri;
  }
  return prefix === '' ? '' : undefined;
}
