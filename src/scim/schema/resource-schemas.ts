// Which schema URNs a resource carries: its core schema, and an extension when any of the extension's values is present.
import type { Document } from '../document.ts';
import type { TypeIndex } from './schema-lookup.ts';

/** The `schemas` of a resource, core first. */
export function schemasOf(index: TypeIndex, document: Document): readonly string[] {
  const urns = [index.type.schema.id];
  for (const extension of index.type.extensions) {
    const isPresent =
      index.leaves.some((leaf) => leaf.schema === extension && document[leaf.key] !== undefined) ||
      index.plurals.some(({ key }) => key.startsWith(extension.keyPrefix) && document[key] !== undefined);
    if (isPresent) urns.push(extension.id);
  }
  return urns;
}
