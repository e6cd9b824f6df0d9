// Reads untrusted XML once, strictly, into one small tree: the only door by which XML comes in. Refuses everything a
// SAML message has no use for (DOCTYPE, comments, instructions, CDATA, other encodings, xml:id, relative namespaces)
// and stops at the first breach. Called by the SAML request and metadata parsers; must not know SAML.

import { SaxesParser, type SaxesTagNS } from 'saxes';
import type { Pace } from '../../platform/turns/pace.ts';
import { isNcName } from './characters.ts';
import type { XmlAttribute, XmlElement, XmlNode } from './tree.ts';

export type XmlLimits = {
  readonly bytesMax: number;
  readonly depthMax: number;
  readonly elementsMax: number;
  readonly attributesPerElementMax: number;
  readonly namespaceDeclarationsMax: number;
};

type XmlReadOptions = {
  readonly limits: XmlLimits;
  /** Protocol messages refuse comments; metadata pasted by an administrator may hold them, and they are left out. */
  readonly comments: 'refused' | 'dropped';
};

type XmlRefusal =
  | 'too_large'
  | 'encoding'
  | 'not_well_formed'
  | 'doctype'
  | 'comment'
  | 'processing_instruction'
  | 'cdata'
  | 'too_deep'
  | 'too_many_elements'
  | 'too_many_attributes'
  | 'too_many_namespaces'
  | 'relative_namespace'
  | 'xml_id'
  | 'ambiguous_id'
  | 'duplicate_id'
  | 'foreign_signature';

type XmlReading = { readonly ok: true; readonly root: XmlElement } | { readonly ok: false; readonly reason: XmlRefusal };

const signatureNamespace = 'http://www.w3.org/2000/09/xmldsig#';
const xmlNamespace = 'http://www.w3.org/XML/1998/namespace';
const absoluteUri = /^[A-Za-z][A-Za-z0-9+.-]*:[^\s]*$/u;

/** The document's root element, or the one reason it is refused. Linear in the input; never throws on input. */
export function readXml(bytes: Uint8Array, options: XmlReadOptions): XmlReading {
  const reading = readInPieces(bytes, options, Number.POSITIVE_INFINITY);
  for (;;) {
    const step = reading.next();
    if (step.done === true) return step.value;
  }
}

/** The same for documents that take long, of which others must not feel anything. */
export async function readLongXml(bytes: Uint8Array, options: XmlReadOptions, pace: Pace): Promise<XmlReading> {
  const reading = readInPieces(bytes, options, pieceChars);
  for (;;) {
    const step = reading.next();
    if (step.done === true) return step.value;
    await pace();
  }
}

/** A few milliseconds. */
const pieceChars = 4096;

function* readInPieces(bytes: Uint8Array, options: XmlReadOptions, chars: number): Generator<void, XmlReading> {
  if (bytes.byteLength > options.limits.bytesMax) return { ok: false, reason: 'too_large' };
  const text = decodeUtf8(bytes);
  if (text === undefined) return { ok: false, reason: 'encoding' };
  const builder = new TreeBuilder(options);
  try {
    yield* builder.parse(text, chars);
  } catch (error) {
    // saxes throws a plain Error at the first breach of well-formedness; its text is never shown.
    return { ok: false, reason: error instanceof Refused ? error.reason : 'not_well_formed' };
  }
  return builder.root === undefined ? { ok: false, reason: 'not_well_formed' } : { ok: true, root: builder.root };
}

type MutableElement = Omit<XmlElement, 'children'> & { readonly children: XmlNode[] };

class Refused extends Error {
  readonly reason: XmlRefusal;
  constructor(reason: XmlRefusal) {
    super(reason);
    this.reason = reason;
  }
}

/** One parse: holds the open element and the counters the limits are checked against. */
class TreeBuilder {
  root: XmlElement | undefined;
  readonly #options: XmlReadOptions;
  readonly #ids = new Set<string>();
  #open: MutableElement | undefined;
  #depth = 0;
  #elements = 0;
  #namespaceDeclarations = 0;
  #attributesOfTag = 0;

  constructor(options: XmlReadOptions) {
    this.#options = options;
  }

  *parse(text: string, chars: number): Generator<void, void> {
    const parser = new SaxesParser({ xmlns: true, fragment: false, position: false });
    parser.on('xmldecl', (declaration) => {
      if (declaration.version !== '1.0') throw new Refused('not_well_formed');
      if (declaration.encoding !== undefined && !/^utf-8$/i.test(declaration.encoding)) throw new Refused('encoding');
    });
    parser.on('doctype', () => refuse('doctype'));
    parser.on('comment', () => {
      if (this.#options.comments === 'refused') refuse('comment');
    });
    parser.on('processinginstruction', () => refuse('processing_instruction'));
    parser.on('cdata', () => refuse('cdata'));
    parser.on('opentagstart', () => this.#startTag());
    parser.on('attribute', (attribute) => this.#countAttribute(attribute.name, attribute.prefix));
    parser.on('opentag', (tag) => this.#openElement(tag));
    parser.on('text', (value) => this.#addText(value));
    parser.on('closetag', () => this.#closeElement());
    for (let at = 0; at < text.length; at += chars) {
      parser.write(text.slice(at, at + chars));
      yield;
    }
    parser.close();
  }

  #startTag(): void {
    const { limits } = this.#options;
    this.#elements += 1;
    if (this.#elements > limits.elementsMax) refuse('too_many_elements');
    if (this.#depth + 1 > limits.depthMax) refuse('too_deep');
    this.#attributesOfTag = 0;
  }

  #countAttribute(name: string, prefix: string): void {
    const { limits } = this.#options;
    if (name === 'xmlns' || prefix === 'xmlns') {
      this.#namespaceDeclarations += 1;
      if (this.#namespaceDeclarations > limits.namespaceDeclarationsMax) refuse('too_many_namespaces');
    } else {
      this.#attributesOfTag += 1;
      if (this.#attributesOfTag > limits.attributesPerElementMax) refuse('too_many_attributes');
    }
  }

  #openElement(tag: SaxesTagNS): void {
    this.#depth += 1;
    requireName(tag.prefix, tag.local);
    if (tag.local === 'Signature' && tag.uri !== signatureNamespace) refuse('foreign_signature');
    const namespaces = new Map<string, string>();
    const attributes: XmlAttribute[] = [];
    for (const { name, prefix, local, uri, value } of Object.values(tag.attributes)) {
      requireName(prefix, local);
      if (name === 'xmlns' || prefix === 'xmlns') {
        if (!(name === 'xmlns' && value === '') && !absoluteUri.test(value)) refuse('relative_namespace');
        namespaces.set(name === 'xmlns' ? '' : local, value);
      } else {
        if (uri === xmlNamespace && local === 'id') refuse('xml_id');
        attributes.push({ prefix, localName: local, namespaceUri: uri, value });
      }
    }
    this.#checkIds(attributes);
    const { prefix, local: localName, uri: namespaceUri } = tag;
    const element = { prefix, localName, namespaceUri, attributes, namespaces, children: [], parent: this.#open };
    this.#open?.children.push(element);
    this.root ??= element;
    this.#open = element;
  }

  // One element, one id, without a prefix, unlike every other: a reference then means the same to every reader.
  #checkIds(attributes: readonly XmlAttribute[]): void {
    const ids = attributes.filter((attribute) => attribute.localName.toLowerCase() === 'id');
    if (ids.length === 0) return;
    const [only] = ids;
    if (ids.length > 1 || only === undefined || only.prefix !== '') refuse('ambiguous_id');
    else if (this.#ids.has(only.value)) refuse('duplicate_id');
    else this.#ids.add(only.value);
  }

  #addText(value: string): void {
    const children = this.#open?.children;
    if (children === undefined) return; // white space around the root; saxes refuses anything else there
    const last = children.at(-1);
    if (typeof last === 'string') children[children.length - 1] = last + value;
    else children.push(value);
  }

  #closeElement(): void {
    this.#depth -= 1;
    // The open element was made by #openElement, so its parent is one of ours and still open.
    this.#open = this.#open?.parent as MutableElement | undefined;
  }
}

function refuse(reason: XmlRefusal): never {
  throw new Refused(reason);
}

function requireName(prefix: string, localName: string): void {
  if ((prefix !== '' && !isNcName(prefix)) || !isNcName(localName)) refuse('not_well_formed');
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    const text = decoder.decode(bytes);
    return text.startsWith('\uFEFF') ? undefined : text;
  } catch {
    return undefined; // not UTF-8
  }
}
