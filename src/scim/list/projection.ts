// Which attributes an answer carries (RFC 7644 section 3.9): all, only those named, or all but those named.
// `id` and `schemas` are always there. Loaders ask it what they need not read; the renderer asks it what to write.

import { invalidValue } from '../refuse.ts';
import type { Attribute } from '../schema/attribute.ts';
import { findNamed, type Named, type TypeIndex } from '../schema/schema-lookup.ts';
import { projectionNamesMax } from '../scim-limits.ts';

/** Keys are those of documents; `emails.value` style keys stand for a sub-attribute of a multi-valued attribute. */
export interface Projection {
  readonly mode: 'all' | 'only' | 'except';
  readonly keys: ReadonlySet<string>;
}

export const everything: Projection = { mode: 'all', keys: new Set() };

/** Makes the projection of a request; both lists at once are invalidValue (contract 7.13). Unknown names are ignored. */
export function readProjection(
  index: TypeIndex,
  attributes: readonly string[] | undefined,
  excluded: readonly string[] | undefined,
): Projection {
  if (attributes !== undefined && excluded !== undefined) {
    throw invalidValue('attributes and excludedAttributes cannot be sent together.');
  }
  const names = (attributes ?? excluded ?? []).map((name) => name.trim()).filter((name) => name !== '');
  if (names.length > projectionNamesMax) throw invalidValue(`More than ${projectionNamesMax} attributes are named.`);
  if (names.length === 0) return everything;
  const keys = new Set<string>();
  for (const name of names) {
    const named = findNamed(index, name);
    if (named !== undefined) for (const key of keysOf(index, named)) keys.add(key);
  }
  return { mode: attributes === undefined ? 'except' : 'only', keys };
}

/** Whether a leaf or a multi-valued attribute is wanted, in whole or in part. */
export function wants(projection: Projection, key: string, attribute: Attribute): boolean {
  if (attribute.returned === 'never') return false;
  if (attribute.returned === 'always' || projection.mode === 'all') return true;
  if (projection.mode === 'except') return !projection.keys.has(key);
  return projection.keys.has(key) || attribute.subAttributes.some((sub) => projection.keys.has(`${key}.${sub.name}`));
}

/** Whether one sub-attribute of a wanted multi-valued attribute is wanted. */
export function wantsSub(projection: Projection, key: string, sub: Attribute): boolean {
  if (projection.mode === 'all') return true;
  const named = projection.keys.has(`${key}.${sub.name}`);
  return projection.mode === 'except' ? !named : named || projection.keys.has(key);
}

function keysOf(index: TypeIndex, named: Named): readonly string[] {
  switch (named.kind) {
    case 'leaf':
      return [named.leaf.key];
    case 'complex':
      return named.leaves.map((leaf) => leaf.key);
    case 'plural':
      return [named.plural.key];
    case 'pluralSub':
      return [`${named.plural.key}.${named.sub.name}`];
    case 'schema':
      return [
        ...index.leaves.filter((leaf) => leaf.schema === named.schema).map((leaf) => leaf.key),
        ...named.schema.attributes.filter((one) => one.multiValued).map((one) => named.schema.keyPrefix + one.name),
      ];
    default:
      return named satisfies never;
  }
}
