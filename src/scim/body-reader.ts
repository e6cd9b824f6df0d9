// Turns the body of a create or replace into a document (RFC 7644 sections 3.3, 3.5.1). Unknown schemas and attributes are
// ignored, as are id, meta, groups and password. Which attributes were named at all is kept: PUT without `members` leaves them.
import { type Document, type DraftDocument, emptyDocument } from './document.ts';
import { invalidSyntax, invalidValue } from './refuse.ts';
import { findNamed, type Leaf, type Named, type TypeIndex } from './schema/schema-lookup.ts';
import { isJsonObject, type JsonObject, readScalar, readStoredElements } from './value-reader.ts';

interface ReadBody {
  readonly document: Document;
  /** Keys of the attributes the body named, with a value or with null. */
  readonly named: ReadonlySet<string>;
}

/** Reads a resource body; refuses with invalidSyntax when it is no object, invalidValue when a value has the wrong type. */
export function readBody(index: TypeIndex, body: unknown): ReadBody {
  if (!isJsonObject(body)) throw invalidSyntax('The body must be a JSON object.');
  const draft = emptyDocument();
  const named = new Set<string>();
  readMembers(index, '', body, draft, named);
  return { document: draft, named };
}

function readMembers(index: TypeIndex, prefix: string, object: JsonObject, draft: DraftDocument, named: Set<string>): void {
  for (const key of Object.keys(object)) {
    const entry = findNamed(index, prefix + key);
    if (entry !== undefined) readNamed(index, entry, object[key], draft, named);
  }
}

function readNamed(index: TypeIndex, entry: Named, value: unknown, draft: DraftDocument, named: Set<string>): void {
  switch (entry.kind) {
    case 'schema':
      if (isJsonObject(value)) readMembers(index, `${entry.schema.id}:`, value, draft, named);
      else if (value !== null) throw invalidValue(`${entry.schema.name} must be an object.`);
      return;
    case 'leaf':
      readLeaf(entry.leaf, value, draft, named);
      return;
    case 'complex':
      readComplex(entry.attribute.name, entry.leaves, value, draft, named);
      return;
    case 'plural': {
      const { plural } = entry;
      if (plural.attribute.mutability !== 'readWrite') return;
      named.add(plural.key);
      const elements = readStoredElements(plural, value);
      draft[plural.key] = elements.length === 0 ? undefined : elements;
      return;
    }
    case 'pluralSub':
      return; // a dotted name means nothing in a whole resource
    default:
      entry satisfies never;
  }
}

function readLeaf(leaf: Leaf, value: unknown, draft: DraftDocument, named: Set<string>): void {
  if (leaf.attribute.mutability !== 'readWrite') return;
  named.add(leaf.key);
  draft[leaf.key] = readScalar(leaf.attribute, value);
}

function readComplex(name: string, leaves: readonly Leaf[], value: unknown, draft: DraftDocument, named: Set<string>): void {
  const writable = leaves.filter((leaf) => leaf.attribute.mutability === 'readWrite');
  if (writable.length === 0 || value === null) return;
  for (const [leaf, part] of complexParts(name, writable, value)) readLeaf(leaf, part, draft, named);
}

/** The parts of a single-valued complex value; a plain string stands for its `value`, as directories send a manager. */
export function complexParts(name: string, leaves: readonly Leaf[], value: unknown): readonly (readonly [Leaf, unknown])[] {
  const byValue = leaves.find((leaf) => leaf.attribute.name === 'value');
  if (byValue !== undefined && typeof value === 'string') return [[byValue, value]];
  const object = byValue !== undefined && Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (!isJsonObject(object)) throw invalidValue(`${name} must be an object.`);
  const parts: (readonly [Leaf, unknown])[] = [];
  for (const key of Object.keys(object)) {
    const lower = key.toLowerCase();
    const leaf = leaves.find((candidate) => candidate.attribute.name.toLowerCase() === lower);
    if (leaf !== undefined) parts.push([leaf, object[key]]);
  }
  return parts;
}
