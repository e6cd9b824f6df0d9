// A SCIM resource as the code handles it: flat, keyed by the schema table's own keys, never by names from a request.
// Single-valued leaves are scalars ("userName", "name.familyName", "enterprise.department"); multi-valued attributes are
// lists of elements keyed by sub-attribute. Absent means absent: no null, no "", no [] (RFC 7643 section 2.5).

/** A leaf value; date-times are milliseconds since the epoch. */
export type Scalar = string | boolean | number;

/** One element of a multi-valued attribute. */
export interface Element {
  readonly [subAttribute: string]: Scalar | undefined;
}

export interface Document {
  readonly [key: string]: Scalar | readonly Element[] | undefined;
}

/** A document under construction; it has no prototype, so no key can reach one. */
export type DraftDocument = Record<string, Scalar | readonly Element[] | undefined>;
export type DraftElement = Record<string, Scalar | undefined>;

export function emptyDocument(): DraftDocument {
  return Object.create(null) as DraftDocument; // Object.create returns any
}

export function emptyElement(): DraftElement {
  return Object.create(null) as DraftElement; // Object.create returns any
}

/** A copy that can be changed without touching the original. */
export function draftOf(document: Document): DraftDocument {
  return Object.assign(emptyDocument(), document);
}

/** The elements of a multi-valued attribute; none when it is absent. */
export function elementsOf(document: Document, key: string): readonly Element[] {
  const value = document[key];
  return Array.isArray(value) ? value : [];
}

/** The scalar at a key; undefined when absent. */
export function scalarOf(document: Document, key: string): Scalar | undefined {
  const value = document[key];
  return typeof value === 'object' ? undefined : value;
}

/** Whether two elements carry the same values; a missing `primary` is false. */
function sameElement(a: Element, b: Element): boolean {
  return elementCovers(a, b) && elementCovers(b, a);
}

/** Whether the element has every value that the pattern names. */
export function elementCovers(element: Element, pattern: Element): boolean {
  return Object.keys(pattern).every((name) => {
    const wanted = pattern[name];
    if (wanted === undefined) return true;
    return name === 'primary' ? (element[name] ?? false) === wanted : element[name] === wanted;
  });
}

/** Whether two documents carry the same values; elements are compared in order. */
export function sameDocument(a: Document, b: Document): boolean {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => sameValue(a[key], b[key]));
}

/** Whether the values of one key are the same in two documents. */
export function sameValue(a: Document[string], b: Document[string]): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b || (isEmptyList(a) && isEmptyList(b));
  return a.length === b.length && a.every((element, index) => sameElement(element, b[index] ?? {}));
}

function isEmptyList(value: Document[string]): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0);
}
