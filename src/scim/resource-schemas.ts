// Which schema URNs a resource carries: its core schema, and an extension when any of the extension's values is present.
import type { Document } from './document.ts';
import type { TypeIndex } from './schema-lookup.ts';

/** The `schemas` of a resource, core first. */
export function schemasOf(index: TypeIndex, document: Document): readonly string[] {
  return index.schemas
    .filter(
      (schema) => schema === index.type.schema || index.leaves.some((leaf) => leaf.schema === schema && document[leaf.key] !== undefined),
    )
    .map((schema) => schema.id);
}
