// What a PATCH comes down to: typed mutations whose targets are schema table entries, never names from the request.
// patch-planner.ts makes them, patch-apply.ts runs those on documents, groups.ts runs those on members in SQL.
import type { Element, Scalar } from '../document.ts';
import type { ElementFilter } from '../filter/filter-meaning.ts';
import type { Leaf, Plural } from '../schema/schema-lookup.ts';

export type Mutation =
  /** Sets a leaf, or clears it when the value is undefined. */
  | { readonly kind: 'assign'; readonly leaf: Leaf; readonly value: Scalar | undefined }
  | { readonly kind: 'addElements'; readonly plural: Plural; readonly elements: readonly Element[] }
  | { readonly kind: 'replaceElements'; readonly plural: Plural; readonly elements: readonly Element[] }
  /** Removes the elements that carry every value of some pattern; a pattern that fits none is fine. */
  | { readonly kind: 'removeListed'; readonly plural: Plural; readonly patterns: readonly Element[] }
  /** Removes the selected elements; none selected is noTarget. */
  | { readonly kind: 'removeMatching'; readonly plural: Plural; readonly filter: ElementFilter }
  /** Sets values in the selected elements; none selected makes one from the seed, or is noTarget without a seed. */
  | {
      readonly kind: 'mergeMatching';
      readonly plural: Plural;
      readonly filter: ElementFilter;
      readonly values: Element;
      readonly cleared: readonly string[];
      readonly seed: Element | undefined;
    }
  | { readonly kind: 'addMembers'; readonly ids: readonly string[] }
  | { readonly kind: 'removeMembers'; readonly ids: readonly string[]; readonly mustExist: boolean }
  | { readonly kind: 'replaceMembers'; readonly ids: readonly string[] };
