// A filter after resolution against the schema table: every name is an entry, every value has its type, every comparison is
// allowed. filter-resolver.ts makes it; filter-evaluator.ts and the SQL compiler are its two back ends and must agree.

import type { Nanoseconds } from '../../domain/date-time.ts';
import type { Attribute } from '../schema/attribute.ts';
import type { Leaf, Plural } from '../schema/schema-lookup.ts';
import type { ComparisonOperator } from './filter-syntax.ts';

/** A test on one value. Text is already folded unless the attribute is case exact. */
export type Test =
  | { readonly kind: 'present' }
  | { readonly kind: 'text'; readonly operator: ComparisonOperator; readonly value: string }
  | { readonly kind: 'boolean'; readonly operator: 'eq' | 'ne'; readonly value: boolean }
  | { readonly kind: 'number'; readonly operator: ComparisonOperator; readonly value: number }
  | { readonly kind: 'instant'; readonly operator: ComparisonOperator; readonly value: Nanoseconds };

export type Filter =
  | { readonly kind: 'and' | 'or'; readonly operands: readonly Filter[] }
  | { readonly kind: 'not'; readonly operand: Filter }
  | { readonly kind: 'single'; readonly leaf: Leaf; readonly test: Test }
  /** Some element of the attribute satisfies the condition. */
  | { readonly kind: 'some'; readonly plural: Plural; readonly condition: ElementFilter }
  /** `schemas` against one URN. */
  | { readonly kind: 'schemas'; readonly test: Test };

export type ElementFilter =
  | { readonly kind: 'and' | 'or'; readonly operands: readonly ElementFilter[] }
  | { readonly kind: 'not'; readonly operand: ElementFilter }
  | { readonly kind: 'element'; readonly sub: Attribute; readonly test: Test }
  | { readonly kind: 'any' };
