// The level of the schema, one up with each release: release L serves on schemas of level L and L+1, so that the nodes of one
// release go on beside the migration to the next, and one release back is possible. A migration of release N may therefore
// add anything that N-1 can leave aside, and take away only what N-1 no longer used.

/** Release 0.1.0 is level 1; it wrote none. */
export const schemaLevel = 2;
export const schemaLevelKey = 'schema_level';

/** What is wrong with serving on a schema of this level, as "expected …, found …"; undefined when nothing is. */
export function findLevelFault(found: number): string | undefined {
  if (found <= schemaLevel + 1) return undefined;
  return `expected a schema of level ${schemaLevel} or ${schemaLevel + 1}, found level ${found} of a later release. Run the release that migrated it, or the one before`;
}
